"""Inference: guessing a sensitive column of a person from what the release says about those who look alike.

Guesses are measured against what could be guessed anyway: by the same attack without the target's record, by a learner
that has never seen the target's crowd, by what is frequent overall; the best of these is the control. What a whole
crowd gives away, such as a value that all its members share, is measured against releases of other people: of the same
crowds, with values that are drawn from what such learners know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from incrowd.attacks.covers import Texts
from incrowd.attacks.crowds import Floats
from incrowd.attacks.intervals import independent_trials
from incrowd.attacks.learners import LEARNERS, has_trees, likeness
from incrowd.attacks.problem import Codes, Problem
from incrowd.attacks.result import Attack, Group, NotApplicableError, Score
from incrowd.attacks.secrets import Secrets, numbers_of, quantiles
from incrowd.run import Run

Play = Callable[[Secrets, Run], Floats]  # the success of each target

MORE_LIKELY = 2.0  # times as likely as overall, and
LIKELY = 0.5  # at least this likely: then a crowd is skewed
RELEASES = 20  # of other people that are simulated
ROUNDS, SCALINGS = 8, 5  # of de Finetti's attack
_BINS = 20
_OTHERS = (
    f"people who are not in the table; without a control table, {RELEASES} releases of other people in crowds of the "
    "same size, which are as alike as usual, with values that are drawn from what learners know without the crowd "
    "(naive Bayes; boosted trees, where scikit-learn is installed; whichever gives away most)"
)


def _each(
    problem: Problem, rng: np.random.Generator, run: Run, variants: int = 2
) -> Iterator[tuple[str, Secrets, Secrets | None, dict[str, Any]]]:
    """Every sensitive column by every quasi-identifier: its name, targets, other people, and how to count trials."""
    if not problem.sensitive:
        raise NotApplicableError("no released column is named as sensitive")
    rows = rng.permutation(problem.people(rng))
    looks = variants * len(problem.sensitive) * len(problem.quasi_identifiers)
    for column in problem.sensitive:
        for qid in problem.quasi_identifiers:
            name = column if len(problem.quasi_identifiers) == 1 else f"{column} from {', '.join(qid.attributes)}"
            secrets = Secrets.of(problem, column, qid.attributes, problem.original, rows, run)
            others = None
            if problem.control is not None:
                others = Secrets.of(problem, column, qid.attributes, problem.control, problem.strangers(rng), run)
            trials = independent_trials(secrets.crowds.distinct(secrets.known)[1])
            yield name, secrets, others, {"looks": looks, "counts_as": trials}


def _guessed(
    problem: Problem,
    rng: np.random.Generator,
    run: Run,
    play: Play,
    anyway: Callable[[Secrets, Run], list[Floats]],
    variants: int = 2,
) -> Iterator[Score]:
    """Guesses against other people, or else against the best that could be guessed anyway."""
    for name, secrets, others, trials in _each(problem, rng, run, variants):
        baseline = float(np.mean(secrets.right(secrets.prior)))
        if others is not None:
            yield Score.against_others(name, play(secrets, run), play(others, run), baseline, looks=trials["looks"])
        else:
            control, found = max(anyway(secrets, run), key=lambda each: float(each.sum())), play(secrets, run)
            crowds = secrets.crowds.distinct(secrets.known)[1]
            trials["counts_as"] = independent_trials(crowds, found - control)
            yield Score.against_same(name, found, control, baseline, **trials)


def _given_away(problem: Problem, rng: np.random.Generator, run: Run, play: Play) -> Iterator[Score]:
    """What crowds give away, against other people, or else against releases of other people."""
    for name, secrets, others, trials in _each(problem, rng, run):
        baseline = float(np.mean(secrets.right(secrets.prior)))
        if others is not None:
            yield Score.against_others(name, play(secrets, run), play(others, run), baseline, looks=trials["looks"])
            continue
        expected = max(_in_releases_of_others(secrets, play, rng, run))
        yield Score.above(name, play(secrets, run), baseline, simulated=expected, **trials)


def _in_releases_of_others(secrets: Secrets, play: Play, rng: np.random.Generator, run: Run) -> Iterator[float]:
    """The share of successes that each learner makes us expect, with crowds that are as alike as usual."""
    for beliefs in secrets.beliefs(run):
        usual = likeness(beliefs.unseen, secrets.tally)
        played = (play(secrets.of_others(beliefs.unseen, usual, rng, run), run) for _ in range(RELEASES))
        yield float(np.mean([successes.mean() for successes in played]))


def by_frequencies(secrets: Secrets, run: Run) -> Floats:
    """The most frequent value among candidates."""
    return secrets.right(secrets.totals)


def by_learner(number: int, secrets: Secrets, run: Run) -> Floats:
    """What a learner says that was trained on the release."""
    return secrets.right(secrets.over_crowds(secrets.beliefs(run)[number].trained, run))


def infer(problem: Problem, rng: np.random.Generator, run: Run) -> Iterator[Score]:
    """By frequencies and by learners, which are played only to be compared with: they rarely do better.

    Learners share one half of the doubt that intervals allow for, so that more of them do not blunt the plain guess.
    """
    learners = LEARNERS if has_trees() else LEARNERS[:1]
    plays: list[tuple[str, Play, int]] = [("", by_frequencies, 2)]
    plays += [(f" ({name})", partial(by_learner, n), 2 * len(learners)) for n, name in enumerate(learners)]
    for title, play, variants in plays:
        for score in _guessed(problem, rng, run, play, without_the_record, variants):
            yield replace(score, variant=f"{score.variant}{title}")


def without_the_record(secrets: Secrets, run: Run) -> list[Floats]:
    """What could be guessed, had the target's record been left out."""
    return [secrets.right(secrets.without_own), *general_knowledge(secrets, run)]


def general_knowledge(secrets: Secrets, run: Run) -> list[Floats]:
    """What could be guessed by what is frequent overall, or by learners that have not seen the target's crowd."""
    unseen = [secrets.over_crowds(beliefs.unseen, run) for beliefs in secrets.beliefs(run)]
    return [secrets.right(belief) for belief in (secrets.prior, *unseen)]


def _inference_words(score: Score) -> str:
    learner = next((name for name in LEARNERS if score.variant.endswith(f" ({name})")), None)
    column = score.variant.removesuffix(f" ({learner})")
    guess = f"the guess of a learner ({learner})" if learner else "the most frequent value"
    return (
        f"{guess} of {column} among a person's candidates is right for {score.share:.1%} of people; for "
        f"{score.control_share:.1%} that could be guessed without their records, for {score.baseline:.1%} without a "
        "release"
    )


INFERENCE = Attack(
    name="inference",
    title="Inference",
    group=Group.SECRETS,
    knows="the quasi-identifiers of a person who is in the table",
    success="the most frequent sensitive value among the candidates is the person's, or the one that a learner "
    "expects that was trained on the release (naive Bayes; boosted trees, where scikit-learn is installed)",
    control="people who are not in the table; without a control table, the best of: the same without the person's "
    "record, the same learners without the person's crowd, the most frequent value",
    paper="M. Giomi et al., A unified framework for quantifying privacy risk in synthetic data, 2023",
    function=lambda problem, rng, run: list(infer(problem, rng, run)),
    words=_inference_words,
)


def by_homogeneity(secrets: Secrets, run: Run) -> Floats:
    """All candidates have one value."""
    return np.asarray(secrets.right(secrets.totals) * (secrets.totals.max(axis=1) >= secrets.candidates))


def _homogeneity_words(score: Score) -> str:
    return (
        f"all candidates of {score.share:.2%} of people share one value of {score.variant}, so that it is certain; "
        f"in releases of others {score.control_share:.2%}"
    )


HOMOGENEITY = Attack(
    name="homogeneity",
    title="Homogeneous crowds",
    group=Group.SECRETS,
    knows="the quasi-identifiers of a person who is in the table",
    success="all candidates have the same sensitive value",
    control=_OTHERS,
    paper="A. Machanavajjhala et al., l-diversity: privacy beyond k-anonymity, 2006",
    function=lambda problem, rng, run: list(_given_away(problem, rng, run, by_homogeneity)),
    words=_homogeneity_words,
)


def by_skewness(secrets: Secrets, run: Run) -> Floats:
    """The person's value is likely among candidates, and far more so than overall."""
    prior = secrets.own(np.broadcast_to(secrets.prior, secrets.totals.shape))
    belief = secrets.own(secrets.totals) / np.maximum(secrets.candidates, 1)
    return np.asarray((belief >= LIKELY) & (belief >= MORE_LIKELY * prior) & (prior > 0), float)


def _skewness_words(score: Score) -> str:
    return (
        f"for {score.share:.2%} of people the crowd makes their value of {score.variant} at least "
        f"{MORE_LIKELY:g} times as likely as it is overall, and more likely than not; in releases of others "
        f"for {score.control_share:.2%}"
    )


SKEWNESS = Attack(
    name="skewness",
    title="Skewed crowds",
    group=Group.SECRETS,
    knows="the quasi-identifiers of a person who is in the table, and how frequent values are overall",
    success=f"the person's value is at least {MORE_LIKELY:g} times as likely among the candidates as overall, and at "
    f"least {LIKELY:.0%} likely",
    control=_OTHERS,
    paper="N. Li, T. Li and S. Venkatasubramanian, t-closeness: privacy beyond k-anonymity and l-diversity, 2007",
    function=lambda problem, rng, run: list(_given_away(problem, rng, run, by_skewness)),
    words=_skewness_words,
)


def by_exchangeability(secrets: Secrets, run: Run) -> Floats:
    """De Finetti's attack: learn from all crowds which exact values go with which secret, and deal secrets by that."""
    crowd = secrets.crowds.only_crowd(secrets.known, run)
    one = crowd >= 0
    if not one.any():
        raise NotApplicableError("nobody is known to be in one crowd: people fit several, as after local recoding")
    known = zip(secrets.known, secrets.texts, strict=True)
    people = [_binned(column, texts)[one] for column, texts in known]
    dealt = _dealt(people, crowd[one], secrets.tally, run)
    belief = secrets.totals.copy()
    belief[one] = dealt
    return secrets.right(belief)


def without_dealing(secrets: Secrets, run: Run) -> list[Floats]:
    """What could be guessed from the crowd alone, or without it."""
    return [secrets.right(secrets.totals), *general_knowledge(secrets, run)]


def _binned(values: Codes, texts: Texts) -> Codes:
    """Values of a column in at most some bins: of numbers equal parts, of others the most frequent ones."""
    counts = np.bincount(values, minlength=len(texts)).astype(float)
    if int((counts > 0).sum()) <= _BINS:
        return values
    numbers = numbers_of(texts)
    if numbers is not None:
        return quantiles(numbers, counts, _BINS)[values]
    rank = np.empty(len(counts), np.intp)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return np.minimum(rank, _BINS - 1)[values]


def _dealt(people: list[Codes], crowd: Codes, tally: Floats, run: Run) -> Floats:
    """How likely each person has each secret of the crowd: naive Bayes on exact values, each crowd's secrets dealt."""
    members = np.bincount(crowd, minlength=len(tally)).astype(float)
    room = tally * (members / np.maximum(tally.sum(axis=1), 1))[:, None]  # secrets of those who are drawn
    belief: Floats = room[crowd] / np.maximum(members[crowd], 1)[:, None]
    width = tally.shape[1]
    for _ in range(ROUNDS):
        run.check()
        weight = np.zeros_like(belief)
        for column in people:
            size = int(column.max()) + 1
            counts = np.stack([np.bincount(column, belief[:, s], minlength=size) for s in range(width)], axis=1)
            weight += np.log((counts + 1) / (counts.sum(axis=0) + size))[column]
        belief = np.exp(weight - weight.max(axis=1, keepdims=True)) * (room[crowd] > 0)
        for _ in range(SCALINGS):  # as many of each secret as the crowd has, and one for everybody
            dealt = np.stack([np.bincount(crowd, belief[:, s], minlength=len(tally)) for s in range(width)], axis=1)
            belief *= np.divide(room, dealt, out=np.zeros_like(room), where=dealt > 0)[crowd]
            belief /= np.maximum(belief.sum(axis=1, keepdims=True), 1e-300)
    return belief


def _exchange_words(score: Score) -> str:
    return (
        f"secrets that are dealt by what goes together in all crowds give {score.variant} rightly for "
        f"{score.share:.1%} of people; without that, {score.control_share:.1%}"
    )


DE_FINETTI = Attack(
    name="definetti",
    title="De Finetti's attack",
    group=Group.SECRETS,
    knows="the quasi-identifiers of everybody in the table",
    success="the secret that is most likely, if each crowd's secrets are dealt to its members by what goes together in "
    "all crowds, is the person's",
    control="the best of: the most frequent value in the crowd, learners without it, the most frequent value overall",
    paper="D. Kifer, Attacks on privacy and de Finetti's theorem, 2009",
    function=lambda problem, rng, run: list(
        _guessed(replace(problem, control=None), rng, run, by_exchangeability, without_dealing)
    ),
    words=_exchange_words,
)
