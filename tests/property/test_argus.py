"""The mu-Argus-like method against its own promises, on random small tables: crowds, and which cells are suppressed."""

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.labels import label_rows
from tests.reference.full_domain import FullDomain
from tests.strategies import problems

from incrowd.engines.arrow.recode import labelled
from incrowd.formats.registry import open_source
from incrowd.policy.policy import QuasiIdentifier
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Requirement
from incrowd.run import Run
from incrowd.search.baselines import cell_suppression
from incrowd.search.baselines.argus import argus
from incrowd.search.baselines.cell_suppression import Suppression, cover, patterns

modest = examples(80)
LENGTHS = st.integers(1, 4)
SHARES = st.sampled_from([0.0, 0.05, 0.3, 0.9])


def united(problem):
    """The problem with one quasi-identifier over everything."""
    names = [name for qid in problem.quasi_identifiers for name in qid.attributes]
    largest = max(qid.k for qid in problem.quasi_identifiers)
    return replace(problem, quasi_identifiers=(QuasiIdentifier(dict.fromkeys(names), largest),))


class Outcome:
    """A release record by record: what generalization alone gives, what is released, and which cells are suppressed.

    Bounds are exact: a range that only the widest round one holds looks like a suppressed cell.
    """

    def __init__(self, problem, length, share):
        self.problem = problem
        words = {"length": length, "suppress": share, "bounds": "exact"}
        self.found = argus(problem.table(), problem.requirements, Run(), **words)
        rows = pa.table(problem.batch())
        self.rows = label_rows(pa.Table.from_batches(labelled(open_source(rows), self.found.recoding, Run())))
        reference = FullDomain(problem, 0)
        levels = self.found.facts["levels"]
        self.generalized = reference.rows(levels)
        self.unsafe = {
            id(row)
            for qid in problem.quasi_identifiers
            for row in reference.small(self.generalized, qid.attributes, qid.k)
        }
        tops = {column.name: levels[column.name] == reference.heights[column.name] > 0 for column in problem.columns}
        roots = {c.name: c.taxonomy.labels[0] if c.kind == "tree" else "*" for c in problem.columns}
        self.suppressed = [{n for n in row if row[n] == roots[n] and not tops[n]} for row in self.rows]


@modest
@given(problems(), LENGTHS, SHARES)
def test_a_cell_is_its_generalized_value_or_suppressed(problem, length, share):
    outcome = Outcome(problem, length, share)
    facts = outcome.found.facts
    assert (facts["cells_suppressed_by_argus"] > 0) == (facts["unsafe_combinations_left"] > 0)
    assert facts["cells_suppressed_by_argus"] <= facts["records_in_small_classes"] * len(problem.columns)
    for qid in problem.quasi_identifiers:
        rows = Counter(tuple(row[name] for name in qid.attributes) for row in outcome.rows)
        assert rows.total() == len(problem.rows)
        assert min(rows.values()) >= qid.k
    for name in outcome.rows[0]:
        told = {
            (before[name], after[name])
            for before, after, hidden in zip(outcome.generalized, outcome.rows, outcome.suppressed, strict=True)
            if name not in hidden
        }
        assert len(told) == len({before for before, _ in told}) == len({after for _, after in told})


@modest
@given(problems(), LENGTHS, SHARES)
def test_cells_of_safe_records_are_suppressed_only_to_keep_the_last_few_company(problem, length, share):
    problem = united(problem)
    outcome = Outcome(problem, length, share)
    safe = sum(
        bool(hidden) and id(row) not in outcome.unsafe
        for row, hidden in zip(outcome.generalized, outcome.suppressed, strict=True)
    )
    facts, k = outcome.found.facts, problem.quasi_identifiers[0].k
    assert facts["safe_records_among_them"] == safe <= max(0, 2 * k - 2)
    assert facts["records_in_small_classes"] == len(outcome.unsafe)
    assert facts["cells_suppressed"] == sum(map(len, outcome.suppressed))
    assert facts["records_with_suppressed_cells"] == sum(map(bool, outcome.suppressed))
    assert bool(facts["cells_suppressed"]) == bool(outcome.unsafe)


@modest
@given(problems(), LENGTHS, SHARES)
def test_what_a_whole_class_has_in_common_is_told(problem, length, share):
    outcome = Outcome(united(problem), length, share)
    classes = defaultdict(list)
    for before, after, hidden in zip(outcome.generalized, outcome.rows, outcome.suppressed, strict=True):
        classes[tuple(after.values())].append((before, hidden))
    for members in classes.values():
        for name in members[0][1]:
            assert len({before[name] for before, _ in members}) > 1


@given(st.integers(1, 5), st.integers(1, 6), st.data())
def test_a_cover_hits_every_unsafe_combination_and_nothing_else(attributes, tuples, data):
    subsets = [set(c) for size in range(1, attributes + 1) for c in combinations(range(attributes), size)]
    members = np.array([[a in subset for a in range(attributes)] for subset in subsets])
    bits = data.draw(st.lists(st.booleans(), min_size=tuples * len(subsets), max_size=tuples * len(subsets)))
    unsafe = np.array(bits).reshape(tuples, len(subsets))
    found = cover(unsafe, members, np.ones((tuples, attributes), np.int64), 2)
    for row, hidden in zip(unsafe, found, strict=True):
        chosen = {a for a in range(attributes) if hidden[a]}
        needed = [subset for subset, bad in zip(subsets, row, strict=True) if bad]
        assert all(chosen & subset for subset in needed)
        assert chosen <= set().union(*needed)


def test_a_cover_takes_what_is_in_most_combinations_then_what_costs_least():
    members = np.array([[True, True, False], [False, True, True], [True, False, True]])
    unsafe = np.array([[True, True, False], [False, False, True], [True, False, False]])
    costs = np.array([[1, 9, 1], [5, 0, 4], [5, 5, 5]])
    assert cover(unsafe, members, costs, 10).tolist() == [
        [False, True, False],
        [False, False, True],
        [True, False, False],
    ]


def test_patterns_are_all_sets_from_small_to_large_the_cheap_ones_first():
    assert list(patterns([0.5, 0.1, 0.2])) == [[1], [2], [0], [1, 2], [0, 1], [0, 2], [0, 1, 2]]


@pytest.mark.parametrize("attributes", [1, 10, 11, 14, 40, 2000])
def test_there_are_not_too_many_patterns_and_the_last_is_everything(attributes):
    found = [tuple(pattern) for pattern in patterns([0.5] * attributes)]
    assert len(found) == len(set(found)) <= cell_suppression.MOST_PATTERNS + attributes
    assert sorted(found[-1]) == list(range(attributes))
    assert [len(pattern) for pattern in found] == sorted(len(pattern) for pattern in found)


@modest
@given(st.data())
def test_suppression_holds_with_few_patterns_too(data):
    """As with many attributes: not every set of cells is tried."""
    shape = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 5))
    size = shape[0] * shape[1]
    cells = np.unique(
        np.array(data.draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))).reshape(shape), axis=0
    )
    records = np.array(data.draw(st.lists(st.integers(1, 4), min_size=len(cells), max_size=len(cells))))
    k = data.draw(st.integers(2, max(2, int(records.sum()))))
    records[0] += max(0, k - records.sum())
    state = Suppression(cells, records, [1.0] * shape[1])
    everything, some = np.arange(shape[1]), np.arange(data.draw(st.integers(1, shape[1])))
    most, two = (Requirement((), (KAnonymity(size),)) for size in (k, 2))
    needed = data.draw(st.sampled_from([[(everything, most)], [(some, most), (everything[::-1], two)]]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cell_suppression, "MOST_PATTERNS", data.draw(st.sampled_from([0, 1, 5, 1023])))
        state.complete(needed, Run())
    assert not any(state.bad(places, requirement).any() for places, requirement in needed)
    assert np.bincount(state.tuples, state.records).tolist() == records.tolist()
    assert ((state.cells == cells[state.tuples]) | (state.cells == 0)).all()
