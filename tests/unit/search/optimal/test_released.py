"""What is released, what it costs, and how the cheapest blocks are chosen, on tables of three values."""

import numpy as np
import pytest

from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Requirement
from incrowd.run import Run
from incrowd.search.optimal.costs import Costs
from incrowd.search.optimal.innermost import ALL_WAYS, cheapest_cover
from incrowd.search.optimal.released import lowered, released
from incrowd.search.optimal.schemes import domains_of
from incrowd.table.attributes import FlatAttribute
from incrowd.table.compressed import CompressedTable


def costs_of(scheme, cost, *columns):
    """Five records have the first value, one has the second, five have the third."""
    attributes = [FlatAttribute(f"x{i}", tuple("abc"[: max(codes) + 1])) for i, codes in enumerate(columns)]
    table = CompressedTable.build(attributes, [np.array(codes) for codes in columns], np.array([5, 1, 5]))
    requirement = Requirement(tuple(attribute.name for attribute in attributes), (KAnonymity(3),))
    return table, Costs(table, domains_of(table, scheme, tight=True), cost, requirement)


def test_a_value_that_only_left_out_records_have_costs_the_others_nothing():
    """It is in one block with theirs, but in a class of its own, by the other attribute."""
    table, costs = costs_of("sps", "ncp", (0, 1, 2), (0, 1, 0))
    found = released(table, costs, [np.array([0, 0, 0]), np.array([0, 1])])
    assert found.suppressed == 1
    assert found.cost == pytest.approx(10 * (1 / 2 + 0) / 2 + 1)


def test_a_bound_is_lowered_by_what_unnamed_values_save():
    assert lowered(costs_of("ops", "ncp", (0, 1, 2))[1], 5.0, 1) == pytest.approx(1)
    assert lowered(costs_of("ops", "ncp", (0, 1, 2))[1], 5.0, 0) == 5
    assert lowered(costs_of("ops", "dm", (0, 1, 2))[1], 5.0, 1) == 5


def test_a_cheap_way_that_loses_much_does_not_hide_one_that_loses_less():
    """Two ways to cover the first position; only the expensive one leaves room for what the second position loses."""
    blocks = (np.array([1, 1, 2]), np.array([1.0, 2.0, 1.0]), np.array([2, 0, 1]))
    chosen, narrowed = cheapest_cover(blocks, np.array([0, 2, 3]), True, 10.0, 2, ALL_WAYS, Run())
    assert (sorted(chosen.tolist()), narrowed) == ([1, 2], False)
