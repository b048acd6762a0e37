"""Auto: which methods it tries for which tables, that it takes the one that loses least, and that it says so."""

import numpy as np
import pyarrow as pa
import pytest

import incrowd
from incrowd.key import Key
from incrowd.search.automatic import automatic
from incrowd.search.costs import cost_of

KEY = Key.for_experiments(0)
RNG = np.random.default_rng(3)
PEOPLE = pa.table(
    {
        "age": RNG.integers(20, 60, 120),
        "sex": RNG.choice(["f", "m"], 120),
        "job": RNG.choice(["a", "b", "c"], 120),
        "ill": RNG.choice(["flu", "cold"], 120),
    }
)


def made(**words):
    return incrowd.anonymize(PEOPLE, **{"quasi_identifiers": ["age", "sex", "job"], "k": 5, "key": KEY, **words})


@pytest.fixture(scope="module")
def release():
    return made()


def test_without_a_target_the_local_method_that_loses_least(release):
    tried = {"mondrian": {}, "cover": {"effort": 0}}
    losses = {name: made(method=name, **options).measures.total.ncp for name, options in tried.items()}
    best, other = sorted(losses, key=losses.get)
    assert losses[best] < losses[other]
    assert release.policy.method == best
    (note,) = [note for note in release.notes if note.startswith("the method is")]
    assert note == (
        f"the method is {best}: without a target a local method loses least: NCP {losses[best]:.4f}, "
        f"{other} {losses[other]:.4f}"
    )
    named = {"method": release.policy.method, **release.policy.options}
    assert release.data.equals(made(**named).data)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ({"target": "ill"}, "a target is given"),
        ({"quasi_identifiers": [["age", "sex"], ["sex", "job"]]}, "there are several quasi-identifiers"),
    ],
)
def test_top_down_for_a_target_and_for_several_quasi_identifiers(words, reason):
    release = made(**words)
    assert release.policy.method == "tdr"
    assert any(f"the method is tdr: {reason}" in note for note in release.notes)


def test_with_a_target_it_searches_again_where_no_record_is_left_out_and_the_table_is_not_large(monkeypatch):
    release, plain = made(target="ill"), made(target="ill", method="tdr")
    assert release.policy.options == {"restarts": automatic.RESTARTS}
    assert cost_of(release.table, release.recoding) <= cost_of(plain.table, plain.recoding)
    assert made(target="ill", suppress=0.1).policy.options == {"suppress": 0.1}
    monkeypatch.setattr(automatic, "RESTARTED", 10)
    assert made(target="ill").policy.options == {}


@pytest.mark.parametrize(("limit", "name"), [("COVER", "mondrian"), ("LOCAL", "tdr")])
def test_a_large_table_gets_a_quicker_method(release, monkeypatch, limit, name):
    assert automatic.choices(release.table, [None])[0] == ("mondrian", "cover")
    monkeypatch.setattr(automatic, limit, 10)
    assert automatic.choices(release.table, [None])[0] == (name,)
    assert made().policy.method == name


@pytest.mark.parametrize(("share", "methods"), [(2, ("mondrian",)), (0, ("mondrian", "cover"))])
def test_of_a_larger_table_a_few_rounds_show_whether_cover_is_worth_its_time(monkeypatch, share, methods):
    monkeypatch.setattr(automatic, "QUICK", 10)
    monkeypatch.setattr(automatic, "SHARE", share)
    facts = made().found.facts
    assert ("too far apart" in facts["why"]) == (share > 0)
    assert all(f"{method} 0." in facts["why"] or facts["method"] == method for method in methods)


@pytest.mark.parametrize("words", [{}, {"target": "ill"}])
def test_a_budget_never_makes_a_release_worse(words):
    """All that is tried without a budget is tried with one; with a target what is lost of it counts."""
    plain, found = (made(suppress=share, **words) for share in (0, 0.05))
    costs = [cost_of(each.table, each.recoding) if words else each.measures.total.ncp for each in (found, plain)]
    assert costs[0] <= costs[1]
    assert found.measures.total.suppressed <= 6


def test_where_records_may_be_left_out_the_certificate_does_not_name_the_method():
    """Which one is best can depend on who is left out."""
    release = made(suppress=0.05)
    assert release.found.facts["method"] in ("mondrian", "cover")
    assert (release.policy.method, release.policy.options) == ("auto", {"suppress": 0.05})
    assert any(note.startswith("the method is") for note in release.notes)  # for the steward
