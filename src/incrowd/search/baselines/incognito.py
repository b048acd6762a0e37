"""Incognito (LeFevre, DeWitt, Ramakrishnan, 2005): all minimal full-domain generalizations, and the best of them.

Every attribute is generalized to one level of its domain generalization hierarchy (see `domains`). The algorithm looks
at ever larger subsets of the quasi-identifier, and rests on three properties: what lies above a node that holds does,
too (generalization); a node holds only if it does on every subset of the attributes (subset); and frequency sets are
rolled up from finer ones instead of being counted again (roll-up). So only nodes are counted that hold on all smaller
subsets and lie above no node that holds; the result is exactly what trying every node would give.

Nodes of one subset are visited in lexicographic order of their levels, in which every node comes after all that lie
below it: a node that is counted and holds is minimal. There are finitely many, and the most general one holds.

Beyond the paper: `suppress` lets bad classes be left out, and there may be several quasi-identifiers: a node holds if
all of them do. With models that are upward closed all three properties still hold. With others the first two do not, so
there is no pruning by them: of all generalizations the cheapest that holds is released, and none are called minimal.

Of generalizations that cost the same the lowest is released, then the one whose levels come first in the order
of attributes that `lattice` documents.
"""

from __future__ import annotations

from collections.abc import Mapping

from incrowd.privacy.model import Requirements
from incrowd.run import Run
from incrowd.search.baselines.lattice import Lattice, check_found, minimal
from incrowd.search.costs import Cost, default_cost, readable
from incrowd.search.method import SearchResult
from incrowd.table.compressed import CompressedTable


def incognito(
    table: CompressedTable,
    requirements: Requirements,
    run: Run,
    *,
    cost: Cost | None = None,
    suppress: float = 0.0,
    priorities: Mapping[str, float] | None = None,
) -> SearchResult:
    """Find all minimal full-domain generalizations, which the facts list, and release the cheapest.

    With a budget and a model that is not upward closed, release the cheapest of all.
    """
    cost = default_cost(table, cost, priorities)
    lattice = Lattice(table, requirements, suppress, run, priorities)
    held = lattice.survivors(len(lattice.shape))
    if lattice.irregular:
        (lowest, _, best), tried = lattice.cheapest(cost)
        asked = {"generalizations": held.size, "generalizations_tried": tried}
        return lattice.outcome(best).found(
            {"levels": lattice.levels(best), "cost": cost, "lowest_cost": readable(lowest), **asked}
        )
    if len(requirements) > 1 and suppress:
        held = lattice.holding(held)  # leaving out records for one quasi-identifier may shrink classes of another
    check_found(held)
    priced = lattice.priced(minimal(held, run), cost)
    lowest, _, best = min(priced)
    facts = {
        "levels": lattice.levels(best),
        "cost": cost,
        "lowest_cost": readable(lowest),
        "generalizations": held.size,
        "minimal_generalizations": [
            {"levels": lattice.levels(node), "cost": readable(price)} for price, _, node in priced
        ],
    }
    return lattice.outcome(best).found(facts)
