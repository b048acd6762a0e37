"""Auto: which methods it tries for which tables, and that it takes the one that loses least."""

import random

import pyarrow as pa
import pytest

import incrowd
from incrowd.search.automatic import automatic
from incrowd.search.costs import cost_of


def people(rows=80):
    draw = random.Random(5)
    return pa.table(
        {
            "age": [draw.randrange(20, 60) for _ in range(rows)],
            "job": [draw.choice("abcd") for _ in range(rows)],
            "sex": [draw.choice("fm") for _ in range(rows)],
            "income": [draw.choice(["low", "high"]) for _ in range(rows)],
        }
    )


def made(**words):
    return incrowd.anonymize(people(), **{"quasi_identifiers": ["age", "job", "sex"], "k": 4, **words})


def test_with_a_target_it_is_top_down_refinement():
    facts = made(target="income").found.facts
    assert facts["method"] == "tdr"
    assert "a target is given" in facts["why"]


def test_with_a_target_it_searches_again_where_no_record_is_left_out_and_the_table_is_not_large(monkeypatch):
    release = made(target="income")
    assert release.policy.options == {"restarts": automatic.RESTARTS}
    again = made(target="income", method="tdr", restarts=automatic.RESTARTS)
    assert release.data.equals(again.data)
    assert cost_of(release.table, release.recoding) <= cost_of(
        release.table, made(method="tdr", target="income").recoding
    )
    assert made(target="income", suppress=0.1).policy.options == {"suppress": 0.1}
    monkeypatch.setattr(automatic, "RESTARTED", 10)
    assert made(target="income").policy.options == {}


def test_with_several_quasi_identifiers_it_is_top_down_refinement():
    qids = [incrowd.QuasiIdentifier(["age", "job"], 4), incrowd.QuasiIdentifier(["job", "sex"], 6)]
    facts = made(quasi_identifiers=qids, k=None).found.facts
    assert facts["method"] == "tdr"
    assert "several quasi-identifiers" in facts["why"]


def test_otherwise_the_better_of_two_local_methods():
    tried = {"mondrian": {}, "cover": {"effort": 0}}
    losses = {method: made(method=method, **options).measures.total.ncp for method, options in tried.items()}
    assert len(set(losses.values())) == 2
    release = made()
    assert release.found.facts["method"] == min(losses, key=losses.get)
    assert release.measures.total.ncp == min(losses.values())


@pytest.mark.parametrize(("limit", "methods"), [("COVER", "mondrian"), ("LOCAL", "tdr")])
def test_a_large_table_is_not_given_to_methods_that_take_long(monkeypatch, limit, methods):
    monkeypatch.setattr(automatic, limit, 10)
    assert made().found.facts["method"] == methods


@pytest.mark.parametrize(("share", "methods"), [(2, ("mondrian",)), (0, ("mondrian", "cover"))])
def test_of_a_larger_table_a_few_rounds_show_whether_cover_is_worth_its_time(monkeypatch, share, methods):
    monkeypatch.setattr(automatic, "QUICK", 10)
    monkeypatch.setattr(automatic, "SHARE", share)
    facts = made().found.facts
    assert ("too far apart" in facts["why"]) == (share > 0)
    assert all(f"{method} 0." in facts["why"] or facts["method"] == method for method in methods)


@pytest.mark.parametrize("words", [{}, {"target": "income"}])
def test_a_budget_never_makes_a_release_worse(words):
    """All that is tried without a budget is tried with one; with a target what is lost of it counts."""
    plain, found = (made(suppress=share, **words) for share in (0, 0.05))
    costs = [cost_of(each.table, each.recoding) if words else each.measures.total.ncp for each in (found, plain)]
    assert costs[0] <= costs[1]


def test_where_records_may_be_left_out_the_certificate_does_not_name_the_method():
    """Which one is best can depend on who is left out."""
    release = made(suppress=0.05)
    assert release.found.facts["method"] in ("mondrian", "cover")
    assert (release.policy.method, release.policy.options) == ("auto", {"suppress": 0.05})
    assert any(note.startswith("the method is") for note in release.notes)  # for the steward
