"""Search by questions against brute force: ranges, the bounds of both sides of a question, and the optimum."""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.examples import examples
from tests.property.test_optimal import build, requirement, tables
from tests.reference.optimal import allowed, brute_force
from tests.strategies import taxonomies

from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.run import Run
from incrowd.search.optimal import SCHEMES
from incrowd.search.optimal.blocks import blocks_of, join, labels_of
from incrowd.search.optimal.costs import COSTS, Costs
from incrowd.search.optimal.innermost import innermost_of
from incrowd.search.optimal.pairs import PairSearch
from incrowd.search.optimal.partitions import partitions
from incrowd.search.optimal.ranges import Ranges
from incrowd.search.optimal.schemes import domain_of
from incrowd.taxonomies.taxonomy import Taxonomy


def inside(of, space):
    """The partitions of a space that lie in a range, from its definition."""
    found = []
    for blocks in partitions(space):
        coarser = all(any(fine & ~block == 0 for block in blocks) for fine in of.blocks)
        apart = not any(far & block for block in blocks for place, far in enumerate(of.apart) if block >> place & 1)
        if coarser and apart:
            found.append(frozenset(blocks))
    return found


def cheapest(within, costs, limit):
    """The lowest cost of all partitions within some ranges."""
    spaces = [domain.space for domain in costs.domains]
    found = [
        costs.of([labels_of(blocks, space.size) for blocks, space in zip(chosen, spaces, strict=True)])
        for chosen in product(*(inside(of, space) for of, space in zip(within, spaces, strict=True)))
    ]
    return min((cost for cost, suppressed in found if suppressed <= limit), default=np.inf)


@examples(100)
@given(taxonomies(most_nodes=8), st.sampled_from(SCHEMES), st.data())
def test_each_question_halves_a_range_and_none_is_left_at_the_end(taxonomy, scheme, data):
    size = len(taxonomy.leaves)
    table = build([(code,) for code in range(size)], "Y" * size, [taxonomy])
    space = domain_of(table, 0, scheme).space
    ranges = Ranges(space)
    of = ranges.everything()
    left = inside(of, space)
    assert len(left) == len(allowed(taxonomy, scheme))
    while of.questions:
        question = data.draw(st.sampled_from(list(of.questions)))
        joined, parted = ranges.joined(of, question), ranges.parted(of, question)
        sides = [inside(joined, space), inside(parted, space)]
        assert all(sides)
        for side in (joined, parted):
            blocks = blocks_of(side.coarse.tolist())
            assert set(space.closure(blocks)) == set(blocks)
        assert sorted(map(sorted, left)) == sorted(map(sorted, [*sides[0], *sides[1]]))
        of, left = data.draw(st.sampled_from(list(zip((joined, parted), sides, strict=True))))
        for blocks in left:
            assert len(join((*blocks, *blocks_of(of.coarse.tolist())))) == len(set(of.coarse.tolist()))
    assert len(left) == 1
    assert (of.fine == of.coarse).all()


@examples(70)
@given(tables(3), st.sampled_from(SCHEMES), st.sampled_from(COSTS), st.data())
def test_no_release_costs_less_than_the_bound_of_its_side(problem, scheme, cost, data):
    """After some answers: the bounds of both sides of every question, over all that is left."""
    rows, labels, trees, k, suppress = problem
    table, limit = build(rows, labels, trees), int(suppress * len(rows) + 1e-9)
    others = data.draw(st.sampled_from(SCHEMES))
    domains = [domain_of(table, index, others if index else scheme) for index in range(len(trees))]
    costs = Costs(table, domains, cost, requirement(table, KAnonymity(k)))
    search = PairSearch(costs, limit, Run())
    search.run(0)
    ranges = [Ranges(domain.space) for domain in domains]
    node = [of.everything() for of in ranges]
    for _ in range(data.draw(st.integers(0, 5))):
        questions = [(index, asked) for index in range(len(node)) for asked in node[index].questions]
        if questions:
            index, asked = data.draw(st.sampled_from(questions))
            answer = data.draw(st.sampled_from([ranges[index].joined, ranges[index].parted]))
            node[index] = answer(node[index], asked)

    assume(np.prod([len(inside(of, domain.space)) for of, domain in zip(node, domains, strict=True)]) <= 3000)
    for index in range(len(node)):
        for asked in node[index].questions:
            for answer in (ranges[index].joined, ranges[index].parted):
                side = (*node[:index], answer(node[index], asked), *node[index + 1 :])
                assert search._bound(side) <= cheapest(side, costs, limit) + 1e-9


@pytest.mark.parametrize("cost", COSTS)
@examples(20)
@given(tables(3), st.lists(st.sampled_from(SCHEMES), min_size=3, max_size=3), st.sampled_from([0.001, 1000]))
def test_questions_find_the_optimum_without_a_start(cost, problem, schemes, memory):
    """Nothing is offered, so that what is dropped wrongly is missed; with little memory depth first."""
    rows, labels, trees, k, suppress = problem
    schemes, limit = schemes[: len(trees)], int(suppress * len(rows) + 1e-9)
    table = build(rows, labels, trees)
    domains = [domain_of(table, index, scheme) for index, scheme in enumerate(schemes)]
    search = PairSearch(Costs(table, domains, cost, requirement(table, KAnonymity(k))), limit, Run(), memory=memory)
    search.run()
    best = brute_force(rows, labels, trees, schemes, k, limit, cost)
    assert search.best == pytest.approx(best, abs=1e-9)
    assert search.bound == search.best
    assert search.waiting == 0


def test_the_attribute_whose_records_are_spread_most_evenly_is_solved():
    rows = [(code % 4, min(code, 4)) for code in range(16)]
    trees = [Taxonomy.from_tree({"*": list(values)}) for values in ("abcd", "vwxyz")]
    table = build(rows, "Y" * 16, trees)
    domains = [domain_of(table, index, "ops") for index in (0, 1)]
    assert innermost_of(Costs(table, domains, "dm", requirement(table, KAnonymity(2)))) == 0
