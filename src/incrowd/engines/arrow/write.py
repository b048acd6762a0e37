"""Recoded rows into a file or a table, read back and shown to an observer."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from incrowd.engines.arrow.recode import labelled
from incrowd.engines.arrow.shuffle import shuffled
from incrowd.engines.engine import AS_RELEASED, Observer
from incrowd.engines.kept_types import KeptTypes
from incrowd.engines.plan import ReleasePlan
from incrowd.formats.prefetch import ahead
from incrowd.formats.read_back import written
from incrowd.formats.registry import has_types, open_writer, output_of
from incrowd.formats.sources import Source
from incrowd.formats.writers import BatchWriter, Output
from incrowd.recodings.recoding import Recoding
from incrowd.run import Run


def output(address: str | Path, *, overwrite: bool) -> Output | None:
    return output_of(address, overwrite=overwrite)


def write(
    source: Source,
    recoding: Recoding,
    path: Path | Output,
    observer: Observer,
    run: Run,
    plan: ReleasePlan = AS_RELEASED,
) -> str:
    hidden = plan.hidden_columns
    rows = labelled(source, recoding, run, plan)
    kept = KeptTypes.of(recoding, source.schema) if has_types(path) else KeptTypes()
    folder = path.parent if isinstance(path, Path) else path.beside.parent
    rows = map(kept.batch, rows if plan.keep_order else shuffled(rows, hidden, folder, recoding.names))
    batches = ahead(rows)
    first = next(batches)
    schema = first.select(first.schema.names[: len(first.schema) - len(hidden)]).schema
    return written_to(path, itertools.chain([first], batches), schema, source, observer, run)


def written_to(
    path: Path | Output,
    batches: Iterator[pa.RecordBatch],
    schema: pa.Schema,
    source: Source,
    observer: Observer,
    run: Run,
) -> str:
    """Write released rows in their order, and show the observer what was read back; gives its fingerprint."""

    def opened(schema: pa.Schema) -> BatchWriter:
        return open_writer(path, schema, source) if isinstance(path, Path) else path.writer(schema, source)

    folder = path.parent if isinstance(path, Path) else path.beside.parent
    return written(batches, schema, opened, observer, run.check, folder, ahead)
