"""The bound that Mondrian tells: never above the loss of any release as boxes, which brute force finds."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.reference.local_optimum import least_box_loss
from tests.reference.problem import Column, Problem

import incrowd
from incrowd.measures.measures import measure
from incrowd.policy.policy import QuasiIdentifier
from incrowd.run import Run
from incrowd.search.mondrian import proof
from incrowd.search.mondrian.mondrian import mondrian
from incrowd.taxonomies.taxonomy import Taxonomy

TREE = Taxonomy.from_tree({"any": {"north": ["n1", "n2"], "south": ["s1", "s2", "s3"]}})
LEAVES = sorted(TREE.leaf_codes)


@st.composite
def small(draw):
    """A few records with a number and one more attribute of any kind."""
    rows = draw(st.integers(4, 8))
    numbers = st.sampled_from([1, 2, 3, 5, 8, 13, 30, None])
    ages = draw(st.lists(numbers, min_size=rows, max_size=rows).filter(lambda drawn: set(drawn) != {None}))
    second = draw(st.sampled_from(["number", "tree", "flat"]))
    values = {
        "number": st.sampled_from([0.5, 1.5, 7.25]),
        "tree": st.sampled_from(LEAVES),
        "flat": st.sampled_from("xyz"),
    }
    others = draw(st.lists(values[second], min_size=rows, max_size=rows))
    domain = draw(st.sampled_from([None, (0, 40)]))
    columns = (
        Column("age", tuple(ages), "number", None, domain),
        Column("other", tuple(others), second, TREE if second == "tree" else None),
    )
    return Problem(columns, None, (QuasiIdentifier(("age", "other"), draw(st.integers(2, 3))),))


def range_loss(column):
    """What a set of numbers loses: the width of their range, which reaches a public end where they have the last."""
    known = [value for value in column.values if value is not None]
    low, high = column.domain or (min(known), max(known))

    def lost(values):
        if len(values) == 1:
            return 0
        if None in values:
            return 1
        start = low if min(values) == min(known) else min(values)
        return ((high if max(values) == max(known) else max(values)) - start) / (high - low)

    return lost


def tree_loss(values):
    """What a set of leaves loses: that of the lowest node above all of them."""
    paths = [TREE.path(TREE.leaf_code(value)) for value in values]
    node = TREE.node(next(label for label in paths[0] if all(label in path for path in paths)))
    return (int(TREE.stop[node] - TREE.start[node]) - 1) / (len(LEAVES) - 1)


def least(problem):
    """The least NCP of any release as boxes."""
    of_kind = {"tree": lambda _: tree_loss, "flat": lambda _: lambda values: len(values) > 1, "number": range_loss}
    losses = [of_kind[column.kind](column) for column in problem.columns]
    rows = [tuple(row.values()) for row in problem.rows]
    return least_box_loss(rows, losses, problem.quasi_identifiers[0].k) / len(rows) / len(losses)


@examples(100)
@given(small(), st.booleans(), st.sampled_from(["exact", "round"]), st.integers(1, 4))
def test_the_bound_is_below_the_least_loss_of_any_boxes(problem, relaxed, bounds, passes):
    table, wanted, truth = problem.table(), problem.requirements, least(problem)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(proof, "PASSES", passes)
        patched.setattr(proof, "CELLS", 5)
        found = mondrian(table, wanted, Run(), relaxed=relaxed, bounds=bounds)
    ncp = measure(table, found.recoding, wanted).total.ncp
    assert 0 <= found.facts["bound"] <= truth + 1e-12 <= ncp + 2e-12
    assert found.facts["gap"] == pytest.approx(0 if ncp == 0 else 1 - found.facts["bound"] / ncp)


def test_the_bound_is_what_the_nearest_records_lose():
    """1, 2 and 10 with k = 2: 1 and 2 lose a ninth at least, 10 the eight ninths from 2; a box around all loses 1."""
    column = Column("age", (1, 2, 10), "number")
    problem = Problem((column,), None, (QuasiIdentifier(("age",), 2),))
    found = mondrian(problem.table(), problem.requirements, Run(), bounds="exact")
    assert found.facts["bound"] == pytest.approx((1 / 9 + 1 / 9 + 8 / 9) / 3)
    assert found.facts["gap"] == pytest.approx(1 - found.facts["bound"])


def test_a_further_pass_knows_what_neighbours_lose():
    """With k = 3, 1 is 4 from the third record, 5; but 0, which is nearer, loses 5 at least wherever it is."""
    column = Column("age", (0, 1, 5, 6, 6, 100), "number")
    problem = Problem((column,), None, (QuasiIdentifier(("age",), 3),))
    bounds = []
    for passes in (1, 2):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(proof, "PASSES", passes)
            bounds.append(mondrian(problem.table(), problem.requirements, Run()).facts["bound"])
    assert bounds[0] == pytest.approx((5 + 4 + 1 + 1 + 1 + 94) / 100 / 6)
    assert bounds[1] == pytest.approx((5 + 5 + 1 + 1 + 1 + 94) / 100 / 6)


def test_with_hierarchies_alone_it_is_the_bound_of_local_recoding():
    rows = pa.table({"region": LEAVES * 3 + ["n1", "s3"], "job": ["x", "y"] * 8 + ["z"]})
    words = {"quasi_identifiers": ["region", "job"], "k": 2, "taxonomies": {"region": TREE}}
    bounds = [incrowd.anonymize(rows, method=method, **words).found.facts["bound"] for method in ("mondrian", "cover")]
    best = incrowd.anonymize(rows, method="cover", proof="optimum", **words).measures.total.ncp
    assert min(bounds) > 0
    assert max(bounds) <= best + 1e-12


def test_a_table_that_takes_long_has_a_bound_on_request(monkeypatch):
    monkeypatch.setattr(proof, "QUICK", 3)
    column = Column("age", (1, 2, 10), "number")
    problem = Problem((column,), None, (QuasiIdentifier(("age",), 2),))
    assert "bound" not in mondrian(problem.table(), problem.requirements, Run()).facts
    assert mondrian(problem.table(), problem.requirements, Run(), proof="bound").facts["bound"] > 0


def test_a_bound_is_not_told_where_records_are_left_out_or_attributes_weigh():
    column = Column("age", tuple(range(20)), "number")
    problem = Problem((column,), None, (QuasiIdentifier(("age",), 2),))
    for words in ({"suppress": 0.1}, {"priorities": {"age": 2}}):
        assert "bound" not in mondrian(problem.table(), problem.requirements, Run(), **words).facts
