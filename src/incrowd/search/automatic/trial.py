"""Which method suits a target: candidates are tried on samples, and judged on original records that they did not see.

Of each split (see `samples`) every candidate releases one part; a classifier learns from the released records and is
tested on the other part as it is, which is what a recipient does who gets new records. First counts how often it errs;
of two labels of which one is rare, how often it ranks a pair of records with either label wrongly (1 - AUC), since
there nobody errs less than who always says the frequent one. Candidates whose error is at most one standard error
above the least are as good: the standard error of the difference on the same test records, since what one candidate
gets wrong others mostly do too. So are those that err half a point more, or a whole one of pairs, which is not worth
any detail. Of these the one that loses least detail (NCP) is taken; of those that lose about as
little, the one that errs least. What was learned varies with the training records too, so the standard error is larger
than test records alone would have it (by the factor of Nadeau and Bengio).

The work is bounded by the size of the samples, and the choice follows from table, policy and key, never from a clock.
Nobody is left out of samples, so that the choice does not depend on who is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np

from incrowd.privacy.declared import Declared
from incrowd.privacy.feasibility import check_feasible
from incrowd.privacy.model import Requirements
from incrowd.run import Run
from incrowd.search.automatic.boosting import Boosted
from incrowd.search.automatic.features import Meanings
from incrowd.search.automatic.samples import TESTED, Split, drawn
from incrowd.search.costs import weighed_cost
from incrowd.search.registry import METHODS
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, Floats

CLASSES = 10  # labels that are told apart; the rarer ones count as one
RARE = 0.15  # share of the rarer of two labels below which pairs of records are judged
ABOUT = 1.25  # times the least loss: what loses no more loses about as little
SLIGHT, SLIGHT_OF_PAIRS = 0.005, 0.01  # a difference of errors that is not worth any detail
_Z = 1.959964  # of a 95 % interval

Mistakes = list[Floats]  # what was wrong, by test record; of pairs first by record of one label, then of the other


@dataclass(frozen=True)
class Candidate:
    """A method with options that is tried."""

    method: str
    options: Mapping[str, Any]

    def __str__(self) -> str:
        told = [f"{name}={value}" for name, value in self.options.items() if name == "objective"]
        return " ".join([self.method, *told])


@dataclass(frozen=True)
class Outcome:
    """What a trial found of a candidate.

    Args:
        candidate: What was tried.
        error: The share of test records that were predicted wrongly, or of pairs that were ranked wrongly.
        low: The lower end of its 95 % interval.
        high: The upper end.
        loss: The loss of detail of its releases (NCP), on the mean.
        as_good: Whether it errs hardly more than the candidate that errs least.
        measure: What the error is: "error", or "1 - AUC".
    """

    candidate: Candidate
    error: float
    low: float
    high: float
    loss: float
    as_good: bool
    measure: str = "error"

    def to_json(self) -> dict[str, Any]:
        shown = {name: round(getattr(self, name), 4) for name in ("error", "low", "high", "loss")}
        return {"candidate": str(self.candidate), "measure": self.measure, **shown, "as_good": self.as_good}


def tried(
    table: CompressedTable,
    requirements: Requirements,
    candidates: Sequence[Candidate],
    priorities: Mapping[str, float] | None,
    run: Run,
) -> list[Outcome]:
    """What comes of each candidate on samples of a table with a target.

    Raises:
        IncrowdError: A sample cannot be released, or the time is over.
    """
    meanings = Meanings(table)
    label_of, classes = _classes(table)
    is_rare = classes == 2 and 0 < _least_share(table) < RARE
    wrong: list[list[Mistakes]] = [[] for _ in candidates]
    losses: list[list[float]] = [[] for _ in candidates]
    splits = drawn(table, run.key)
    for split in splits:
        fitted = _in_sample(requirements, split.released, table)
        tests = meanings.original(split.tested)
        for place, candidate in enumerate(candidates):
            part, method = run.part(), METHODS[candidate.method]
            part.anytime = method.anytime
            asked = {**candidate.options, **({"priorities": priorities} if priorities else {})}
            found = method.search(split.released, fitted, asked, part)
            run.check()  # what was stopped early is not judged
            rows, places = meanings.released(split.released, found.recoding)
            learned = Boosted.trained(rows, label_of[_labels(split, run)[places]], classes)
            truth = label_of[split.truth]
            wrong[place].append(
                misranked(learned.scores(tests)[0], truth) if is_rare else [1.0 * (learned.classes(tests) != truth)]
            )
            losses[place].append(float(weighed_cost(split.released, found.recoding, priorities)))
    mistakes = [[np.concatenate(parts) for parts in zip(*each, strict=True)] for each in wrong]
    outcomes = _outcomes(candidates, mistakes, [float(np.mean(each)) for each in losses], len(splits))
    return [replace(each, measure="1 - AUC") for each in outcomes] if is_rare else outcomes


def _least_share(table: CompressedTable) -> float:
    """The share of records with the rarest label."""
    counts = table.labels_in(np.zeros(len(table.counts), np.int64), 1)[0]
    return float(counts.min() / counts.sum())


def misranked(scores: Floats, truth: Codes) -> Mistakes:
    """Of each record of class 1, the share of those of class 0 that do not score lower; then the other way round.

    Equal scores count half. The mean of either is 1 - AUC, and both say how certain that is (DeLong).
    """
    ones, zeros = scores[truth == 1], scores[truth == 0]
    found = []
    for some, others, sign in ((ones, zeros, 1), (zeros, ones, -1)):
        ordered = np.sort(sign * others)
        below, up_to = (np.searchsorted(ordered, sign * some, side) for side in ("left", "right"))
        found.append(1 - (below + up_to) / 2 / max(1, len(others)))
    return found


def _in_sample(requirements: Requirements, sample: CompressedTable, table: CompressedTable) -> Requirements:
    """What a part of the table has to keep: crowds that are smaller in proportion, as far as they are large."""
    share = Fraction(sample.records, table.records)
    models = (
        [model.in_sample(share) if isinstance(model, Declared) else model for model in requirement.models]
        for requirement in requirements
    )
    asked = (replace(each, models=tuple(some)) for each, some in zip(requirements, models, strict=True))
    found = [requirement.fitted(sample.protected) for requirement in asked]
    check_feasible(sample, found)
    return found


def taken_of(outcomes: Sequence[Outcome]) -> Outcome:
    """Of the candidates that are as good as the best and lose about the least detail, the one that errs least."""
    good = [each for each in outcomes if each.as_good]
    most = ABOUT * min(each.loss for each in good)
    return min((each for each in good if each.loss <= most), key=lambda each: (each.error, each.loss))


def reasons(outcomes: Sequence[Outcome], taken: Outcome) -> str:
    """Why a candidate was taken, for the steward."""
    told = f"tried for the target on samples, it errs in {taken.error:.1%} of original records that were held out"
    if taken.measure != "error":
        told = f"tried for the target on samples, it ranks {taken.error:.1%} of pairs of held-out records wrongly"
    best = min(each.error for each in outcomes)
    if taken.error == best:
        return f"{told}, the least of {len(outcomes)} candidates"
    return f"{told}; the best of {len(outcomes)} candidates, {best:.1%}, is hardly better and loses more detail"


def _classes(table: CompressedTable) -> tuple[Codes, int]:
    """The class that each label counts as, and how many there are."""
    assert table.target is not None
    counts = np.bincount(table.target.codes, table.target.counts, table.target.width)
    rank = np.argsort(np.argsort(-counts, kind="stable"), kind="stable")
    return np.minimum(rank, CLASSES - 1), max(2, min(len(counts), CLASSES))


def _labels(split: Split, run: Run) -> Codes:
    """The label of each record of the released part, tuple by tuple, and within those in an order by the key."""
    target = split.released.target
    assert target is not None
    tuples, labels = np.repeat(target.tuples, target.counts), np.repeat(target.codes, target.counts)
    chance = np.random.default_rng(run.key.number("trial labels")).random(len(tuples))
    return labels[np.lexsort((chance, tuples))]


def _outcomes(
    candidates: Sequence[Candidate], wrong: Sequence[Mistakes], losses: Sequence[float], splits: int
) -> list[Outcome]:
    """Errors with their intervals, and which of them are as good as the lowest."""
    errors = [float(mistakes[0].mean()) for mistakes in wrong]
    slight = SLIGHT if len(wrong[0]) == 1 else SLIGHT_OF_PAIRS
    best = min(range(len(errors)), key=lambda place: (errors[place], losses[place], place))
    found = []
    for candidate, mistakes, error, loss in zip(candidates, wrong, errors, losses, strict=True):
        half = _Z * _standard_error(mistakes, splits)
        more = [one - other for one, other in zip(mistakes, wrong[best], strict=True)]
        as_good = error - errors[best] <= max(_standard_error(more, splits), slight)
        found.append(Outcome(candidate, error, max(0.0, error - half), min(1.0, error + half), loss, as_good))
    return found


def _standard_error(parts: Mistakes, splits: int) -> float:
    """The standard error of the mean of some figures, of which each split gave as many."""
    spread = 1 + splits / (TESTED - 1)  # times the variance that test records alone would give
    return sqrt(spread * sum(float(part.var()) / max(1, len(part)) for part in parts))
