"""Which method suits a target: candidates are tried on samples, and judged on original records that they did not see.

Of each split (see `samples`) every candidate releases one part; a classifier learns from the released records and is
tested on the other part as it is, which is what a recipient does who gets new records. First counts how often it errs;
of two labels of which one is rare, how often it ranks a pair of records with either label wrongly (1 - AUC), since
there nobody errs less than who always says the frequent one. Candidates that cannot be told from the one that errs
least, within a 95 % interval of the difference on the same test records, are as good; of these the one is taken that
loses least detail (NCP). What was learned varies with the training records too, of which there are few samples, so
intervals are wider than test records alone would have it (by the factor of Nadeau and Bengio).

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
from incrowd.search.automatic.samples import SPLITS, TESTED, Split, drawn
from incrowd.search.costs import weighed_cost
from incrowd.search.registry import METHODS
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, Floats

CLASSES = 10  # labels that are told apart; the rarer ones count as one
RARE = 0.15  # share of the rarer of two labels below which pairs of records are judged
_Z = 1.959964  # of a 95 % interval
_SPREAD = 1 + SPLITS / (TESTED - 1)  # times the variance that test records alone would give

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
        as_good: Whether its errors cannot be told from those of the candidate that errs least.
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
    for split in drawn(table, run.key):
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
    outcomes = _outcomes(candidates, mistakes, [float(np.mean(each)) for each in losses])
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


def reasons(outcomes: Sequence[Outcome], taken: Outcome) -> str:
    """Why a candidate was taken, for the steward."""
    told = f"tried for the target on samples, it errs in {taken.error:.1%} of original records that were held out"
    if taken.error == min(each.error for each in outcomes) and sum(each.as_good for each in outcomes) == 1:
        return f"{told}, the least of {len(outcomes)} candidates"
    return (
        f"{told}, as few as the best of {len(outcomes)} candidates within the interval, and loses least detail of those"
    )


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


def _outcomes(candidates: Sequence[Candidate], wrong: Sequence[Mistakes], losses: Sequence[float]) -> list[Outcome]:
    """Errors with their intervals, and which of them are as good as the lowest."""
    errors = [float(mistakes[0].mean()) for mistakes in wrong]
    best = min(range(len(errors)), key=lambda place: (errors[place], losses[place], place))
    found = []
    for candidate, mistakes, error, loss in zip(candidates, wrong, errors, losses, strict=True):
        half = _half(mistakes)
        more = [one - other for one, other in zip(mistakes, wrong[best], strict=True)]
        as_good = error - errors[best] <= _half(more)
        found.append(Outcome(candidate, error, max(0.0, error - half), min(1.0, error + half), loss, as_good))
    return found


def _half(parts: Mistakes) -> float:
    """Half of the 95 % interval of the mean of some figures."""
    return _Z * sqrt(_SPREAD * sum(float(part.var()) / max(1, len(part)) for part in parts))
