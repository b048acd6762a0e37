"""The cost of a top-down release beside the floor; writes `results/top_down.md`.

    python -m benchmarks.top_down                 # everything: Adult, 1 M records, growth to 3 M; both formats
    python -m benchmarks.top_down --no-growth     # without the growth
    python -m benchmarks.top_down --quick         # a tenth of it
    python -m benchmarks.top_down --profile       # where the time goes, stage by stage

Rows leave in the order in which they came, as in the floor, or shuffled, which is the default. Floor and incrowd take
turns, each in a process of its own, and the fastest run of each counts: on a machine that others use too, that is the
run they disturbed least. CPU seconds are disturbed less than those on the clock: where the two ratios differ, the one
of the CPU says what the work costs, the other also how well it is spread over the cores.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.blow_up import copies_for, make
from benchmarks.floor import ENGINES
from benchmarks.fresh import run

RESULTS = Path(__file__).parent / "results" / "top_down.md"
ORDERS = {"kept": ("--keep-order",), "shuffled": ()}
WORDS = {"one": "one of 14", "three": "three of 5"}
STAGES = {
    "compress": ("read", "collapse"),
    "search": (),
    "write": ("read again", "recode", "witness", "file", "hash of the input", "sync and move"),
    "measures": (),
}


@dataclass(frozen=True)
class Case:
    """What is released: Adult, so many copies of it, under one quasi-identifier or three."""

    name: str
    copies: int
    requirement: str = "one"


@dataclass(frozen=True)
class Result:
    """The fastest runs of a case."""

    case: Case
    format: str
    order: str
    ours: dict[str, Any]
    floors: dict[str, dict[str, Any]]

    @property
    def engine(self) -> str:
        """The fastest engine."""
        return min(self.floors, key=lambda engine: self.floors[engine]["wall"])


def cases(rows: int, growth: bool) -> list[Case]:
    """Adult, the blow-up with one and with three quasi-identifiers, and what lies before and after it."""
    copies = copies_for(rows)
    found = [Case("Adult", 1), Case("blow-up", copies), Case("blow-up", copies, "three")]
    if growth:
        found += [Case("growth", n) for n in (max(2, copies // 4), 3 * copies)]
    return found


def measure(case: Case, kind: str, folder: Path, repeat: int) -> list[Result]:
    """Floor, ours, floor, ours: the fastest of each, in each order of rows."""
    path = folder / f"adult-{case.copies}.{kind}"
    if not path.exists():
        make(path, case.copies)
    output = folder / f"out.{kind}"
    ours: dict[str, list[dict[str, Any]]] = {order: [] for order in ORDERS}
    floors: dict[str, list[dict[str, Any]]] = {engine: [] for engine in ENGINES}
    for _ in range(repeat):
        for engine in ENGINES:
            floors[engine].append(run("benchmarks.floor", engine, str(path), str(output)))
        for order, options in ORDERS.items():
            ours[order].append(run("benchmarks.ours", case.requirement, str(path), str(output), *options))
    least = {engine: fastest(runs) for engine, runs in floors.items()}
    return [Result(case, kind, order, fastest(runs), least) for order, runs in ours.items()]


def fastest(runs: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The run that took least on the clock; its CPU time is the least of all runs."""
    runs = list(runs)
    return {**min(runs, key=lambda found: found["wall"]), "cpu": min(found["cpu"] for found in runs)}


def row(result: Result) -> str:
    """One line of the table."""
    ours, floor = result.ours, result.floors[result.engine]
    cells = (
        f"{result.case.name}, {WORDS[result.case.requirement]}",
        result.format,
        result.order,
        f"{ours['rows']:,}",
        f"{ours['distinct']:,}",
        ours["steps"],
        f"{ours['stages']['search']:.2f}",
        f"{ours['wall']:.2f}",
        f"{ours['cpu']:.2f}",
        f"{ours['peak']:.0f}",
        f"{floor['wall']:.2f}, {result.engine}",
        f"{floor['cpu']:.2f}",
        f"{floor['peak']:.0f}",
        f"{ours['wall'] / floor['wall']:.2f}",
        f"{ours['cpu'] / floor['cpu']:.2f}",
    )
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


HEAD = (
    "| case | format | order | rows | distinct tuples | steps | search s | end-to-end s | CPU s | peak MB "
    "| floor s | floor CPU s | floor peak MB | ratio to the floor | ratio of CPU s |\n"
    + "| --- " * 3
    + "| ---: " * 12
    + "|"
)


def profile(result: Result) -> str:
    """Where the time of the fastest run went."""
    stages, wall = result.ours["stages"], result.ours["wall"]
    lines = [
        f"{result.case.name}, {WORDS[result.case.requirement]}, {result.format}, {result.order}, "
        f"{result.ours['rows']:,} rows",
        "",
        "| stage | s | share |",
        "| --- | ---: | ---: |",
    ]
    for stage, parts in STAGES.items():
        lines.append(_share(stage, stages[stage], wall))
        lines += [_share(f"&nbsp; {part}", stages.get(part, 0.0), wall) for part in parts]
        if parts:
            lines.append(_share("&nbsp; rest", stages[stage] - sum(stages.get(part, 0.0) for part in parts), wall))
    lines.append(_share("rest", wall - sum(stages[stage] for stage in STAGES), wall))
    return "\n".join([*lines, _share("all", wall, wall), ""])


def _share(stage: str, seconds: float, wall: float) -> str:
    return f"| {stage} | {seconds:.3f} | {100 * seconds / wall:.0f} % |"


def machine() -> str:
    """What the figures were made with."""
    packages = ("incrowd", "numpy", "pyarrow", *(engine for engine in ENGINES if engine != "pyarrow"))
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    return f"{os.cpu_count()} CPUs ({platform.machine()}), Python {platform.python_version()}, {versions}"


def main() -> None:
    parser = argparse.ArgumentParser(description="The cost of a top-down release beside the floor.")
    parser.add_argument("--rows", type=int, default=1_000_000, help="records of the blow-up, about; growth ends at 3x")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each; the fastest counts")
    parser.add_argument("--format", choices=("csv", "parquet"), action="append", help="default: both")
    parser.add_argument("--no-growth", action="store_true", help="one size only")
    parser.add_argument("--quick", action="store_true", help="100,000 rows, 2 runs, no growth, nothing written")
    parser.add_argument("--profile", action="store_true", help="print where the time goes; no growth, nothing written")
    parser.add_argument("--data", type=Path, help="folder that keeps the generated files")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.rows, arguments.repeat = 100_000, 2
    kept = not (arguments.quick or arguments.profile)  # the whole thing
    lines, profiles = [HEAD], []
    print(HEAD, flush=True)
    with tempfile.TemporaryDirectory(prefix="incrowd-benchmark-") as scratch:
        folder = arguments.data or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for case in cases(arguments.rows, kept and not arguments.no_growth):
            for kind in arguments.format or ("csv", "parquet"):
                for result in measure(case, kind, folder, arguments.repeat):
                    lines.append(row(result))
                    profiles.append(profile(result))
                    print(lines[-1], flush=True)
    if arguments.profile:
        print("", *profiles, sep="\n")
    if kept:
        write(lines)


def write(lines: list[str]) -> None:
    """Keep the table, with what made it."""
    arguments = " ".join(["python -m benchmarks.top_down", *sys.argv[1:]]).partition(" --data")[0]
    text = ["# Top-down releases and the floor", "", f"`{arguments}`", "", machine(), "", *lines]
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
