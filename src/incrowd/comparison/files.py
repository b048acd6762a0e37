"""A comparison as files: results.csv, results.json, and a plot of privacy against utility."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from incrowd.comparison.comparison import Comparison
from incrowd.display import plot_of
from incrowd.errors import OutputError
from incrowd.formats.atomic_files import AtomicFiles, check_output
from incrowd.formats.sources import Source, WatchedFile
from incrowd.release.files import OWNER_FILE

LOG, CSV, JSON, PLOT = "runs.jsonl", "results.csv", "results.json", "privacy-utility.svg"


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
    if comparison.losses:
        contents[PLOT] = plot_of(comparison).encode()
    with AtomicFiles() as files:
        for name, content in contents.items():
            mode = OWNER_FILE if name == JSON else None  # it holds a digest of the table, which confirms guesses
            files.open(folder / name, mode=mode).write_bytes(content)
    return tuple(folder / name for name in contents)


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
