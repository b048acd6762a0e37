"""What learners say of a crowd that they have not seen does not depend on its secrets, and suits crowds like it."""

import numpy as np
import pyarrow as pa
import pytest
from tests.unit.attacks.safe_secrets import nearly_certain_for_some
from tests.unit.attacks.test_ten_leaks import WORDS, people, played, safe

from incrowd.attacks import inference, learners
from incrowd.attacks.crowds import Crowds
from incrowd.attacks.problem import problem_of
from incrowd.formats.registry import open_source
from incrowd.policy.making import make_policy
from incrowd.run import Run


def crowds_and_tally():
    table = people(1)
    table["ill"] = nearly_certain_for_some(table, np.random.default_rng(1))
    rows, original = open_source(pa.table(safe(table))), open_source(pa.table(table))
    problem = problem_of(rows, original, make_policy(**WORDS), run=Run())
    crowds = Crowds.of(problem.released, ("age", "zip"))
    return crowds, crowds.tally(problem.released.table.codes["ill"], 4)


def unseen(learner, crowds, tally):
    if learner == "naive Bayes":
        return learners._naive_bayes(crowds, tally, without_own=True)
    pytest.importorskip("sklearn")
    return learners._boosted(crowds, tally, Run())[0]


@pytest.mark.parametrize("learner", learners.LEARNERS)
def test_a_crowd_does_not_teach_what_is_said_of_it(learner):
    crowds, tally = crowds_and_tally()
    other = tally.copy()
    other[3, 1:] = np.roll(other[3, 1:], 1)
    before, after = unseen(learner, crowds, tally), unseen(learner, crowds, other)
    assert not (tally == other).all()
    assert np.allclose(before[3], after[3])
    assert not np.allclose(before, after)


@pytest.mark.parametrize("number", range(len(learners.LEARNERS)))
def test_calibrated_beliefs_suit_unseen_crowds_better_than_frequencies(number):
    pytest.importorskip("sklearn")
    crowds, tally = crowds_and_tally()
    belief = list(learners.beliefs_of(crowds, tally, Run()))[number].unseen
    assert np.allclose(belief.sum(axis=1), 1)
    prior = tally.sum(axis=0) / tally.sum()
    assert (tally * np.log(belief + 1e-12)).sum() > (tally * np.log(prior + 1e-12)).sum() + 50


def test_what_learners_expect_is_a_variant_of_inference():
    pytest.importorskip("sklearn")
    table = people(2)
    variants = [score.variant for score in played(table, safe(table), only=["inference"])["inference"].scores]
    assert variants == ["ill", "ill (naive Bayes)", "ill (boosted trees)"]


def test_trees_do_not_blunt_the_plain_guess(monkeypatch):
    """Its interval is as wide as with naive Bayes alone: learners share what is allowed for them."""
    pytest.importorskip("sklearn")
    table = people(2)
    table["ill"] = np.random.default_rng(1).choice(["no", "yes"], len(table["ill"]), p=[0.9, 0.1])
    intervals = []
    for trees in (True, False):
        monkeypatch.setattr(learners, "has_trees", lambda trees=trees: trees)
        monkeypatch.setattr(inference, "has_trees", lambda trees=trees: trees)
        intervals.append(played(table, safe(table), only=["inference"])["inference"].scores[0].excess)
    assert intervals[0] == intervals[1]
