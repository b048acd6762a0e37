"""Optimal anonymization (Li and Li 2007): the cheapest anonymization that a generalization scheme allows, with proof.

`schemes` says which partitions each attribute may have, `costs` what they cost, `branch_and_bound` finds the cheapest
combination, `level_lattice` does so faster where all attributes are generalized by levels. What is found comes with its
cost, a lower bound that no anonymization of the scheme can beat, and the gap between them: 0 means optimal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from incrowd.errors import InfeasibleError, PolicyError
from incrowd.privacy.model import Requirement, Requirements
from incrowd.recodings.attributes.any_kind import AttributeRecoding
from incrowd.recodings.by_value import ByValue
from incrowd.run import Run
from incrowd.search.method import SearchResult
from incrowd.search.optimal import PRUNINGS, level_lattice
from incrowd.search.optimal.blocks import Labels, blocks_of
from incrowd.search.optimal.branch_and_bound import Search, solved_of
from incrowd.search.optimal.costs import Costs
from incrowd.search.optimal.level_lattice import LevelLattice
from incrowd.search.optimal.partitions import TreeSpace
from incrowd.search.optimal.scheme_sizes import explain
from incrowd.search.optimal.schemes import Domain, Order, domain_of, domains_of
from incrowd.search.optimal.seeds import NOTHING, Seeds, carried, coarsest_of, from_top_down
from incrowd.search.record_suppression import budget_of, withhold
from incrowd.table.compressed import CompressedTable

ORDERED = {"sps": "ops", "gsps": "gops"}
QUICK = 3.0  # seconds for each part of looking for a seed
MANY_ATTRIBUTES = 5  # from here on top-down is faster, as in the paper
WIDE = 18  # children of a node beyond which splitting sets from the top makes too many


def optimal(
    table: CompressedTable,
    requirements: Requirements,
    run: Run,
    *,
    scheme: str | Mapping[str, str] | None = None,
    cost: str = "dm",
    suppress: float = 0.0,
    direction: str = "auto",
    prunings: str | Sequence[str] = "all",
    order: Order | None = None,
    gap: float = 0.0,
    memory: float = 1000,
) -> SearchResult:
    """Search for the cheapest anonymization.

    Args:
        table: The compressed table.
        requirements: What must hold; one.
        run: Gets the size of each attribute's space, then the progress now and then; when it is over, the best so
            far is given.
        scheme: One of bhs, ghs, ops, sps, gsps, gops for all attributes, or by column; by default gops where there is a
            taxonomy, else ops.
        cost: What is to be low: "dm", "hdm", "ncp" or "cm".
        suppress: The share of records that may be left out, 0 to 1.
        direction: "bottom-up" from the original values, "top-down" from the most general ones, or "auto".
        prunings: "all", or the names of those to use.
        order: The order of a column's values for ops and gops, where it is not that of the taxonomy or the text.
        gap: Stop when the cost is proven to be within this share of the optimum.
        memory: Megabytes that waiting nodes may take; beyond, the search goes depth first.

    Returns:
        The recoding, the classes that are released where records are suppressed, and as facts the cost, the bound, the
        gap, whether the optimum is proven, and the nodes visited and pruned.

    Raises:
        PolicyError: An option is wrong, or a scheme does not fit an attribute.
        InfeasibleError: No anonymization of the scheme is allowed.
    """
    (requirement,) = requirements
    _check_suppression(requirement, suppress)
    chosen = PRUNINGS if prunings == "all" else (prunings,) if isinstance(prunings, str) else tuple(prunings)
    domains = domains_of(table, scheme, order)
    costs = Costs(table, domains, cost, requirement)
    limit = budget_of(table, suppress)
    is_lattice = direction == "auto" and chosen == PRUNINGS and level_lattice.fits(costs)
    spaces = explain(domains, None if is_lattice else solved_of(costs, chosen))
    run.note("\n".join(spaces))
    if is_lattice:
        search: Search | LevelLattice = LevelLattice(costs, limit, run, gap, memory)
        search.run()
    else:
        seed = _seed(table, requirement, costs, limit, order, run) if "seeding" in chosen else None
        up = _goes_up(domains, direction, seed[1] if seed else None)
        search = Search(costs, limit, up, run, chosen, gap, memory)
        search.offer(*(seed or NOTHING))
        search.run()
        if search.partitions is None:  # it may have had to stop before it found anything
            search.offer(*(Seeds(costs, limit, run).of(coarsest_of(domains)) or NOTHING))
    if (partitions := search.partitions) is None:
        raise InfeasibleError(
            f"no generalization satisfies {', '.join(map(str, requirement.models))} for {table.records} records with a "
            f"share of {suppress} suppressed; lower the requirement, or raise 'suppress'"
        )
    facts = {**_proof(search, costs), "spaces": spaces}
    return _found(table, costs, partitions, facts)


def _seed(
    table: CompressedTable, requirement: Requirement, costs: Costs, limit: int, order: Order | None, run: Run
) -> tuple[float, list[Labels]] | None:
    """A good anonymization to start with; None if there is none."""
    seconds = QUICK if run.time_limit is None else min(QUICK, run.time_limit / 6)
    starts = [coarsest_of(costs.domains)]
    starts.append(from_top_down(table, requirement, costs, run.quietly(seconds)))
    ordered = [ORDERED.get(domain.scheme, domain.scheme) for domain in costs.domains]
    if any(domain.scheme in ORDERED for domain in costs.domains):
        domains = [domain_of(table, index, word, order) for index, word in enumerate(ordered)]
        cheaper = Costs(table, domains, costs.cost, requirement)
        quick = Search(cheaper, limit, True, run.quietly(2 * seconds))
        quick.offer(*(Seeds(quick.costs, limit, run.quietly(seconds)).best([]) or NOTHING))
        quick.run()
        if quick.partitions is not None:
            starts.append(carried(quick.partitions, domains, costs.domains))
    return Seeds(costs, limit, run.quietly(seconds)).best(starts)


def _check_suppression(requirement: Requirement, suppress: float) -> None:
    """With suppression the prunings need more of a model than without; see `costs`."""
    for model in requirement.models:
        if suppress > 0 and not model.upward_closed:
            raise PolicyError(
                f"The method 'optimal' cannot leave out records under {model}, since records that join a good class "
                "can make it bad; set 'suppress' to 0, or use another method."
            )


def _goes_up(domains: Sequence[Domain], direction: str, seed: list[Labels] | None) -> bool:
    """Bottom-up for few attributes where the seed is near the original values, and where top-down is too wide."""
    wide = [
        domain.attribute.name
        for domain in domains
        if isinstance(domain.space, TreeSpace)
        and domain.space.mode == "set"
        and max(map(len, domain.space.tree.children)) > WIDE
    ]
    if direction == "top-down" and wide:
        raise PolicyError(f"top-down search splits '{wide[0]}' in too many ways; use 'bottom-up', 'gsps' or 'gops'")
    if direction != "auto" or wide or seed is None:
        return direction != "top-down"
    merges = sum(len(labels) - len(set(labels.tolist())) for labels in seed)
    return len(domains) < MANY_ATTRIBUTES and 2 * merges <= sum(len(labels) - 1 for labels in seed)


def _proof(search: Search | LevelLattice, costs: Costs) -> dict[str, Any]:
    """What the search can say of its result."""
    bound = search.bound
    return {
        "direction": search.direction,
        "cost": costs.reported(search.best),
        "bound": costs.reported(bound),
        "gap": (search.best - bound) / search.best if search.best > 0 else 0.0,
        "optimal": bound >= search.best,
        "stopped": search.stopped or "proven",
        "nodes": search.visited,
        "pruned": search.pruned,
    }


def _found(table: CompressedTable, costs: Costs, partitions: list[Labels], facts: Mapping[str, Any]) -> SearchResult:
    """The recoding of partitions, and the classes that stay where records are suppressed."""
    classes = costs.classes(partitions)
    kept = costs.good(classes.sizes)[classes.of_row]
    recodings: list[AttributeRecoding] = []
    for index, domain in enumerate(costs.domains):
        released = set(costs.rows[kept, index].tolist())
        recodings.append(domain.recoding(blocks_of(partitions[index].tolist()), released))
    recoding, suppressed = withhold(table, ByValue(tuple(recodings)), ~kept)
    return SearchResult(recoding, facts={"measure": costs.cost, **facts, "suppressed_records": suppressed})
