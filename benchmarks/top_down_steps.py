"""What one step of a top-down search costs, and that it does not grow with the number of steps before it.

    python -m benchmarks.top_down_steps              # 1,000, 2,000 and 4,000 steps, with and without a target
    python -m benchmarks.top_down_steps --repeat 1   # quick

The table is a grid: numbers from 0 to 4,095 beside numbers from 0 to 3, every pair twice, so that with k = 2 every
value can be told from every other and the search takes 4,098 steps if nothing stops it. `max_steps` does. CPU seconds
are those of the whole release less those of a release without any step; the fastest of some runs counts. A step halves
an interval, so later ones touch fewer records: the time of a step should fall, and must not rise.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pyarrow as pa

import incrowd

STEPS = (1_000, 2_000, 4_000)


def grid(values: int = 4_096, others: int = 4, crowd: int = 2) -> pa.Table:
    """Every pair of numbers `crowd` times, with a label drawn at random."""
    x, y = np.divmod(np.arange(values * others * crowd) // crowd, others)
    labels = np.random.default_rng(1).integers(0, 2, len(x))
    return pa.table({"x": x, "y": y, "label": pa.array(labels).cast(pa.string())})


def seconds(table: pa.Table, target: str | None, steps: int, repeat: int) -> tuple[float, int]:
    """The fastest run, and how many steps it took."""
    fastest, taken = float("inf"), 0
    for _ in range(repeat):
        began = time.process_time()
        options = {"method": "tdr", "max_steps": steps}
        release = incrowd.anonymize(table, quasi_identifiers=["x", "y"], k=2, target=target, **options)
        fastest = min(fastest, time.process_time() - began)
        taken = len(release.steps)
    return fastest, taken


def main() -> None:
    parser = argparse.ArgumentParser(description="What one step of a top-down search costs.")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each; the fastest counts")
    arguments = parser.parse_args()
    table = grid()
    print("| target | steps | CPU s | microseconds per step |\n| --- | ---: | ---: | ---: |", flush=True)
    for target in (None, "label"):
        floor, _ = seconds(table, target, 0, arguments.repeat)
        for number in STEPS:
            total, taken = seconds(table, target, number, arguments.repeat)
            took = total - floor
            print(f"| {target or 'none'} | {taken:,} | {took:.2f} | {1e6 * took / taken:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
