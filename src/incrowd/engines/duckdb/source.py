"""What DuckDB reads by itself: its own databases and relations, and Parquet files of types that it knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from incrowd.engines.duckdb.session import interruptible
from incrowd.formats.databases import DatabaseSource, quoted
from incrowd.formats.duckdb_files import DuckDbDatabase, RelationSource, opened, query_errors
from incrowd.formats.parquet_files import ParquetSet, ParquetSource
from incrowd.formats.sources import BATCH_ROWS, Source
from incrowd.run import Run

_COUNT = "count(*)"


def grouping(
    source: Source, wanted: Sequence[str], options: dict[str, Any], run: Run
) -> Iterator[pa.RecordBatch] | None:
    """The distinct rows of some columns, and last how often each occurs; None if DuckDB cannot read the source."""
    listed = ", ".join(map(quoted, wanted))
    if isinstance(source, RelationSource):
        relation = source.relation
        return _watched(source.reading(lambda: relation.aggregate(f"{listed}, {_COUNT}", listed)), None, run)
    if isinstance(source, DatabaseSource) and isinstance(source.database, DuckDbDatabase):
        return _asked(source.database.connect(options), _query(source.query, listed), source.name, run)
    files = _parquet(source, wanted)
    if files is None:
        return None
    return _asked(opened(settings=options), _query(f"SELECT * FROM {files}", listed), source.name, run)


def _query(rows: str, listed: str) -> str:
    return f"SELECT {listed}, {_COUNT} FROM ({rows}\n) GROUP BY {listed}"


def _asked(connection: duckdb.DuckDBPyConnection, query: str, name: str, run: Run) -> Iterator[pa.RecordBatch]:
    with connection, query_errors(name):
        asked = connection.sql(query)
        found = interruptible(connection, run, lambda: asked.to_arrow_reader(BATCH_ROWS))
        yield from _watched(found, connection, run)


def _watched(
    batches: Iterator[pa.RecordBatch], connection: duckdb.DuckDBPyConnection | None, run: Run
) -> Iterator[pa.RecordBatch]:
    while (batch := interruptible(connection, run, lambda: next(batches, None))) is not None:
        yield batch


def _parquet(source: Source, wanted: Sequence[str]) -> str | None:
    """Parquet files as a table in SQL; None if a column has a type that DuckDB would read in another way."""
    keys: tuple[str, ...] = ()
    if isinstance(source, ParquetSource):
        parts = [source]
    elif isinstance(source, ParquetSet):
        parts, keys = source.parts, source.keys
    else:
        return None
    if any(name in keys or not _alike(source.schema.field(name).type) for name in wanted):
        return None
    listed = ", ".join("'" + str(Path(part.path).resolve()).replace("'", "''") + "'" for part in parts)
    if any(sign in listed for sign in "*?["):  # DuckDB would look for patterns
        return None
    return f"read_parquet([{listed}], hive_partitioning = false)"


def _alike(kind: pa.DataType) -> bool:
    plain = pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_string(kind)
    return bool(plain or pa.types.is_float64(kind) or pa.types.is_date32(kind) or pa.types.is_decimal128(kind))
