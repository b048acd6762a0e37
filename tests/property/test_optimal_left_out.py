"""Optimal search that may leave out records: its cost and bound are those of the table that is released."""

from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.examples import examples
from tests.reference.left_out import cheapest, counted
from tests.reference.protected import COLUMN, is_good

import incrowd
from incrowd.privacy.l_diversity import EntropyLDiversity, RecursiveLDiversity
from incrowd.privacy.likeness import AlphaAnonymity, BetaLikeness, DeltaDisclosure, EnhancedBetaLikeness
from incrowd.privacy.t_closeness import TCloseness
from incrowd.search.optimal import optimal as module

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=8, max_size=8)
NUMBERS = st.lists(st.sampled_from([10, 13, 15, 17, 32]), min_size=8, max_size=8)
FRACTIONS = st.lists(st.sampled_from([0.5, 1.25, 2.0, 4.75]), min_size=8, max_size=8)
CLOSE = 1e-9


@st.composite
def tables(draw):
    """Two columns that each have several values, their schemes and public ranges, k and a budget."""
    columns, schemes, extents = [], [], []
    for _ in range(2):
        column = draw(st.one_of(TEXTS, NUMBERS, FRACTIONS).filter(lambda values: len(set(values)) > 1))
        columns.append(column)
        schemes.append(draw(st.sampled_from(["ops", "sps"])))
        extents.append(None if isinstance(column[0], str) else draw(st.sampled_from([None, (0, 60)])))
    return columns, schemes, extents, draw(st.integers(2, 6)), draw(st.sampled_from([0.125, 0.25, 0.5]))


def released(case, cost, suppress, table=None, **options):
    columns, schemes, extents, k, _ = case
    names = ["q0", "q1"]
    release = incrowd.anonymize(
        table or pa.table(dict(zip(names, columns, strict=True))),
        quasi_identifiers=names,
        k=k,
        method="optimal",
        scheme=dict(zip(names, schemes, strict=True)),
        cost=cost,
        suppress=suppress,
        ranges={name: extent for name, extent in zip(names, extents, strict=True) if extent},
        **options,
    )
    return release, [tuple(row.values()) for row in release.data.to_pylist()]


@pytest.mark.parametrize("cost", ["dm", "ncp", "hdm"])
@examples(20)
@given(tables())
def test_cost_and_bound_are_those_of_the_release(cost, case):
    columns, schemes, extents, k, share = case
    release, rows = released(case, cost, share)
    facts, records = release.found.facts, len(columns[0])
    unit = records if cost == "ncp" else 1
    price, bound = facts["cost"] * unit, facts["bound"] * unit
    assert facts["suppressed_records"] == records - len(rows) <= share * records
    if cost != "hdm":
        assert price == pytest.approx(float(counted(columns, rows, cost, extents)), abs=CLOSE)
    if cost == "ncp":
        assert facts["cost"] == pytest.approx(release.measures.total.ncp, abs=CLOSE)
    best = float(cheapest(columns, schemes, k, int(Fraction(str(share)) * records), cost, extents))
    assert bound <= best + CLOSE
    assert best <= price + CLOSE
    if facts["optimal"]:
        assert price == pytest.approx(best, abs=CLOSE)
    hides = [scheme == "ops" and isinstance(c[0], str) for c, scheme in zip(columns, schemes, strict=True)]
    assert facts["optimal"] or (cost != "dm" and any(hides))


MODELS = [
    ({"entropy_l": 1.5}, EntropyLDiversity(COLUMN, 1.5)),
    ({"recursive_l": (2.0, 2)}, RecursiveLDiversity(COLUMN, 2.0, 2)),
    ({"t": 0.2, "t_distance": "equal"}, TCloseness(COLUMN, 0.2, "equal")),
    ({"alpha": 0.6}, AlphaAnonymity(COLUMN, 0.6)),
    ({"beta_likeness": 0.75}, BetaLikeness(COLUMN, 0.75)),
    ({"enhanced_beta_likeness": 1.5}, EnhancedBetaLikeness(COLUMN, 1.5)),
    ({"delta_disclosure": 1.5}, DeltaDisclosure(COLUMN, 1.5)),
]


@pytest.mark.parametrize("cost", ["dm", "ncp", "hdm"])
@examples(25)
@given(tables(), st.lists(st.integers(0, 2), min_size=8, max_size=8), st.sampled_from(MODELS))
def test_with_a_model_that_is_not_upward_closed_the_cheapest_release_is_found(cost, case, ill, asked):
    """Every partition is counted as what it releases; decoys, which are drawn, are left away."""
    columns, schemes, extents, k, share = case
    words, model = asked
    assume(len(set(ill)) > 1)
    ill = [sorted(set(ill)).index(value) for value in ill]
    assume(is_good(model, ill, ill))

    def good(inside, stay):
        values, everyone = ([ill[number] for number in some] for some in (inside, stay))
        return len(inside) >= k and is_good(model, values, everyone)

    table = pa.table({"q0": columns[0], "q1": columns[1], COLUMN: ["xyz"[value] for value in ill]})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("incrowd.search.leaving_out._reveals", lambda *words: False)
        release, rows = released(case, cost, share, table=table, sensitive=[COLUMN], **words)
    facts, records = release.found.facts, len(ill)
    shown = [row[:2] for row in rows]
    assert facts["suppressed_records"] == records - len(rows) <= share * records
    unit = records if cost == "ncp" else 1
    price, bound = facts["cost"] * unit, facts["bound"] * unit
    best = float(cheapest(columns, schemes, k, int(Fraction(str(share)) * records), cost, extents, good))
    assert price == pytest.approx(best, abs=CLOSE)
    assert bound <= best + CLOSE
    assert facts["optimal"]
    if cost != "hdm":
        assert price == pytest.approx(float(counted(columns, shown, cost, extents)), abs=CLOSE)


@pytest.mark.parametrize("cost", ["dm", "ncp"])
@examples(15)
@given(tables())
def test_a_budget_never_makes_a_release_worse(cost, case):
    columns, _, extents, _, share = case
    plain, found = (counted(columns, released(case, cost, suppress)[1], cost, extents) for suppress in (0, share))
    assert found <= plain


def test_who_is_left_out_does_not_come_back_into_an_interval():
    """Intervals used to grow into the room that left-out records had; these rejoined, and the cost was another one."""
    table = pa.table({"q0": [13, 17, 10, 32, 32, 17, 32, 15], "q1": ["v1", "v3", "v1", "v1", "v1", "v1", "v3", "v0"]})
    words = {"quasi_identifiers": ["q0", "q1"], "k": 6, "method": "optimal", "scheme": "ops", "cost": "dm"}
    release = incrowd.anonymize(table, suppress=0.25, **words)
    assert (release.found.facts["cost"], release.found.facts["optimal"]) == (52, True)
    assert release.data.num_rows == 6  # 36, and eight each for the other two
    assert len(set(map(str, release.data.to_pylist()))) == 1


def test_a_search_that_was_stopped_is_no_worse_than_one_without_a_budget(monkeypatch):
    """It is searched again without a budget then, for what is better only."""
    draws = [[(7 * row * (column + 3)) % 11 for row in range(40)] for column in range(3)]
    table = pa.table({f"q{column}": draws[column] for column in range(3)})
    words = {"quasi_identifiers": ["q0", "q1", "q2"], "k": 5, "method": "optimal", "cost": "ncp", "gap": 0.6}
    limits, search = [], module.PairSearch

    def watched(costs, limit, *more):
        limits.append(limit)
        return search(costs, limit, *more)

    monkeypatch.setattr(module, "PairSearch", watched)
    found = incrowd.anonymize(table, suppress=0.1, **words)
    assert (found.found.facts["optimal"], limits) == (False, [4, 0])
    assert found.found.facts["cost"] <= incrowd.anonymize(table, **words).found.facts["cost"]
