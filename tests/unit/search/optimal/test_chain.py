"""What searches start with, and what they give where they stop at once: the more flexible the scheme, the lower."""

from types import SimpleNamespace

import numpy as np
import pytest

from incrowd import run as run_module
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Requirement
from incrowd.run import Run
from incrowd.search.optimal import chain
from incrowd.search.optimal.costs import Costs
from incrowd.search.optimal.schemes import domains_of
from incrowd.table.attributes import TaxonomyAttribute
from incrowd.table.compressed import CompressedTable
from incrowd.taxonomies.taxonomy import Taxonomy

CONTAINS = [("ghs", "bhs"), ("gops", "ghs"), ("ops", "gops"), ("gsps", "gops"), ("sps", "ops"), ("sps", "gsps")]
GROUPS = (3, 3, 2, 2)  # of each attribute, with one value more each
RECORDS = 600


def crowd():
    """Attributes whose values depend on each other, some rare, so that no scheme has an easy optimum."""
    rng = np.random.default_rng(5)
    attributes, columns = [], [np.zeros(RECORDS, np.int64)]
    for place, groups in enumerate(GROUPS):
        paths = [(f"{group}.{value}", f"group {group}", "*") for group in range(groups) for value in range(groups + 1)]
        attributes.append(TaxonomyAttribute(f"x{place}", Taxonomy.from_paths(paths)))
        column = (columns[-1] + np.minimum(rng.geometric(2 / len(paths), RECORDS), len(paths))) % len(paths)
        column[: len(paths)] = np.arange(len(paths))
        columns.append(column)
    return CompressedTable.build(attributes, columns[1:], np.ones(RECORDS, np.int64))


@pytest.fixture
def _only_seeds(monkeypatch):
    """Searches of rigid schemes that have no time, and a clock that stands still: what is found is a matter of work."""
    monkeypatch.setattr(run_module, "time", SimpleNamespace(monotonic=lambda: 0.0))
    monkeypatch.setattr(chain, "_better", lambda *_: None)


@pytest.mark.usefixtures("_only_seeds")
@pytest.mark.parametrize("cost", ["dm", "ncp", "hdm"])
@pytest.mark.parametrize("limit", [30, RECORDS])
def test_seeds_go_down_the_chain(cost, limit):
    table = crowd()
    needed = Requirement(tuple(attribute.name for attribute in table.attributes), (KAnonymity(5),))
    found = {}
    for scheme in {scheme for pair in CONTAINS for scheme in pair}:
        costs = Costs(table, domains_of(table, scheme, None), cost, needed)
        found[scheme], partitions = chain.seeded(table, costs, limit, None, Run())
        assert costs.of(partitions) == (found[scheme], pytest.approx(0, abs=limit))
    assert all(found[more] <= found[less] * (1 + 1e-9) for more, less in CONTAINS)
    assert found["sps"] < found["gops"] < found["bhs"]
