"""Linking: whoever has a register finds the records that fit a person, exactly or in spite of errors.

Exact links are what k promises. With untouched columns as further knowledge it shows which few of them undo the crowd.
The fuzzy matcher is that of record linkage: every column adds evidence, and a column that disagrees is only unlikely.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from incrowd.attacks.crowds import Crowds, Floats
from incrowd.attacks.problem import Codes, Problem
from incrowd.attacks.result import Attack, Group, NotApplicableError, Score
from incrowd.run import Run

ERRORS = 0.1  # share of the values of a register that are wrong
MOST_SETS = 60  # of untouched columns that are tried
LARGEST_SET = 3
_CELLS = 1 << 21
_BEHIND = "(people behind a record)"


def link(problem: Problem, rng: np.random.Generator, run: Run) -> Iterator[Score]:
    """Candidates by everyone's quasi-identifiers, and people who may be behind each record, against k."""
    rows = problem.people(rng)
    looks = 2 * len(problem.quasi_identifiers)
    for qid in problem.quasi_identifiers:
        crowds = Crowds.of(problem.released, qid.attributes)
        name, least = ", ".join(qid.attributes), max(qid.k, 2)
        known = problem.original.rows(qid.attributes, rows)
        sizes = crowds.candidates(known, run)
        facts = {"k": least, "right_first_guesses": float(np.mean(guesses(sizes)))}
        facts["without_candidates"] = float(np.mean(sizes == 0))
        yield Score.above(name, _below(sizes, least), 0.0, looks=looks, smallest=_smallest(sizes), **facts)
        if crowds.is_global or len(rows) == problem.original.records:  # everybody counts: a sample would be fewer
            behind = crowds.people(problem.original.rows(qid.attributes), run)[crowds.of_row]
            few = _below(behind, least)
            yield Score.above(f"{name} {_BEHIND}", few, 0.0, looks=looks, smallest=_smallest(behind), **facts)


def _below(sizes: Floats, least: int) -> Floats:
    return ((sizes > 0) & (sizes < least)).astype(float)


def _smallest(sizes: Floats) -> float:
    there = sizes[sizes > 0]
    return float(there.min()) if len(there) else 0.0


def guesses(sizes: Floats) -> Floats:
    """How likely a first guess among candidates is right, given how many there are; no candidate, no guess."""
    return np.divide(1.0, sizes, out=np.zeros(len(sizes)), where=sizes > 0)


def _link_words(score: Score) -> str:
    facts = score.facts
    first = f"a first guess is right for {facts['right_first_guesses']:.2%} of people (1/k is {1 / facts['k']:.2%})"
    if score.successes:
        behind = score.variant.endswith(_BEHIND)
        who, what = ("released records", "people behind them") if behind else ("people", "candidates")
        return (
            f"{score.successes:,.0f} of {score.trials:,} {who} have fewer than {facts['k']:.0f} {what}, one of them "
            f"only {facts['smallest']:.0f}; {first}"
        )
    return f"nobody has fewer than {facts['k']:.0f} candidates (the fewest are {facts['smallest']:,.0f}); {first}"


LINKING = Attack(
    name="linking",
    title="Linking with a register",
    group=Group.K,
    knows="the quasi-identifiers of everybody, without errors",
    success="a person has fewer candidates among the released records than k, or a record fewer people behind it",
    control="what k allows: nobody",
    paper="L. Sweeney, k-anonymity: a model for protecting privacy, 2002",
    function=lambda problem, rng, run: list(link(problem, rng, run)),
    words=_link_words,
)


def link_by_more(problem: Problem, rng: np.random.Generator, run: Run) -> Iterator[Score]:
    """Candidates by the quasi-identifiers and a few of the columns that pass as they are."""
    if not problem.passing:
        raise NotApplicableError("no column passes through untouched, other than sensitive ones")
    rows = problem.people(rng, problem.trials)
    known = tuple(dict.fromkeys(name for qid in problem.quasi_identifiers for name in qid.attributes))
    sets = list(_sets(problem, rows, known, run))
    for number, more in enumerate(sets):
        run.amount(number, len(sets), "sets of columns")
        yield _alone(problem, rows, known, more, len(sets), run)


def _sets(problem: Problem, rows: Codes, known: Sequence[str], run: Run) -> Iterator[tuple[str, ...]]:
    """Every column, then larger sets: all of them if they are few, else those of the most telling columns."""
    singles = [(name,) for name in problem.passing]
    yield from singles
    telling = sorted(singles, key=lambda one: -_alone(problem, rows, known, one, 1, run).share)
    most = next(n for n in range(len(telling), 0, -1) if n <= 2 or _subsets(n) <= MOST_SETS)
    names = sorted(name for (name,) in telling[:most])
    for size in range(2, min(LARGEST_SET, len(names)) + 1):
        yield from combinations(names, size)


def _subsets(number: int) -> int:
    return number * (number - 1) // 2 + number * (number - 1) * (number - 2) // 6


def _alone(problem: Problem, rows: Codes, known: Sequence[str], more: tuple[str, ...], looks: int, run: Run) -> Score:
    columns = (*known, *more)
    crowds = Crowds.of(problem.released, columns)
    sizes = crowds.candidates(problem.original.rows(columns, rows), run)
    facts = {"right_first_guesses": float(np.mean(guesses(sizes)))}
    name = f"and {', '.join(more)}"
    if problem.control is not None:
        others = crowds.candidates(problem.control.rows(columns, problem.strangers(np.random.default_rng(0))), run)
        return Score.against_others(name, sizes == 1, others == 1, 0.0, looks=looks, **facts)
    return Score.against_same(name, sizes == 1, sizes == 2, 0.0, looks=looks, **facts)


def _more_words(score: Score) -> str:
    return (
        f"whoever knows the quasi-identifiers {score.variant} has a single candidate for {score.share:.1%} of people "
        f"(by coincidence for {score.control_share:.1%}); a first guess is right for "
        f"{score.facts['right_first_guesses']:.1%}"
    )


AUXILIARY = Attack(
    name="auxiliary",
    title="Linking with untouched columns",
    group=Group.UNTOUCHED,
    knows="the quasi-identifiers, and up to three of the columns that pass through untouched",
    success="a single released record fits the person",
    control="people who are not in the table; without a control table, the same people had their record been left out",
    paper="A. Narayanan and V. Shmatikov, Robust de-anonymization of large sparse datasets, 2008; A. Cohen, Attacks on "
    "deidentification's defenses, 2022 (EdX)",
    function=lambda problem, rng, run: list(link_by_more(problem, rng, run)),
    words=_more_words,
)


def link_in_spite_of_errors(problem: Problem, rng: np.random.Generator, run: Run) -> Iterator[Score]:
    """The most likely record by a probabilistic matcher, where some values of the register are wrong."""
    rows = problem.people(rng, problem.trials)
    for qid in problem.quasi_identifiers:
        crowds = Crowds.of(problem.released, qid.attributes)
        true = problem.original.rows(qid.attributes, rows)
        wrong, shares = [], []
        for name, values, cover, labels in zip(qid.attributes, true, crowds.covers, crowds.labels, strict=True):
            wrong.append(_with_errors(values, problem.original.codes[name], rng))
            shares.append(cover.shares(problem.original.counts(name))[labels])
        right = _matched(crowds, true, wrong, shares, run)
        baseline = 1 / max(qid.k, 2)
        yield Score.above(
            ", ".join(qid.attributes), right, baseline, looks=len(problem.quasi_identifiers), errors=ERRORS
        )


def _with_errors(values: Codes, of_all: Codes, rng: np.random.Generator) -> Codes:
    """Values of which some were replaced by those of other people."""
    wrong = rng.random(len(values)) < ERRORS
    return np.where(wrong, rng.choice(of_all, len(values)), values)


def _matched(
    crowds: Crowds, true: Sequence[Codes], register: Sequence[Codes], shares: Sequence[Floats], run: Run
) -> Floats:
    """How likely the best match of each person is right: Fellegi and Sunter's weights, ties broken by chance.

    The record of a person is one of those that fit the true values; which one, nobody can say.
    """
    found = np.zeros(len(true[0]))
    agrees = [np.log((1 - ERRORS) / np.maximum(share, 1e-9)) for share in shares]
    differs = [np.log(ERRORS / np.maximum(1 - share, 1e-9)) for share in shares]
    step = max(_CELLS // crowds.number, 1)
    for start in range(0, len(found), step):
        run.check()
        part = slice(start, start + step)
        weight = np.zeros((len(found[part]), crowds.number))
        own = np.ones(weight.shape, bool)
        for cover, labels, values, truth, plus, minus in zip(
            crowds.covers, crowds.labels, register, true, agrees, differs, strict=True
        ):
            weight += np.where(cover.holds(labels[None, :], cover.atom_of[values[part]][:, None]), plus, minus)
            own &= cover.holds(labels[None, :], cover.atom_of[truth[part]][:, None])
        best = weight >= weight.max(axis=1, keepdims=True) - 1e-9
        records, chosen, both = own @ crowds.sizes, best @ crowds.sizes, (best & own) @ crowds.sizes
        found[part] = np.divide(both, records * chosen, out=np.zeros(len(both)), where=records > 0)
    return found


def _fuzzy_words(score: Score) -> str:
    return (
        f"with a register in which {ERRORS:.0%} of values are wrong, the most likely record is the right one for "
        f"{score.share:.2%} of people (1/k is {score.baseline:.2%})"
    )


FUZZY = Attack(
    name="fuzzy",
    title="Linking with errors",
    group=Group.K,
    knows=f"the quasi-identifiers of everybody, {ERRORS:.0%} of the values wrong",
    success="the record with the highest matching weight is that of the person",
    control="what k allows: a first guess that is right with probability 1/k",
    paper="I. P. Fellegi and A. B. Sunter, A theory for record linkage, 1969",
    function=lambda problem, rng, run: list(link_in_spite_of_errors(problem, rng, run)),
    words=_fuzzy_words,
)
