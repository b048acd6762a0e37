"""The blow-up of the TDS paper, section 6.3: Adult made larger by variations of its records.

Every variation of a record replaces q attributes, chosen at random, by values drawn from their domains, with q uniform
between 1 and the number of attributes. The target is kept. The same copies and seed always give the same rows.

    python -m benchmarks.blow_up adult-1m.csv --copies 22
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq
from papers.adult import adult_rows
from papers.blow_up import blow_up

RECORDS = 45_222


def make(path: Path, copies: int, seed: int = 1) -> Path:
    """Write the blown-up Adult to a CSV or Parquet file."""
    table = blow_up(adult_rows(), copies, np.random.default_rng(seed))
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
