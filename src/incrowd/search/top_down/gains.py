"""What a refinement gains, from the histogram of its attribute alone: no search reads records for it.

With a target the gain is information about the label, as in the papers. Without one it is the part of the table's
loss (NCP, the generalized loss per cell of this attribute) that the refinement removes; summed over the steps it is how
far the loss of the attribute has fallen: from 1, or from 0 where it had only one value.

Gains are floats, and for refinements that floats cannot distinguish fractions (see `incrowd.search.exact`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from incrowd.search.exact import (
    DECIMALS,
    cell_loss,
    cell_loss_error,
    choose,
    contenders,
    information_lost,
    logarithm,
)
from incrowd.search.information import entropy
from incrowd.table.attributes import Attribute, FlatAttribute, NumberAttribute, numeric
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, Counts, Floats

Ints = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
Correction = Literal["none", "length"]


class Gain(ABC):
    """The gain of refinements of one attribute, times its weight; `[start, stop)` are ranges of its codes.

    Where some cuts of an interval leave at least `room` records on both sides, it is cut at one of those.
    """

    error: float  # by how much floats may be wrong, in addition to ordinary rounding

    def __init__(self, counts: Counts, weight: Fraction, room: int) -> None:
        self._weight, self._factor, self._room = weight, float(weight), room
        self._before = np.concatenate([[0], counts.cumsum()])  # records below each code

    @abstractmethod
    def beneficial(self, start: int | Ints, stop: int | Ints) -> bool:
        """Whether refining one range or several can gain anything."""

    @abstractmethod
    def apart(self, start: Ints, stop: Ints) -> float:
        """Gain of separating ranges that are released as one: each from every other."""

    @abstractmethod
    def each_apart(self, start: Ints, stop: Ints) -> Floats:
        """Gain of separating each of the ranges from the others, which stay together."""

    @abstractmethod
    def exact_apart(self, start: Ints, stop: Ints, one: int | None = None) -> Fraction:
        """The same exactly: of one range from the others, or of all."""

    @abstractmethod
    def best_cut(self, start: int, stop: int, room: int = 0) -> int:
        """The cut of a range in two that gains most, exactly; the lowest of equals."""

    @abstractmethod
    def disclosures(self, suppressed: Mask) -> Floats:
        """Gain of disclosing each value out of the suppressed ones."""

    @abstractmethod
    def exact_disclosures(self, suppressed: Mask, codes: Codes) -> Iterator[tuple[Codes, Fraction]]:
        """The same exactly for some values: places of values that gain the same for the same reason, and the gain."""

    @abstractmethod
    def suppression_beneficial(self, suppressed: Mask) -> bool:
        """Whether disclosing one of the suppressed values can gain anything."""

    def room_of(self, start: int, cut: int, stop: int) -> int:
        """Records on the smaller side of a cut."""
        return int(np.diff(self._before[[start, cut, stop]]).min())

    def _with_room(self, start: int, stop: int, room: int) -> Codes:
        """Which of all cuts leave enough records on both sides, all of them where none does."""
        below, above = (
            self._before[start + 1 : stop] - self._before[start],
            self._before[stop] - self._before[start + 1 : stop],
        )
        roomy = np.flatnonzero(np.minimum(below, above) >= max(room, self._room))
        return roomy if len(roomy) else np.arange(stop - start - 1)


class InformationGain(Gain):
    """InfoGain(v) = I(R_v) - sum over children c of |R_c|/|R_v| I(R_c), with I the entropy over the label."""

    error = 0.0

    def __init__(self, histogram: Counts, weight: Fraction = Fraction(1), room: int = 0) -> None:
        super().__init__(histogram.sum(axis=1), weight, room)
        self._histogram = histogram  # codes x labels
        self._below = np.concatenate([np.zeros((1, histogram.shape[1]), np.int64), histogram.cumsum(axis=0)])

    def beneficial(self, start: int | Ints, stop: int | Ints) -> bool:
        labels = np.atleast_2d(self._below[stop] - self._below[start]).sum(axis=0)
        return int(np.count_nonzero(labels)) > 1

    def apart(self, start: Ints, stop: Ints) -> float:
        parts = self._below[stop] - self._below[start]
        return float(self._gain(parts.sum(axis=0), parts))

    def each_apart(self, start: Ints, stop: Ints) -> Floats:
        parts = self._below[stop] - self._below[start]
        whole = parts.sum(axis=0)
        return np.asarray(self._gain(whole, np.stack([parts, whole - parts], axis=1)))

    def exact_apart(self, start: Ints, stop: Ints, one: int | None = None) -> Fraction:
        parts = self._below[stop] - self._below[start]
        return self._exact(parts if one is None else np.stack([parts[one], parts.sum(axis=0) - parts[one]]))

    def best_cut(self, start: int, stop: int, room: int = 0) -> int:
        whole = self._below[stop] - self._below[start]
        left = (self._below[start + 1 : stop] - self._below[start]).T.copy()  # labels x cuts: long rows add up faster
        allowed = np.arange(left.shape[1])
        if room or self._room:
            allowed = self._with_room(start, stop, room)
            left = left[:, allowed]
        near = contenders(_gains(left, whole))
        if len(near) > 1:
            left = left[:, near].T
            # Labels divided as in the whole gain nothing, however many cuts do so.
            informative = (left * whole.sum() != left.sum(axis=1, keepdims=True) * whole).any(axis=1)
            gains = [
                self._exact(np.stack([one, whole - one])) if useful else Fraction()
                for one, useful in zip(left, informative, strict=True)
            ]
            near = near[choose(gains, decimals=DECIMALS)]
        return start + 1 + int(allowed[near[0]])

    def disclosures(self, suppressed: Mask) -> Floats:
        shown = self._histogram * suppressed[:, None]
        whole = shown.sum(axis=0)
        return np.asarray(self._gain(whole, np.stack([shown, whole - shown], axis=1)))

    def exact_disclosures(self, suppressed: Mask, codes: Codes) -> Iterator[tuple[Codes, Fraction]]:
        whole = self._histogram[suppressed].sum(axis=0)
        distinct, of = np.unique(self._histogram[codes], axis=0, return_inverse=True)
        for number, shown in enumerate(distinct):
            yield np.flatnonzero(of == number), self._exact(np.stack([shown, whole - shown]))

    def suppression_beneficial(self, suppressed: Mask) -> bool:
        return int(np.count_nonzero(self._histogram[suppressed].sum(axis=0))) > 1

    def _gain(self, whole: Ints, children: Ints) -> Any:
        """Gain of splitting `whole` (labels) into `children` (... x children x labels)."""
        sizes = children.sum(axis=-1)
        rest = (sizes * entropy(children)).sum(axis=-1) / max(1, int(whole.sum()))
        return np.maximum(entropy(whole) - rest, 0.0) * self._factor

    def _exact(self, children: Ints) -> Fraction:
        """The same for one split; children: children x labels."""
        return information_lost(children.tolist()) / max(1, int(children.sum())) * self._weight


class DescribedGain(InformationGain):
    """Information gain less what it takes to describe the refinement, in bits per record it touches; never below 0.

    To say which of several cuts or values it is takes log2 of their number; and each part after the first has shares of
    labels of its own, each of which takes half of log2(records) (Rissanen's description length). So a column does not
    win by the number of its values alone: few records that a chance cut separates well do not pay for it.

    Args:
        histogram: Records per code and label.
        weight: What gains are multiplied by.
        room: See `Gain`.
        cuts: Whether a range is cut in two anywhere, as those of numbers are; a node of a taxonomy is not chosen among.
    """

    def __init__(self, histogram: Counts, weight: Fraction, room: int, *, cuts: bool) -> None:
        super().__init__(histogram, weight, room)
        self._cuts = cuts
        self._shares = max(0, int(histogram.any(axis=0).sum()) - 1)  # that a part has of its own

    def apart(self, start: Ints, stop: Ints) -> float:
        sizes = self._before[stop] - self._before[start]
        return float(self._less(super().apart(start, stop), sizes, self._choices(start, stop)))

    def each_apart(self, start: Ints, stop: Ints) -> Floats:
        sizes = self._before[stop] - self._before[start]
        both = np.stack([sizes, sizes.sum() - sizes], axis=1)
        return np.asarray(self._less(super().each_apart(start, stop), both, len(sizes)))

    def exact_apart(self, start: Ints, stop: Ints, one: int | None = None) -> Fraction:
        sizes, choices = self._before[stop] - self._before[start], self._choices(start, stop)
        if one is not None:
            sizes, choices = np.array([sizes[one], sizes.sum() - sizes[one]]), len(sizes)
        return self._exactly_less(super().exact_apart(start, stop, one), sizes, choices)

    def disclosures(self, suppressed: Mask) -> Floats:
        sizes = np.diff(self._before) * suppressed
        both = np.stack([sizes, sizes.sum() - sizes], axis=1)
        return np.asarray(self._less(super().disclosures(suppressed), both, int(np.count_nonzero(sizes))))

    def exact_disclosures(self, suppressed: Mask, codes: Codes) -> Iterator[tuple[Codes, Fraction]]:
        sizes = np.diff(self._before) * suppressed
        for places, gain in super().exact_disclosures(suppressed, codes):
            shown = sizes[codes[places[0]]]
            both = np.array([shown, sizes.sum() - shown])
            yield places, self._exactly_less(gain, both, int(np.count_nonzero(sizes)))

    def _choices(self, start: Ints, stop: Ints) -> int:
        """How many refinements of a range there are to choose from."""
        return int(np.count_nonzero(np.diff(self._before[start[0] : stop[-1] + 1]))) - 1 if self._cuts else 1

    def _less(self, gain: Floats | float, sizes: Counts, choices: int) -> Any:
        """Gains less the bits of a description; sizes: ... x parts."""
        records, more = np.maximum(sizes.sum(axis=-1), 1), np.count_nonzero(sizes, axis=-1) - 1
        bits = more * self._shares * np.log2(records) / 2 + (more > 0) * np.log2(max(choices, 1))
        return np.maximum(gain - bits / records * self._factor, 0.0)

    def _exactly_less(self, gain: Fraction, sizes: Counts, choices: int) -> Fraction:
        records, more = max(int(sizes.sum()), 1), int(np.count_nonzero(sizes)) - 1
        bits = more * self._shares * logarithm(records) / 2 + (more > 0) * logarithm(max(choices, 1))
        return max(gain - bits / records * self._weight, Fraction())


def _gains(left: Counts, whole: Counts) -> Floats:
    """Gain of each of many cuts in two, from the labels below each cut (labels x cuts) and on both sides together."""
    under: Floats = left.astype(np.float64)  # at once: numpy is slow where it makes floats of whole numbers in passing
    below = under.sum(axis=0)
    lost = _times_log(below) + _times_log(whole.sum() - below)  # records times entropy, on both sides
    for labels in (under, whole[:, None] - under):
        lost -= _times_log(labels).sum(axis=0)
    return np.maximum(entropy(whole) - lost / max(1, int(whole.sum())), 0.0)


def _times_log(counts: Floats) -> Floats:
    logs = np.maximum(counts, 1.0)
    np.log2(logs, out=logs)
    logs *= counts
    return logs


class LossReduction(Gain):
    """Share of the attribute's loss that a refinement removes; needs no target.

    A suppressed cell loses everything, a shown one nothing. Leaves of taxonomies are counted in whole numbers.
    """

    def __init__(self, attribute: Attribute, counts: Counts, weight: Fraction = Fraction(1), room: int = 0) -> None:
        super().__init__(counts, weight, room)
        self._attribute, self._counts, self._records = attribute, counts, int(counts.sum())
        error = 0.0 if isinstance(attribute, FlatAttribute) else cell_loss_error(attribute)
        self._slack, self.error = 1e-12 + error, error * self._factor

    def beneficial(self, start: int | Ints, stop: int | Ints) -> bool:
        return bool(np.any(self._before[stop] > self._before[start]))

    def apart(self, start: Ints, stop: Ints) -> float:
        if not isinstance(self._attribute, NumberAttribute):
            return float(self.exact_apart(start, stop))
        fewer = self._attribute.loss(start[:1], stop[-1:])[0] - self._attribute.loss(start, stop)
        gained = float((self._inside(start, stop) * fewer).sum() / self._records)
        return max(0.0, gained) * self._factor

    def each_apart(self, start: Ints, stop: Ints) -> Floats:
        return self._fewer(start, stop) / self._cells * self._factor

    def exact_apart(self, start: Ints, stop: Ints, one: int | None = None) -> Fraction:
        records = self._inside(start, stop)
        if isinstance(self._attribute, NumberAttribute):
            before = self._exact(int(start[0]), int(stop[-1]))
            children = zip(records.tolist(), start.tolist(), stop.tolist(), strict=True)
            lost = sum((n * (before - self._exact(*child)) for n, *child in children), Fraction())
            return lost / self._records * self._weight
        if one is not None:
            return Fraction(int(self._fewer(start, stop)[one]), self._cells) * self._weight
        leaves = stop - start
        return Fraction(int((records * (leaves.sum() - leaves)).sum()), self._cells) * self._weight

    def _inside(self, start: Ints, stop: Ints) -> Ints:
        return np.asarray(self._before[stop] - self._before[start])

    def _fewer(self, start: Ints, stop: Ints) -> Ints:
        """Leaves that records are separated from, summed over all, where one range is separated from the others."""
        records, leaves = self._inside(start, stop), stop - start
        return np.asarray(records * (leaves.sum() - leaves) + (records.sum() - records) * leaves)

    @property
    def _cells(self) -> int:
        """What leaves are divided by: all that can be lost, of all records."""
        return max(1, self._attribute.size - 1) * self._records

    def _exact(self, start: int, stop: int) -> Fraction:
        return cell_loss(numeric(self._attribute), start, stop)

    def best_cut(self, start: int, stop: int, room: int = 0) -> int:
        attribute = numeric(self._attribute)
        cuts = start + 1 + self._with_room(start, stop, room)
        lost: Any = 0.0
        for low, high in ((np.full_like(cuts, start), cuts), (cuts, np.full_like(cuts, stop))):
            lost = lost + self._inside(low, high) * attribute.loss(low, high)
        near = contenders(-lost / (self._before[stop] - self._before[start]), self._slack)
        if len(near) > 1:
            kept = [
                int(self._before[cut] - self._before[start]) * self._exact(start, cut)
                + int(self._before[stop] - self._before[cut]) * self._exact(cut, stop)
                for cut in cuts[near].tolist()
            ]
            near = near[choose(kept, lowest=True)]
        return int(cuts[near[0]])

    def disclosures(self, suppressed: Mask) -> Floats:
        return np.asarray(self._counts * suppressed / self._records * self._factor)

    def exact_disclosures(self, suppressed: Mask, codes: Codes) -> Iterator[tuple[Codes, Fraction]]:
        counts = self._counts[codes]
        for records in np.unique(counts).tolist():
            yield np.flatnonzero(counts == records), Fraction(records, self._records) * self._weight

    def suppression_beneficial(self, suppressed: Mask) -> bool:
        return bool(suppressed.any())


def gain_of(
    table: CompressedTable, attribute: int, weight: Fraction, room: int = 0, correction: Correction = "none"
) -> Gain:
    """The gain that serves the purpose of the table: its target, or no purpose in particular."""
    if not table.has_target:
        return LossReduction(table.attributes[attribute], table.value_counts(attribute), weight, room)
    counts = table.label_counts(attribute)
    if correction == "none":
        return InformationGain(counts, weight, room)
    return DescribedGain(counts, weight, room, cuts=isinstance(table.attributes[attribute], NumberAttribute))
