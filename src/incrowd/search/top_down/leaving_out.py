"""The top-down search in which some records may be left out: those in classes that are not good.

With models that are upward closed a class that is not good has no good part, so who is left out once stays left out,
and what is left out after a refinement only grows as others are performed: a refinement that would leave out more than
the budget once would always do so, and is forgotten. (In general: of all sets of records whose classes are all good
there is a largest one, it is what is released, and that of a finer table is such a set of a coarser one too.)

With other models who is left out once stays left out all the same, and a refinement that would leave out too many when
it is looked at is forgotten; later it might not. What a refinement leaves out is asked beside the records that stay, so
what is counted of candidates is counted anew whenever a model is to compare with fewer records than before.

With one quasi-identifier a refinement leaves out the records of the bad classes that it makes; these are counted for
all candidates, class by class, and counted anew for the classes that a step changed. With several, leaving out a record
for one quasi-identifier shrinks its class in another; the same counts are then a lower bound, and how many are really
left out is worked out for the candidate that is about to be performed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd.recodings.steps import Step
from incrowd.search.leaving_out import compared, suppressed
from incrowd.search.top_down.candidates import NOBODY
from incrowd.search.top_down.choice import Best
from incrowd.search.top_down.groups import Groups, numbered
from incrowd.search.top_down.refiners import Refiner
from incrowd.search.top_down.search import Search, Task
from incrowd.table.grouping import Codes, Counts, Floats

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class _Tried:
    """A refinement tried out: the class of each tuple per quasi-identifier, and who is left out then."""

    place: int
    touched: Codes  # tuples that stay so far
    groups: list[Codes]
    out: Mask


@dataclass(frozen=True)
class _Tally:
    """What candidates would make of some groups, by place: records in bad classes, the lowest level of good ones."""

    bad: Counts
    lowest: Floats

    def forget(self, place: int) -> None:
        """As if there were no candidate at a place."""
        self.bad[place], self.lowest[place] = 0, np.inf


class LeavingOut(Search):
    """The state of such a search; `budget` is how many records may be left out."""

    def __init__(self, task: Task, budget: int) -> None:
        super().__init__(task, [dict(enumerate(task.table.codes))] * len(task.requirements), leave_out=True)
        self._requirements = task.requirements
        self._budget = budget
        tuples = len(self.table.counts)
        self.out: Mask = np.zeros(tuples, bool)
        self._left_out = 0
        self._groups: list[Codes] = [np.zeros(tuples, np.int64) for _ in self._requirements]
        self._weights_of = self.table.counts.astype(np.float64)
        self._tried: _Tried | None = None
        for requirement in range(len(self._requirements)):
            self._count_all(requirement)
        self._close_hopeless()

    def best(self) -> Best | None:
        while (best := super().best()) is not None:
            tried = self._try(best.place)
            if int(self.table.counts[tried.out].sum()) <= self._budget:
                self._tried = tried
                return best
            self.refiners[self.candidate(best.place)[0]].close(best.place)
        return None

    def _try(self, place: int) -> _Tried:
        index, _ = self.candidate(place)
        having = next(requirement for requirement, members in enumerate(self.attributes) if index in members)
        rows, children, width = self.refiners[index].parts(place, having)
        touched = np.arange(len(self.out))[rows]
        stay = ~self.out[touched]
        touched, children = touched[stay], children[stay]
        groups = list(self._groups)
        for requirement, members in enumerate(self.attributes):
            if index in members:
                groups[requirement] = _split(self._groups[requirement], touched, children, width)
        return _Tried(place, touched, groups, suppressed(groups, self._requirements, self.table, self.out))

    def perform(self, best: Best, number: int) -> Step:
        tried = self._tried
        assert tried is not None
        index, change = self.candidate(best.place)
        changed = [self._changed(requirement, tried) for requirement in range(len(self._groups))]
        before = [self._tallies(requirement, rows) for requirement, rows in enumerate(changed)]
        for tally in (tally for tallies in before for tally in tallies.values()):
            tally.forget(best.place)  # which may be given to another candidate
        self.refiners[index].refine(best.place)
        self._groups, self.out = tried.groups, tried.out
        self._left_out = int(self.table.counts[self.out].sum())
        known, self._requirements = self._requirements, compared(self._requirements, self.table, ~self.out)
        for requirement, rows in enumerate(changed):
            if self._requirements[requirement] == known[requirement]:
                self._update(requirement, rows[~self.out[rows]], before[requirement])
            else:
                self._count_all(requirement)
        self.anonymity = np.array([self._worst(requirement) for requirement in range(len(self._groups))], np.float64)
        self._close_hopeless()
        return self.step(number, index, change, best)

    def _changed(self, requirement: int, tried: _Tried) -> Codes:
        """The tuples of all groups that a refinement touches, or takes records from."""
        groups = self._groups[requirement]
        flags = np.zeros(int(groups.max()) + 1, bool)
        if tried.groups[requirement] is not groups:
            flags[groups[tried.touched]] = True
        flags[groups[tried.out & ~self.out]] = True
        return np.flatnonzero(flags[groups] & ~self.out)

    def _worst(self, requirement: int) -> float:
        groups = self._groups[requirement]
        classes = self.table.class_counts(groups, int(groups.max()) + 1, ~self.out)
        model = self._requirements[requirement].models[0]
        return float(model.levels(classes)[classes.records > 0].min())

    # What candidates would make

    def _tallies(self, requirement: int, rows: Codes) -> dict[int, _Tally]:
        """What the candidates of each attribute would make of the groups of some tuples, which they have all of."""
        if not len(rows):
            return {}
        groups = self._numbered(requirement, rows)
        members = self.attributes[requirement]
        return {index: self._tally(requirement, self.refiners[index], groups) for index in members}

    def _numbered(self, requirement: int, rows: Codes) -> Groups:
        keys = self._groups[requirement][rows]
        numbers, distinct = numbered(keys, int(keys.max()) + 1)
        return Groups(rows, numbers, len(distinct), self._weights_of[rows])

    def _tally(self, requirement: int, refiner: Refiner, groups: Groups) -> _Tally:
        places = len(self.candidates.live)
        bad, lowest = np.zeros(places, np.int64), np.full(places, np.inf)
        asked = self._requirements[requirement]
        for owners, classes in refiner.made(requirement, groups):
            good = asked.good(classes)
            np.add.at(bad, owners[~good], classes.records[~good])
            levels = asked.levels(asked.models[0], classes)
            np.minimum.at(lowest, owners[good], levels[good].astype(np.float64))
        tally = _Tally(bad, lowest)
        tally.forget(NOBODY)
        return tally

    def _count_all(self, requirement: int) -> None:
        """Count what the candidates of all attributes would make, whatever was counted before."""
        for index in self.attributes[requirement]:
            self._count(requirement, index)

    def _count(self, requirement: int, index: int) -> None:
        """Count what the candidates of an attribute would make of the tuples that stay."""
        bad, promise = self.candidates.bad, int(self.promises.first[requirement])
        assert bad is not None
        mine = (self.candidates.attribute == index) & self.candidates.live
        self.candidates.minimum[promise, mine] = np.inf
        bad[promise, mine] = 0
        refiner, rows = self.refiners[index], np.flatnonzero(~self.out)
        tally = self._tally(requirement, refiner, self._numbered(requirement, rows))
        touched = np.flatnonzero((tally.bad > 0) | np.isfinite(tally.lowest))
        bad[promise, touched] = tally.bad[touched]
        self.candidates.minimum[promise, touched] = tally.lowest[touched]

    def _update(self, requirement: int, rows: Codes, before: dict[int, _Tally]) -> None:
        """Take what candidates would have made of changed groups for what they would make of them now.

        The lowest level is not kept by class. Where it may have been that of a class that is gone, and none of the new
        ones is as low, all classes of the attribute are counted again.
        """
        bad, promise = self.candidates.bad, int(self.promises.first[requirement])
        assert bad is not None
        after = self._tallies(requirement, rows)
        minimum = self.candidates.minimum[promise]
        for index in self.attributes[requirement]:
            if index not in before:
                continue
            old, places = before[index], len(self.candidates.live)
            new = after.get(index) or _Tally(np.zeros(places, np.int64), np.full(places, np.inf))
            mine = (self.candidates.attribute == index) & self.candidates.live
            known = np.flatnonzero(mine[: len(old.bad)])
            bad[promise] += np.where(mine, new.bad, 0)
            bad[promise, known] -= old.bad[known]
            gone = (old.lowest[known] <= minimum[known]) & (new.lowest[known] > minimum[known])
            np.minimum(minimum, new.lowest, out=minimum, where=mine)
            if (gone & np.isfinite(old.lowest[known])).any():
                self._count(requirement, index)

    def _close_hopeless(self) -> None:
        """Close candidates that would leave out too many, and those that touch nobody who is released."""
        bad, minimum = self.candidates.bad, self.candidates.minimum
        assert bad is not None
        too_many = bad.max(axis=0) > self._budget - self._left_out
        nobody = ~(bad > 0).any(axis=0) & ~np.isfinite(minimum).any(axis=0)
        for place in np.flatnonzero(self.candidates.live & (too_many | nobody)).tolist():
            self.refiners[self.candidate(place)[0]].close(place)


def _split(groups: Codes, touched: Codes, children: Codes, width: int) -> Codes:
    """The groups of all tuples, with those of some tuples, of which they have all, split into children."""
    size = int(groups.max()) + 1
    split = groups.copy()
    split[touched] = size + numbered(groups[touched] * np.int64(width) + children, size * width)[0]
    return numbered(split, int(split.max()) + 1)[0]
