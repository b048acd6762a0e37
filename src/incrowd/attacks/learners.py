"""What learners make of a release: how likely each secret is in each crowd.

Naive Bayes needs nothing, and every crowd can be left out of it by subtracting its counts. Boosted trees need
scikit-learn (the extra `eval`) and are trained on all crowds but those of a fold.

What a learner says of a crowd that it has not seen is general knowledge, no leak. It is calibrated: sharpened, or drawn
towards what is frequent overall, as far as makes it the most likely for these crowds. Naive Bayes is too sure of itself
where columns go together, and where a secret is nearly certain, every learner is not sure enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from incrowd.attacks.crowds import Crowds, Floats
from incrowd.attacks.problem import Codes
from incrowd.run import Run

LEARNERS = ("naive Bayes", "boosted trees")
MOST_RECORDS = 20_000  # that trees are trained on; of more, as many are drawn
_FEW_RECORDS, _FOLDS, _FEWER_FOLDS = 2_000, 12, 5
_ROUNDS, _TREES, _LEAVES, _RATE, _LEAST = 30, 90, 6, 0.2, 10
_SMOOTH = 0.5
_TINY = 1e-12
_SHARPENED = (0.5, 0.7, 1.0, 1.4, 2.0, 2.8)
_TRUST = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0)
_QUARTILE = 0.6745  # of the normal distribution, the upper one


@dataclass(frozen=True)
class Beliefs:
    """How likely each secret is in each crowd, as shares: crowds x values.

    Args:
        unseen: Of crowds that the learner has not seen, calibrated.
        trained: Of crowds that it was trained on.
    """

    unseen: Floats
    trained: Floats


def beliefs_of(crowds: Crowds, tally: Floats, run: Run) -> Iterator[Beliefs]:
    """What each of `LEARNERS` believes, given how many records of each crowd have each secret."""
    unseen, trained = (_naive_bayes(crowds, tally, without_own=own) for own in (True, False))
    yield Beliefs(_calibrated(unseen, tally), trained)
    if has_trees():
        unseen, trained = _boosted(crowds, tally, run)
        yield Beliefs(_calibrated(unseen, tally), trained)


def has_trees() -> bool:
    """Whether scikit-learn is there, without which naive Bayes is the only learner."""
    return find_spec("sklearn") is not None


def _naive_bayes(crowds: Crowds, tally: Floats, *, without_own: bool) -> Floats:
    own = tally if without_own else np.zeros_like(tally)
    rest = tally.sum(axis=0) - own
    belief = np.log(rest + _SMOOTH)
    for cover, labels in zip(crowds.covers, crowds.labels, strict=True):
        number = len(cover.start)
        counts = np.stack([np.bincount(labels, column, minlength=number) for column in tally.T], axis=1)
        belief += np.log(counts[labels] - own + _SMOOTH) - np.log(rest + _SMOOTH * number)
    return _shares(belief)


def _boosted(crowds: Crowds, tally: Floats, run: Run) -> tuple[Floats, Floats]:
    """What boosted trees believe of crowds that they have not seen, and of all that they were trained on."""
    from threadpoolctl import threadpool_limits

    rng, places = np.random.default_rng(0), _places(crowds)
    crowd, value = np.nonzero(tally)
    records = tally[crowd, value].astype(np.intp)
    crowd, value = np.repeat(crowd, records), np.repeat(value, records)
    if len(crowd) > MOST_RECORDS:
        some = np.sort(rng.choice(len(crowd), MOST_RECORDS, replace=False))
        crowd, value = crowd[some], value[some]
    folds = _FOLDS if len(crowd) <= _FEW_RECORDS else _FEWER_FOLDS
    fold = rng.permutation(crowds.number) % folds
    unseen = np.zeros_like(tally)
    with threadpool_limits(1):  # starting threads takes longer than such tables
        for number in range(folds):
            run.check()
            inside, outside = fold[crowd] != number, fold == number
            unseen[outside] = _fitted(places[crowd[inside]], value[inside], places[outside], tally.shape[1])
        return unseen, _fitted(places[crowd], value, places, tally.shape[1])


def _places(crowds: Crowds) -> Floats:
    """Where the values lie that labels stand for, and how many these are: crowds x twice the columns."""
    found = []
    for cover, labels in zip(crowds.covers, crowds.labels, strict=True):
        used, place = np.unique(labels, return_inverse=True)
        atoms = [cover.atoms_of(label) for label in used.tolist()]
        found.append(np.array([own.mean() if len(own) else -1.0 for own in atoms])[place])
        found.append(np.array([len(own) for own in atoms], float)[place])
    return np.stack(found, axis=1)


def _fitted(places: Floats, value: Codes, targets: Floats, width: int) -> Floats:
    """Shares of each secret at other places: targets x values."""
    counts = np.bincount(value, minlength=width) + _SMOOTH
    found = np.tile(counts / counts.sum(), (len(targets), 1))
    values = np.unique(value)
    if len(values) < 2 or not len(targets):
        return found
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_iter=max(min(_ROUNDS, _TREES // len(values)), 10),
        max_leaf_nodes=_LEAVES,
        learning_rate=_RATE,
        min_samples_leaf=_LEAST,
        early_stopping=False,
        random_state=0,
    )
    found /= len(value)
    found[:, values] += model.fit(places, value).predict_proba(targets)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _calibrated(unseen: Floats, tally: Floats) -> Floats:
    """What suits crowds best that the learner has not seen: more or less sure, more or less like what is frequent."""
    rest = tally.sum(axis=0) - tally + _SMOOTH
    prior, logarithms = rest / rest.sum(axis=1, keepdims=True), np.log(unseen + _TINY)
    best, most = unseen, -np.inf
    for sharpened in _SHARPENED:
        apart = _shares(logarithms * sharpened) - prior
        for trust in _TRUST:
            shares = prior + trust * apart
            if (likelihood := float((tally * np.log(shares + _TINY)).sum())) > most:
                best, most = shares, likelihood
    return best


def _shares(logarithms: Floats) -> Floats:
    shares = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def likeness(belief: Floats, tally: Floats) -> float:
    """How alike the members of a crowd are beyond what a learner knows: the correlation within crowds.

    Three quarters of all crowds differ from what the learner expects by no more. So a few crowds that give
    something away do not count as usual.
    """
    sizes = tally.sum(axis=1)
    large = sizes > 1
    if not large.any():
        return 0.0
    expected = sizes[:, None] * belief
    differ = ((tally - expected) ** 2 / (expected + 1e-9)).sum(axis=1)[large]
    degrees = max(int((tally.sum(axis=0) > 0).sum()) - 1, 1)
    spread = 2 / (9 * degrees)
    by_chance = degrees * (1 - spread + _QUARTILE * spread**0.5) ** 3  # Wilson and Hilferty
    more = float(np.quantile(differ, 0.75)) / by_chance
    return float(min(max(more - 1, 0.0) / max(float(np.median(sizes[large])) - 1, 1.0), 0.99))
