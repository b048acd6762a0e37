"""Tuples that stay in DuckDB, in a file of the spill folder, while a top-down search asks for counts.

Values are stored as the numbers that they got in order of appearance. What a number is released as comes along with
each question, in a small table per attribute that is joined.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from incrowd.engines.arrow.compress import Numbered
from incrowd.engines.numbered_tuples import NumberedTuples
from incrowd.errors import DataError
from incrowd.formats.duckdb_files import opened, query_errors
from incrowd.formats.staging import Folder
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, Counts, group
from incrowd.table.out_of_core import ValuesInClasses

_TUPLES = "tuples"


class DuckDbTuples(NumberedTuples):
    """Distinct tuples in a file of DuckDB; see `table.out_of_core.OutOfCoreTable`.

    Args:
        folder: Where the file is; it is removed in the end.
        options: The settings of the connection.
        name: What messages call the table.
    """

    def __init__(self, folder: Folder, options: dict[str, Any], name: str) -> None:
        self._name = name
        self.connection = opened(str(folder.path / "tuples.duckdb"), options)
        self._end = weakref.finalize(self, _end, self.connection, folder)

    def fill(self, rows: pa.RecordBatchReader, numbered: Numbered) -> None:
        """Group rows of numbers, and learn what the numbers mean.

        Args:
            rows: Numbers by column, named c0, c1 and so on.
            numbered: What numbers them; all are known when all rows were read.
        """
        names = rows.schema.names
        listed = ", ".join(names)
        self.connection.register("incrowd_rows", rows)
        with query_errors(self._name):
            self.connection.execute(
                f"CREATE TABLE {_TUPLES} AS SELECT {listed}, count(*) AS n FROM incrowd_rows GROUP BY {listed}"
            )
            self.tuples, records = self.connection.execute(f"SELECT count(*), sum(n) FROM {_TUPLES}").fetchall()[0]
        if not self.tuples:
            raise DataError(f"{self._name} has no rows left to release")
        self.records = int(records)
        self.learn(numbered)

    def _used(self, place: int) -> tuple[Codes, Counts]:
        """See `NumberedTuples`."""
        found = self._asked(f"SELECT c{place}, sum(n)::BIGINT FROM {_TUPLES} GROUP BY c{place} ORDER BY c{place}")
        return found[0], found[1]

    def _asked(self, query: str) -> list[Any]:
        with query_errors(self._name):
            table = self.connection.sql(query).to_arrow_table()
        return [column.to_numpy() for column in table.columns]

    def label_counts(self, attribute: int) -> Counts:
        """Records per code of one attribute and label of the target."""
        label = self._label_column
        query = f"SELECT c{attribute}, {label}, sum(n)::BIGINT FROM {_TUPLES} GROUP BY ALL"
        numbers, labels, counts = self._asked(query)
        found = np.zeros((self.attributes[attribute].size, len(self.labels)), np.int64)
        np.add.at(found, (self._code_of[attribute][numbers], self._labels_of(labels)), counts)
        return found

    @property
    def _label_column(self) -> str:
        return f"c{len(self.attributes)}"

    def _labels_of(self, numbers: Codes) -> Codes:
        assert self._label_of is not None
        return np.asarray(self._label_of[numbers])

    def values_in_classes(
        self, members: Sequence[int], cells: Sequence[Codes], attribute: int, codes: Codes, asked: Sequence[int]
    ) -> list[ValuesInClasses]:
        """One grouped count for all that is asked; see `OutOfCoreTable.values_in_classes`."""
        chosen = np.zeros(self.attributes[attribute].size, bool)
        chosen[codes] = True
        telling = [member for member in members if cells[member].any()]  # the others have a single cell
        used = sorted({*telling, *asked, attribute})
        classes = [f"m{member}.cell" for member in telling]
        sets = ", ".join(f"({', '.join([*classes, f'm{member}.code'])})" for member in asked)
        values = [f"m{member}.code, grouping(m{member}.code)" for member in asked]
        listed, joined = ", ".join([*classes, *values]), self._joined(used, cells, {attribute: chosen})
        found = self._asked(f"SELECT {listed}, sum(n)::BIGINT {joined} GROUP BY GROUPING SETS ({sets})")
        width, numbers = len(telling), np.zeros(len(found[-1]), np.int64)
        if telling:
            numbers = np.asarray(group(found[:width], [int(cells[member].max()) + 1 for member in telling])[0])
        counted = []
        for place in range(len(asked)):
            rows = np.flatnonzero(found[width + 2 * place + 1] == 0)
            values_of = np.asarray(found[width + 2 * place][rows], np.int64)
            counted.append(ValuesInClasses(values_of, numbers[rows], found[-1][rows], int(numbers.max()) + 1))
        return counted

    def _joined(self, members: Sequence[int], cells: Sequence[Codes], chosen: dict[int, Any] | None = None) -> str:
        """The tuples with code and cell of each member, of chosen codes only: what follows FROM."""
        joins = []
        for member in members:
            code_of = self._code_of[member]
            numbers = np.append(np.arange(len(code_of) - 1), -1)  # the last entry is that of missing values
            keep = chosen[member][code_of] if chosen and member in chosen else np.ones(len(code_of), bool)
            rows = {"number": numbers[keep], "code": code_of[keep], "cell": cells[member][code_of[keep]]}
            self.connection.register(f"map{member}", pa.table(rows))
            joins.append(f"JOIN map{member} AS m{member} ON c{member} = m{member}.number")
        return f"FROM {_TUPLES} {' '.join(joins)}"

    def classes(self, cells: Sequence[Codes]) -> CompressedTable:
        """One tuple for each class; see `OutOfCoreTable.classes`."""
        members = range(len(self.attributes))
        listed = ", ".join(f"m{member}.cell" for member in members)
        label = f", {self._label_column}" if self.has_target else ""
        found = self._asked(
            f"SELECT {listed}{label}, sum(n)::BIGINT {self._joined(members, cells)} GROUP BY {listed}{label}"
        )
        first = []
        for member, numbers in zip(members, found, strict=False):
            distinct, places = np.unique(cells[member], return_index=True)
            first.append(places[np.searchsorted(distinct, numbers)])
        target = (self.labels, self._labels_of(found[-2])) if self.has_target else None
        return CompressedTable.build(self.attributes, first, np.asarray(found[-1], np.int64), target)

    def close(self) -> None:
        """Let go of the tuples."""
        self._end()


def _end(connection: duckdb.DuckDBPyConnection, folder: Folder) -> None:
    connection.close()
    folder.remove()
