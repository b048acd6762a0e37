"""A comparison as files: results.csv, results.json, and a plot of privacy against utility where matplotlib is there."""

from __future__ import annotations

import csv
import io
import json
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.comparison.comparison import Comparison
from incrowd.errors import OutputError
from incrowd.formats.atomic_files import AtomicFiles, check_output
from incrowd.formats.sources import Source, WatchedFile
from incrowd.measures.registry import MEASURES
from incrowd.release.files import OWNER_FILE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOG, CSV, JSON, PLOT = "runs.jsonl", "results.csv", "results.json", "privacy-utility.svg"
MARKERS = "osD^vP*Xp<>h"
WIDE = 30  # a range from which on an axis is logarithmic


def prepare(folder: Path, source: Source) -> Path:
    """Make the folder of a comparison and check that its files can be written; gives the path of its log."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot create the folder {folder}: {error.strerror}") from None
    log, inputs = folder / LOG, [source.path] if isinstance(source, WatchedFile) else []
    for name in (CSV, JSON, PLOT, LOG):
        check_output(folder / name, inputs=inputs, overwrite=log.is_file(), suffixes=(Path(name).suffix,))
    return log


def write(comparison: Comparison, folder: Path) -> tuple[Path, ...]:
    """Write the results of a comparison; gives what was written."""
    contents = {
        CSV: _csv(comparison).encode(),
        JSON: json.dumps(comparison.to_json(), indent=1, ensure_ascii=False, default=repr).encode() + b"\n",
    }
    if comparison.losses and can_plot():
        contents[PLOT] = _svg(comparison)
    with AtomicFiles() as files:
        for name, content in contents.items():
            mode = OWNER_FILE if name == JSON else None  # it holds a digest of the table, which confirms guesses
            files.open(folder / name, mode=mode).write_bytes(content)
    return tuple(folder / name for name in contents)


def can_plot() -> bool:
    return find_spec("matplotlib") is not None


def _csv(comparison: Comparison) -> str:
    """One line per run; a loss is followed by the run that dominates it, if there is one."""
    measures = dict.fromkeys(name for run in comparison.runs for name in run.values)
    names = [*measures, *comparison.errors]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    dominated = [f"{loss}_dominated_by" for loss in comparison.losses]
    writer.writerow(["method", "k", "status", "problem", *names, *dominated])
    for run in comparison.runs:
        better = [comparison.dominated_by(run, loss) or "" for loss in comparison.losses]
        writer.writerow([run.method, run.k, run.status, run.problem, *map(run.value, names), *better])
    return text.getvalue()


def _svg(comparison: Comparison) -> bytes:
    import matplotlib

    file = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "incrowd", "svg.fonttype": "none", "font.size": 9}):
        metadata: dict[str, Any] = {"Date": None}  # the same comparison, the same file
        figure(comparison).savefig(file, format="svg", metadata=metadata)
    return file.getvalue()


def figure(comparison: Comparison) -> Figure:
    """A panel per loss, against k; full marks are settings that no other one dominates, joined by a line."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    losses = comparison.losses
    columns = 2 if len(losses) == 4 else min(3, len(losses))
    rows = -(-len(losses) // columns)
    drawn = Figure(figsize=(3.6 * columns, 3.1 * rows + 0.7), layout="constrained")
    methods = tuple(dict.fromkeys(run.method for run in comparison.runs if run.values))
    looks = {method: (f"C{place % 10}", MARKERS[place % len(MARKERS)]) for place, method in enumerate(methods)}
    for place, loss in enumerate(losses):
        _panel(drawn.add_subplot(rows, columns, place + 1), comparison, loss, looks)
    handles: list[Any] = [Line2D([], [], color=c, marker=m, ls="", label=name) for name, (c, m) in looks.items()]
    handles.append(Line2D([], [], color="grey", marker="o", mfc="none", ls="", alpha=0.6, label="hollow: dominated"))
    if comparison.errors:
        handles.append(Line2D([], [], color="grey", ls="--", label="error on the original"))
    drawn.legend(handles=handles, loc="outside lower center", ncols=min(6, len(handles)), frameon=False)
    drawn.suptitle(f"{comparison.table}: privacy against loss (right and low is better)", fontsize=10)
    return drawn


def _panel(axes: Axes, comparison: Comparison, loss: str, looks: dict[str, tuple[str, str]]) -> None:
    best, values = [], []
    for run in comparison.runs:
        value = run.value(loss)
        if value is None:
            continue
        colour, marker = looks[run.method]
        if comparison.dominated_by(run, loss) is None:
            best.append((run.k, value))
            axes.plot(run.k, value, marker, color=colour, markersize=7)
        else:
            axes.plot(run.k, value, marker, color=colour, markerfacecolor="none", markersize=5, alpha=0.6, zorder=3)
        values.append(value)
    axes.plot(*zip(*sorted(best), strict=True), color="black", linewidth=0.8, zorder=1)
    ks = sorted({run.k for run in comparison.runs})
    axes.set_xscale("log")
    axes.set_xticks(ks, [f"{k}" for k in ks])
    axes.minorticks_off()
    if min(values) > 0 and max(values) > WIDE * min(values):
        axes.set_yscale("log")
    axes.set_xlabel("k")
    for entry in next((run.errors for run in comparison.runs if run.value(loss) is not None), ()):
        if loss == f"error_{entry['classifier']}":
            axes.axhline(entry["baseline"]["value"], color="grey", linestyle="--", linewidth=0.8)
    axes.set_title(MEASURES[loss].title if loss in MEASURES else loss.replace("error_", "error of "), fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
