"""Bounds: whoever sees a range guesses that somebody has its lowest and its highest value.

Ranges that end where somebody's value ends give these values away. How often a guess would be right anyway follows from
how frequent the value is among all people within the range.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from incrowd.attacks.crowds import Crowds, Floats
from incrowd.attacks.problem import Codes, Problem, Table, drawn
from incrowd.attacks.result import Attack, Group, NotApplicableError, Score
from incrowd.attacks.secrets import numbers_of
from incrowd.run import Run
from incrowd.taxonomies.labels import parse_interval

MOST_RANGES = 300  # crowds whose ranges are tried, per quasi-identifier
_FEWEST = 3  # values in a range: of two, both are bounds


def at_bounds(problem: Problem, rng: np.random.Generator, run: Run) -> Iterator[Score]:
    """The bounds of all ranges, by column."""
    tried = dict(_tried(problem, rng, run))
    if not tried:
        raise NotApplicableError("no released quasi-identifier has ranges of whole numbers")
    for column, found in tried.items():
        right, expected = np.array(found).T
        by_chance = float(expected.mean())
        yield Score.above(column, right, by_chance, simulated=by_chance, looks=len(tried))


def _tried(problem: Problem, rng: np.random.Generator, run: Run) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    """By column, for each bound of each range: whether somebody in the crowd has it, and how likely that is anyway."""
    for qid in problem.quasi_identifiers:
        crowds = Crowds.of(problem.released, qid.attributes)
        some = drawn(crowds.number, MOST_RANGES, rng)
        members = [_members(crowds, number, problem.original, qid.attributes, run) for number in some.tolist()]
        for place, column in enumerate(qid.attributes):
            numbers = numbers_of(problem.original.texts[column])
            if numbers is None:
                continue
            values, counts = numbers[problem.original.codes[column]], problem.original.counts(column)[1:]
            texts = problem.released.table.texts[column]
            found: list[tuple[float, float]] = []
            for number, inside in zip(some.tolist(), members, strict=True):
                ends = _ends(texts[crowds.labels[place][number]])
                if ends is not None and len(inside):
                    found += _guessed(ends, values[inside], numbers[1:], counts)
            if found:
                yield column, found


def _members(crowds: Crowds, number: int, people: Table, columns: tuple[str, ...], run: Run) -> Codes:
    """The people who fit a crowd."""
    run.check()
    fits = np.ones(people.records, bool)
    for cover, labels, column in zip(crowds.covers, crowds.labels, columns, strict=True):
        fits &= cover.holds(labels[number], np.arange(cover.atoms))[cover.atom_of][people.codes[column]]
    return np.flatnonzero(fits)


def _ends(label: str | None) -> tuple[int, int] | None:
    """The lowest and highest whole number of a range; None for other labels."""
    try:
        interval = None if label is None else parse_interval(label)
        if interval is None or interval.low is None or interval.high is None:
            return None
        ends = int(interval.low), int(interval.high) - (not interval.closed)
    except ValueError:
        return None
    return ends if ends[1] - ends[0] + 1 >= _FEWEST else None


def _guessed(ends: tuple[int, int], members: Floats, values: Floats, counts: Floats) -> list[tuple[float, float]]:
    """For both ends: whether a member has it, and how likely one would, were members drawn from the whole range."""
    within = float(counts[(values >= ends[0]) & (values <= ends[1])].sum())
    shares = [float(counts[values == end].sum()) / max(within, 1.0) for end in ends]
    there = [float((members == end).any()) for end in ends]
    return [(right, 1 - (1 - share) ** len(members)) for right, share in zip(there, shares, strict=True)]


def _words(score: Score) -> str:
    return (
        f"{score.share:.1%} of the bounds that ranges of '{score.variant}' show are somebody's value in the crowd; of "
        f"bounds that were drawn without looking, {score.control_share:.1%}"
    )


BOUNDS = Attack(
    name="bounds",
    title="Bounds of ranges",
    group=Group.METHOD,
    knows="the release alone",
    success="somebody in the crowd has the lowest, or the highest, value of its range",
    control="how likely somebody has that value, were the crowd drawn from all people within the range",
    paper="R. C.-W. Wong et al., Minimality attack in privacy preserving data publishing, 2007",
    function=lambda problem, rng, run: list(at_bounds(problem, rng, run)),
    words=_words,
)
