"""Downcoding: a method that loses as little as it can puts nobody into a wide box who would fit a cheaper one.

So whoever knows that subtracts cheaper boxes from wide ones, and is left with fewer values than the label says. With
a register she sees whether that can be true: as many people as a crowd has records must be left for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd.attacks.crowds import Crowds, Floats
from incrowd.attacks.problem import Codes, Problem, drawn
from incrowd.attacks.result import Attack, Group, NotApplicableError, Score
from incrowd.run import Run

MOST_CROWDS = 400  # whose cells are tried, per quasi-identifier
Mask = npt.NDArray[np.bool_]


def subtract(problem: Problem, rng: np.random.Generator, run: Run) -> Iterator[Score]:
    """The generalized cells that are narrowed, with boxes in the order of their cost, and in a random one."""
    if problem.original.records > len(problem.people(rng)):
        raise NotApplicableError("it needs everybody, and the table is too large")
    some = False
    for qid in problem.quasi_identifiers:
        crowds = Crowds.of(problem.released, qid.attributes)
        if crowds.is_global:
            continue
        some = True
        boxes = _Boxes.of(problem, crowds, qid.attributes)
        targets = drawn(crowds.number, MOST_CROWDS, rng)
        right = boxes.narrowed(targets, boxes.cost, run)
        by_chance = boxes.narrowed(targets, rng.permutation(boxes.cost), run)
        looks = len(problem.quasi_identifiers)
        if len(right):
            yield Score.against_same(", ".join(qid.attributes), right, by_chance, 0.0, looks=looks)
    if not some:
        raise NotApplicableError("every value has one label, so that boxes do not overlap")


@dataclass(frozen=True)
class _Boxes:
    """The crowds as boxes of atoms, what each costs, and the people who may be in them.

    Args:
        atoms: Per column, which atoms each box has: crowds x atoms.
        sizes: Records of each.
        cost: The share of values that each stands for, summed over columns (NCP).
        people: Per column, the atom of each distinct person.
        numbers: How many people these are.
    """

    atoms: tuple[Mask, ...]
    sizes: Floats
    cost: Floats
    people: tuple[Codes, ...]
    numbers: Floats

    @classmethod
    def of(cls, problem: Problem, crowds: Crowds, columns: tuple[str, ...]) -> _Boxes:
        atoms, cost = [], np.zeros(crowds.number)
        for cover, labels, column in zip(crowds.covers, crowds.labels, columns, strict=True):
            atoms.append(cover.holds(labels[:, None], np.arange(cover.atoms)[None, :]))
            values = (problem.original.counts(column) > 0).astype(float)
            cost += np.round(cover.shares(values)[labels], 9)
        people, of_person = crowds.distinct(problem.original.rows(columns))
        return cls(tuple(atoms), crowds.sizes, cost, tuple(people), np.bincount(of_person).astype(float))

    def narrowed(self, targets: Codes, cost: Floats, run: Run) -> Floats:
        """For every generalized cell of some boxes, whether it is narrowed in a way that can be true."""
        found: list[bool] = []
        for box in targets.tolist():
            run.check()
            own = [atoms[box] for atoms in self.atoms]
            lacks = np.stack([(mine & ~atoms).any(axis=1) for mine, atoms in zip(own, self.atoms, strict=True)])
            missing, cheaper = lacks.sum(axis=0), cost < cost[box]
            inside = np.stack([mine[people] for mine, people in zip(own, self.people, strict=True)]).all(axis=0)
            for column, mine in enumerate(own):
                if mine.sum() < 2:
                    continue
                over = cheaper & (missing == lacks[column])  # at least as wide in all other columns
                left = mine & ~self.atoms[column][over].any(axis=0)
                may_be = self.numbers[inside & left[self.people[column]]].sum() >= self.sizes[box]
                found.append(bool(left.sum() < mine.sum() and may_be))
        return np.array(found, float)


def _words(score: Score) -> str:
    return (
        f"{score.share:.1%} of the generalized cells of {score.variant} are narrowed by subtracting cheaper boxes; "
        f"with boxes in random order {score.control_share:.1%}; what is left fits at least as many people as the crowd "
        "has records, so that nobody falls below k by it"
    )


DOWNCODING = Attack(
    name="downcoding",
    title="Downcoding",
    group=Group.METHOD,
    knows="the quasi-identifiers of everybody, and that the method puts nobody into a box who fits a cheaper one",
    success="a generalized cell has fewer values than its label says, and enough people fit what is left of it",
    control="the same with the costs of boxes dealt at random",
    paper="A. Cohen, Attacks on deidentification's defenses, 2022",
    function=lambda problem, rng, run: list(subtract(problem, rng, run)),
    words=_words,
)
