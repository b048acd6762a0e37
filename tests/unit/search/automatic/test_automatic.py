"""Auto: which methods it tries for which tables, that it takes the one that loses least, and that it says so."""

import numpy as np
import pyarrow as pa
import pytest

import incrowd
from incrowd.errors import TimeLimitError
from incrowd.key import Key
from incrowd.search.automatic import automatic
from incrowd.search.automatic.trial import Outcome
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


def made(data=PEOPLE, **words):
    return incrowd.anonymize(data, **{"quasi_identifiers": ["age", "sex", "job"], "k": 5, "key": KEY, **words})


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


def test_top_down_for_several_quasi_identifiers():
    release = made(quasi_identifiers=[["age", "sex"], ["sex", "job"]])
    assert (release.policy.method, release.policy.options) == ("tdr", {})
    assert any("the method is tdr: there are several quasi-identifiers" in note for note in release.notes)


def test_with_a_target_what_was_tried_is_taken_and_its_figures_are_told():
    release = made(target="ill")
    facts = release.found.facts
    assert {each["candidate"] for each in facts["trial"]} == {"mondrian", "cover", "tdr", "cover objective=target"}
    (taken,) = [each for each in facts["trial"] if each["candidate"].split()[0] == release.policy.method][:1]
    assert min(facts["trial"], key=lambda each: each["error"])["as_good"]
    assert taken["as_good"]
    assert any(
        note.startswith(f"the method is {release.policy.method}: tried for the target") for note in release.notes
    )
    assert release.data.equals(made(target="ill").data)


def outcome(candidate, error, loss, *, as_good):
    return Outcome(candidate, error, error, error, loss, as_good)


@pytest.mark.parametrize(
    ("errs_least", "method", "options"),
    [
        ("tdr", "tdr", {"restarts": automatic.RESTARTS}),
        ("cover objective=target", "cover", {"objective": "target", "effort": 0}),
        ("mondrian", "mondrian", {}),
    ],
)
def test_the_candidate_that_errs_least_is_run_as_it_was_tried(monkeypatch, errs_least, method, options):
    def tried(table, requirements, candidates, priorities, run):
        return [outcome(each, 0.2, 0.5, as_good=str(each) == errs_least) for each in candidates]

    monkeypatch.setattr(automatic, "tried", tried)
    release = made(target="ill")
    assert (release.policy.method, release.policy.options) == (method, options)


def test_for_a_target_cover_may_release_records_of_a_tuple_differently(monkeypatch):
    def tried(table, requirements, candidates, priorities, run):
        return [outcome(each, 0.2, 0.5, as_good=str(each) == "cover objective=target") for each in candidates]

    monkeypatch.setattr(automatic, "tried", tried)
    ages = np.repeat([20, 21, 22, 23, 40, 41], [30, 2, 1, 1, 80, 6])
    release = made(PEOPLE.set_column(0, "age", pa.array(ages)), quasi_identifiers=["age"], target="ill")
    assert len(release.recoding.pieces(release.table).records) > len(release.table.counts)
    assert release.policy.options["objective"] == "target"


def test_restarts_of_a_target_are_as_many_as_the_work_allows(monkeypatch):
    words = {"target": "ill", "quasi_identifiers": [["age", "sex"], ["sex", "job"]]}
    release, plain = made(**words), made(method="tdr", **words)
    assert release.policy.options == {"restarts": automatic.RESTARTS}
    assert "restarts" not in release.certificate.policy  # it follows from how many tuples the table has
    assert cost_of(release.table, release.recoding) <= cost_of(plain.table, plain.recoding)
    assert made(suppress=0.1, **words).found.facts["options"] == {"suppress": 0.1}
    monkeypatch.setattr(automatic, "RESTARTED", 10)
    assert made(**words).policy.options == {}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ({"data": PEOPLE.slice(0, 90)}, "a table of 90 records is too small"),
        ({"data": PEOPLE.set_column(3, "ill", pa.array(["flu"] * 120))}, "the target has a single value"),
        ({"k": 90}, "a sample cannot keep the promises"),
    ],
)
def test_where_nothing_can_be_tried_a_target_counts_as_none(monkeypatch, words, reason):
    monkeypatch.setattr("incrowd.privacy.k_anonymity.SMALL", 90)
    release = made(target="ill", **words)
    assert release.policy.method in ("mondrian", "cover")
    assert reason in release.found.facts["why"]
    assert "trial" not in release.found.facts


def test_a_trial_that_does_not_end_in_time_is_left_out(monkeypatch):
    def tried(*_):
        raise TimeLimitError("time limit", 1)

    monkeypatch.setattr(automatic, "tried", tried)
    assert "could not be tried for the target in time" in made(target="ill", time_limit=60).found.facts["why"]


@pytest.mark.parametrize(("limit", "name"), [("COVER", "mondrian"), ("LOCAL", "tdr")])
def test_a_large_table_gets_a_quicker_method(release, monkeypatch, limit, name):
    assert automatic.choices(release.table, release.policy.requirements)[0] == ("mondrian", "cover")
    monkeypatch.setattr(automatic, limit, 10)
    assert automatic.choices(release.table, release.policy.requirements)[0] == (name,)
    assert made().policy.method == name


@pytest.mark.parametrize(("share", "methods"), [(2, ("mondrian",)), (0, ("mondrian", "cover"))])
def test_of_a_larger_table_a_few_rounds_show_whether_cover_is_worth_its_time(monkeypatch, share, methods):
    monkeypatch.setattr(automatic, "QUICK", 10)
    monkeypatch.setattr(automatic, "SHARE", share)
    facts = made().found.facts
    assert ("too far apart" in facts["why"]) == (share > 0)
    assert all(f"{method} 0." in facts["why"] or facts["method"] == method for method in methods)


SETS = {"quasi_identifiers": [["age", "sex"], ["sex", "job"]]}


@pytest.mark.parametrize("words", [{}, {"target": "ill"}, {"target": "ill", **SETS}])
def test_a_budget_never_makes_a_release_worse(words):
    """All that is run without a budget is run with one; with `tdr` what is lost of the target counts."""
    plain, found = (made(suppress=share, **words) for share in (0, 0.05))
    aims = "quasi_identifiers" in words
    if aims:
        plain = made(method="tdr", **words)  # where records may be left out it does not start again
    costs = [cost_of(each.table, each.recoding) if aims else each.measures.total.ncp for each in (found, plain)]
    assert costs[0] <= costs[1]
    assert found.measures.total.suppressed <= 6


def test_where_records_may_be_left_out_the_certificate_does_not_name_the_method():
    """Which one is best can depend on who is left out."""
    release = made(suppress=0.05)
    assert release.found.facts["method"] in ("mondrian", "cover")
    assert (release.policy.method, release.policy.options) == ("auto", {"suppress": 0.05})
    assert any(note.startswith("the method is") for note in release.notes)  # for the steward
