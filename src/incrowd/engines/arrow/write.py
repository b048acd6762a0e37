"""Recoded rows into a file, shown to a witness on the way."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from incrowd.engines.arrow.ahead import ahead
from incrowd.engines.arrow.recode import released
from incrowd.formats.registry import open_writer
from incrowd.formats.sources import Source
from incrowd.recodings.recoding import Recoding
from incrowd.run import Run


def write(
    source: Source,
    recoding: Recoding,
    path: Path,
    see: Callable[[pa.RecordBatch], object],
    run: Run,
    *,
    seen: bool = False,
) -> str:
    """Write the recoded rows to a file; see `Engine.write`."""
    batches = ahead(released(source, recoding, run, seen=seen))
    first = next(batches)
    with open_writer(path, first.schema, source) as writer:
        for batch in itertools.chain([first], batches):
            see(batch)
            writer.write(batch)
    return writer.fingerprint
