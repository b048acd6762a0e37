"""The refinements that are open to one attribute during a top-down search, one class per way of refining.

A refiner opens and closes the candidates of its attribute, knows what each would gain, and how well the classes would
be protected that it would make. It sees the records as groups (current classes of one quasi-identifier) and learns of
every change through `observe`, with the records of the changed groups only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from incrowd.recodings.steps import Change, Disclose, RefineNode, SplitInterval
from incrowd.search.top_down.candidates import NOBODY, Candidates
from incrowd.search.top_down.gains import Gain
from incrowd.search.top_down.groups import Groups, Rows, Weights, is_small, paired
from incrowd.search.top_down.promises import Levels, Promises, rest
from incrowd.search.top_down.records import Records, records_by
from incrowd.table.attributes import NumberAttribute, TaxonomyAttribute, categorical
from incrowd.table.class_counts import ClassCounts
from incrowd.table.grouping import Codes, Counts, tallied
from incrowd.taxonomies.levels import above

MORE_ROOM = 16  # a cut that is tried elsewhere leaves at least a 16th more on its smaller side


class Refiner(ABC):
    """What the search asks of an attribute; `codes` are those of its records, by quasi-identifier."""

    def __init__(
        self, index: int, size: int, codes: Mapping[int, Codes], gain: Gain, candidates: Candidates, promises: Promises
    ) -> None:
        self._index, self._size = index, size
        self._records = records_by(codes, size)
        self._gain, self.error = gain, gain.error
        self._candidates, self._promises = candidates, promises

    @abstractmethod
    def idle(self) -> bool:
        """Whether no candidate is left."""

    def change(self, place: int) -> Change:
        """What a candidate does."""
        change = self._candidates.changes[place]
        assert change is not None
        return change

    @abstractmethod
    def exact_gains(self, places: Codes) -> Iterator[tuple[Codes, Fraction]]:
        """Exact gains of some candidates: places that gain the same, and what they gain."""

    def read(self, requirement: int, codes: Codes) -> None:
        """Read other records of one quasi-identifier from now on."""
        self._records[requirement] = Records(codes, self._size)

    @abstractmethod
    def parts(self, place: int, requirement: int) -> tuple[Rows, Codes, int]:
        """The records of a quasi-identifier that a candidate touches, the child of each, and the number of children."""

    @abstractmethod
    def refine(self, place: int) -> None:
        """Perform a candidate."""

    @abstractmethod
    def close(self, place: int) -> None:
        """Forget a candidate."""

    @abstractmethod
    def made(self, requirement: int, groups: Groups) -> Iterator[tuple[Codes, ClassCounts]]:
        """The classes that candidates would make of some groups: whose they are, and what is known of them."""

    def observe(self, requirement: int, changed: Groups) -> None:
        """Lower the minima by the new groups of one quasi-identifier, and close candidates that break a promise."""
        seen = np.zeros(0, np.int64)
        for places, classes in self.made(requirement, changed):
            for promise, levels in self._promises.levels(requirement, classes):
                self._candidates.lower(promise, places, levels)
            seen = np.union1d(seen, places)
        for place in self._candidates.broken(seen, self._promises.thresholds):
            self.close(place)


@dataclass(frozen=True)
class _Range:
    edges: Codes  # where its children begin, and last where they end
    slots: list[int]  # of its children


class RangeRefiner(Refiner):
    """Refines ranges of codes: nodes of a taxonomy into their children, intervals into two.

    Every child of every candidate has a slot, so that records are counted for all candidates at once: a code lies under
    at most one of them. Opening and closing a candidate rewrites the slots of its own codes only. With `again`, a
    number whose best cut broke a promise may be cut elsewhere.
    """

    def __init__(
        self,
        index: int,
        attribute: TaxonomyAttribute | NumberAttribute,
        codes: Mapping[int, Codes],
        gain: Gain,
        candidates: Candidates,
        promises: Promises,
        *,
        again: bool,
    ) -> None:
        super().__init__(index, attribute.size, codes, gain, candidates, promises)
        self._attribute = attribute
        self._again, self._broken = again, list[SplitInterval]()
        self._ranges: dict[int, _Range] = {}  # by place
        self._slot_of_code = np.zeros(attribute.size, np.int64)  # slot 0 is that of codes under no candidate
        self._owner = np.full(1, NOBODY)  # the place of the candidate of each slot
        self._used = 1  # all slots are below it
        self._free: list[int] = []
        self._missing = attribute.size if attribute.missing is None else attribute.missing
        self._forced: frozenset[int] = frozenset()
        if isinstance(attribute, TaxonomyAttribute):
            self._forced = above(attribute.taxonomy, attribute.top)
            self._open_node(0)
        elif attribute.missing is not None and attribute.missing > 0:
            missing = attribute.missing
            self._open(SplitInterval(0, attribute.size, missing), np.array([0, missing, attribute.size]))
        else:
            self._open_interval(0, attribute.size)

    def idle(self) -> bool:
        return not self._ranges

    def exact_gains(self, places: Codes) -> Iterator[tuple[Codes, Fraction]]:
        for place in places.tolist():
            edges = self._ranges[place].edges
            yield np.array([place]), self._gain.exact_apart(edges[:-1], edges[1:])

    def parts(self, place: int, requirement: int) -> tuple[Rows, Codes, int]:
        edges = self._ranges[place].edges
        return *self._records[requirement].parts(edges), len(edges) - 1

    def refine(self, place: int) -> None:
        change, edges = self._candidates.changes[place], self._ranges[place].edges
        self.close(place)
        if isinstance(change, RefineNode):
            for node in categorical(self._attribute).taxonomy.children[change.node]:
                self._open_node(node)
        else:
            for left, right in pairwise(edges.tolist()):
                self._open_interval(left, right)

    def observe(self, requirement: int, changed: Groups) -> None:
        """Count the children of all candidates at once."""
        if self.idle():
            return
        room, records = changed.size * self._used, len(changed.numbers)
        if self._promises.sizes_do(requirement) and is_small(room, records):
            counts = tallied(records, room, lambda part: self._keys_of(requirement, changed.part(part)))
            self._lower(self._promises.lowest(requirement, counts.reshape(changed.size, self._used)))
            return
        keys, _ = self._keys_of(requirement, changed)
        distinct, classes = self._promises.classes(requirement, keys, room, changed)
        slots = distinct % self._used
        self._lower((promise, slots, levels) for promise, levels in self._promises.levels(requirement, classes))

    def made(self, requirement: int, groups: Groups) -> Iterator[tuple[Codes, ClassCounts]]:
        if not self.idle():
            keys, _ = self._keys_of(requirement, groups)
            distinct, classes = self._promises.classes(requirement, keys, groups.size * self._used, groups)
            yield self._owner.take(distinct % self._used), classes

    def _keys_of(self, requirement: int, groups: Groups) -> tuple[Codes, Weights]:
        """The group and slot of each record as one number, and the weight of each."""
        slots = self._slot_of_code.take(self._records[requirement].of(groups.rows))
        return slots if groups.size == 1 else paired(groups.numbers, self._used, slots), groups.weights

    def observe_counts(self, requirement: int, counts: Counts, slots: Codes) -> None:
        """The same where the records are counted already: groups x slots."""
        found = self._promises.lowest(requirement, counts)
        self._lower((promise, slots.take(columns), levels) for promise, columns, levels in found)

    def slots_in_use(self) -> tuple[Codes, Codes]:
        """The slots that are taken, and the place among them of the slot of each code."""
        taken = self._owner[: self._used] != NOBODY
        taken[0] = True
        return np.flatnonzero(taken), (np.cumsum(taken) - 1).take(self._slot_of_code)

    def _lower(self, found: Iterator[tuple[int, Codes, Levels]]) -> None:
        """Lower minima by the levels of classes, given by promise and slot; close what breaks a promise."""
        places = self._owner[:0]
        for promise, slots, levels in found:
            places = self._owner.take(slots)
            self._candidates.lower(promise, places, levels)
        for place in self._candidates.broken(places, self._promises.thresholds):
            change = self._candidates.changes[place]
            self.close(place)
            if self._again and isinstance(change, SplitInterval):
                self._broken.append(change)

    def under(self, requirement: int, start: int, stop: int) -> Rows:
        """The records of one quasi-identifier with a code in [start, stop)."""
        return self._records[requirement].under(start, stop)

    def cut_elsewhere(self) -> tuple[int, int] | None:
        """Open the next best cut with more room in place of one that broke a promise; the interval that it is for.

        None if there is no such cut, or none has broken one. Who asks shows it the groups of the records in there.
        """
        while self._broken:
            broken = self._broken.pop()
            start, stop = broken.start, broken.stop
            if stop > self._missing:
                continue  # missing values are set apart from all numbers, or not at all
            room = self._gain.room_of(start, broken.at, stop)
            room += max(1, room // MORE_ROOM)
            cut = self._gain.best_cut(start, stop, room)
            if self._gain.room_of(start, cut, stop) >= room:
                self._open(SplitInterval(start, stop, cut), np.array([start, cut, stop]))
                return start, stop
        return None

    def _open_node(self, node: int) -> None:
        taxonomy = categorical(self._attribute).taxonomy
        if children := taxonomy.children[node]:
            edges = np.append(taxonomy.start[list(children)], taxonomy.stop[node]).astype(np.int64)
            self._open(RefineNode(node), edges)

    def _open_interval(self, start: int, stop: int) -> None:
        if stop - start > 1 and self._gain.beneficial(start, stop):
            cut = self._gain.best_cut(start, stop)
            self._open(SplitInterval(start, stop, cut), np.array([start, cut, stop]))

    def _open(self, change: Change, edges: Codes) -> None:
        start, stop = int(edges[0]), int(edges[-1])
        forced = isinstance(change, RefineNode) and change.node in self._forced
        if not forced and not self._gain.beneficial(start, stop):
            return
        order = change.node if isinstance(change, RefineNode) else start
        gain = self._gain.apart(edges[:-1], edges[1:])
        place = self._candidates.add(self._index, order, gain, change, forced=forced)
        slots = self._take_slots(len(edges) - 1)
        self._ranges[place] = _Range(edges, slots)
        self._owner[slots] = place
        self._slot_of_code[start:stop] = np.repeat(slots, np.diff(edges))

    def close(self, place: int) -> None:
        closed = self._ranges.pop(place)
        self._candidates.remove(place)
        self._slot_of_code[closed.edges[0] : closed.edges[-1]] = 0
        self._owner[closed.slots] = NOBODY
        self._free.extend(closed.slots)

    def _take_slots(self, number: int) -> list[int]:
        """Slots that no candidate has; those that were given back first."""
        given_back = max(0, len(self._free) - number)
        slots, self._free = self._free[given_back:], self._free[:given_back]
        new = number - len(slots)
        slots += range(self._used, self._used + new)
        self._used += new
        if self._used > len(self._owner):
            self._owner = np.concatenate([self._owner, np.full(self._used, NOBODY)])
        return slots


class DisclosureRefiner(Refiner):
    """Shows values one by one out of a suppressed set."""

    def __init__(
        self, index: int, size: int, codes: Mapping[int, Codes], gain: Gain, candidates: Candidates, promises: Promises
    ) -> None:
        super().__init__(index, size, codes, gain, candidates, promises)
        self._suppressed = np.ones(size, bool)
        self._rows: dict[int, Rows] = dict.fromkeys(codes, slice(None))  # suppressed records, by quasi-identifier
        # The candidate of each code; a place that was given back is nobody's.
        self._place = np.array([candidates.add(index, code, 0.0, Disclose(code)) for code in range(size)], int)
        self._left = size
        self._update_gains()

    def idle(self) -> bool:
        return not self._left

    def exact_gains(self, places: Codes) -> Iterator[tuple[Codes, Fraction]]:
        codes = self._candidates.order[places]
        for same, gain in self._gain.exact_disclosures(self._suppressed, codes):
            yield places[same], gain

    def read(self, requirement: int, codes: Codes) -> None:
        super().read(requirement, codes)
        self._rows[requirement] = np.flatnonzero(self._suppressed.take(codes))

    def parts(self, place: int, requirement: int) -> tuple[Rows, Codes, int]:
        """Of the suppressed records, those with the value are child 0, the others child 1."""
        rows = self._rows[requirement]
        stays = self._records[requirement].of(rows) != int(self._candidates.order[place])
        return rows, stays.astype(np.int64), 2

    def refine(self, place: int) -> None:
        for requirement in self._rows:
            rows, stays, _ = self.parts(place, requirement)
            self._rows[requirement] = np.flatnonzero(stays) if isinstance(rows, slice) else rows[stays > 0]
        code = int(self._candidates.order[place])
        self._suppressed[code] = False
        self._close([code])
        self._update_gains()

    def close(self, place: int) -> None:
        self._close([int(self._candidates.order[place])])

    def made(self, requirement: int, groups: Groups) -> Iterator[tuple[Codes, ClassCounts]]:
        """For every value in a group those who have it, then the other suppressed ones beside them."""
        if self.idle():
            return
        codes, inside = self._records[requirement].of(groups.rows), groups
        suppressed = self._suppressed[codes]
        if not suppressed.all():
            chosen = np.flatnonzero(suppressed)
            codes, inside = codes[chosen], groups.some(chosen)
        width = self._size
        keys = inside.numbers * np.int64(width) + codes
        keys, shown = self._promises.classes(requirement, keys, groups.size * width, inside)
        of, together = self._promises.classes(requirement, inside.numbers, groups.size, inside)
        beside, others = rest(together, shown, np.searchsorted(of, keys // width))
        places = self._place[keys % width]
        yield places, shown
        yield places[beside], others

    def _update_gains(self) -> None:
        codes = np.flatnonzero(self._place != NOBODY)
        if self._gain.suppression_beneficial(self._suppressed):
            places = self._place[codes]
            self._candidates.gain[places] = self._gain.disclosures(self._suppressed)[codes]
            self._candidates.exact[places] = -1
        else:
            self._close(codes.tolist())

    def _close(self, codes: Sequence[int]) -> None:
        for code in codes:
            self._candidates.remove(int(self._place[code]))
        self._place[list(codes)] = NOBODY
        self._left -= len(codes)
