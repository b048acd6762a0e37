"""A few rows before and after, side by side; for the steward, who may see both."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from incrowd.engines.arrow.recode import Recoder
from incrowd.formats.sources import Source
from incrowd.recodings.recoding import Recoding


def preview(source: Source, recoding: Recoding, rows: int) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """The first few rows that are released; see `Engine.preview`."""
    recoder = Recoder(recoding, lambda: source.batches(None, encoded=recoding.names))
    for batch in source.batches(None, encoded=recoding.names):
        found, keep = recoder.recode(batch)
        places = np.arange(len(batch)) if keep is None else np.flatnonzero(keep)
        if not len(places):
            continue
        shown = pa.array(places[:rows])
        kept = [name for name in batch.schema.names if name not in recoding.dropped]
        columns = [found.get(name, batch.column(name)).take(shown) for name in kept]
        return batch.take(shown), pa.RecordBatch.from_arrays(columns, names=kept)
    nothing = pa.RecordBatch.from_pydict({name: pa.array([], pa.string()) for name in source.columns})
    return nothing, nothing.drop_columns([name for name in recoding.dropped if name in source.columns])
