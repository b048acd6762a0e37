"""What promises about sensitive columns cost: k alone beside k with l and t, in one process and on the same table.

    python -m benchmarks.protection                     # 972,405 rows that end in 194,481 classes, tdr and mondrian
    python -m benchmarks.protection --side 12           # 103,680 rows
    python -m benchmarks.protection --methods tdr --search
    python -m benchmarks.protection --fine              # with a fifth column, so that no two records are equal
    python -m benchmarks.protection --profile           # where the time of the search goes

The table is a grid: four columns of `side` numbers, five records for every combination, with five different ones of
eight sensitive values. So every combination is a good class under k=5, l=3 and t=0.4, all searches go down to it, and
both make the same steps: the ratio is what looking at the sensitive column costs, and nothing else. With `--fine` no
tuple is a good class by itself, and many refinements are refused for the sensitive column: the searches differ then.
Jobs take turns, and the fastest of each counts. CPU seconds over all threads.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.fresh import measured
from incrowd.engines.reading import compressed
from incrowd.engines.registry import engine_of
from incrowd.formats.registry import open_source
from incrowd.policy.making import make_policy
from incrowd.policy.policy import Policy
from incrowd.release.release import release_of
from incrowd.run import Run
from incrowd.search.registry import method_of

COLUMNS = ("a", "b", "c", "d")
PROMISES: dict[str, dict[str, Any]] = {
    "k": {"k": 5},
    "k + l": {"k": 5, "sensitive": ["ill"], "l": 3},
    "k + t": {"k": 5, "sensitive": ["ill"], "t": 0.4},
    "k + l + t": {"k": 5, "sensitive": ["ill"], "l": 3, "t": 0.4},
}


def grid(side: int, fine: bool = False) -> pa.Table:
    """Five records for every combination of values, each with another sensitive value."""
    cells = side ** len(COLUMNS)
    cell = np.repeat(np.arange(cells), 5)
    place = np.tile(np.arange(5), cells)
    columns = {name: cell // side**i % side for i, name in enumerate(COLUMNS)}
    ill = (np.random.default_rng(1).integers(0, 8, cells)[cell] + 3 * place) % 8
    order = np.random.default_rng(2).permutation(len(cell))
    named = pa.array([f"illness {i}" for i in range(8)]).take(pa.array(ill[order]))
    apart = {"e": np.random.default_rng(3).integers(0, 1000, len(cell))} if fine else {}
    return pa.table({**{name: column[order] for name, column in columns.items()}, **apart, "ill": named})


def policies(method: str, fine: bool = False) -> dict[str, Policy]:
    """The policy of each promise."""
    columns = [*COLUMNS, "e"] if fine else list(COLUMNS)
    return {name: make_policy(quasi_identifiers=[columns], method=method, **words) for name, words in PROMISES.items()}


def search(path: Path, policy: Policy) -> Callable[[], Any]:
    """A job that only searches."""
    table = compressed(engine_of(), open_source(path), policy, Run())
    needed = tuple(requirement.fitted(table.protected) for requirement in policy.requirements)
    method = method_of(policy.method, policy.options, 1)
    return lambda: method(table, needed, policy.options, Run())


def end_to_end(path: Path, policy: Policy) -> Callable[[], Any]:
    """A job that reads, searches, writes and verifies."""
    output = path.with_name("out.parquet")
    return lambda: release_of(open_source(path), policy).write(output, overwrite=True)


def compare(
    path: Path, asked: dict[str, Policy], job: Callable[[Path, Policy], Callable[[], Any]], repeat: int
) -> None:
    """Print the CPU seconds of each promise, and how many times those of k alone they are."""
    jobs = {name: job(path, policy) for name, policy in asked.items()}
    best: dict[str, float] = {}
    for _ in range(repeat):
        for name, run in jobs.items():
            best[name] = min(best.get(name, float("inf")), measured(run)[0].cpu)
    told = ", ".join(f"{name} {cpu:.2f} s ({cpu / best['k']:.2f}x)" for name, cpu in best.items())
    print(f"{asked['k'].method} {job.__name__.replace('_', ' ')}: {told}", flush=True)


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--side", type=int, default=21)
    arguments.add_argument("--repeat", type=int, default=3)
    arguments.add_argument("--methods", default="tdr,mondrian")
    arguments.add_argument("--search", action="store_true", help="the search only")
    arguments.add_argument("--fine", action="store_true", help="no two records are equal")
    arguments.add_argument("--profile", action="store_true")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "grid.parquet"
        pq.write_table(grid(given.side, given.fine), path)
        for method in given.methods.split(","):
            asked = policies(method, given.fine)
            for policy in asked.values():  # what compiles or loads on first use does so now
                small = path.with_name("small.parquet")
                pq.write_table(grid(3, given.fine), small)
                end_to_end(small, policy)()
            if given.profile:
                run = search(path, asked["k + l + t"])
                with cProfile.Profile() as profile:
                    run()
                pstats.Stats(profile).sort_stats("tottime").print_stats(18)
                continue
            for job in (search,) if given.search else (search, end_to_end):
                compare(path, asked, job, given.repeat)


if __name__ == "__main__":
    main()
