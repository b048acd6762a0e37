"""The worked examples of "Towards optimal k-anonymization" (Li and Li 2007), and the optima that ARX finds on Adult."""

import gzip
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow.csv
import pytest
from tests.reference.optimal import allowed

from incrowd import Taxonomy, datasets
from incrowd.engines.reading import compressed
from incrowd.engines.registry import engine_of
from incrowd.formats.registry import open_source
from incrowd.policy.making import make_policy
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Requirement
from incrowd.run import Run
from incrowd.search.optimal import SCHEMES
from incrowd.search.optimal.blocks import Tree, first
from incrowd.search.optimal.costs import Costs
from incrowd.search.optimal.optimal import optimal
from incrowd.search.optimal.partitions import State, TreeSpace, partitions
from incrowd.search.optimal.scheme_sizes import explain, scheme_size
from incrowd.search.optimal.schemes import domain_of
from incrowd.table.attributes import TaxonomyAttribute
from incrowd.table.compressed import CompressedTable

HIERARCHIES = Path(__file__).parents[3] / "shared" / "data" / "hierarchies" / "adult_arx"

# Figure 1; the values are numbered 1 to 8 from left to right
WORK_CLASS = Taxonomy.from_tree(
    {
        "Any": {
            "Government": ["State-gov", "Local-gov", "Federal-gov"],
            "Private sector": ["Private"],
            "Self-employed": ["Inc", "Not-inc"],
            "Unemployed": ["Without pay", "Never worked"],
        }
    }
)
GUIDE = Tree.of([[0, 1, 2], [3], [4, 5], [6, 7]])


def flat(size):
    return Tree.of(list(range(size)))


def block(*values):
    return sum(1 << value - 1 for value in values)


def state_of(tree, *blocks):
    """The bottom-up state with these blocks of two or more, in the order of their first values."""
    last = blocks[-1]
    for node in range(len(tree.children) - 1, -1, -1):
        inside = [i for i, child in enumerate(tree.children[node]) if tree.masks[child] & ~last == 0]
        if len(inside) > 1 and sum(tree.masks[tree.children[node][i]] for i in inside) == last:
            return State(blocks, node, inside[-1], first(last))
    raise AssertionError(f"{last:b} is no block")


def children(tree, mode, *blocks):
    reach = TreeSpace(tree, mode).reach(state_of(tree, *blocks), (0,) * tree.size, True)
    return {tuple(sorted(child.blocks)) for child in reach.children}


def partition(*blocks):
    return tuple(sorted(blocks))


def test_example_1():
    assert children(flat(5), "set", block(2, 3)) == {
        partition(block(2, 3, 4)),
        partition(block(2, 3), block(4, 5)),
        partition(block(2, 3, 5)),
    }


def test_example_2():
    assert children(flat(5), "set", block(1, 4)) == {
        partition(block(1, 4), block(2, 3)),
        partition(block(1, 4), block(3, 5)),
        partition(block(1, 4), block(2, 5)),
        partition(block(1, 4, 5)),
    }


def test_example_3():
    """Two attributes: three children by the first applicator, one by the second."""
    assert children(flat(4), "set", block(1, 2)) == {
        partition(block(1, 2, 3)),
        partition(block(1, 2), block(3, 4)),
        partition(block(1, 2, 4)),
    }
    (only,) = TreeSpace(flat(2), "set").reach(State(()), (0, 0), True).children
    assert only.blocks == (block(1, 2),)


def test_example_4():
    """The taxonomy leaves one of the children. (The text counts four without it, with {2, 3, 4}; see below.)"""
    start = block(2, 3), block(5, 6)
    assert children(GUIDE, "set", *start) == {partition(*start, block(7, 8))}
    assert len(children(flat(8), "set", *start)) == 3


def test_example_5():
    start = block(2, 3), block(5, 6)
    assert children(flat(8), "run", *start) == {partition(block(2, 3), block(5, 6, 7)), partition(*start, block(7, 8))}
    assert children(GUIDE, "run", *start) == {partition(*start, block(7, 8))}


def figure_6(sets):
    """Child_Partitions, word for word."""
    for i in range(1, len(sets)):
        if len(sets[i]) == 1:
            for j in range(i - 1, -1, -1):
                if not sets[i][0] > max(sets[j]):
                    break
                yield (*sets[:j], sets[j] + sets[i], *sets[j + 1 : i], *sets[i + 1 :])
                if len(sets[j]) > 1:
                    break


def test_figure_6_meets_partitions_twice_and_the_tree_built_here_does_not():
    """{1, 2}, {3, 4} has two parents in Figure 6; the proof of Theorem 1 assumes that it has one."""
    assert len(set(figure_6(((1,), (2, 3), (4,), (5, 6), (7,), (8,))))) == 4
    met, waiting = Counter(), [((1,), (2,), (3,), (4,))]
    while waiting:
        sets = waiting.pop()
        met[sets] += 1
        waiting += figure_6(sets)
    assert len(met) == 15
    assert met[(1, 2), (3, 4)] == 2
    assert len(list(partitions(TreeSpace(flat(4), "set")))) == 15


def work_class(counts):
    attribute = TaxonomyAttribute("work-class", WORK_CLASS)
    return CompressedTable.build([attribute], [np.arange(8)], np.array(counts))


@pytest.mark.parametrize(("scheme", "size"), [("bhs", 3), ("ghs", 17), ("ops", 128), ("sps", 4140)])
def test_sizes_of_the_work_class_space(scheme, size):
    assert scheme_size(TaxonomyAttribute("work-class", WORK_CLASS), scheme) == size


@pytest.mark.parametrize("scheme", SCHEMES)
def test_all_of_the_work_class_space_is_visited_once(scheme):
    space = domain_of(work_class([1] * 8), 0, scheme).space
    for up in (True, False):
        visited = [tuple(sorted(blocks)) for blocks in partitions(space, up)]
        assert len(visited) == len(set(visited)) == len(allowed(WORK_CLASS, scheme))


def test_spaces_are_explained_before_a_search():
    paths = [(f"country {number}", f"region {number // 6}", "*") for number in range(41)]
    country = TaxonomyAttribute("native-country", Taxonomy.from_paths(paths))
    table = CompressedTable.build([country], [np.arange(41)], np.ones(41, np.int64))
    (line,) = explain([domain_of(table, 0, "sps")])
    assert line == (
        "sps on native-country: 2.4e+36 partitions; the search will not finish unless nearly all can be pruned, "
        "gsps has 3.6e+15, ops has 1.1e+12, gops has 1.7e+10, ghs has 129, bhs has 3"
    )
    (line,) = explain([domain_of(work_class([1] * 8), 0, "ghs")])
    assert line == "ghs on work-class: 17 cuts, of which 9 differ"
    (line,) = explain([domain_of(table, 0, "ops")], solved=0)
    assert (
        line == "ops on native-country: 1.1e+12 partitions; solved for each combination of the others, not enumerated"
    )


def test_hdm_of_inc_and_not_inc():
    """50 records Inc and 200 Not-inc of 1000, generalized to Self-employed: 4/19 and 1/16."""
    table = work_class([100, 100, 100, 150, 50, 200, 150, 150])
    costs = Costs(table, [domain_of(table, 0, "ghs")], "hdm", Requirement(("work-class",), (KAnonymity(2),)))
    penalties = costs.penalties(0, np.array([0, 1, 2, 3, 4, 4, 6, 7]))
    assert penalties[4] == pytest.approx(4 / 19)
    assert penalties[5] == pytest.approx(1 / 16)
    assert set(penalties[[0, 1, 2, 3, 6, 7]]) == {0}


NAMES = ["age", "education", "marital-status", "native-country", "occupation", "race", "sex", "workclass"]


def crowds_of(k):
    return Requirement(tuple(NAMES), (KAnonymity(k),))


@pytest.fixture(scope="module")
def adult():
    if not HIERARCHIES.exists():
        pytest.skip("needs ../shared/data/hierarchies/adult_arx")
    with gzip.open(datasets.adult()) as file:
        rows = pyarrow.csv.read_csv(file).slice(0, 30_162)
    policy = make_policy(quasi_identifiers=NAMES, k=2, taxonomies=HIERARCHIES)
    return compressed(engine_of(), open_source(rows), policy, Run())


@pytest.mark.parametrize(
    ("suppress", "k", "cost"),
    [
        (0, 5, 33_627_534),
        (0, 10, 55_170_356),
        (0, 50, 102_352_340),
        (0.05, 5, 7_220_555),
        (0.05, 10, 10_541_769),
        (0.05, 50, 29_880_636),
    ],
)
def test_the_full_domain_optima_of_arx_on_adult(adult, suppress, k, cost):
    facts = optimal(adult, (crowds_of(k),), Run(), scheme="bhs", cost="dm", suppress=suppress).facts
    assert (facts["cost"], facts["bound"], facts["optimal"]) == (cost, cost, True)
    assert facts["nodes"] < 1000


@pytest.mark.parametrize("cost", ["dm", "ncp"])
def test_questions_and_the_search_of_the_paper_agree_on_adult(adult, cost):
    found = [
        optimal(adult, (crowds_of(50),), Run(), scheme="bhs", cost=cost, direction=word).facts["cost"]
        for word in ("auto", "bottom-up")
    ]
    assert found[0] == pytest.approx(found[1], rel=1e-9)


SHIPPED = ["education", "marital-status", "race", "sex", "workclass"]


def paths_of(name):
    """Values and what stands above them, read from the shipped file without our own reader."""
    with datasets.taxonomies("adult")[name].open() as file:
        rows = [line.rstrip("\n").split(";") for line in file]
    return {row[0]: [*[row[0]] * (max(map(len, rows)) - len(row)), *row] for row in rows}


def full_domain_optimum(rows, k, budget):
    """The lowest discernibility of all combinations of levels, one by one: the definition."""
    columns = []
    for name in SHIPPED:
        paths, values = paths_of(name), rows[name].to_pylist()
        columns.append(
            [
                np.unique([paths[value][level] for value in values], return_inverse=True)[1]
                for level in range(len(next(iter(paths.values()))))
            ]
        )
    best = rows.num_rows**2
    for combination in product(*columns):
        groups = np.zeros(rows.num_rows, np.int64)
        for codes in combination:
            groups = np.unique(groups * 100 + codes, return_inverse=True)[1]
        sizes = np.bincount(groups)
        small = sizes[sizes < k].sum()
        if small <= budget * rows.num_rows:
            best = min(best, int((sizes[sizes >= k] ** 2).sum() + small * rows.num_rows))
    return best


@pytest.mark.parametrize(("suppress", "k"), [(0, 10), (0.05, 50)])
def test_the_full_domain_optima_on_the_shipped_data(suppress, k):
    with gzip.open(datasets.adult()) as file:
        rows = pyarrow.csv.read_csv(file).select(SHIPPED).slice(0, 3_000)
    policy = make_policy(
        quasi_identifiers=SHIPPED, k=2, taxonomies={name: datasets.taxonomies("adult")[name] for name in SHIPPED}
    )
    table = compressed(engine_of(), open_source(rows), policy, Run())
    requirement = Requirement(tuple(SHIPPED), (KAnonymity(k),))
    facts = optimal(table, (requirement,), Run(), scheme="bhs", cost="dm", suppress=suppress).facts
    assert facts["optimal"]
    assert facts["cost"] == full_domain_optimum(rows, k, suppress)
