"""Optimal search against brute force over all anonymizations, on random small tables."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.examples import examples
from tests.reference.optimal import Crowd, Tables, allowed, brute_force, cheapest_release, cost_of
from tests.reference.protected import COLUMN, is_good, models_of
from tests.strategies import taxonomies

from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Requirement
from incrowd.recodings.by_value import ByValue
from incrowd.run import Run
from incrowd.search.optimal import PRUNINGS, SCHEMES, seeds
from incrowd.search.optimal.blocks import join, labels_of
from incrowd.search.optimal.branch_and_bound import TreeSearch
from incrowd.search.optimal.costs import COSTS, Costs
from incrowd.search.optimal.innermost import Innermost
from incrowd.search.optimal.optimal import optimal
from incrowd.search.optimal.partitions import partitions
from incrowd.search.optimal.scheme_sizes import scheme_size
from incrowd.search.optimal.schemes import domain_of
from incrowd.search.optimal.seeds import Seeds
from incrowd.table.attributes import FlatAttribute, TaxonomyAttribute
from incrowd.table.compressed import CompressedTable
from incrowd.taxonomies.taxonomy import Taxonomy

modest = examples(40)
CONTAINS = [("ghs", "bhs"), ("gops", "ghs"), ("ops", "gops"), ("gsps", "gops"), ("sps", "ops"), ("sps", "gsps")]


@st.composite
def tables(draw, most=3):
    """A table of 1 to 3 attributes whose leaves all occur, k and the number of records that may be suppressed."""
    trees = draw(st.lists(taxonomies(most_nodes=7), min_size=1, max_size=most))
    sizes = [len(tree.leaves) for tree in trees]
    count = max(draw(st.integers(4, 14)), *sizes)
    columns = [[*range(size), *(draw(st.integers(0, size - 1)) for _ in range(count - size))] for size in sizes]
    columns = [draw(st.permutations(column)) for column in columns]
    labels = [draw(st.sampled_from("YN")) for _ in range(count)]
    rows = list(zip(*columns, strict=True))
    return rows, labels, trees, draw(st.integers(2, min(5, count))), draw(st.sampled_from([0.0, 0.2, 1.0]))


def build(rows, labels, trees, ill=None, *, flat=False):
    """A compressed table; if flat, the first attribute has no taxonomy."""
    names = ["age", "job", "sex"]
    attributes = [TaxonomyAttribute(name, tree) for name, tree in zip(names, trees, strict=False)]
    if flat:
        attributes[0] = FlatAttribute(names[0], tuple(f"v{code}" for code in range(len(trees[0].leaves))))
    codes = [np.array(column) for column in zip(*rows, strict=True)]
    classes = np.array(["NY".index(label) for label in labels])
    protected = None if ill is None else {COLUMN: ("wxyz"[: max(ill) + 1], np.array(ill))}
    return CompressedTable.build(attributes, codes, np.ones(len(rows), np.int64), (["N", "Y"], classes), protected)


def requirement(table, model):
    return Requirement(tuple(attribute.name for attribute in table.attributes), (model,))


def run(problem, **options):
    rows, labels, trees, k, suppress = problem
    table = build(rows, labels, trees)
    return table, optimal(table, (requirement(table, KAnonymity(k)),), Run(), suppress=suppress, **options)


def total(found, problem):
    """The cost as a sum over records."""
    cost = found.facts["cost"]
    return cost * len(problem[0]) if found.facts["measure"] in ("ncp", "cm") else cost


@examples(120)
@given(taxonomies(most_nodes=9), st.sampled_from(SCHEMES), st.booleans())
def test_each_enumeration_visits_every_valid_partition_exactly_once(taxonomy, scheme, up):
    size = len(taxonomy.leaves)
    table = build([(code,) for code in range(size)], "Y" * size, [taxonomy])
    space = domain_of(table, 0, scheme).space
    visited = [
        tuple(sorted(tuple(i for i in range(size) if block >> i & 1) for block in blocks))
        for blocks in partitions(space, up)
    ]
    assert len(visited) == len(set(visited)) == space.partitions
    assert set(visited) == allowed(taxonomy, scheme)
    assert scheme_size(table.attributes[0], scheme) >= len(visited)


@pytest.mark.parametrize("scheme", SCHEMES)
@examples(40)
@given(tables(), st.sampled_from(COSTS), st.sampled_from(["bottom-up", "top-down", "pairs", "auto"]))
def test_the_optimum_equals_brute_force(scheme, problem, cost, direction):
    rows, labels, trees, k, suppress = problem
    limit = int(suppress * len(rows) + 1e-9)
    best = brute_force(rows, labels, trees, [scheme] * len(trees), k, limit, cost)
    _, found = run(problem, scheme=scheme, cost=cost, direction=direction)
    assert total(found, problem) == pytest.approx(best, abs=1e-9)
    assert found.facts["optimal"]
    assert found.facts["gap"] == 0


@modest
@given(tables(2), st.lists(st.sampled_from(SCHEMES), min_size=2, max_size=2), st.sampled_from(COSTS), st.booleans())
def test_schemes_may_differ_by_attribute(problem, schemes, cost, up):
    rows, labels, trees, k, suppress = problem
    schemes = schemes[: len(trees)]
    best = brute_force(rows, labels, trees, schemes, k, int(suppress * len(rows) + 1e-9), cost)
    words = dict(zip(["age", "job"], schemes, strict=False))
    _, found = run(problem, scheme=words, cost=cost, direction="bottom-up" if up else "top-down")
    assert total(found, problem) == pytest.approx(best, abs=1e-9)


@modest
@given(tables(), st.sampled_from(SCHEMES), st.sampled_from(COSTS), st.sets(st.sampled_from(PRUNINGS)), st.booleans())
def test_no_pruning_changes_the_optimum(problem, scheme, cost, chosen, up):
    rows, labels, trees, k, suppress = problem
    best = brute_force(rows, labels, trees, [scheme] * len(trees), k, int(suppress * len(rows) + 1e-9), cost)
    direction = "bottom-up" if up else "top-down"
    _, found = run(problem, scheme=scheme, cost=cost, prunings=sorted(chosen), direction=direction)
    assert total(found, problem) == pytest.approx(best, abs=1e-9)


ALONE = [("bound", "useful"), ("bound", "applicators"), ("bound", "applicators", "useful")]


@pytest.mark.parametrize("prunings", ALONE)
@pytest.mark.parametrize("up", [True, False])
def test_prunings_find_the_optimum_without_a_start(prunings, up):
    """On the same tables every time: nothing is offered, so that what a pruning drops wrongly is missed."""
    random = np.random.default_rng(3)
    trees = [Taxonomy.from_tree({"*": {"low": ["1", "2"], "high": ["3", "4"]}}), Taxonomy.from_tree({"*": list("xyz")})]
    for number in range(40):
        count = int(random.integers(8, 14))
        columns = [[*range(size), *random.integers(0, size, count - size).tolist()] for size in (4, 3)]
        rows = list(zip(*(random.permutation(column).tolist() for column in columns), strict=True))
        labels = random.choice(["Y", "N"], count).tolist()
        table = build(rows, labels, trees)
        cost, k = COSTS[number % 4], int(random.integers(2, 5))
        scheme = SCHEMES[1 + number % 5]
        for limit in (0, 1, 2, 4):
            costs = Costs(
                table, [domain_of(table, place, scheme) for place in (0, 1)], cost, requirement(table, KAnonymity(k))
            )
            search = TreeSearch(costs, limit, up, Run(), prunings)
            search.run()
            best = brute_force(rows, labels, trees, [scheme] * 2, k, limit, cost)
            assert search.best == pytest.approx(best, abs=1e-9)
            assert search.bound == search.best


@pytest.mark.parametrize("scheme", ["sps", "ops"])
def test_both_directions_find_the_same_optimum_among_many_that_cost_nearly_as_much(scheme):
    """On the same tables every time, with many records: a bound a little too high would drop the best."""
    random = np.random.default_rng(3)
    tree = Taxonomy.from_tree({"*": {"low": ["1", "2", "3"], "high": ["4", "5", "6"]}})
    trees = [tree, Taxonomy.from_tree({"*": list("wxyz")})]
    for cost in COSTS * 2:
        count, k = int(random.integers(40, 80)), int(random.integers(3, 8))
        columns = [[*range(size), *random.integers(0, size, count - size).tolist()] for size in (6, 4)]
        rows = list(zip(*(random.permutation(column).tolist() for column in columns), strict=True))
        table = build(rows, random.choice(["Y", "N"], count).tolist(), trees)
        best = []
        for up in (True, False):
            domains = [domain_of(table, place, scheme) for place in (0, 1)]
            search = TreeSearch(
                Costs(table, domains, cost, requirement(table, KAnonymity(k))), 0, up, Run(), ("bound",)
            )
            search.run()
            best.append(search.best)
        assert best[0] == pytest.approx(best[1], abs=1e-9)


@modest
@given(
    tables(),
    st.sampled_from(SCHEMES),
    st.sampled_from(COSTS),
    st.sampled_from(PRUNINGS),
    st.sampled_from(["bottom-up", "top-down", "pairs", "auto"]),
)
def test_without_suppression_a_union_of_good_classes_being_good_is_enough(problem, scheme, cost, off, direction):
    """Prunings hold for a model under which a good class can be spoiled by whoever joins it."""
    rows, labels, trees, k, _ = problem
    seats = len(rows) // k * k
    rows, labels = rows[:seats], labels[:seats]
    assume(
        all(
            set(codes) == set(range(len(tree.leaves)))
            for codes, tree in zip(zip(*rows, strict=True), trees, strict=True)
        )
    )
    table = build(rows, labels, trees)
    best = brute_force(rows, labels, trees, [scheme] * len(trees), k, 0, cost, lambda inside: len(inside) % k == 0)
    prunings = [word for word in PRUNINGS if word != off]
    options = {"scheme": scheme, "cost": cost, "direction": direction, "prunings": prunings}
    if direction == "pairs" or (scheme == "bhs" and direction == "auto"):
        options["prunings"] = "all"  # as the lattice has
    found = optimal(table, (requirement(table, Tables(k)),), Run(), **options)
    assert total(found, (rows,)) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("scheme", SCHEMES)
@examples(40)
@given(tables(), st.sampled_from(COSTS), st.sampled_from(["bottom-up", "top-down", "pairs", "auto"]), st.data())
def test_the_optimum_under_models_of_a_protected_column_equals_brute_force(scheme, problem, cost, direction, data):
    rows, labels, trees, k, suppress = problem
    ill = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    assume(kinds := models_of(ill))
    models = (*data.draw(st.sampled_from([(), (KAnonymity(k),)])), data.draw(st.sampled_from(kinds)))
    table = build(rows, labels, trees, ill)
    needed = Requirement(tuple(attribute.name for attribute in table.attributes), models)
    options = {"scheme": scheme, "cost": cost, "direction": direction, "suppress": suppress}

    def good(inside, stay):
        everyone = [ill[number] for number in stay]
        return all(is_good(model, [ill[number] for number in inside], everyone) for model in models)

    best = cheapest_release(rows, labels, trees, scheme, int(suppress * len(rows) + 1e-9), cost, good)
    found = optimal(table, (needed,), Run(), **options)
    assert total(found, problem) == pytest.approx(best, abs=1e-9)
    assert found.facts["optimal"]


@modest
@given(tables(), st.sampled_from(SCHEMES), st.sampled_from(COSTS))
def test_the_release_is_what_the_facts_say(problem, scheme, cost):
    rows, labels, _, k, suppress = problem
    table, found = run(problem, scheme=scheme, cost=cost)
    recoding = ByValue.from_json(found.recoding.to_json())
    assert recoding == found.recoding
    cells = [recoding.cells(a.name, a.values())[codes] for a, codes in zip(table.attributes, table.codes, strict=True)]
    kept = recoding.released(cells)
    kept = np.ones(len(table.counts), bool) if kept is None else kept
    sizes = Counter()
    for row, count, stays in zip(zip(*(c.tolist() for c in cells), strict=True), table.counts, kept, strict=True):
        sizes[row] += int(count) * bool(stays)
    assert all(size == 0 or size >= k for size in sizes.values())
    suppressed = int(table.counts[~kept].sum())
    assert suppressed == found.facts["suppressed_records"] <= suppress * len(rows) + 1e-9
    blocks = []
    for column, attribute in zip(cells, table.attributes, strict=True):
        of_code = recoding.cells(attribute.name, attribute.values())
        blocks.append([tuple(np.flatnonzero(of_code == cell).tolist()) for cell in np.unique(of_code)])
        assert len(column) == len(table.counts)
    if cost != "ncp" or scheme not in ("bhs", "ghs"):
        assert cost_of(rows, labels, blocks, k, cost)[0] == pytest.approx(total(found, problem), abs=1e-9)


@modest
@given(tables(), st.sampled_from(CONTAINS), st.sampled_from(COSTS))
def test_a_more_flexible_scheme_is_never_worse(problem, pair, cost):
    more, less = (run(problem, scheme=scheme, cost=cost)[1].facts["cost"] for scheme in pair)
    assert more <= less + 1e-9


@pytest.mark.parametrize("pair", CONTAINS)
@examples(60)
@given(tables(), st.sampled_from(COSTS), st.floats(0, 1.2), st.booleans())
def test_wherever_both_are_stopped_a_more_flexible_scheme_is_never_worse(pair, problem, cost, share, flat):
    """The clock counts questions: from none to more than both need. `sps` does what `gsps` does after `ops`."""
    rows, labels, trees, k, suppress = problem
    table = build(rows, labels, trees, flat=flat)
    options = {"cost": cost, "suppress": suppress}

    def asked(scheme, questions):
        run = Asked(questions)
        found = optimal(table, (requirement(table, KAnonymity(k)),), run, scheme=scheme, **options)
        return run.asked, found.facts["cost"]

    later = asked("ops", np.inf)[0] if pair == ("sps", "gsps") else 0
    questions = int(share * max(asked(scheme, np.inf)[0] for scheme in pair))
    assert asked(pair[0], questions + later)[1] <= asked(pair[1], questions)[1] + 1e-9


@modest
@given(tables(), st.sampled_from(CONTAINS[:-1]), st.sampled_from(COSTS), st.integers(0, 400), st.sampled_from([0, 100]))
def test_what_a_rigid_scheme_starts_with_is_not_missed_if_its_search_is_cut_off(problem, pair, cost, questions, work):
    rows, labels, trees, k, suppress = problem
    table = build(rows, labels, trees)
    needed, limit = requirement(table, KAnonymity(k)), int(suppress * len(rows) + 1e-9)
    costs = Costs(table, [domain_of(table, index, pair[1]) for index in range(len(trees))], cost, needed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(seeds, "WORK", work)
        rigid = Seeds(table, costs, limit, None, Asked(questions)).seed()[0]
        free = optimal(table, (needed,), Asked(questions), scheme=pair[0], cost=cost, suppress=suppress)
    assert free.facts["cost"] <= costs.reported(rigid) + 1e-9


class Asked(Run):
    """A run that is over after so many questions whether to go on."""

    def __init__(self, questions):
        super().__init__()
        self.anytime, self._questions, self.asked = True, questions, 0

    @property
    def over(self):
        self.asked += 1
        return "asked" if self.asked > self._questions else ""


@examples(150)
@given(tables(3), st.sampled_from(COSTS), st.data())
def test_a_cost_satisfies_what_pruning_relies_on(problem, cost, data):
    """Suppressing is never cheaper than releasing, generalizing never cheaper than not, and the bound holds."""
    rows, labels, trees, k, _ = problem
    table = build(rows, labels, trees)
    domains = [domain_of(table, index, "sps") for index in range(len(trees))]
    costs = Costs(table, domains, cost, requirement(table, KAnonymity(k)))
    spaces = [list(partitions(domain.space)) for domain in domains]
    middle = [data.draw(st.sampled_from(space)) for space in spaces]
    other = [data.draw(st.sampled_from(space)) for space in spaces]
    coarse = [tuple(join((*a, *b))) for a, b in zip(middle, other, strict=True)]
    fine = [tuple(x & y for x in a for y in b if x & y) for a, b in zip(middle, other, strict=True)]

    def labelled(parts):
        return [labels_of(blocks, domain.space.size) for blocks, domain in zip(parts, domains, strict=True)]

    released = Costs(table, domains, cost, requirement(table, Crowd(1)))
    nothing = Costs(table, domains, cost, requirement(table, Crowd(len(rows) + 1)))
    assert released.of(labelled(fine))[0] <= released.of(labelled(middle))[0] + 1e-9
    assert released.of(labelled(middle))[0] <= nothing.of(labelled(middle))[0] + 1e-9
    bound, sure = costs.between(labelled(fine), labelled(coarse))
    value, suppressed = costs.of(labelled(middle))
    assert bound <= value + 1e-9
    assert sure <= suppressed


@pytest.mark.parametrize("cost", ["dm", "hdm", "ncp"])
@examples(100)
@given(tables(3), st.sampled_from([scheme for scheme in SCHEMES if scheme != "bhs"]), st.data())
def test_the_innermost_attribute_is_solved_and_bounded(cost, problem, scheme, data):
    """Given the others its cheapest partition is found; where these may change, no cost is below the bound."""
    rows, labels, trees, k, suppress = problem
    table = build(rows, labels, trees)
    limit = int(suppress * len(rows) + 1e-9)
    domains = [domain_of(table, index, "sps" if index else scheme) for index in range(len(trees))]
    costs = Costs(table, domains, cost, requirement(table, KAnonymity(k)))
    spaces = [list(partitions(domain.space)) for domain in domains]
    assume(len(spaces[0]) > 1)
    middle = [data.draw(st.sampled_from(space)) for space in spaces]
    other = [data.draw(st.sampled_from(space)) for space in spaces]
    coarse = [tuple(join((*a, *b))) for a, b in zip(middle, other, strict=True)]
    fine = [tuple(x & y for x in a for y in b if x & y) for a, b in zip(middle, other, strict=True)]
    lowest, between, highest = (
        [labels_of(blocks, domain.space.size) for blocks, domain in zip(parts, domains, strict=True)]
        for parts in (fine, middle, coarse)
    )
    free = (0,) * domains[0].space.size
    innermost = Innermost(costs, 0, limit, Run())

    def priced(first):
        value, suppressed = costs.of([first, *between[1:]])
        return value if suppressed <= limit else np.inf

    best = min(priced(labels_of(blocks, domains[0].space.size)) for blocks in spaces[0])
    found = innermost.cheapest(between, free, np.inf)
    assert (np.inf if found is None else priced(found)) == pytest.approx(best)
    assert innermost.cheapest(between, free, best) is None
    bound = innermost.bound(lowest, highest, free, np.inf)
    assert bound <= best + 1e-9
