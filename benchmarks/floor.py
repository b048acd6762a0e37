"""The floor: a file read, grouped once by the quasi-identifiers, and written back, by other engines.

No release can be made without reading the rows, telling equal ones from different ones, and writing them; this is
what that costs in the engines that do it fastest. One engine per process:

    python -m benchmarks.floor polars adult-1m.csv out.csv
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

from papers.adult import ATTRIBUTES

from benchmarks.fresh import measured


def with_polars(path: Path, output: Path) -> int:
    """Eager polars: its streaming engine is no faster on these files."""
    import polars as pl

    parquet = path.suffix == ".parquet"
    table = pl.read_parquet(path) if parquet else pl.read_csv(path)
    groups = table.group_by(ATTRIBUTES).len()
    _ = table.write_parquet(output) if parquet else table.write_csv(output)
    return len(groups)


def with_duckdb(path: Path, output: Path) -> int:
    """DuckDB in memory."""
    import duckdb

    names = ", ".join(f'"{name}"' for name in ATTRIBUTES)
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE rows AS SELECT * FROM '{path}'")
    connection.execute(f"CREATE TABLE groups AS SELECT {names}, count(*) FROM rows GROUP BY ALL")
    connection.execute(f"COPY rows TO '{output}'")
    found = connection.execute("SELECT count(*) FROM groups").fetchone()
    return int(found[0]) if found else 0


def with_pyarrow(path: Path, output: Path) -> int:
    """Arrow tables."""
    import pyarrow.csv
    import pyarrow.parquet as pq

    parquet = path.suffix == ".parquet"
    table = pq.read_table(path) if parquet else pyarrow.csv.read_csv(path)
    groups = table.group_by(list(ATTRIBUTES)).aggregate([([], "count_all")])
    _ = pq.write_table(table, output) if parquet else pyarrow.csv.write_csv(table, output)
    return len(groups)


ENGINES: dict[str, Callable[[Path, Path], int]] = {
    "polars": with_polars,
    "duckdb": with_duckdb,
    "pyarrow": with_pyarrow,
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Read, group once, write back.")
    parser.add_argument("engine", choices=ENGINES)
    parser.add_argument("path", type=Path)
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()
    import_module(arguments.engine)  # imports are not counted, here as for incrowd
    cost, groups = measured(lambda: ENGINES[arguments.engine](arguments.path, arguments.output))
    print(json.dumps({**asdict(cost), "groups": groups}))


if __name__ == "__main__":
    main()
