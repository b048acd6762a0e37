"""Twelve monthly releases of a large generated register with a ledger: time and memory of each.

    python -m benchmarks.monthly --rows 1000000     # writes results/monthly.md
    python -m benchmarks.monthly --months 3         # prints only

Every month is a process of its own, as a monthly job would be, so that its peak memory is its own. The register is a
CSV file, the method `mondrian`; people come every month, and one in a hundred leaves.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

import incrowd
from incrowd.ledger.store import Ledger

MONTHS = 12
BEGINS = 0.8  # share of the people who are in the first release; the others come in equal parts
LEAVE = 0.01
K = 5
RESULTS = Path(__file__).parent / "results" / "monthly.md"


def register(rows: int, month: int) -> pa.Table:
    """The people of a month; the same seed draws the same people."""
    draw = np.random.default_rng(1)
    come = np.minimum(MONTHS, 1 + np.ceil((draw.random(rows) - BEGINS) / (1 - BEGINS) * (MONTHS - 1))).astype(int)
    leave = draw.geometric(LEAVE, rows) + np.maximum(come, 1)
    people = pa.table(
        {
            "person": np.arange(rows),
            "age": draw.integers(18, 90, rows),
            "sex": np.array(["female", "male"])[draw.integers(0, 2, rows)],
            "postcode": draw.integers(10_000, 10_400, rows),
            "income": draw.integers(0, 120, rows) * 500,
            "diagnosis": np.array([f"D{number:02}" for number in range(20)])[draw.integers(0, 20, rows)],
        }
    )
    return people.filter(pa.array((come <= month) & (leave > month)))


def released(folder: Path, month: int) -> dict[str, float]:
    """Make the release of a month; its seconds, in all and in the search, and its peak memory in MB."""
    began = time.process_time(), time.perf_counter()
    release = incrowd.anonymize(
        folder / "register.csv",
        quasi_identifiers=["age", "sex", "postcode", "income"],
        k=K,
        unit="person",
        sensitive=["diagnosis"],
        l=2,
        types={"postcode": "number"},
        method="mondrian",
        ledger=folder / "ledger",
    )
    release.write(folder / f"release-{month:02}.csv")
    entry = Ledger.read(folder / "ledger").releases[-1]
    return {
        "month": month,
        "rows": entry.records,
        "new": entry.entered,
        "held": entry.held,
        "seconds": time.perf_counter() - began[1],
        "cpu": time.process_time() - began[0],
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def measured(rows: int, months: int) -> list[str]:
    """A table with a line for each month."""
    lines = [
        "| month | rows | of them new | rows that stay for now | seconds | CPU seconds | peak memory, MB |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for month in range(1, months + 1):
            pa.csv.write_csv(register(rows, month), folder / "register.csv")
            command = [sys.executable, "-m", "benchmarks.monthly", "--folder", name, "--month", str(month)]
            found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            lines.append(
                f"| {found['month']} | {found['rows']:,} | {found['new']:,} | {found['held']:,} "
                f"| {found['seconds']:.1f} | {found['cpu']:.1f} | {found['memory']:,.0f} |"
            )
            print(lines[-1], flush=True)
            (folder / f"release-{month - 1:02}.csv").unlink(missing_ok=True)
    return lines


def main() -> None:
    """Measure, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=50_000, help="people of the whole year")
    parser.add_argument("--months", type=int, default=MONTHS)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--month", type=int)
    arguments = parser.parse_args()
    if arguments.folder is not None:
        print(json.dumps(released(arguments.folder, arguments.month)))
        return
    lines = measured(arguments.rows, arguments.months)
    if arguments.months == MONTHS:
        head = [line.format(rows=arguments.rows) for line in HEAD]
        RESULTS.write_text("\n".join([*head, *lines, ""]), encoding="utf-8")


HEAD = [
    "# Twelve monthly releases",
    "",
    "By `python -m benchmarks.monthly --rows {rows}`: a generated register of {rows:,} people, of whom four fifths are",
    "in the first release, the others come in equal parts, and one in a hundred leaves every month; k=5, l=2,",
    "`mondrian`, with a ledger, from CSV to CSV, with the certificate. Every month is a process of its own. CPU",
    "seconds count, since other work ran on the same machine.",
    "",
]

if __name__ == "__main__":
    main()
