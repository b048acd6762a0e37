"""What only rows can show about a release: which labels of the target are in which class, where tuples are dealt."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.engines.arrow.ahead import ahead
from incrowd.engines.arrow.compress import ValueNumbers
from incrowd.engines.arrow.recode import Recoder
from incrowd.errors import DataError
from incrowd.formats.sources import Source
from incrowd.recodings.recoding import Recoding
from incrowd.run import Run
from incrowd.table.grouping import Counts
from incrowd.table.scales import text_of


def label_counts(
    source: Source, recoding: Recoding, target: str, labels: tuple[str | None, ...], classes: int, run: Run
) -> Counts:
    """Records per released class and label; see `Engine.label_counts`."""
    columns = [name for name in source.columns if name not in recoding.dropped]
    recoder = Recoder(recoding, lambda: source.batches(columns, encoded=recoding.names))
    numbered, shape = ValueNumbers(target, ()), (classes, len(labels))
    counts = np.zeros(shape, np.int64)
    for batch in ahead(source.batches(columns, encoded=recoding.names)):
        found, keep = recoder.classes(batch)
        numbers = numbered.codes(batch.column(target))
        ranks = pc.index_in(text_of(numbered.values), pa.array(labels, pa.string()), skip_nulls=True)
        ranked = np.append(ranks.fill_null(-1).to_numpy(zero_copy_only=False), shape[1] - 1)[numbers]
        if keep is not None:
            found, ranked = found[keep], ranked[keep]
        if (np.minimum(found, ranked) < 0).any():
            raise DataError(f"{source.name} changed while it was being measured; run the command again")
        counts += np.bincount(found * shape[1] + ranked, minlength=counts.size).reshape(shape)
        run.rows(len(batch))
    source.check_unchanged()
    return counts
