"""Singling out: predicates that are read off the release and match exactly one person of the original.

An attacker plays the predicates that match a single released record, such as "from 123**, a guard". Chance singles
people out as well: against people who are not in the table where there are some, else as Good and Turing estimate it.
If n1 predicates match one record and n2 match two, one of the first kind matches 2 n2 / n1 others on average.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from incrowd.attacks.covers import Cover
from incrowd.attacks.crowds import Crowds, Floats
from incrowd.attacks.problem import Codes, Problem, Table, drawn
from incrowd.attacks.result import Attack, Group, Score
from incrowd.run import Run
from incrowd.table.grouping import group

MOST_SETS = 120  # of columns, per variant
_RAREST = 20  # predicates per set of columns, where none matches a single record
_MOST_DRAWN = 10**8  # numpy draws from fewer than a billion
_CELLS = 1 << 22


@dataclass(frozen=True)
class Family:
    """The predicates that the rows of a release give on some columns.

    Args:
        columns: The columns.
        covers: What their labels stand for.
        labels: Per column, the labels of some of the rarest predicates, in random order.
        single: How many match one record,
        double: and how many two.
    """

    columns: tuple[str, ...]
    covers: tuple[Cover, ...]
    labels: tuple[Codes, ...]
    single: int
    double: int

    @classmethod
    def of(cls, problem: Problem, columns: tuple[str, ...], rng: np.random.Generator) -> Family:
        crowds = Crowds.of(problem.released, columns)
        rarest = np.flatnonzero(crowds.sizes == crowds.sizes.min())
        some = rng.permutation(rarest)[: problem.trials]
        single, double = (int((crowds.sizes == size).sum()) for size in (1, 2))
        return cls(columns, crowds.covers, tuple(labels[some] for labels in crowds.labels), single, double)

    def matches(self, people: Table, number: int, run: Run) -> Floats:
        """How many people each of the first of these predicates matches."""
        atoms = [cover.atom_of[people.codes[name]] for cover, name in zip(self.covers, self.columns, strict=True)]
        of_person, firsts = group(atoms, [cover.atoms for cover in self.covers])
        counts = np.bincount(of_person).astype(float)
        distinct = [column[firsts] for column in atoms]
        found = np.zeros(min(number, len(self.labels[0])))
        step = max(_CELLS // len(counts), 1)
        for start in range(0, len(found), step):
            run.check()
            part = slice(start, min(start + step, len(found)))
            fits: npt.NDArray[np.bool_] = np.ones((part.stop - start, len(counts)), bool)
            for cover, labels, own in zip(self.covers, self.labels, distinct, strict=True):
                fits &= cover.holds(labels[part][:, None], own[None, :])
            found[part] = fits @ counts
        return found


def single_out(problem: Problem, rng: np.random.Generator, run: Run) -> Iterator[Score]:
    """Predicates on one column, on two or three, and on the quasi-identifiers."""
    columns = problem.columns
    variants: dict[str, list[tuple[str, ...]]] = {"one column": [(name,) for name in columns]}
    several = [names for size in (2, 3) for names in combinations(columns, size)]
    if several:
        chosen = drawn(len(several), MOST_SETS, rng)
        variants["two or three columns"] = [several[place] for place in chosen.tolist()]
    variants["the quasi-identifiers"] = [qid.attributes for qid in problem.quasi_identifiers]
    for name, sets in variants.items():
        families = []
        for number, names in enumerate(sets):
            run.amount(number, len(sets), "sets of columns")
            run.check()
            families.append(Family.of(problem, names, rng))
        yield _score(problem, name, families, len(variants), rng, run)


def _score(
    problem: Problem, name: str, families: Sequence[Family], looks: int, rng: np.random.Generator, run: Run
) -> Score:
    pool = np.array([family.single for family in families])
    if not pool.sum():  # no record is alone: the rarest predicates are played, of which none is expected to succeed
        right = [family.matches(problem.original, _RAREST, run) for family in families]
        return Score.above(f"{name}, none with a single record", np.concatenate(right) == 1, 0.0, looks=looks)
    urns = pool // (int(pool.sum()) // _MOST_DRAWN + 1)
    chosen = rng.multivariate_hypergeometric(urns, min(problem.trials, int(urns.sum())), method="marginals")
    played = [(family, int(number)) for family, number in zip(families, chosen, strict=True) if number]
    found = np.concatenate([family.matches(problem.original, number, run) for family, number in played])
    facts = {"predicates": float(pool.sum()), "matching_nobody": float(np.mean(found == 0))}
    if problem.control is not None:
        others = np.concatenate([family.matches(problem.control, number, run) for family, number in played]) == 1
        return Score.against_others(name, found == 1, others, float(np.mean(others)), looks=looks, **facts)
    mean = 2 * sum(family.double for family in families) / float(pool.sum())
    by_chance = mean * math.exp(-mean) if mean < 1 else math.exp(-1)
    return Score.against_others(name, found == 1, np.full(len(found), by_chance), by_chance, looks=looks, **facts)


def _words(score: Score) -> str:
    if "none with" in score.variant:
        return "no predicate on a few columns matches a single released record, and the rarest ones single nobody out"
    return (
        f"{score.facts['predicates']:,.0f} predicates on {score.variant} match a single released record; "
        f"{score.share:.1%} of them match exactly one person of the original (by chance {score.control_share:.1%})"
    )


SINGLING_OUT = Attack(
    name="singling-out",
    title="Singling out",
    group=Group.UNTOUCHED,
    knows="the release alone",
    success="a predicate that matches a single released record matches exactly one person of the original",
    control="the same predicates against people who are not in the table; without a control table, Good and Turing's "
    "estimate of how many others they match",
    paper="A. Cohen and K. Nissim, Towards formalizing the GDPR's notion of singling out, 2020; M. Giomi et al., A "
    "unified framework for quantifying privacy risk in synthetic data, 2023",
    function=lambda problem, rng, run: list(single_out(problem, rng, run)),
    words=_words,
)
