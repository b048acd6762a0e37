"""What searches start with, and what they give where they stop at once: the more flexible the scheme, the lower."""

import numpy as np
import pytest

from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Requirement
from incrowd.run import Run
from incrowd.search.optimal import seeds
from incrowd.search.optimal.best_first import ENOUGH
from incrowd.search.optimal.branch_and_bound import TreeSearch
from incrowd.search.optimal.costs import Costs
from incrowd.search.optimal.optimal import optimal
from incrowd.search.optimal.pairs import PairSearch
from incrowd.search.optimal.schemes import domain_of, domains_of
from incrowd.search.optimal.seeds import stages
from incrowd.table.attributes import FlatAttribute, TaxonomyAttribute
from incrowd.table.compressed import CompressedTable
from incrowd.taxonomies.taxonomy import Taxonomy

CONTAINS = [("ghs", "bhs"), ("gops", "ghs"), ("ops", "gops"), ("gsps", "gops"), ("sps", "ops"), ("sps", "gsps")]
GROUPS = (3, 3, 2, 2)  # of each attribute, with one value more each
RECORDS = 600


def crowd(sizes=GROUPS):
    """Attributes whose values depend on each other, some rare, so that no scheme has an easy optimum."""
    rng = np.random.default_rng(5)
    attributes, columns = [], [np.zeros(RECORDS, np.int64)]
    for place, groups in enumerate(sizes):
        paths = [(f"{group}.{value}", f"group {group}", "*") for group in range(groups) for value in range(groups + 1)]
        attributes.append(TaxonomyAttribute(f"x{place}", Taxonomy.from_paths(paths)))
        column = (columns[-1] + np.minimum(rng.geometric(2 / len(paths), RECORDS), len(paths))) % len(paths)
        column[: len(paths)] = np.arange(len(paths))
        columns.append(column)
    return CompressedTable.build(attributes, columns[1:], np.ones(RECORDS, np.int64))


def needed(table):
    return Requirement(tuple(attribute.name for attribute in table.attributes), (KAnonymity(5),))


def costs_of(table, scheme, cost="dm"):
    return Costs(table, domains_of(table, scheme, None), cost, needed(table))


@pytest.mark.parametrize("cost", ["dm", "hdm"])
def test_a_flexible_scheme_begins_with_all_that_a_rigid_one_does(monkeypatch, cost):
    """Release by release that is looked at; so it is no worse, wherever both are stopped."""
    table = crowd((3, 2, 1))
    of, seen = Costs.of, []

    def watched(self, partitions, *given):
        seen.append((self.domains[0].scheme, *map(bytes, partitions)))
        return of(self, partitions, *given)

    monkeypatch.setattr(Costs, "of", watched)
    done = {}
    for scheme in seeds.RIGID_FIRST:
        seen.clear()
        optimal(table, (needed(table),), Run(), scheme=scheme, cost=cost, suppress=1)
        done[scheme] = seen[:]
    for more, less in CONTAINS[:-1]:
        assert len(done[more]) > len(done[less])
        assert done[more][: len(done[less])] == done[less]
    own, begin = done["gsps"][len(done["gops"]) :], len(done["ops"])
    assert done["sps"][begin : begin + len(own)] == own


@pytest.mark.parametrize("tree", [True, False])
def test_a_search_does_only_so_much_work(tree):
    costs = costs_of(crowd((2, 2, 1)), "ops")
    whole, some, none = (
        TreeSearch(costs, RECORDS, True, Run()) if tree else PairSearch(costs, RECORDS, Run()) for _ in range(3)
    )
    whole.run()
    some.run(10 * len(costs.rows))
    none.run(0)
    assert (whole.stopped, some.stopped, none.stopped) == ("", ENOUGH, ENOUGH)
    assert none.visited <= some.visited < whole.visited
    assert whole.best <= some.best <= none.best
    assert some.bound <= whole.best


def test_a_scheme_is_searched_after_those_that_it_contains():
    assert stages_of("bhs", "bhs") == []
    assert stages_of("gops", "gops") == [("bhs", "bhs"), ("ghs", "ghs")]
    assert stages_of("gsps", "gsps") == [("bhs", "bhs"), ("ghs", "ghs"), ("gops", "gops")]
    assert stages_of("sps", "sps") == [(word, word) for word in ("bhs", "ghs", "gops", "ops", "gsps")]
    assert stages_of("ops", "bhs") == [("bhs", "bhs"), ("ghs", "bhs"), ("gops", "bhs")]


def test_without_a_taxonomy_some_schemes_are_the_same():
    assert stages_of("ops", flat=True) == stages_of("gops", flat=True) == [("bhs",)]
    assert stages_of("sps", flat=True) == stages_of("gsps", flat=True) == [("bhs",), ("gops",)]
    assert stages_of("gops", "gops", flat=True) == [("bhs", "bhs"), ("ghs", "ghs")]


def stages_of(*schemes, flat=False):
    """The stages of some attributes, of which the last one may have no taxonomy."""
    table = crowd()
    attributes = list(table.attributes[: len(schemes)])
    if flat:
        attributes[-1] = FlatAttribute(attributes[-1].name, tuple(map(str, range(attributes[-1].size))))
    table = CompressedTable.build(attributes, table.codes[: len(schemes)], table.counts)
    return stages([domain_of(table, index, scheme) for index, scheme in enumerate(schemes)], None)
