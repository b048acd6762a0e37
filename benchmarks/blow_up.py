"""The blow-up of the TDS paper, section 6.3: Adult made larger by variations of its records.

Every variation of a record replaces q attributes, chosen at random, by values drawn from their domains, with q uniform
between 1 and the number of attributes. The target is kept. The same copies and seed always give the same rows.

    python -m benchmarks.blow_up adult-1m.csv --copies 22
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from incrowd import datasets

RECORDS = 45_222
TARGET = "income"
ATTRIBUTES = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
    "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country",
)  # fmt: skip


def blow_up(table: pa.Table, copies: int, rng: np.random.Generator) -> pa.Table:
    """A table followed by `copies - 1` variations of every record."""
    tables = [table, *(vary(table, rng) for _ in range(copies - 1))]
    return pa.concat_tables(tables).combine_chunks()


def vary(table: pa.Table, rng: np.random.Generator) -> pa.Table:
    """One variation of every record."""
    places = rng.random((len(table), len(ATTRIBUTES))).argsort(axis=1)  # records x attributes, each row a permutation
    replaced = places < rng.integers(1, len(ATTRIBUTES), (len(table), 1), endpoint=True)
    columns = {}
    for place, name in enumerate(ATTRIBUTES):
        domain = table[name].combine_chunks().unique()
        drawn = domain.take(pa.array(rng.integers(0, len(domain), len(table))))
        columns[name] = pc.if_else(pa.array(replaced[:, place]), drawn, table[name])
    columns[TARGET] = table[TARGET]
    return pa.table(columns).select(table.column_names)


def make(path: Path, copies: int, seed: int = 1) -> Path:
    """Write the blown-up Adult to a CSV or Parquet file."""
    table = blow_up(pyarrow.csv.read_csv(datasets.adult()), copies, np.random.default_rng(seed))
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        pyarrow.csv.write_csv(table, path, pyarrow.csv.WriteOptions(quoting_style="needed", quoting_header="needed"))
    return path


def copies_for(rows: int) -> int:
    """How many copies come closest to a number of rows."""
    return max(1, round(rows / RECORDS))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Blow Adult up as in the TDS paper, section 6.3.")
    parser.add_argument("path", type=Path, help="file to write; .csv or .parquet")
    parser.add_argument("--copies", type=int, default=22, help="scale; 22 gives 994,884 records")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    make(arguments.path, arguments.copies, arguments.seed)
