"""One run of incrowd, from a path to verified files and measures, with the time of each stage.

    python -m benchmarks.ours one adult-1m.csv out.csv --keep-order

Imports are done before the clock starts, pandas among them, which pyarrow imports for some engines.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from papers.adult import ATTRIBUTES, TARGET

import incrowd
from benchmarks.fresh import measured
from incrowd.formats.registry import open_source

K = 50
LATER = (  # what is imported when it is first needed
    "engines.arrow.engine",
    "formats.csv_writer",
    "formats.databases",
    "formats.parquet_files",
    "formats.writers",
    "pipeline",
    "privacy.units",
    "report.progress",
    "search.top_down.top_down",
    "taxonomies.calendar",
    "taxonomies.domains",
)
REQUIREMENTS: dict[str, list[tuple[str, ...]]] = {
    "one": [ATTRIBUTES],  # AllAttVID of the paper
    "three": [ATTRIBUTES[:5], ATTRIBUTES[5:10], ATTRIBUTES[9:]],  # three of five; sex is in two of them
}


def import_all() -> None:
    """Import what a run needs, so that it is not counted."""
    with contextlib.suppress(ImportError):
        import pandas  # noqa: F401
    for module in LATER:
        importlib.import_module(f"incrowd.{module}")


class Stages:
    """Seconds spent in functions, by stage. A stage includes those that it calls."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    @contextlib.contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Count the time inside towards a stage."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] += time.perf_counter() - start

    def watch(self, owner: Any, name: str, stage: str) -> None:
        """Count the time of a function towards a stage."""
        plain = owner.__dict__[name]
        kind = type(plain) if isinstance(plain, classmethod | staticmethod) else None
        function: Callable[..., Any] = plain.__func__ if kind else plain

        @functools.wraps(function)
        def wrapped(*arguments: Any, **named: Any) -> Any:
            with self.timed(stage):
                return function(*arguments, **named)

        setattr(owner, name, kind(wrapped) if kind else wrapped)

    def watch_batches(self, owner: Any) -> None:
        """Count the time that a source takes to give its batches, during compress and during write."""
        plain = owner.batches

        @functools.wraps(plain)
        def wrapped(*arguments: Any, **named: Any) -> Iterator[Any]:
            stage = "read again" if "compress" in self.seconds else "read"
            batches = plain(*arguments, **named)
            while True:
                with self.timed(stage):
                    batch = next(batches, None)
                if batch is None:
                    return
                yield batch

        owner.batches = wrapped


def watch_all() -> Stages:
    """Watch every stage of the pipeline."""
    from incrowd import pipeline  # noqa: F401  (the pipeline is imported before the clock starts)
    from incrowd.engines.arrow import recode
    from incrowd.engines.registry import engine_of
    from incrowd.formats import atomic_files, csv_reader, parquet_files, sources, writers
    from incrowd.release import release
    from incrowd.search.top_down import top_down
    from incrowd.table import compressed
    from incrowd.verification import witness

    stages = Stages()
    stages.watch(type(engine_of()), "compress", "compress")
    stages.watch_batches(csv_reader.CsvSource)
    stages.watch_batches(parquet_files.ParquetSource)
    stages.watch(compressed.CompressedTable, "build", "collapse")
    stages.watch(top_down, "top_down", "search")
    stages.watch(release.Release, "write", "write")
    stages.watch(recode.Recoder, "batch", "recode")
    stages.watch(witness.Witness, "see", "witness")
    stages.watch(witness.Witness, "verdict", "witness")
    stages.watch(writers.FileWriter, "write", "file")
    stages.watch(writers.FileWriter, "finish", "file")
    stages.watch(atomic_files.AtomicFiles, "_commit", "sync and move")
    stages.watch(sources.WatchedFile, "fingerprint", "hash of the input")
    return stages


def run(requirement: str, path: Path, output: Path, stages: Stages, *, keep_order: bool) -> incrowd.Release:
    """Release, write, measure."""
    qids = [incrowd.QuasiIdentifier(names, K) for names in REQUIREMENTS[requirement]]
    taxonomies = incrowd.datasets.taxonomies("adult")
    passing = set(open_source(path).columns) - {name for names in REQUIREMENTS[requirement] for name in names}
    words = {"target": TARGET, "keep": sorted(passing), "taxonomies": taxonomies, "keep_order": keep_order}
    release = incrowd.anonymize(path, quasi_identifiers=qids, method="tdr", **words)
    release.write(output, overwrite=True)
    with stages.timed("measures"):
        _ = release.measures
    return release


def main() -> None:
    parser = argparse.ArgumentParser(description="Make a release and measure what it costs.")
    parser.add_argument("requirement", choices=REQUIREMENTS)
    parser.add_argument("path", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--keep-order", action="store_true", help="rows are not shuffled, as in the floor")
    arguments = parser.parse_args()
    import_all()
    stages = watch_all()
    asked = arguments.requirement, arguments.path, arguments.output, stages
    cost, release = measured(lambda: run(*asked, keep_order=arguments.keep_order))
    facts = {
        "rows": release.table.records,
        "distinct": len(release.table.counts),
        "steps": len(release.steps),
        "stages": dict(stages.seconds),
    }
    print(json.dumps({**asdict(cost), **facts}))


if __name__ == "__main__":
    main()
