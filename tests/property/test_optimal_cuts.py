"""Bounds by cuts against brute force: what is known of ranges, packings, and the optimum."""

from itertools import product
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.examples import examples
from tests.property.test_optimal import build, requirement, tables
from tests.property.test_optimal_pairs import cheapest
from tests.reference.optimal import Crowd, brute_force

from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.run import Run
from incrowd.search.optimal import probes
from incrowd.search.optimal.costs import Costs
from incrowd.search.optimal.cuts import CutBounds, Known, fits
from incrowd.search.optimal.innermost import most_even
from incrowd.search.optimal.packing import PARTS, Packing
from incrowd.search.optimal.pairs import PairSearch
from incrowd.search.optimal.ranges import Ranges
from incrowd.search.optimal.schemes import domains_of
from incrowd.search.optimal.searches import kind_of
from incrowd.taxonomies.taxonomy import Taxonomy

SIZES = (("a", 6), ("b", 4), ("c", 3))


@pytest.fixture(autouse=True)
def no_probes(monkeypatch):
    monkeypatch.setattr(probes, "fits", lambda costs, index: False)


@examples(150)
@given(tables(3), st.sampled_from([0.001, 1000]))
def test_cuts_find_the_optimum_without_a_start(problem, memory):
    """Nothing is offered, so that what is dropped wrongly is missed; with little memory depth first."""
    rows, labels, trees, k, suppress = problem
    table, limit = build(rows, labels, trees), int(suppress * len(rows) + 1e-9)
    costs = Costs(table, domains_of(table, "sps"), "dm", requirement(table, KAnonymity(k)))
    assume(fits(costs, most_even(costs)))
    search = PairSearch(costs, limit, Run(), memory=memory)
    search.run()
    assert search._cuts is not None
    assert search.best == brute_force(rows, labels, trees, ["sps"] * len(trees), k, limit, "dm")
    assert search.bound == search.best
    assert search.waiting == 0


def test_cuts_find_the_optimum_among_many_that_cost_nearly_as_much():
    """On the same tables every time, with many records and values, against bounds without cuts."""
    random = np.random.default_rng(5)
    trees = [Taxonomy.from_tree({"*": [f"{letter}{number}" for number in range(size)]}) for letter, size in SIZES]
    for _ in range(12):
        count, k = int(random.integers(60, 200)), int(random.integers(2, 8))
        chances = [random.dirichlet(np.full(size, 0.7)) for _, size in SIZES]
        columns = [
            [*range(size), *random.choice(size, count - size, p=chance)]
            for (_, size), chance in zip(SIZES, chances, strict=True)
        ]
        rows = list(zip(*(random.permutation(column).tolist() for column in columns), strict=True))
        table = build(rows, "Y" * count, trees)
        costs = Costs(table, domains_of(table, "sps"), "dm", requirement(table, KAnonymity(k)))
        best = []
        for limit in (0, 3, count):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("incrowd.search.optimal.cuts.MOST_JOINS", 0)
                plain = PairSearch(costs, limit, Run())
                plain.run()
            search = PairSearch(costs, limit, Run())
            search.run()
            assert plain._cuts is None
            assert search._cuts is not None
            assert search.best == search.bound == plain.best
            best.append(search.best)
        assert best == sorted(best, reverse=True)


@pytest.mark.parametrize(
    ("scheme", "cost", "kind"),
    [("sps", "dm", "pairs"), ("sps", "ncp", "tree"), ("gsps", "dm", "tree"), ("ops", "dm", "pairs")],
)
def test_any_sets_with_dm_are_searched_by_pairs_without_probes_too(scheme, cost, kind):
    trees = [Taxonomy.from_tree({"*": {"low": ["1", "2", "3"], "high": ["4", "5", "6"]}})] * 2
    table = build([(code, code % 3) for code in range(6)], "Y" * 6, trees)
    costs = Costs(table, domains_of(table, scheme), cost, requirement(table, KAnonymity(2)))
    assert kind_of(costs) == kind


@examples(150)
@given(tables(3), st.integers(1, 5), st.data())
def test_no_release_costs_less_than_the_bound(problem, least, data):
    """After some answers, with the cuts of the nodes above: the bound, and what is said to be hopeless."""
    rows, labels, trees, _, suppress = problem
    table, limit = build(rows, labels, trees), int(suppress * len(rows) + 1e-9)
    domains = domains_of(table, "sps")
    costs = Costs(table, domains, "dm", requirement(table, Crowd(least)))
    ranges, bounds = [Ranges(domain.space) for domain in domains], CutBounds(costs, limit, Run())
    node, cuts = [of.everything() for of in ranges], None

    assume(np.prod([domain.space.partitions for domain in domains]) <= 800)
    while True:
        lowest = cheapest(node, costs, limit)
        best = data.draw(st.sampled_from([lowest, lowest + 1, lowest + 30, np.inf]))
        known = bounds.known(node, cuts, best)
        assert known.bound <= lowest or lowest >= best
        for index, one, other in known.hopeless.tolist():
            joined = ranges[index].joined(node[index], 1 << one | 1 << other)
            assert cheapest([*node[:index], joined, *node[index + 1 :]], costs, limit) >= best
        questions = [(index, asked) for index, of in enumerate(node) for asked in of.questions]
        if known.cuts is not None and len(known.open) + len(known.hopeless) == 0:
            assert not questions
        if not questions:
            return
        cuts = data.draw(st.sampled_from([known.cuts, None]))
        index, asked = data.draw(st.sampled_from(questions))
        node[index] = data.draw(st.sampled_from([ranges[index].joined, ranges[index].parted]))(node[index], asked)


@pytest.mark.parametrize(("cost", "asked"), [(20, (2, 0b11)), (500, (0, 0b11))])
def test_attributes_with_few_blocks_are_asked_first(cost, asked):
    """Of two joins that are in doubt alike, that of 3 blocks, not that of 6, unless that one costs far more."""
    trees = [Taxonomy.from_tree({"*": [f"{letter}{number}" for number in range(size)]}) for letter, size in SIZES]
    table = build([(code % 6, code % 4, code % 3) for code in range(24)], "Y" * 24, trees)
    costs = Costs(table, domains_of(table, "sps"), "dm", requirement(table, KAnonymity(2)))
    search = PairSearch(costs, 24, Run())
    search._solved = 1
    joins = np.array([[0, 0, 1], [2, 0, 1]])
    known = Known(0, np.empty((0, 3), int), joins, np.array([0.5, 0.5]), np.array([cost, 4]), None)
    bounds = cast("CutBounds", SimpleNamespace(known=lambda *_: known))
    assert search._asked_by_cuts(bounds, search._root()) == asked


class TestPacking:
    """Cuts that name joins, of which each costs something."""

    @staticmethod
    def packed(costs, penalties, cuts, owners):
        packing = Packing(np.array(costs), np.array(penalties), Run())
        starts = np.cumsum([0, *map(len, cuts)])
        packing.add(np.array(owners), starts, np.array([join for cut in cuts for join in cut], int))
        packing.solve(np.inf)
        return packing.whole()

    def test_halves(self):
        found = self.packed([1, 1, 1], [9, 9, 9], [(0, 1), (1, 2), (0, 2)], [0, 1, 2])
        assert found.total == pytest.approx(1.5 * PARTS, abs=3)
        assert (found.left >= 0).all()

    def test_what_suppressing_costs_is_the_most_that_the_cuts_of_a_class_get(self):
        found = self.packed([5, 7], [3, 9], [(0,), (1,)], [0, 0])
        assert found.total == 3 * PARTS

    def test_a_class_that_no_join_saves(self):
        found = self.packed([5], [3, 9], [(), (0,)], [0, 1])
        assert found.total == pytest.approx(8 * PARTS, abs=3)

    @examples(100)
    @given(st.data())
    def test_a_packing_never_gives_more_than_there_is(self, data):
        rows, cells = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 4))
        costs = data.draw(st.lists(st.integers(1, 9), min_size=rows, max_size=rows))
        penalties = data.draw(st.lists(st.integers(0, 9), min_size=cells, max_size=cells))
        cuts = data.draw(st.lists(st.sets(st.integers(0, rows - 1)), min_size=1, max_size=8))
        owners = data.draw(st.lists(st.integers(0, cells - 1), min_size=len(cuts), max_size=len(cuts)))
        found = self.packed(costs, penalties, [sorted(cut) for cut in cuts], owners)
        for row in range(rows):
            got = sum(amount for cut, amount in zip(cuts, found.amounts.tolist(), strict=True) if row in cut)
            assert found.left[row] == costs[row] * PARTS - got >= 0
        for cell in range(cells):
            got = sum(amount for of, amount in zip(owners, found.amounts.tolist(), strict=True) if of == cell)
            assert got <= penalties[cell] * PARTS
        kept = min(
            sum(c for c, made in zip(costs, choice, strict=True) if made)
            + sum(
                penalties[cell]
                for cell in range(cells)
                if any(of == cell and not any(choice[row] for row in cut) for cut, of in zip(cuts, owners, strict=True))
            )
            for choice in product([False, True], repeat=rows)
        )
        assert found.total <= kept * PARTS
