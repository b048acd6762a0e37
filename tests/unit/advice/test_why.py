"""Why a column says so little: counted by hand, and every trial compared with the release that it promises."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import incrowd
from incrowd.advice.refusals import refusals_of
from incrowd.advice.trials import MOST_ATTACKED
from incrowd.advice.why import leaks_text, starred
from incrowd.attacks import inference, learners
from incrowd.errors import UnknownNameError
from incrowd.run import Run

pytestmark = pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")  # risks are not the point here

ROWS = [(20 + i % 50, "fm"[i % 2], f"{10 + i % 7}{i % 10}", ["clerk", "nurse", "smith"][i * i % 3]) for i in range(300)]


@pytest.fixture(scope="module")
def people():
    age, sex, code, job = zip(*ROWS, strict=True)
    return pa.table({"age": age, "sex": sex, "code": [f"A{c}" for c in code], "job": job})


@pytest.fixture(scope="module")
def release(people):
    incrowd.anonymize(
        people.select(["age"]), quasi_identifiers=["age"], k=20, method="cover"
    )  # compiled before a trial has its time
    return incrowd.anonymize(people, quasi_identifiers=["age", "sex", "code", "job"], k=20, method="tdr")


@pytest.fixture
def without_trees(monkeypatch):
    """As where scikit-learn is not installed: it is played sooner."""
    monkeypatch.setattr(learners, "has_trees", lambda: False)
    monkeypatch.setattr(inference, "has_trees", lambda: False)


def test_refusals_count_the_records_that_would_lose_their_crowd(people, release):
    """The most frequent job is told apart, all else stays as released: counted in plain Python."""
    rows = incrowd.anonymize(
        people, quasi_identifiers=["age", "sex", "code", "job"], k=20, method="tdr", keep_order=True
    ).data.to_pylist()
    jobs = people["job"].to_pylist()
    first = min(set(jobs), key=lambda job: (-jobs.count(job), job))
    classes = Counter((row["age"], row["sex"], row["code"], job == first) for row, job in zip(rows, jobs, strict=True))
    small = [size for size in classes.values() if size < 20]
    found = refusals_of(release, "job")
    assert [(refusal.records, refusal.classes) for refusal in found] == ([(sum(small), len(small))] if small else [])


def test_a_starred_column_is_found_and_hinted_at(release):
    losses = {row["column"]: row["ncp"] for row in release.changes().to_rows()}
    assert starred(release) == tuple(name for name, loss in losses.items() if loss >= 0.9)
    assert len(release.hints) == min(len(starred(release)), 3) + (len(starred(release)) > 3)
    for column, hint in zip(starred(release), release.hints, strict=False):
        assert hint.startswith(f"'{column}' is almost completely generalized")


def test_every_trial_is_a_release_that_can_be_made(people, release):
    found = release.why("age")
    changes = [trial.change for trial in found.trials]
    assert {"the method mondrian", "the method cover", "crowds of at least 10", "dropping the column code"} <= set(
        changes
    )
    assert [trial.column_loss for trial in found.trials] == sorted(trial.column_loss for trial in found.trials)
    for trial in found.trials:
        words = {"quasi_identifiers": ["age", "sex", "code", "job"], "k": 20, "method": "tdr", **trial.words}
        if "identifiers" in trial.words:
            words["quasi_identifiers"] = [c for c in words["quasi_identifiers"] if c not in trial.words["identifiers"]]
        made = incrowd.anonymize(people, **words)
        assert made.measures.total.ncp == pytest.approx(trial.loss), trial.change
        assert made.measures.total.suppressed == trial.left_out
        losses = {row["column"]: row["ncp"] for row in made.changes().to_rows()}
        assert losses["age"] == pytest.approx(trial.column_loss)


def test_it_prints_and_converts(release):
    found = release.why("job", Run(time_limit=20))
    assert "'job' lost" in str(found)
    assert found.to_json()["column"] == "job"
    assert len(found.to_rows()) == len(found.trials)


def test_only_columns_of_a_quasi_identifier(release):
    with pytest.raises(UnknownNameError, match="no quasi-identifier column 'ag'"):
        release.why("ag")


def test_a_run_that_is_over_tries_nothing(release):
    run = Run()
    run.stop()
    assert release.why("age", run).trials == ()


def test_attacked_settings_name_what_learns_something(release, without_trees):
    """Each setting is attacked as the release that it promises; those that do not help are not attacked."""
    found = release.why("age", attack=True)
    assert found.leaks is not None
    first = found.trials[:MOST_ATTACKED]
    assert any(trial in found.helpful for trial in first)
    for trial in found.trials:
        assert (trial.leaks is not None) == (trial in first and trial in found.helpful)
    assert "attacks that learn something" in str(found)
    assert [row["leaks"] for row in found.to_rows()] == [leaks_text(trial.leaks) for trial in found.trials]


def test_a_setting_that_shows_a_homogeneous_crowd_fails_by_name(without_trees):
    """As long as the kind is shown, towns are not; without it they are, and everybody of one town has the flu."""
    rng = np.random.default_rng(2)
    town = np.repeat(np.arange(24), 40)
    ill = np.where(town == 0, "flu", rng.choice(["no", "flu", "cold"], len(town)))
    columns = {"town": [f"town {t}" for t in town], "kind": np.tile(list("abcd"), 240), "ill": ill}
    words = {"quasi_identifiers": ["town", "kind"], "k": 40, "sensitive": ["ill"], "l": 1, "method": "tdr"}
    found = incrowd.anonymize(pa.table(columns), **words, levels={"kind": 0}).why("town", attack=True)
    assert "homogeneity" not in found.leaks
    (dropped,) = (trial for trial in found.trials if trial.change == "dropping the column kind")
    assert dropped.leaks["homogeneity"] == pytest.approx(1 / 24, abs=0.001)


def test_without_attacks_nothing_is_said_of_them(release):
    found = release.why("age", Run(time_limit=5))
    assert found.leaks is None
    assert all(trial.leaks is None for trial in found.trials)
    assert "attack" not in str(found)
    assert not any("leaks" in row for row in found.to_rows())
