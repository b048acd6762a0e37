"""Tuples that stay in DuckDB, in a file of the spill folder, while a top-down search asks for counts.

What a number is released as comes along with each question, in a small table per column that is joined.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from incrowd.engines.arrow.compress import Numbered
from incrowd.errors import DataError
from incrowd.formats.duckdb_files import opened, query_errors
from incrowd.formats.staging import Folder
from incrowd.table.grouping import Codes
from incrowd.table.out_of_core import OutOfCoreTable

_TUPLES = "tuples"


class DuckDbTuples(OutOfCoreTable):
    """Distinct tuples in a file of DuckDB.

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
        """Group rows of numbers, by column c0, c1 and so on, and learn what the numbers mean."""
        listed = ", ".join(rows.schema.names)
        self.connection.register("incrowd_rows", rows)
        with query_errors(self._name):
            self.connection.execute(
                f"CREATE TABLE {_TUPLES} AS SELECT {listed}, count(*) AS n FROM incrowd_rows GROUP BY {listed}"
            )
            self.tuples, records = self.connection.execute(f"SELECT count(*), sum(n) FROM {_TUPLES}").fetchall()[0]
        if not self.tuples:
            raise DataError(f"{self._name} has no rows left to release")
        self.records = int(records)
        numbered.explain(self)

    def _ask(self, cells: Mapping[int, Codes], numbers: Sequence[int], *, each: bool = False) -> list[Any]:
        joins = []
        for place, cell_of in cells.items():
            known = np.append(np.arange(len(cell_of) - 1), -1)  # the last entry is that of missing values
            table = pa.table({"number": known[cell_of >= 0], "cell": cell_of[cell_of >= 0]})
            self.connection.register(f"map{place}", table)
            joins.append(f"JOIN map{place} AS m{place} ON c{place} = m{place}.number")
        classes, columns = [f"m{place}.cell" for place in cells], [f"c{place}" for place in numbers]
        listed = ", ".join([*classes, *columns, "sum(n)::BIGINT", *(f"grouping({c})" for c in columns if each)])
        sets = [[*classes, column] for column in columns] if each else [[*classes, *columns]]
        grouped = ", ".join(f"({', '.join(names)})" for names in sets)
        with query_errors(self._name):
            query = f"SELECT {listed} FROM {_TUPLES} {' '.join(joins)} GROUP BY GROUPING SETS ({grouped})"
            found = self.connection.sql(query).to_arrow_table()
        return [column.to_numpy() for column in found.columns]

    def close(self) -> None:
        self._end()


def _end(connection: duckdb.DuckDBPyConnection, folder: Folder) -> None:
    connection.close()
    folder.remove()
