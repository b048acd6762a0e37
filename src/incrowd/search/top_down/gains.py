"""What a refinement gains, from the histogram of its attribute alone: no search reads records for it.

With a target the gain is information about the label, as in the papers. Without one it is the part of the table's
loss (NCP, the generalized loss per cell of this attribute) that the refinement removes; summed over the steps it is how
far the loss of the attribute has fallen: from 1, or from 0 where it had only one value.

Gains are floats, and for refinements that floats cannot distinguish fractions (see `incrowd.search.exact`).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from incrowd.search.exact import DECIMALS, cell_loss, cell_loss_error, choose, contenders, information_lost
from incrowd.search.information import entropy
from incrowd.table.attributes import Attribute, FlatAttribute, TaxonomyAttribute
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, Counts, Floats

Ints = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


class Gain(Protocol):
    """The gain of refinements of one attribute."""

    error: float  # by how much floats may be wrong, beside ordinary rounding

    def beneficial(self, start: int | Ints, stop: int | Ints) -> bool:
        """Whether refining the values [start, stop), of one range or of several, can gain anything."""

    def split(self, edges: Ints) -> float:
        """Gain of splitting the values between the first and the last edge at those in between."""

    def exact_split(self, edges: Ints) -> Fraction:
        """The same exactly."""

    def best_cut(self, start: int, stop: int, room: int = 0) -> int:
        """The cut of [start, stop) in two that gains most, exactly; the lowest of equals.

        Where some cuts leave the room that was asked for on both sides, it is one of those.
        """

    def room_of(self, start: int, cut: int, stop: int) -> int:
        """Records on the smaller side of a cut."""

    def disclosures(self, suppressed: Mask) -> Floats:
        """Gain of disclosing each value out of the suppressed ones."""

    def exact_disclosures(self, suppressed: Mask, codes: Codes) -> Iterator[tuple[Codes, Fraction]]:
        """The same exactly for some values: places of values that gain the same for the same reason, and the gain."""

    def suppression_beneficial(self, suppressed: Mask) -> bool:
        """Whether disclosing one of the suppressed values can gain anything."""

    def apart(self, start: Ints, stop: Ints) -> float:
        """Gain of telling ranges of codes apart that are released as one: each from every other."""

    def each_apart(self, start: Ints, stop: Ints) -> Floats:
        """Gain of telling each of the ranges from the others, which stay together."""

    def exact_apart(self, start: Ints, stop: Ints, one: int | None) -> Fraction:
        """The same exactly: of one range from the others, or of all."""


def with_room(left: Counts, whole: int, room: int) -> Codes:
    """Which cuts leave enough records on both sides, all of them where none does.

    Args:
        left: Records below each cut.
        whole: Records on both sides together.
        room: How many are enough.
    """
    roomy = np.flatnonzero(np.minimum(left, whole - left) >= room)
    return roomy if len(roomy) else np.arange(len(left))


class InformationGain:
    """InfoGain(v) = I(R_v) - sum over children c of |R_c|/|R_v| I(R_c), with I the entropy over the label."""

    error = 0.0

    def __init__(self, histogram: Counts, room: int = 0) -> None:
        self._histogram = histogram  # codes x labels
        self._room = room
        self._below = np.concatenate([np.zeros((1, histogram.shape[1]), np.int64), histogram.cumsum(axis=0)])

    def beneficial(self, start: int | Ints, stop: int | Ints) -> bool:
        """More than one label among the records."""
        labels = np.atleast_2d(self._below[stop] - self._below[start]).sum(axis=0)
        return int(np.count_nonzero(labels)) > 1

    def split(self, edges: Ints) -> float:
        """Information gained over the children."""
        children = np.diff(self._below[edges], axis=0)
        return float(self._gain(children.sum(axis=0), children))

    def exact_split(self, edges: Ints) -> Fraction:
        """Information gained over the children."""
        return self._exact(np.diff(self._below[edges], axis=0))

    def room_of(self, start: int, cut: int, stop: int) -> int:
        """Records on the smaller side of a cut."""
        return int(np.diff(self._below[[start, cut, stop]].sum(axis=1)).min())

    def best_cut(self, start: int, stop: int, room: int = 0) -> int:
        """The cut with the most information, of those with room."""
        whole = self._below[stop] - self._below[start]
        left = (self._below[start + 1 : stop] - self._below[start]).T.copy()  # labels x cuts: long rows add up faster
        allowed = np.arange(left.shape[1])
        if room := max(room, self._room):
            allowed = with_room(left.sum(axis=0), int(whole.sum()), room)
            left = left[:, allowed]
        near = contenders(_gains(left, whole))
        if len(near) > 1:
            left = left[:, near].T
            # Labels divided as in the whole say nothing, however many cuts do so.
            tells = (left * whole.sum() != left.sum(axis=1, keepdims=True) * whole).any(axis=1)
            gains = [
                self._exact(np.stack([one, whole - one])) if t else Fraction()
                for one, t in zip(left, tells, strict=True)
            ]
            near = near[choose(gains, decimals=DECIMALS)]
        return start + 1 + int(allowed[near[0]])

    def disclosures(self, suppressed: Mask) -> Floats:
        """Information gained by distinguishing one value from the other suppressed ones."""
        shown = self._histogram * suppressed[:, None]
        whole = shown.sum(axis=0)
        return np.asarray(self._gain(whole, np.stack([shown, whole - shown], axis=1)))

    def exact_disclosures(self, suppressed: Mask, codes: Codes) -> Iterator[tuple[Codes, Fraction]]:
        """Information gained by distinguishing one value from the other suppressed ones."""
        whole = self._histogram[suppressed].sum(axis=0)
        distinct, of = np.unique(self._histogram[codes], axis=0, return_inverse=True)
        for number, shown in enumerate(distinct):
            yield np.flatnonzero(of == number), self._exact(np.stack([shown, whole - shown]))

    def suppression_beneficial(self, suppressed: Mask) -> bool:
        """More than one label among the suppressed records."""
        return int(np.count_nonzero(self._histogram[suppressed].sum(axis=0))) > 1

    def apart(self, start: Ints, stop: Ints) -> float:
        """Information gained over the ranges."""
        parts = self._below[stop] - self._below[start]
        return float(self._gain(parts.sum(axis=0), parts))

    def each_apart(self, start: Ints, stop: Ints) -> Floats:
        """Information gained by distinguishing one range from the others."""
        parts = self._below[stop] - self._below[start]
        whole = parts.sum(axis=0)
        return np.asarray(self._gain(whole, np.stack([parts, whole - parts], axis=1)))

    def exact_apart(self, start: Ints, stop: Ints, one: int | None) -> Fraction:
        """Information gained over the ranges, or over one of them and the others."""
        parts = self._below[stop] - self._below[start]
        return self._exact(parts if one is None else np.stack([parts[one], parts.sum(axis=0) - parts[one]]))

    @staticmethod
    def _gain(whole: Ints, children: Ints) -> Any:
        """Gain of splitting `whole` (labels) into `children` (... x children x labels)."""
        sizes = children.sum(axis=-1)
        rest = (sizes * entropy(children)).sum(axis=-1) / max(1, int(whole.sum()))
        return np.maximum(entropy(whole) - rest, 0.0)

    @staticmethod
    def _exact(children: Ints) -> Fraction:
        """The same for one split; children: children x labels."""
        return information_lost(children.tolist()) / max(1, int(children.sum()))


def _gains(left: Counts, whole: Counts) -> Floats:
    """Gain of each of many cuts in two, from the labels below each cut (labels x cuts) and on both sides together."""
    under: Floats = left.astype(np.float64)  # at once: numpy is slow where it makes floats of whole numbers in passing
    below = under.sum(axis=0)
    lost = _times_log(below) + _times_log(whole.sum() - below)  # records times entropy, on both sides
    for labels in (under, whole[:, None] - under):
        lost -= _times_log(labels).sum(axis=0)
    return np.maximum(entropy(whole) - lost / max(1, int(whole.sum())), 0.0)


def _times_log(counts: Floats) -> Floats:
    """Each count times its logarithm, 0 for none."""
    logs = np.maximum(counts, 1.0)
    np.log2(logs, out=logs)
    logs *= counts
    return logs


class LossReduction:
    """Share of the attribute's loss that a refinement removes; needs no target."""

    def __init__(self, attribute: Attribute, counts: Counts, room: int = 0) -> None:
        self._attribute = attribute
        self._room = room
        self._counts = counts
        self._below = np.concatenate([[0], counts.cumsum()])
        self.error = 0.0 if isinstance(attribute, FlatAttribute) else cell_loss_error(attribute)

    def beneficial(self, start: int | Ints, stop: int | Ints) -> bool:
        """Wherever there are records: a finer value never loses more."""
        return bool(np.any(self._below[stop] > self._below[start]))

    def split(self, edges: Ints) -> float:
        """Loss removed over the children."""
        records = np.diff(self._below[edges])
        lost = self._lost(edges[:-1], edges[1:])
        before = self._lost(edges[:1], edges[-1:])[0]
        return max(0.0, float((records * (before - lost)).sum() / self._below[-1]))

    def exact_split(self, edges: Ints) -> Fraction:
        """Loss removed over the children."""
        start, stop = int(edges[0]), int(edges[-1])
        records = np.diff(self._below[edges])
        if isinstance(self._attribute, TaxonomyAttribute):  # whole numbers of leaves, however many children there are
            fewer = int((records * (stop - start - np.diff(edges))).sum())
            return Fraction(fewer, self._cells)
        before = self._exact(start, stop)
        children = zip(records.tolist(), edges[:-1].tolist(), edges[1:].tolist(), strict=True)
        return sum((n * (before - self._exact(*child)) for n, *child in children), Fraction()) / int(self._below[-1])

    def room_of(self, start: int, cut: int, stop: int) -> int:
        """Records on the smaller side of a cut."""
        return int(np.diff(self._below[[start, cut, stop]]).min())

    def best_cut(self, start: int, stop: int, room: int = 0) -> int:
        """The cut that removes most loss, that is, leaves least, of those with room."""
        whole = int(self._below[stop] - self._below[start])
        below = self._below[start + 1 : stop] - self._below[start]
        cuts = start + 1 + with_room(below, whole, max(room, self._room))
        left, right = self._below[cuts] - self._below[start], self._below[stop] - self._below[cuts]
        left_lost, right_lost = self._lost(np.full_like(cuts, start), cuts), self._lost(cuts, np.full_like(cuts, stop))
        records = left[0] + right[0]
        near = contenders(-(left * left_lost + right * right_lost) / records, 1e-12 + self.error)
        if len(near) > 1:
            kept = [
                int(left[place]) * self._exact(start, cut) + int(right[place]) * self._exact(cut, stop)
                for place, cut in zip(near.tolist(), cuts[near].tolist(), strict=True)
            ]
            near = near[choose(kept, lowest=True)]
        return int(cuts[near[0]])

    def _lost(self, start: Ints, stop: Ints) -> Floats:
        assert not isinstance(self._attribute, FlatAttribute)  # it has no ranges, only disclosures
        return self._attribute.loss(start, stop)

    def _exact(self, start: int, stop: int) -> Fraction:
        assert not isinstance(self._attribute, FlatAttribute)
        return cell_loss(self._attribute, start, stop)

    def disclosures(self, suppressed: Mask) -> Floats:
        """A suppressed cell loses everything, a shown one nothing."""
        return np.asarray(self._counts * suppressed / self._below[-1])

    def exact_disclosures(self, suppressed: Mask, codes: Codes) -> Iterator[tuple[Codes, Fraction]]:
        """A suppressed cell loses everything, a shown one nothing."""
        counts = self._counts[codes]
        for records in np.unique(counts).tolist():
            yield np.flatnonzero(counts == records), Fraction(records, int(self._below[-1]))

    def suppression_beneficial(self, suppressed: Mask) -> bool:
        """Wherever a value is suppressed."""
        return bool(suppressed.any())

    def apart(self, start: Ints, stop: Ints) -> float:
        """Loss removed over the ranges."""
        return float(self.exact_apart(start, stop, None))

    def each_apart(self, start: Ints, stop: Ints) -> Floats:
        """Loss removed from one range and from the others."""
        return self._fewer(start, stop) / self._cells

    def exact_apart(self, start: Ints, stop: Ints, one: int | None) -> Fraction:
        """Loss removed, in whole numbers of leaves."""
        records, leaves = self._below[stop] - self._below[start], stop - start
        every = int((records * (leaves.sum() - leaves)).sum())
        return Fraction(every if one is None else int(self._fewer(start, stop)[one]), self._cells)

    def _fewer(self, start: Ints, stop: Ints) -> Ints:
        """Leaves that records are told apart from, summed over all, where one range is told from the others."""
        records, leaves = self._below[stop] - self._below[start], stop - start
        return np.asarray(records * (leaves.sum() - leaves) + (records.sum() - records) * leaves)

    @property
    def _cells(self) -> int:
        """What leaves are divided by: all that can be lost, of all records."""
        return max(1, self._attribute.size - 1) * int(self._below[-1])


class WeightedGain:
    """A gain times the weight of its attribute."""

    def __init__(self, gain: Gain, weight: Fraction) -> None:
        self._gain, self._weight = gain, weight
        self.error = gain.error * float(weight)
        self.beneficial = gain.beneficial
        self.best_cut, self.room_of = gain.best_cut, gain.room_of
        self.suppression_beneficial = gain.suppression_beneficial

    def split(self, edges: Ints) -> float:
        """Weighted gain of a split."""
        return self._gain.split(edges) * float(self._weight)

    def exact_split(self, edges: Ints) -> Fraction:
        """The same exactly."""
        return self._gain.exact_split(edges) * self._weight

    def disclosures(self, suppressed: Mask) -> Floats:
        """Weighted gain of disclosing each value."""
        return self._gain.disclosures(suppressed) * float(self._weight)

    def exact_disclosures(self, suppressed: Mask, codes: Codes) -> Iterator[tuple[Codes, Fraction]]:
        """The same exactly."""
        for places, gain in self._gain.exact_disclosures(suppressed, codes):
            yield places, gain * self._weight

    def apart(self, start: Ints, stop: Ints) -> float:
        """Weighted gain of telling ranges apart."""
        return self._gain.apart(start, stop) * float(self._weight)

    def each_apart(self, start: Ints, stop: Ints) -> Floats:
        """Weighted gain of telling each range from the others."""
        return self._gain.each_apart(start, stop) * float(self._weight)

    def exact_apart(self, start: Ints, stop: Ints, one: int | None) -> Fraction:
        """The same exactly."""
        return self._gain.exact_apart(start, stop, one) * self._weight


def gain_of(table: CompressedTable, attribute: int, weight: Fraction, room: int = 0) -> Gain:
    """The gain that serves the purpose of the table: its target, or no purpose in particular.

    Args:
        table: The table.
        attribute: The position of the attribute.
        weight: What its gains are multiplied by.
        room: Records that cuts of numbers leave on both sides, where they can.
    """
    gain: Gain
    if table.has_target:
        gain = InformationGain(table.label_counts(attribute), room)
    else:
        gain = LossReduction(table.attributes[attribute], table.value_counts(attribute), room)
    return gain if weight == 1 else WeightedGain(gain, weight)
