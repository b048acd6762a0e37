"""Recoded rows into a file, shown to a witness on the way."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

from incrowd.engines.arrow.ahead import ahead
from incrowd.engines.arrow.recode import released
from incrowd.engines.arrow.shuffle import shuffled
from incrowd.engines.engine import See
from incrowd.formats.registry import open_writer
from incrowd.formats.sources import Source
from incrowd.recodings.recoding import Recoding
from incrowd.run import Run


def write(
    source: Source,
    recoding: Recoding,
    path: Path,
    see: See,
    run: Run,
    *,
    seen: bool = False,
    witnessed: Sequence[str] = (),
    keep_order: bool = False,
) -> str:
    """Write the recoded rows to a file; see `Engine.write`."""
    rows = released(source, recoding, run, seen=seen, witnessed=witnessed)
    batches = ahead(rows if keep_order else shuffled(rows, witnessed, path.parent, recoding.names))
    first = next(batches)
    written = first.schema.names[: len(first.schema) - len(witnessed)]
    with open_writer(path, first.select(written).schema, source) as writer:
        for batch in itertools.chain([first], batches):
            run.check()
            see(batch)
            writer.write(batch.select(written))
    return writer.fingerprint
