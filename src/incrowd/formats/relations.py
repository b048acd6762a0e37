"""Relations of DuckDB: tables and queries of a connection that is the user's own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import pyarrow as pa

from incrowd.errors import DataError, PolicyError
from incrowd.formats.containers import bare
from incrowd.formats.databases import as_read, digest_of, plain_text
from incrowd.formats.duckdb_files import query_errors
from incrowd.formats.sources import BATCH_ROWS, Check, check_names, choose_columns


class RelationSource:
    """A relation. It is run again for every read, so it must give the same rows every time.

    A connection does one thing at a time: whoever reads holds it until all rows are read.

    Args:
        relation: The relation.
    """

    name = "the relation"
    engine = "duckdb"
    missing_values: tuple[str, ...] = ()

    def __init__(self, relation: Any) -> None:
        if not hasattr(relation, "aggregate"):
            raise PolicyError("a table of DuckDB must be a relation, such as connection.table('people')")
        self.relation = relation
        self._lock = threading.Lock()
        with query_errors(self.name):
            self._schema = bare(relation.limit(0).to_arrow_table().schema)
            self._rows: int = relation.count("*").fetchall()[0][0]
        self.schema = pa.schema([field.with_type(plain_text(field.type)) for field in self._schema])
        self.columns = tuple(self.schema.names)
        check_names(self.columns, self.name)
        if not self._rows:
            raise DataError(f"{self.name} has no rows")

    def batches(self, columns: Sequence[str] | None = None, encoded: Collection[str] = ()) -> Iterator[pa.RecordBatch]:
        """Stream the rows in order; see `Source.batches`."""
        chosen = choose_columns(self, columns)
        rows = 0
        for batch in self.reading(lambda: self.relation.project(", ".join(map(quoted, chosen or self.columns[:1])))):
            rows += len(batch)
            yield as_read(batch, self.schema, chosen, encoded)
        if rows != self._rows:
            raise DataError(f"{self.name} changed while it was being read; keep its rows in a table first")

    def reading(self, made: Callable[[], Any]) -> Iterator[pa.RecordBatch]:
        """The rows of something that is made from the relation."""
        with self._lock, query_errors(self.name):
            yield from made().to_arrow_reader(BATCH_ROWS)

    def fingerprint(self, check: Check | None = None) -> str:
        """The SHA-256 of the rows, as a stream of Arrow batches of one size."""
        return digest_of(self.schema, self.batches(), check)

    def check_unchanged(self) -> None:
        """Nothing to look at: whether as many rows came as before is seen when all are read."""


def quoted(name: str) -> str:
    """The name of a column in SQL."""
    return '"' + name.replace('"', '""') + '"'
