"""What only rows can show about a release: which labels of the target are in which class, where tuples are dealt."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.engines.arrow.recode import Recoder
from incrowd.errors import DataError
from incrowd.formats.prefetch import ahead
from incrowd.formats.sources import Source
from incrowd.recodings.recoding import Recoding
from incrowd.run import Run
from incrowd.table.arrays import filled, text_array, to_numpy
from incrowd.table.grouping import Counts
from incrowd.table.scales import text_of
from incrowd.table.target_bins import lower_bounds, places_in
from incrowd.table.value_numbers import ValueNumbers


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
        ranked = np.append(ranks(text_of(numbered.values), labels), shape[1] - 1)[numbers]
        stay = found < classes if keep is None else keep & (found < classes)  # others are left out
        found, ranked = found[stay], ranked[stay]
        if (np.minimum(found, ranked) < 0).any():
            raise DataError(f"{source.name} changed while it was being measured; run the command again")
        counts += np.bincount(found * shape[1] + ranked, minlength=counts.size).reshape(shape)
        run.rows(len(batch))
    source.check_unchanged()
    return counts


def ranks(values: pa.Array, labels: tuple[str | None, ...]) -> Counts:
    """The place of each value among the labels, -1 for none."""
    if len(lower_bounds(labels)):
        return places_in(values.to_pylist(), labels)
    ranks = pc.index_in(values, text_array(labels), skip_nulls=True)
    return to_numpy(filled(ranks, -1))
