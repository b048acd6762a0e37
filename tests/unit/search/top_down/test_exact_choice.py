"""Steps are chosen by exact scores: what is equal as a fraction ties, and what is not does not."""

from fractions import Fraction

import numpy as np
import pytest
from tests.reference.problem import Column, Problem

from incrowd.policy.policy import Policy, QuasiIdentifier
from incrowd.run import Run
from incrowd.search.top_down.search import Task
from incrowd.search.top_down.top_down import _searched, top_down
from incrowd.table.attributes import FlatAttribute
from incrowd.table.compressed import CompressedTable
from incrowd.taxonomies.taxonomy import Taxonomy


def first_step(columns, criterion, k=2):
    problem = Problem(tuple(columns), None, (QuasiIdentifier([column.name for column in columns], k),))
    (step,) = problem.steps(criterion, 1)
    assert step.attribute == problem.reference(criterion).best(problem.reference(criterion).top()).attribute
    return step


def flat(name, records, of=10):
    """So many records have the value y; the others are told apart by nothing that could be disclosed."""
    rest = tuple(f"z{number}" for number in range(of - records))
    return Column(name, ("y",) * records + rest, "flat")


@pytest.mark.parametrize("sizes", [(7, 8), (8, 7), (6, 7), (7, 6)])
def test_tds_of_two_values_that_most_records_have_is_the_same(sizes):
    """With c of n records, c / n is gained and n - (n - c) = c lost: 1 / n for every c, though floats differ."""
    first, second = sizes
    step = first_step([flat("a", first), flat("b", second)], "tds")
    assert (step.attribute, step.children) == ("a", ("y", "*"))
    assert (step.gain, step.loss, step.score) == (first / 10, first, 0.1)


HALVES = Taxonomy.from_tree({"any": {"left": ["l1", "l2"], "right": {}}})
SIDES = Taxonomy.from_tree({"any": ["l", "r"]})


@pytest.mark.parametrize("names", ["ab", "ba"])
def test_tdr_of_three_quarters_for_five_records_is_that_of_everything_for_seven(names):
    """(1 - 5/10 * 1/2) / (5 + 1) = 1 / (7 + 1), with taxonomies."""
    columns = [
        Column(names[0], ("l1",) * 5 + ("right",) * 5, "tree", HALVES),
        Column(names[1], ("l",) * 3 + ("r",) * 7, "tree", SIDES),
    ]
    step = first_step(columns, "tdr")
    assert step.attribute == "a"
    assert step.score == Fraction(1, 8)


@pytest.mark.parametrize("criterion", ["tds", "tdr"])
@pytest.mark.parametrize("names", ["abc", "bca", "cab"])
def test_ties_of_several_attributes_go_to_the_first_name(names, criterion):
    """Telling three from seven gains everything and loses seven, in taxonomies, numbers and a public range."""
    columns = [
        Column(names[0], ("l",) * 3 + ("r",) * 7, "tree", SIDES),
        Column(names[1], (1,) * 3 + (2,) * 7, "number"),
        Column(names[2], (6,) * 3 + (7,) * 7, "number", None, (6, 7)),
    ]
    step = first_step(columns, criterion)
    assert (step.attribute, step.gain, step.loss) == ("a", 1.0, 7.0)


def of_counts(counts):
    """Two attributes with values y and z; counts of yy, yz, zy, zz."""
    attributes = [FlatAttribute(name, ("y", "z")) for name in "ab"]
    codes = [np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])]
    return CompressedTable.build(attributes, codes, np.array(counts))


def test_one_record_in_ten_thousand_million_decides():
    """The value z of one attribute has one record more than that of the other: less than any tolerance, and enough."""
    requirements = Policy(quasi_identifiers=(QuasiIdentifier(["a", "b"], 2),)).requirements
    for counts, expected in [((1, 0), "b"), ((0, 1), "a")]:
        table = of_counts([2 * 10**9, 10**9 + counts[0], 10**9 + counts[1], 5 * 10**9])
        step = top_down(table, requirements, Run(), criterion="gain", max_steps=1).steps[0]
        assert (step.attribute, step.children) == (expected, ("z", "*"))


def test_the_lowest_of_equal_cuts_is_taken_however_many_there_are():
    """Every number has one Y and one N, so no cut tells anything."""
    values = tuple(number for number in range(40) for _ in "YN")
    problem = Problem((Column("x", values, "number"),), ("Y", "N") * 40, (QuasiIdentifier(["x"], 2),))
    (step,) = problem.steps("tdr", 1)
    assert (step.change.at, step.gain) == (1, 0.0)


def test_of_children_that_gain_the_same_the_first_is_shown_whatever_was_refined_before():
    tree = Taxonomy.from_tree({"*": {"x": {"abc": ["a", "b", "c"], "d": {}}, "y": {}, "z": {}}})
    values = tuple("aaaabbbbcddddyyyyzzzz")
    problem = Problem((Column("job", values, "tree", tree),), None, (QuasiIdentifier(["job"], 4),))
    found = _searched(Task(problem.table(), problem.requirements, "gain", partial=True), Run(), 0, None, report=False)
    assert [step.children for step in found.steps] == [("x", "y", "z"), ("abc", "d"), ("a", "{b, c}")]
