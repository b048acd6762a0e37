"""Samarati's binary search (2001): a full-domain generalization of minimal height, leaving out few records.

The height of a generalization is the number of levels that its attributes have climbed in all. If some generalization
of a height holds, one of the next height does, too: climb one level more. So the lowest height at which one holds is
found by halving the range of heights. A generalization holds if at most a share `suppress` of the records (MaxSup in
the paper) lies in bad classes; those are left out. With a budget and a model that is not upward closed, one height does
not follow from another: then they are tried one after the other, from the lowest.

Invariant of the halving: some generalization of height `high` holds, none below `low`; the range shrinks every time.
What makes it fast: a generalization that does not hold on some four of the attributes need not be looked at,
and frequency sets are rolled up from each other.

The paper leaves open which generalization of minimal height to take. Here it is the one with the lowest `cost`, then
the one whose levels come first in the order of attributes that `lattice` documents.
"""

from __future__ import annotations

from collections.abc import Mapping

from incrowd.privacy.model import Requirements
from incrowd.run import Run
from incrowd.search.baselines.lattice import Lattice, check_found, nodes_of
from incrowd.search.costs import Cost, default_cost, readable
from incrowd.search.method import SearchResult
from incrowd.table.compressed import CompressedTable

SUBSET = 4  # attributes whose combinations are looked at first


def samarati(
    table: CompressedTable,
    requirements: Requirements,
    run: Run,
    *,
    cost: Cost | None = None,
    suppress: float = 0.0,
    priorities: Mapping[str, float] | None = None,
) -> SearchResult:
    """Find the full-domain generalizations of minimal height, and release the cheapest."""
    cost = default_cost(table, cost, priorities)
    lattice = Lattice(table, requirements, suppress, run, priorities)
    candidates = lattice.survivors(SUBSET)
    low, high = 0, int(lattice.heights.max())
    held = candidates & (lattice.heights == high)
    while low < high:
        middle = low if lattice.irregular else (low + high) // 2
        found = lattice.holding(candidates & (lattice.heights == middle)) & (lattice.heights == middle)
        if found.any():
            high, held = middle, found
        else:
            low = middle + 1
    check_found(held)
    priced = lattice.priced(list(nodes_of(held, run)), cost)
    lowest, _, best = min(priced)
    facts = {
        "levels": lattice.levels(best),
        "height": high,
        "cost": cost,
        "lowest_cost": readable(lowest),
        "generalizations_of_this_height": len(priced),
    }
    return lattice.outcome(best).found(facts)
