"""The experiment of the KACA paper (Section 8): four measures against k and against the size of the quasi-identifier.

    python -m benchmarks.kaca_experiment HIERARCHIES

Adult (45,222 complete records) with the hierarchies of a folder, one CSV file per attribute (the paper's Table 4 has
the shape of ARX's), height weights with beta 1, KACA2 with at most 10 % inconsistency, means of 10 seeds; beside them
our own method. Writes `results/kaca_experiment.md` and, where matplotlib is installed, `results/kaca_experiment.svg`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from papers.adult import EIGHT, all_rows
from papers.local_recoding import CROWDS, SEEDS, SIZES, measured

RESULTS = Path(__file__).parent / "results"
METHOD_OPTIONS: dict[str, dict[str, Any]] = {"kaca": {}, "kaca2": {"max_inconsistency": 0.1}, "cover": {}}
MEASURES = ("distortion", "DM", "C_AVG", "inconsistency")


def table_of(title: str, axis: str, places: list[int], found: dict[str, list[list[float]]]) -> str:
    """One Markdown table."""
    head = [f"{method} {measure}" for measure in MEASURES for method in found]
    lines = [f"## {title}", "", "| " + " | ".join([axis, *head]) + " |", "| --- |" + " ---: |" * len(head)]
    shapes = ("{:,.0f}", "{:,.0f}", "{:.3f}", "{:.1f} %")
    for row, place in enumerate(places):
        cells = [shapes[m].format(values[row][m]) for m in range(len(MEASURES)) for values in found.values()]
        lines.append("| " + " | ".join([str(place), *cells]) + " |")
    return "\n".join(lines) + "\n"


def plot(panels: list[tuple[str, list[int], dict[str, list[list[float]]]]]) -> None:
    """One row of four plots per panel."""
    try:
        import matplotlib
    except ImportError:
        return
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "incrowd"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(len(panels), len(MEASURES), figsize=(16, 4 * len(panels)))
    for row, (axis, places, found) in enumerate(panels):
        for column, name in enumerate(MEASURES):
            for method, values in found.items():
                axes[row][column].plot(places, [value[column] for value in values], marker="o", label=method)
            axes[row][column].set(xlabel=axis, title=name, ylim=(0, None))
            axes[row][column].legend()
    figure.tight_layout()
    figure.savefig(RESULTS / "kaca_experiment.svg", metadata={"Date": None})


def main(hierarchies: str) -> None:
    rows, sizes = all_rows(), list(SIZES)

    def run(size: int, k: int, method: str) -> list[Any]:
        return measured(rows, EIGHT[:size], k, method, METHOD_OPTIONS[method], hierarchies, SEEDS)

    by_k = {m: [run(6, k, m) for k in CROWDS] for m in METHOD_OPTIONS}
    by_size = {m: [run(size, 10, m) for size in sizes] for m in METHOD_OPTIONS}
    texts = [
        "# The experiment of the KACA paper\n",
        f"`python -m benchmarks.kaca_experiment HIERARCHIES`: Adult, 45,222 records, means of {SEEDS} seeds, height "
        "weights with beta 1, KACA2 with at most 10 % inconsistency.\n",
        table_of("Against k, first six attributes", "k", list(CROWDS), by_k),
        table_of("Against the number of attributes, k = 10", "attributes", sizes, by_size),
        "![plots](kaca_experiment.svg)\n",
    ]
    (RESULTS / "kaca_experiment.md").write_text("\n".join(texts), encoding="utf-8")
    plot([("k", list(CROWDS), by_k), ("attributes", sizes, by_size)])


if __name__ == "__main__":
    main(*sys.argv[1:])
