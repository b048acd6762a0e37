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
from incrowd.search.optimal.innermost import Innermost, most_even
from incrowd.search.optimal.pairs import PairSearch
from incrowd.search.optimal.partitions import partitions
from incrowd.search.optimal.probe_kernels import cheapest_sets, near_costs, near_crowds
from incrowd.search.optimal.probes import Probes, fits, unions_of
from incrowd.search.optimal.ranges import Ranges
from incrowd.search.optimal.schemes import domain_of, domains_of
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
        assert all(space.valid(blocks_of(side.coarse.tolist())) for side in (joined, parted))
        assert sorted(map(sorted, left)) == sorted(map(sorted, [*sides[0], *sides[1]]))
        of, left = data.draw(st.sampled_from(list(zip((joined, parted), sides, strict=True))))
        for blocks in left:
            assert len(join((*blocks, *blocks_of(of.coarse.tolist())))) == len(set(of.coarse.tolist()))
            for block in blocks:
                labels = {int(of.fine[place]) for place in range(size) if block >> place & 1}
                assert all(of.near[one, two] for one, two in product(labels, labels))
    assert len(left) == 1
    assert (of.fine == of.coarse).all()


@examples(100)
@given(taxonomies(most_nodes=9), st.sampled_from(["sps", "gsps"]), st.data())
def test_what_is_near_after_two_pieces_are_parted(taxonomy, scheme, data):
    """Known without the range itself: nothing of both pieces, and nothing across the bounds of the nodes around."""
    size = len(taxonomy.leaves)
    table = build([(code,) for code in range(size)], "Y" * size, [taxonomy])
    ranges = Ranges(domain_of(table, 0, scheme).space)
    of = ranges.everything()
    while of.questions:
        question = data.draw(st.sampled_from(list(of.questions)))
        parted, kinds = ranges.parted(of, question), ranges.kinds(question)
        of_label = {int(label): max(kinds[of.fine == label]) for label in of.fine}
        for one, two in product(of_label, of_label):
            nodes, pieces = zip(*(divmod(of_label[label], 3) for label in (one, two)), strict=True)
            apart = nodes[0] != nodes[1] or sorted(pieces) == [1, 2]
            assert parted.near[one, two] == (of.near[one, two] and not apart)
        of = data.draw(st.sampled_from([ranges.joined(of, question), parted]))


@examples(100)
@given(tables(2), st.sampled_from(["sps", "gsps"]), st.data())
def test_what_is_suppressed_after_two_pieces_are_parted(problem, scheme, data):
    """As counted anew from what is near then."""
    rows, labels, trees, k, _ = problem
    table = build(rows, labels, trees)
    costs = Costs(table, domains := domains_of(table, scheme), "dm", requirement(table, KAnonymity(k)))
    assume(len(domains) > 1 and domains[0].space.partitions > 1)
    ranges = [Ranges(domain.space) for domain in domains]
    probes = Probes(costs, Innermost(costs, 0, len(rows), Run()), len(rows), ranges, Run())
    node = [of.everything() for of in ranges]
    while node[1].questions:
        lines = probes.lines(node)
        parts = probes._parts(node, lines.classes, 1)
        before = np.zeros((2, len(lines.paid)))
        near_costs(parts.sums, parts.crowds, *probes._sizes, *before)
        question = data.draw(st.sampled_from(list(node[1].questions)))
        parted = ranges[1].parted(node[1], question)
        crowds, after = np.zeros_like(parts.sums), np.zeros_like(before)
        near_crowds(*parts.given, parted.near, crowds)
        near_costs(parts.sums, crowds, *probes._sizes, *after)
        assert np.array_equal(probes._parted(parts, node[1], 1, question, *before), after)
        node[1] = data.draw(st.sampled_from([ranges[1].joined(node[1], question), parted]))


@examples(100)
@given(taxonomies(most_nodes=9), st.sampled_from(["sps", "gsps"]), st.data())
def test_the_cheapest_sets_are_those_of_all_partitions(taxonomy, scheme, data):
    size = len(taxonomy.leaves)
    space = domain_of(build([(code,) for code in range(size)], "Y" * size, [taxonomy]), 0, scheme).space
    blocks = sorted({block for chosen in partitions(space) for block in chosen})
    costs, lost = (
        np.array(data.draw(st.lists(st.integers(0, 20), min_size=len(blocks), max_size=len(blocks))), float)
        for _ in range(2)
    )
    limit = data.draw(st.integers(5, 20))
    price = {block: cost if few <= limit else np.inf for block, cost, few in zip(blocks, costs, lost, strict=True)}
    lowest = min(sum(price[block] for block in chosen) for chosen in partitions(space))
    assert cheapest_sets(costs, lost, limit, *unions_of(space, blocks)) == lowest


@examples(70)
@given(tables(3), st.sampled_from([scheme for scheme in SCHEMES if scheme != "bhs"]), st.data())
def test_no_release_costs_less_than_the_bound_of_its_side(problem, scheme, data):
    """After some answers: the bound of the node and of both sides of every question, over all that is left."""
    rows, labels, trees, k, suppress = problem
    table, limit = build(rows, labels, trees), int(suppress * len(rows) + 1e-9)
    others = data.draw(st.sampled_from(SCHEMES))
    domains = [domain_of(table, index, others if index else scheme) for index in range(len(trees))]
    costs = Costs(table, domains, "dm", requirement(table, KAnonymity(k)))
    assume(domains[0].space.partitions > 1)
    assert fits(costs, 0)
    ranges = [Ranges(domain.space) for domain in domains]
    probes = Probes(costs, Innermost(costs, 0, limit, Run()), limit, ranges, Run())
    node = [of.everything() for of in ranges]
    for _ in range(data.draw(st.integers(0, 5))):
        questions = [(index, asked) for index in range(1, len(node)) for asked in node[index].questions]
        if questions:
            index, asked = data.draw(st.sampled_from(questions))
            answer = data.draw(st.sampled_from([ranges[index].joined, ranges[index].parted]))
            node[index] = answer(node[index], asked)

    assume(np.prod([len(inside(of, domain.space)) for of, domain in zip(node, domains, strict=True)]) <= 3000)
    lines = probes.lines(node)
    assert probes.bound(lines, np.inf) <= cheapest(node, costs, limit)
    for index in range(1, len(node)):
        for asked, sides in probes.sides(node, lines, index, np.inf):
            for answer, bound in zip((ranges[index].joined, ranges[index].parted), sides, strict=True):
                side = [*node[:index], answer(node[index], asked), *node[index + 1 :]]
                assert bound <= cheapest(side, costs, limit)
                assert probes.bound(probes.lines(side), np.inf) <= cheapest(side, costs, limit)


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
    assert most_even(Costs(table, domains, "dm", requirement(table, KAnonymity(2)))) == 0
