"""How the cost of a release grows with its rows; writes `results/growth.md` and `.svg`.

    python -m benchmarks.growth                          # 10 k to 1 M rows
    python -m benchmarks.growth --rows 10000 100000      # other sizes
    python -m benchmarks.growth --methods tdr mondrian

Adult blown up as in the TDS paper, section 6.3, to a million records, of which the first so many of a fixed shuffle are
released: nearly every record is distinct, so that tuples grow as rows do. One quasi-identifier of all 14 attributes,
k = 50, the shipped taxonomies, no target; Parquet in and out, order kept. `cover` runs without effort, which is work
that does not depend on the rows. Every run is a process of its own, and counts CPU seconds over all threads. The
exponent is the slope of a line through the logarithms of rows and seconds: from one size to the next, and over all
sizes from 100,000 rows on, where what every run costs no longer hides it. n log n has 1.07 between 100 k and 1 M rows.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fresh import cpu_seconds, measured, run
from benchmarks.top_down import machine

RESULTS = Path(__file__).parent / "results"
SIZES = (10_000, 31_623, 100_000, 316_228, 994_884)
METHODS: dict[str, dict[str, Any]] = {"tdr": {}, "mondrian": {}, "cover": {"effort": 0}}
FITTED = 100_000  # rows from which the exponent is fitted
K = 50


def make(path: Path, rows: int) -> None:
    """The first rows of the blown-up Adult in a fixed shuffle."""
    import pyarrow.parquet as pq
    from papers.adult import adult_rows
    from papers.blow_up import blow_up

    from benchmarks.blow_up import copies_for

    random = np.random.default_rng(1)
    table = blow_up(adult_rows(), copies_for(SIZES[-1]), random)
    pq.write_table(table.take(random.permutation(len(table))[:rows]), path)


def one(method: str, path: Path, output: Path) -> dict[str, Any]:
    """One release: what all of it cost, and what the search."""
    from papers.adult import ATTRIBUTES, TARGET

    import incrowd
    from benchmarks.ours import import_all
    from incrowd import pipeline

    import_all()
    searched: list[float] = []
    search = pipeline.search

    def timed(*words: Any) -> Any:
        began = cpu_seconds()
        found = search(*words)
        searched.append(cpu_seconds() - began)
        return found

    pipeline.search = timed

    def release() -> incrowd.Release:
        made = incrowd.anonymize(
            path,
            quasi_identifiers=list(ATTRIBUTES),
            k=K,
            method=method,
            **METHODS[method],
            keep=[TARGET],
            taxonomies=incrowd.datasets.taxonomies("adult"),
            keep_order=True,
        )
        made.write(output, overwrite=True)
        return made

    cost, made = measured(release)
    facts = {"rows": made.table.records, "tuples": len(made.table.counts), "ncp": made.measures.total.ncp}
    return {**asdict(cost), **facts, "search": sum(searched)}


def exponent(runs: list[dict[str, Any]], word: str) -> float:
    """The slope of a line through the logarithms."""
    rows, seconds = (np.log([found[name] for found in runs]) for name in ("rows", word))
    return float(np.polyfit(rows, seconds, 1)[0])


def report(found: dict[str, list[dict[str, Any]]]) -> list[str]:
    """The table of all runs, and that of the exponents."""
    lines = [
        "| method | rows | distinct tuples | CPU s | search CPU s | peak MB | NCP | exponent of CPU | of search |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for method, runs in found.items():
        for before, now in zip([None, *runs], runs, strict=False):
            slopes = ["", ""] if before is None else [f"{exponent([before, now], w):.2f}" for w in ("cpu", "search")]
            lines.append(
                f"| {method} | {now['rows']:,} | {now['tuples']:,} | {now['cpu']:.2f} | {now['search']:.2f} | "
                f"{now['peak']:,.0f} | {now['ncp']:.4f} | {slopes[0]} | {slopes[1]} |"
            )
    fitted = {method: [ran for ran in runs if ran["rows"] >= FITTED] for method, runs in found.items()}
    if any(len(runs) > 1 for runs in fitted.values()):
        lines += ["", f"From {FITTED:,} rows on:", ""]
        lines += ["| method | exponent of CPU | of search |", "| --- | ---: | ---: |"]
    for method, runs in fitted.items():
        if len(runs) > 1:
            lines.append(f"| {method} | {exponent(runs, 'cpu'):.2f} | {exponent(runs, 'search'):.2f} |")
    return lines


def plot(found: dict[str, list[dict[str, Any]]], path: Path) -> None:
    """CPU seconds over rows, a line per method; the dotted line is n log n."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "incrowd"
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
    for axis, word, title in zip(axes, ("cpu", "search"), ("whole release", "search"), strict=True):
        for method, runs in found.items():
            axis.loglog([ran["rows"] for ran in runs], [ran[word] for ran in runs], marker="o", label=method)
        rows = np.array([ran["rows"] for ran in next(iter(found.values()))], float)
        most = max(runs[-1][word] for runs in found.values())
        shape = rows * np.log(rows)
        axis.loglog(rows, most * shape / shape[-1], color="gray", linestyle=":", label="n log n")
        axis.set(xlabel="rows", title=f"CPU seconds, {title}")
        axis.grid(visible=True, which="both", alpha=0.3)
    axes[0].legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, nargs="*", default=SIZES)
    parser.add_argument("--methods", nargs="*", choices=METHODS, default=list(METHODS))
    parser.add_argument("--repeat", type=int, default=1, help="runs of each; the one with least CPU counts")
    parser.add_argument("--data", type=Path, help="folder that keeps the tables, and runs that are finished")
    parser.add_argument("--dry", action="store_true", help="write no results")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        method, path, output = arguments.one
        print(json.dumps(one(method, Path(path), Path(output))))
        return
    found: dict[str, list[dict[str, Any]]] = {method: [] for method in arguments.methods}
    with tempfile.TemporaryDirectory(prefix="incrowd-benchmark-") as scratch:
        folder = arguments.data or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for rows in arguments.rows:
            path = folder / f"adult-{rows}.parquet"
            if not path.exists():
                make(path, rows)
            for method, runs in found.items():
                kept = folder / f"growth-{method}-{rows}.json"
                if not kept.exists():
                    asked = ("--one", method, str(path), str(Path(scratch) / "out.parquet"))
                    several = [run("benchmarks.growth", *asked) for _ in range(arguments.repeat)]
                    best = min(several, key=lambda ran: float(ran["cpu"]))
                    if arguments.data is not None:
                        kept.write_text(json.dumps(best))
                else:
                    best = json.loads(kept.read_text())
                runs.append(best)
                print(method, best, flush=True)
    lines = report(found)
    print("\n".join(lines))
    if not arguments.dry:
        command = " ".join(["python -m benchmarks.growth", *sys.argv[1:]]).partition(" --data")[0]
        picture = "![CPU seconds over rows](growth.svg)"
        text = "\n".join(["# Growth", "", f"`{command}`", "", machine(), "", picture, "", *lines, ""])
        (RESULTS / "growth.md").write_text(text, encoding="utf-8")
        plot(found, RESULTS / "growth.svg")


if __name__ == "__main__":
    main()
