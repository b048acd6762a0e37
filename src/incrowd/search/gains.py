"""What a refinement gains, from the histogram of its attribute alone: no search reads records for it.

With a target the gain is information about the class, as in the papers. Without one it is the part of the table's
loss (NCP, the generalized loss per cell of this attribute) that the refinement removes; summed over the steps it is how
far the loss of the attribute has fallen: from 1, or from 0 where it had only one value. Gains are rounded to 12
decimals, so that refinements that are equally good stay equal on every machine and the documented tie rule decides.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from incrowd.table import Attribute, CompressedTable, Counts, FlatAttribute

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[Any]


class Gain(Protocol):
    """The gain of refinements of one attribute."""

    def beneficial(self, start: int, stop: int) -> bool:
        """Whether refining the values [start, stop) can gain anything."""

    def split(self, start: int, stop: int, cuts: Ints) -> float:
        """Gain of cutting the values [start, stop) at all of `cuts`."""

    def best_cut(self, start: int, stop: int) -> int:
        """The cut of [start, stop) in two that gains most; the lowest of equals."""

    def disclosures(self, suppressed: npt.NDArray[np.bool_]) -> Floats:
        """Gain of disclosing each value out of the suppressed ones."""

    def suppression_beneficial(self, suppressed: npt.NDArray[np.bool_]) -> bool:
        """Whether disclosing one of the suppressed values can gain anything."""


def entropy(frequencies: Ints) -> Floats:
    """Entropy in bits over the last axis of frequencies; 0 for no records."""
    total = frequencies.sum(axis=-1, keepdims=True)
    shares = frequencies / np.maximum(total, 1)
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(-(shares * logs).sum(axis=-1))


class InformationGain:
    """InfoGain(v) = I(R_v) - sum over children c of |R_c|/|R_v| I(R_c), with I the entropy over the class."""

    def __init__(self, histogram: Counts) -> None:
        self._histogram = histogram  # codes x classes
        self._below = np.concatenate([np.zeros((1, histogram.shape[1]), np.int64), histogram.cumsum(axis=0)])

    def beneficial(self, start: int, stop: int) -> bool:
        """More than one class among the records."""
        return int(np.count_nonzero(self._below[stop] - self._below[start])) > 1

    def split(self, start: int, stop: int, cuts: Ints) -> float:
        """Information gained over the children between the cuts."""
        children = np.diff(self._below[np.concatenate([[start], cuts, [stop]])], axis=0)
        return float(self._gain(children.sum(axis=0), children))

    def best_cut(self, start: int, stop: int) -> int:
        """The cut with the most information."""
        left = self._below[start + 1 : stop] - self._below[start]
        whole = self._below[stop] - self._below[start]
        gains = self._gain(whole, np.stack([left, whole - left], axis=1))
        return start + 1 + int(np.argmax(gains))

    def disclosures(self, suppressed: npt.NDArray[np.bool_]) -> Floats:
        """Information gained by telling one value from the other suppressed ones."""
        shown = self._histogram * suppressed[:, None]
        whole = shown.sum(axis=0)
        return np.asarray(self._gain(whole, np.stack([shown, whole - shown], axis=1)))

    def suppression_beneficial(self, suppressed: npt.NDArray[np.bool_]) -> bool:
        """More than one class among the suppressed records."""
        return int(np.count_nonzero(self._histogram[suppressed].sum(axis=0))) > 1

    @staticmethod
    def _gain(whole: Ints, children: Ints) -> Any:
        """Gain of splitting `whole` (classes) into `children` (... x children x classes)."""
        sizes = children.sum(axis=-1)
        rest = (sizes * entropy(children)).sum(axis=-1) / max(1, int(whole.sum()))
        return np.maximum(np.round(entropy(whole) - rest, 12), 0.0)


class LossReduction:
    """Share of the attribute's loss that a refinement removes; needs no target."""

    def __init__(self, attribute: Attribute, counts: Counts) -> None:
        self._attribute = attribute
        self._counts = counts
        self._below = np.concatenate([[0], counts.cumsum()])

    def beneficial(self, start: int, stop: int) -> bool:
        """Wherever there are records: a finer value never loses more."""
        return bool(self._below[stop] > self._below[start])

    def split(self, start: int, stop: int, cuts: Ints) -> float:
        """Loss removed over the children between the cuts."""
        edges = np.concatenate([[start], cuts, [stop]])
        records = np.diff(self._below[edges])
        lost = self._lost(edges[:-1], edges[1:])
        before = self._lost(np.array([start]), np.array([stop]))[0]
        return max(0.0, round(float((records * (before - lost)).sum() / self._below[-1]), 12))

    def best_cut(self, start: int, stop: int) -> int:
        """The cut that removes most loss."""
        cuts = np.arange(start + 1, stop)
        left, right = self._below[cuts] - self._below[start], self._below[stop] - self._below[cuts]
        kept = left * self._lost(np.full_like(cuts, start), cuts) + right * self._lost(cuts, np.full_like(cuts, stop))
        return start + 1 + int(np.argmin(np.round(kept / self._below[-1], 12)))

    def _lost(self, start: Ints, stop: Ints) -> Floats:
        assert not isinstance(self._attribute, FlatAttribute)  # it has no ranges, only disclosures
        return self._attribute.loss(start, stop)

    def disclosures(self, suppressed: npt.NDArray[np.bool_]) -> Floats:
        """A suppressed cell loses everything, a shown one nothing."""
        return np.asarray(np.round(self._counts * suppressed / self._below[-1], 12))

    def suppression_beneficial(self, suppressed: npt.NDArray[np.bool_]) -> bool:
        """Wherever a value is suppressed."""
        return bool(suppressed.any())


def gain_of(table: CompressedTable, attribute: int) -> Gain:
    """The gain that serves the purpose of the table: its target, or no purpose in particular."""
    if table.has_target:
        return InformationGain(table.class_histogram(attribute))
    return LossReduction(table.attributes[attribute], table.value_counts(attribute))
