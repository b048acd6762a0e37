"""What analyses of a release say beside those of the original: IL1, eigenvalues, propensity scores, a regression.

All of them follow from the table and its recoding: which number each original value is, which one its released value
stands for (`information.shown_numbers`), and how many records there are of each pair. A value that could be any counts
as the mean of its column, and so does all of a left-out record where records are compared one by one.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from incrowd.measures.information import numbers_of, shown_numbers
from incrowd.recodings.recoding import Pieces, Recoding
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Counts, Floats

MOST_VALUES = 10  # of a category that are told apart
ROUNDS, ENOUGH, RIDGE = 50, 1e-10, 1e-9
_Z = 1.959964  # of the normal distribution, two-sided 95 %

Pairs = Mapping[str, tuple[Floats, Floats]]  # by column of numbers, what each piece has before and after


def _pairs(table: CompressedTable, recoding: Recoding, pieces: Pieces) -> Pairs:
    """The columns of numbers that differ."""
    found = {}
    for index, attribute in enumerate(table.attributes):
        if (known := numbers_of(attribute)) is None:
            continue
        scale, numbers = known
        counts = np.where(np.isnan(numbers), 0, table.value_counts(index))
        mean = float(counts @ np.nan_to_num(numbers)) / max(1, int(counts.sum()))
        before = np.where(np.isnan(numbers), mean, numbers)[table.codes[index].astype(np.int64)[pieces.tuples]]
        cells = pieces.cells[attribute.name].astype(np.int64)
        after = np.full(len(cells), mean)
        after[pieces.kept] = shown_numbers(recoding, attribute, scale, numbers, cells[pieces.kept])
        after[np.isnan(after)] = mean
        if (before != before[0]).any():
            found[attribute.name] = before, after
    return found


def _spread(values: Floats, records: Counts) -> tuple[Floats, Floats]:
    """Mean and standard deviation (of a sample) of each column."""
    mean = np.average(values, axis=0, weights=records)
    return mean, np.sqrt(records @ (values - mean) ** 2 / max(1, int(records.sum()) - 1))


def il1(table: CompressedTable, recoding: Recoding) -> float | None:
    """IL1s: the mean over cells of |x - x'| / (sqrt(2) S_j), S_j the standard deviation of the original column.

    Yancey, Winkler and Creecy 2002; Mateo-Sanz, Sebe and Domingo-Ferrer 2004. The code of sdcMicro's dUtility
    multiplies by sqrt(2) where the papers divide, so it shows twice this figure. None without a column of numbers that
    differ.
    """
    pieces = recoding.pieces(table)
    lost = []
    for before, after in _pairs(table, recoding, pieces).values():
        _, deviation = _spread(before, pieces.records)
        lost.append(float(pieces.records @ np.abs(before - after)) / (np.sqrt(2) * deviation * table.records))
    return float(np.mean(lost)) if lost else None


def eigenvalues(table: CompressedTable, recoding: Recoding) -> float | None:
    """The sum of |e - e'| / e over the eigenvalues of the correlations of original and of released numbers.

    dUtility(method = "eigen") of sdcMicro (Templ and Meindl 2008). A released column that is the same everywhere is
    correlated with none. None with fewer than two columns of numbers, or where the others determine one.
    """
    pieces = recoding.pieces(table)
    pairs = _pairs(table, recoding, pieces)
    if len(pairs) < 2 or not pieces.kept.any():
        return None
    before, after = (np.column_stack(side) for side in zip(*pairs.values(), strict=True))
    first = _correlation_eigenvalues(before, pieces.records)
    second = _correlation_eigenvalues(after[pieces.kept], pieces.records[pieces.kept])
    return None if first.min() < RIDGE else float((np.abs(first - second) / first).sum())


def _correlation_eigenvalues(values: Floats, records: Counts) -> Floats:
    """From the largest to the smallest."""
    mean, deviation = _spread(values, records)
    scaled = (values - mean) / np.where(deviation > 0, deviation, np.inf)
    matrix = (scaled * records[:, None]).T @ scaled / max(1, int(records.sum()) - 1)
    return np.asarray(np.linalg.eigvalsh(matrix)[::-1])


def propensity(table: CompressedTable, recoding: Recoding) -> float:
    """pMSE: how well a logistic regression tells released records from original ones; 0 not at all, 0.25 surely.

    The mean over both of (p - c)^2, with the scores p and the share c of released records (Snoke, Raab, Nowok, Dibben
    and Slavkovic 2018, section 3). Numbers are a column each, of a category the ten most frequent values, where a
    group counts as the share of its values that are that one.
    """
    pieces = recoding.pieces(table)
    pairs, before, after = _pairs(table, recoding, pieces), [], []
    for index, attribute in enumerate(table.attributes):
        if attribute.name in pairs:
            sides = [side[:, None] for side in pairs[attribute.name]]
        else:
            counts = table.value_counts(index)
            frequent = np.argsort(-counts, kind="stable")[: min(MOST_VALUES, int((counts > 0).sum()) - 1)]
            shares = np.asarray(np.arange(attribute.size)[:, None] == frequent, np.float64)
            own = shares[table.codes[index].astype(np.int64)[pieces.tuples]]
            sides = [own, recoding.means(attribute, shares)[pieces.cells[attribute.name]]]
        before.append(sides[0])
        after.append(sides[1])
    values = np.vstack([np.hstack(before), np.hstack(after)[pieces.kept]])
    records = np.concatenate([pieces.records, pieces.records[pieces.kept]]).astype(np.float64)
    is_released = np.arange(len(records)) >= len(pieces.records)
    share = float(records[is_released].sum() / records.sum())
    scores = _scores(values, is_released.astype(np.float64), records)
    return float(records @ (scores - share) ** 2 / records.sum())


def _scores(values: Floats, labels: Floats, records: Floats) -> Floats:
    """The scores of a logistic regression with an intercept, by Newton's method; a trace of a ridge keeps it finite."""
    mean = np.average(values, axis=0, weights=records)
    deviation = np.sqrt(np.average((values - mean) ** 2, axis=0, weights=records))
    design = np.column_stack([np.ones(len(values)), (values - mean) / np.where(deviation > 0, deviation, np.inf)])
    slopes = np.zeros(design.shape[1])
    ridge = RIDGE * records.sum() * np.eye(len(slopes))
    scores = np.full(len(values), 0.5)
    for _ in range(ROUNDS):
        weights = records * scores * (1 - scores)
        step = np.linalg.solve(
            (design * weights[:, None]).T @ design + ridge, design.T @ (records * (labels - scores)) - ridge @ slopes
        )
        slopes += step
        scores = 1 / (1 + np.exp(-np.clip(design @ slopes, -30, 30)))
        if np.abs(step).max() < ENOUGH:
            break
    return scores


def interval_overlap(table: CompressedTable, recoding: Recoding) -> float | None:
    """The overlap of the 95 % intervals of the slopes of a regression on the original and on the released records.

    Of each slope ((U - L) / (U_o - L_o) + (U - L) / (U_r - L_r)) / 2, where [L, U] is what the intervals have in
    common, and the mean of these (Karr, Kohnen, Oganian, Reiter and Sanil 2006, section 4): 1 if they are the same,
    below 0 if they are apart. The regression is linear: whether a record has the most frequent label of the target, by
    the columns of numbers. None without a target or such columns, where rows alone say which label a released record
    has, and where a released column is the same everywhere, so that it has no slope.
    """
    pieces = recoding.pieces(table)
    if table.target is None or len(pieces.tuples) > len(table.counts):
        return None
    labels = table.labels_in(np.arange(len(table.counts)), len(table.counts))
    share = (labels[:, labels.sum(axis=0).argmax()] / np.maximum(labels.sum(axis=1), 1))[pieces.tuples]
    pairs = _pairs(table, recoding, pieces)
    if not pairs:
        return None
    before, after = (np.column_stack(side) for side in zip(*pairs.values(), strict=True))
    first = _slope_intervals(before, share, pieces.records)
    second = _slope_intervals(after[pieces.kept], share[pieces.kept], pieces.records[pieces.kept])
    if first is None or second is None:
        return None
    common = np.minimum(first[1], second[1]) - np.maximum(first[0], second[0])
    return float(np.mean([common / (high - low) for low, high in (first, second)]))


def _slope_intervals(values: Floats, share: Floats, records: Counts) -> tuple[Floats, Floats] | None:
    """The ends of the intervals of the slopes of a label that is 0 or 1, of which pieces have a share; None if none."""
    freedom = int(records.sum()) - values.shape[1] - 1
    mean, deviation = _spread(values, records) if len(values) else (values, np.zeros(1))
    if freedom < 1 or (deviation == 0).any():
        return None
    design = np.column_stack([np.ones(len(values)), (values - mean) / deviation])
    gram = (design * records[:, None]).T @ design
    if np.linalg.eigvalsh(gram)[0] < RIDGE * records.sum():
        return None
    inverse = np.linalg.inv(gram)
    slopes = inverse @ (design.T @ (records * share))
    fitted = design @ slopes
    squares = float(records @ (share * (1 - fitted) ** 2 + (1 - share) * fitted**2))
    half = _Z * np.sqrt(np.diag(inverse) * squares / freedom)
    if not (half[1:] > 0).all():
        return None
    return ((slopes - half)[1:] / deviation, (slopes + half)[1:] / deviation)
