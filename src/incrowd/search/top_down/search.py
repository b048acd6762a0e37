"""What every top-down search has: promises, open refinements of all attributes, and the anonymity so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from incrowd.privacy.model import Requirements
from incrowd.recodings.replay import describe
from incrowd.recodings.steps import Change, Step
from incrowd.search.priorities import weights_by_name
from incrowd.search.top_down.candidates import Candidates
from incrowd.search.top_down.choice import Best, Choice, Criterion
from incrowd.search.top_down.gains import Correction, gain_of
from incrowd.search.top_down.partial_refinement import PartialRefiner, can_be_partial
from incrowd.search.top_down.promises import Promises
from incrowd.search.top_down.refiners import DisclosureRefiner, RangeRefiner, Refiner
from incrowd.table.attributes import FlatAttribute
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes


@dataclass(frozen=True)
class Task:
    """What to search."""

    table: CompressedTable
    requirements: Requirements
    criterion: Criterion
    priorities: Mapping[str, float] | None = None  # weights of attributes by name, which gains are multiplied by
    # records that cuts of a number leave on both sides, where they can, by name
    rooms: Mapping[str, int] = field(default_factory=dict)
    again: bool = False  # whether a number whose best cut breaks a promise is cut elsewhere, with more room
    partial: bool = False  # whether children of a node of a given taxonomy need not be separated all at once
    correction: Correction = "none"  # what is taken off gains


class Search:
    """The state of a search: open candidates, and the anonymity so far.

    `codes` are those of the records that it reads, by quasi-identifier and attribute.
    """

    def __init__(self, task: Task, codes: Sequence[Mapping[int, Codes]], *, leave_out: bool) -> None:
        table, requirements = task.table, task.requirements
        self.table = table
        self.promises = Promises(table, requirements, late=not leave_out)
        self.anonymity = self.promises.anonymity()
        self._whole = [requirement.models[0].whole for requirement in requirements]
        self.attributes = [tuple(map(table.index, requirement.attributes)) for requirement in requirements]
        self.candidates = Candidates(len(self.promises.thresholds), leave_out=leave_out)
        weights = weights_by_name([attribute.name for attribute in table.attributes], task.priorities)
        self._weights = list(weights.values())
        self._again, self._partial = task.again and not leave_out, task.partial
        self._correction = task.correction
        self._rooms = [task.rooms.get(attribute.name, 0) for attribute in table.attributes]
        self.refiners = [
            self._refiner(index, {r: codes[r][index] for r, members in enumerate(self.attributes) if index in members})
            for index in range(len(table.attributes))
        ]
        self._choice = Choice(
            table.attributes,
            self.attributes,
            self.candidates,
            self.refiners,
            task.criterion,
            logarithms=table.has_target,
        )

    def _refiner(self, index: int, codes: Mapping[int, Codes]) -> Refiner:
        attribute = self.table.attributes[index]
        gain = gain_of(self.table, index, self._weights[index], self._rooms[index], self._correction)
        state = self.candidates, self.promises
        if self._partial and can_be_partial(attribute):
            return PartialRefiner(index, attribute, codes, self.table.value_counts(index), gain, *state)
        if isinstance(attribute, FlatAttribute):
            return DisclosureRefiner(index, attribute.size, codes, gain, *state)
        return RangeRefiner(index, attribute, codes, gain, *state, again=self._again)

    def best(self) -> Best | None:
        return self._choice.best(self.anonymity, self.promises.first, self.look)

    def look(self, attributes: set[int]) -> bool:
        """Bring what is known of the candidates of some attributes up to date; whether it was behind."""
        return False

    def candidate(self, place: int) -> tuple[int, Change]:
        """The attribute of a candidate, and what it does."""
        index = int(self.candidates.attribute[place])
        return index, self.refiners[index].change(place)

    def step(self, number: int, index: int, change: Change, best: Best) -> Step:
        """A refinement that was performed, for people to read."""
        attribute = self.table.attributes[index]
        value, labels = describe(attribute, change)
        anonymity = tuple(
            int(level) if whole else level for level, whole in zip(self.anonymity.tolist(), self._whole, strict=True)
        )
        gain, loss, score = float(best.gain), float(best.loss), float(best.score)
        return Step(number, attribute.name, value, labels, gain, loss, score, anonymity, change)
