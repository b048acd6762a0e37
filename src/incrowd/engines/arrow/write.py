"""Recoded rows into a file, shown to a witness on the way."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

from incrowd.engines.arrow.ahead import ahead
from incrowd.engines.arrow.recode import labelled
from incrowd.engines.arrow.shuffle import shuffled
from incrowd.engines.engine import See
from incrowd.engines.kept_types import KeptTypes
from incrowd.formats.outputs import Output
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
    batches = ahead(map(kept.batch, rows if keep_order else shuffled(rows, witnessed, folder, recoding.names)))
    first = next(batches)
    written = first.schema.names[: len(first.schema) - len(witnessed)]
    schema = first.select(written).schema
    with open_writer(path, schema, source) if isinstance(path, Path) else path.writer(schema, source) as writer:
        for batch in itertools.chain([first], batches):
            run.check()
            see(batch)
            writer.write(batch.select(written))
    return writer.fingerprint
