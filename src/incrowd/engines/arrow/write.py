"""Recoded rows into a file or a table, read back and shown to a witness."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from incrowd.engines.arrow.recode import labelled
from incrowd.engines.arrow.shuffle import shuffled
from incrowd.engines.engine import See
from incrowd.engines.kept_types import KeptTypes
from incrowd.formats.outputs import BatchWriter, Output
from incrowd.formats.prefetch import ahead
from incrowd.formats.read_back import written
from incrowd.formats.registry import has_types, open_writer, output_of
from incrowd.formats.sources import Source
from incrowd.recodings.recoding import Recoding
from incrowd.run import Run


def output(address: str | Path, *, overwrite: bool) -> Output | None:
    """Where rows go if that is no file; see `Engine.output`."""
    return output_of(address, overwrite=overwrite)


def write(
    source: Source,
    recoding: Recoding,
    path: Path | Output,
    see: See,
    run: Run,
    *,
    sees: Sequence[str] | None = None,
    seen: bool = False,
    witnessed: Sequence[str] = (),
    keep_order: bool = False,
) -> str:
    """Write the recoded rows to a file; see `Engine.write`."""
    rows = labelled(source, recoding, run, seen=seen, witnessed=witnessed)
    kept = KeptTypes.of(recoding, source.schema) if has_types(path) else KeptTypes()
    folder = path.parent if isinstance(path, Path) else path.beside.parent
    rows = map(kept.batch, rows if keep_order else shuffled(rows, witnessed, folder, recoding.names))
    batches = ahead(rows)
    first = next(batches)
    schema = first.select(first.schema.names[: len(first.schema) - len(witnessed)]).schema

    def opened(schema: pa.Schema) -> BatchWriter:
        return open_writer(path, schema, source) if isinstance(path, Path) else path.writer(schema, source)

    return written(itertools.chain([first], batches), schema, opened, see, run.check, folder, ahead)
