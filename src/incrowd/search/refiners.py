"""The refinements that are open to one attribute during a top-down search, one class per way of refining.

A refiner knows its candidates (what could be refined next), what each would gain, and how small the smallest class
would become. It sees the records as groups (current classes of one quasi-identifier) and learns of every change through
`observe`, with the records of the changed groups only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from incrowd.search.gains import Floats, Gain
from incrowd.steps import Change, Disclose, RefineNode, SplitInterval
from incrowd.table import Codes, Counts, FlatAttribute, NumberAttribute, TaxonomyAttribute, count

Rows = npt.NDArray[np.intp] | slice
FAR = np.iinfo(np.int64).max  # smallest class of a refinement that touches no group


@dataclass
class Candidate:
    """A refinement that could be next.

    Args:
        change: What it does, in codes.
        order: Rank among the candidates of its attribute, for ties.
        gain: What it gains.
        minimum: Per quasi-identifier, the smallest class that it would make.
    """

    change: Change
    order: int
    gain: float
    minimum: Counts


@dataclass
class RangeCandidate(Candidate):
    """A candidate that cuts the codes [start, stop) at `cuts`."""

    start: int
    stop: int
    cuts: npt.NDArray[Any]

    @property
    def edges(self) -> list[int]:
        """Start, cuts and stop."""
        return [self.start, *self.cuts.tolist(), self.stop]


@dataclass(frozen=True)
class Groups:
    """Groups that a step made.

    Args:
        rows: The records in them.
        numbers: The group of each of these records, below `size`.
        size: How many groups there are.
        weights: The weight of each of these records, None if all are 1.
    """

    rows: Rows
    numbers: Codes
    size: int
    weights: npt.NDArray[np.float64] | None


@dataclass(frozen=True)
class Standing:
    """How the candidates of an attribute stand, side by side.

    Args:
        gains: What each gains.
        minimum: The smallest class that each would make: quasi-identifiers x candidates.
        orders: Rank of each, for ties.
    """

    gains: Floats
    minimum: Counts
    orders: Codes


class Refiner(Protocol):
    """What the search asks of an attribute."""

    def standing(self) -> Standing:
        """The refinements that are beneficial and not known to be invalid."""

    def candidate(self, place: int) -> Candidate:
        """The candidate at a place of the standing."""

    def drop_invalid(self, thresholds: Counts) -> None:
        """Forget candidates that would make a class smaller than a threshold: they can never become valid again."""

    def refine(self, candidate: Candidate) -> tuple[Rows, Codes, int]:
        """Perform a candidate: the records it touches, the child of each, and the number of children."""

    def observe(self, qid: int, changed: Groups) -> None:
        """Lower the minima by the new groups of one quasi-identifier."""

    def idle(self) -> bool:
        """Whether no candidate is left."""


@dataclass
class _Records:
    """The records as one attribute sees them: their codes, and which records have a code."""

    codes: Codes
    size: int
    _order: Codes | None = field(default=None, init=False)
    _starts: Codes | None = field(default=None, init=False)

    def of(self, rows: Rows) -> Codes:
        """The codes of some records."""
        return take(self.codes, rows)

    def under(self, start: int, stop: int) -> Rows:
        """The records with a code in [start, stop)."""
        if start == 0 and stop == self.size:
            return slice(None)
        if self._order is None or self._starts is None:
            self._order = np.argsort(self.codes, kind="stable").astype(np.int32)
            self._starts = np.concatenate([[0], np.bincount(self.codes, minlength=self.size).cumsum()])
        return self._order[self._starts[start] : self._starts[stop]]


class RangeRefiner:
    """Refines ranges of codes: nodes of a taxonomy into their children, intervals into two."""

    def __init__(self, attribute: TaxonomyAttribute | NumberAttribute, codes: Codes, gain: Gain, qids: int) -> None:
        self._attribute = attribute
        self._records = _Records(codes, attribute.size)
        self._gain = gain
        self._qids = qids
        self._live: list[RangeCandidate] = []
        self._slots: Codes | None = None
        if isinstance(attribute, TaxonomyAttribute):
            self._add_node(0)
        elif attribute.missing is not None and attribute.missing > 0:
            self._add(
                SplitInterval(0, attribute.size, attribute.missing), 0, attribute.size, np.array([attribute.missing])
            )
        else:
            self._add_interval(0, attribute.size)

    def standing(self) -> Standing:
        """Nodes or intervals on the current cut."""
        return Standing(
            np.array([candidate.gain for candidate in self._live]),
            np.stack([candidate.minimum for candidate in self._live], axis=1),
            np.array([candidate.order for candidate in self._live]),
        )

    def candidate(self, place: int) -> Candidate:
        """The candidate at a place of the standing."""
        return self._live[place]

    def idle(self) -> bool:
        """Whether no candidate is left."""
        return not self._live

    def drop_invalid(self, thresholds: Counts) -> None:
        """Forget candidates below a threshold."""
        self._keep([candidate for candidate in self._live if (candidate.minimum >= thresholds).all()])

    def refine(self, candidate: Candidate) -> tuple[Rows, Codes, int]:
        """Replace the candidate by its children."""
        assert isinstance(candidate, RangeCandidate)
        rows = self._records.under(candidate.start, candidate.stop)
        edges = candidate.edges
        child_of_code = np.repeat(np.arange(len(edges) - 1), np.diff(edges))
        children = child_of_code.take(self._records.of(rows) - self._records.codes.dtype.type(candidate.start))
        self._keep([other for other in self._live if other is not candidate])
        if isinstance(candidate.change, RefineNode):
            assert isinstance(self._attribute, TaxonomyAttribute)
            for node in self._attribute.taxonomy.children[candidate.change.node]:
                self._add_node(node)
        else:
            for start, stop in pairwise(edges):
                self._add_interval(start, stop)
        return rows, children, len(edges) - 1

    def observe(self, qid: int, changed: Groups) -> None:
        """Count the children of all candidates at once: a record lies under at most one candidate."""
        keys = self.slot_of_code().take(self._records.of(changed.rows))
        if changed.size > 1:
            keys += changed.numbers * np.int64(self.width)
        self.lower(qid, smallest_counts(keys, changed.size, self.width, changed.weights))

    def lower(self, qid: int, smallest: Counts) -> None:
        """Lower the minima of the candidates, given the smallest count of each slot."""
        slot = 0
        for candidate in self._live:
            children = len(candidate.cuts) + 1
            lowest = smallest[slot : slot + children].min()
            candidate.minimum[qid] = min(candidate.minimum[qid], lowest)
            slot += children

    @property
    def width(self) -> int:
        """Number of slots: one for each child of each candidate, and a last one for codes under no candidate."""
        return int(self.slot_of_code()[-1]) + 1

    def slot_of_code(self) -> Codes:
        """Number of the child (counted over all candidates) that each code lies under; one entry more than codes."""
        if self._slots is None:
            total = sum(len(candidate.cuts) + 1 for candidate in self._live)
            self._slots = np.full(self._attribute.size + 1, total, np.int64)
            slot = 0
            for candidate in self._live:
                for start, stop in pairwise(candidate.edges):
                    self._slots[start:stop] = slot
                    slot += 1
        return self._slots

    def _add_node(self, node: int) -> None:
        assert isinstance(self._attribute, TaxonomyAttribute)
        taxonomy = self._attribute.taxonomy
        if children := taxonomy.children[node]:
            cuts = np.array([taxonomy.start[child] for child in children[1:]], np.int64)
            self._add(RefineNode(node), int(taxonomy.start[node]), int(taxonomy.stop[node]), cuts)

    def _add_interval(self, start: int, stop: int) -> None:
        if stop - start > 1 and self._gain.beneficial(start, stop):
            cut = self._gain.best_cut(start, stop)
            self._add(SplitInterval(start, stop, cut), start, stop, np.array([cut]))

    def _add(self, change: Change, start: int, stop: int, cuts: npt.NDArray[Any]) -> None:
        if self._gain.beneficial(start, stop):
            gain = self._gain.split(start, stop, cuts)
            minimum = np.full(self._qids, FAR)
            order = change.node if isinstance(change, RefineNode) else start
            self._keep([*self._live, RangeCandidate(change, order, gain, minimum, start, stop, cuts)])

    def _keep(self, live: list[RangeCandidate]) -> None:
        if len(live) != len(self._live):
            self._slots = None
        self._live = live


class DisclosureRefiner:
    """Shows values one by one out of a suppressed set."""

    def __init__(self, attribute: FlatAttribute, codes: Codes, gain: Gain, qids: int) -> None:
        self._records = _Records(codes, attribute.size)
        self._gain = gain
        self._suppressed = np.ones(attribute.size, bool)
        self._rows: Rows = slice(None)
        self._minimum = np.full((qids, attribute.size), FAR)
        self._live = np.ones(attribute.size, bool)
        self._gains = np.zeros(attribute.size)
        self._update_gains()

    def standing(self) -> Standing:
        """Suppressed values."""
        codes = np.flatnonzero(self._live)
        return Standing(self._gains[codes], self._minimum[:, codes], codes)

    def candidate(self, place: int) -> Candidate:
        """The candidate at a place of the standing."""
        code = int(np.flatnonzero(self._live)[place])
        return Candidate(Disclose(code), code, float(self._gains[code]), self._minimum[:, code].copy())

    def idle(self) -> bool:
        """Whether no candidate is left."""
        return not self._live.any()

    def drop_invalid(self, thresholds: Counts) -> None:
        """Forget candidates below a threshold."""
        self._live &= (self._minimum >= thresholds[:, None]).all(axis=0)

    def refine(self, candidate: Candidate) -> tuple[Rows, Codes, int]:
        """Show one value; it is child 0, what stays suppressed is child 1."""
        assert isinstance(candidate.change, Disclose)
        rows, code = self._rows, candidate.change.code
        stays = self._records.of(rows) != code
        self._suppressed[code] = self._live[code] = False
        self._rows = np.flatnonzero(stays) if isinstance(rows, slice) else rows[stays]
        self._update_gains()
        return rows, stays.astype(np.int64), 2

    def observe(self, qid: int, changed: Groups) -> None:
        """A group falls apart into the records with the value and the other suppressed ones."""
        codes, groups, size = self._records.of(changed.rows), changed.numbers, changed.size
        weights = changed.weights
        inside = self._suppressed[codes]
        if not inside.all():
            codes, groups = codes[inside], groups[inside]
            weights = None if weights is None else weights[inside]
        width = len(self._suppressed)
        keys, with_value = present_counts(groups * np.int64(width) + codes, size * width, weights)
        others = count(groups, size, weights)[keys // width] - with_value
        smallest = np.where(others > 0, np.minimum(with_value, others), with_value)
        np.minimum.at(self._minimum[qid], keys % width, smallest)

    def _update_gains(self) -> None:
        if self._gain.suppression_beneficial(self._suppressed):
            self._gains = self._gain.disclosures(self._suppressed)
        else:
            self._live[:] = False


def take(values: npt.NDArray[Any], rows: Rows) -> npt.NDArray[Any]:
    """The values of some records; np.take needs half the time of values[rows], and this is what a step mostly does."""
    return values[rows] if isinstance(rows, slice) else values.take(rows)


def present_counts(keys: Codes, size: int, weights: Any) -> tuple[Codes, Counts]:
    """The keys that occur, ascending, and their counts; sorts instead of tabulating where the table would be sparse."""
    if size <= 4 * len(keys) + 65536:
        counts = count(keys, size, weights)
        present = np.flatnonzero(counts)
        return present, counts[present]
    order = np.argsort(keys)
    keys = keys[order]
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    if weights is None:
        return keys[starts], np.diff(np.append(starts, len(keys)))
    return keys[starts], np.add.reduceat(weights[order], starts).astype(np.int64)


def smallest_counts(keys: Codes, groups: int, width: int, weights: Any) -> Counts:
    """Per slot the smallest count over the groups in which it occurs, for keys = group * width + slot."""
    if groups * width <= 4 * len(keys) + 65536:
        counts = count(keys, groups * width, weights).reshape(groups, width)
        counts[counts == 0] = FAR
        return np.asarray(counts.min(axis=0))
    present, counts = present_counts(keys, groups * width, weights)
    smallest = np.full(width, FAR)
    np.minimum.at(smallest, present % width, counts)
    return smallest
