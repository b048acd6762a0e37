"""Optimal k-anonymization (Li and Li 2007): the cheapest anonymization that a generalization scheme allows, with proof.

`schemes` says which partitions each attribute may have, `costs` what they cost, `branch_and_bound` finds the cheapest
combination, `full_domain` does so faster where all attributes are generalized by levels. What is found comes with its
cost, a lower bound that no anonymization of the scheme can beat, and the gap between them: 0 means optimal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from incrowd.errors import InfeasibleError, PolicyError, UnknownNameError
from incrowd.policy import QuasiIdentifier
from incrowd.recodings.attribute import AttributeRecoding
from incrowd.search import Found, full_domain
from incrowd.search.blocks import Labels, blocks_of
from incrowd.search.branch_and_bound import PRUNINGS, Search, solved_of
from incrowd.search.costs import Costs
from incrowd.search.full_domain import FullDomain
from incrowd.search.limits import Progress
from incrowd.search.partitions import TreeSpace
from incrowd.search.schemes import Domain, Order, domain_of, domains_of, explain
from incrowd.search.seeds import Seeds, carried, from_top_down
from incrowd.search.withhold import withhold
from incrowd.steps import Step
from incrowd.table import CompressedTable

DIRECTIONS = ("auto", "bottom-up", "top-down")
ORDERED = {"sps": "ops", "gsps": "gops"}
QUICK = 3.0  # seconds for each part of looking for a seed
MANY_ATTRIBUTES = 5  # from here on top-down is faster, as in the paper
WIDE = 18  # children of a node beyond which splitting sets from the top makes too many


def optimal(
    table: CompressedTable,
    quasi_identifiers: Sequence[QuasiIdentifier],
    *,
    scheme: str | Mapping[str, str] | None = None,
    cost: str = "dm",
    suppress: float = 0.0,
    direction: str = "auto",
    prunings: str | Sequence[str] = "all",
    order: Order | None = None,
    time_limit: float | None = None,
    gap: float = 0.0,
    memory: float = 1000,
    on_step: Callable[[Step], object] | None = None,
    on_progress: Callable[[Progress | str], object] | None = None,
) -> Found:
    """Search for the cheapest anonymization.

    Args:
        table: The compressed table.
        quasi_identifiers: What must hold; one.
        scheme: One of bhs, ghs, ops, sps, gsps, gops for all attributes, or by column; by default gops where there is a
            taxonomy, else ops.
        cost: What is to be low: "dm", "hdm", "lm" or "cm".
        suppress: The share of records that may be left out, 0 to 1.
        direction: "bottom-up" from the original values, "top-down" from the most general ones, or "auto".
        prunings: "all", or the names of those to use.
        order: The order of a column's values for ops and gops, where it is not that of the taxonomy or the text.
        time_limit: Stop after that many seconds with the best found so far.
        gap: Stop when the cost is proven to be within this share of the optimum.
        memory: Megabytes that waiting nodes may take; beyond, the search goes depth first.
        on_step: Not called: this search has no steps.
        on_progress: Called with a line on each attribute's space before the search starts, then now and then with how
            far it is.

    Returns:
        The recoding, the classes that are released where records are suppressed, and as facts the cost, the bound, the
        gap, whether the optimum is proven, and the nodes visited and pruned.

    Raises:
        PolicyError: An option is wrong, or a scheme does not fit an attribute.
        InfeasibleError: No anonymization of the scheme is allowed.
    """
    (qid,) = quasi_identifiers
    chosen = check_options(direction, prunings, suppress, time_limit, gap, memory)
    domains = domains_of(table, scheme, order)
    costs = Costs(table, domains, cost, qid.k)
    limit = int(suppress * table.records + 1e-9)
    is_lattice = direction == "auto" and chosen == PRUNINGS and full_domain.fits(costs)
    spaces = explain(domains, None if is_lattice else solved_of(costs, chosen))
    if on_progress is not None:
        on_progress("\n".join(spaces))
    options: dict[str, Any] = {"time_limit": time_limit, "gap": gap, "memory": memory, "on_progress": on_progress}
    if is_lattice:
        search: Search | FullDomain = FullDomain(costs, limit, **options)
    else:
        quick = QUICK if time_limit is None else min(QUICK, time_limit / 6)
        seed = _seed(table, qid, costs, limit, order, quick) if "seeding" in chosen else None
        up = _goes_up(domains, direction, seed[1] if seed else None)
        search = Search(costs, limit, up, chosen, **options)
        search.offer(*(seed or (np.inf, [])))
    search.run()
    if (partitions := search.partitions) is None:
        raise _infeasible(search, table, costs.k, suppress)
    facts = {**_proof(search, costs), "spaces": spaces}
    return _found(table, costs, partitions, facts)


def _seed(
    table: CompressedTable, qid: QuasiIdentifier, costs: Costs, limit: int, order: Order | None, seconds: float
) -> tuple[float, list[Labels]] | None:
    """A good anonymization to start with; None if there is none."""
    if table.records < qid.k:
        return None
    starts = [[np.zeros(domain.space.size, np.int64) for domain in costs.domains]]
    starts.append(from_top_down(table, qid, costs))
    ordered = [ORDERED.get(domain.scheme, domain.scheme) for domain in costs.domains]
    if any(domain.scheme in ORDERED for domain in costs.domains):
        domains = [domain_of(table, index, word, order) for index, word in enumerate(ordered)]
        quick = Search(Costs(table, domains, costs.cost, qid.k), limit, up=True, time_limit=seconds)
        quick.offer(*(Seeds(quick.costs, limit, seconds).best([]) or (np.inf, [])))
        quick.run()
        if quick.stopped == "interrupted":
            raise KeyboardInterrupt
        if quick.partitions is not None:
            starts.append(carried(quick.partitions, domains, costs.domains))
    return Seeds(costs, limit, seconds).best(starts)


def check_options(
    direction: str, prunings: str | Sequence[str], suppress: float, time_limit: float | None, gap: float, memory: float
) -> tuple[str, ...]:
    """Raise PolicyError unless the options are allowed; the prunings that are on."""
    if direction not in DIRECTIONS:
        raise PolicyError(f"The 'direction' parameter must be one of {', '.join(DIRECTIONS)}. Got {direction!r}.")
    for name, value, low, high in (
        ("suppress", suppress, 0, 1),
        ("time_limit", time_limit, 0, None),
        ("gap", gap, 0, 1),
        ("memory", memory, 1, None),
    ):
        if value is None:
            continue
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or value < low or (high is not None and value > high):
            span = f"between {low} and {high}" if high is not None else f"of at least {low}"
            raise PolicyError(f"The '{name}' parameter must be a number {span}. Got {value!r}.")
    if prunings == "all":
        return PRUNINGS
    chosen = (prunings,) if isinstance(prunings, str) else tuple(prunings)
    for word in chosen:
        if word not in PRUNINGS:
            raise UnknownNameError("pruning", word, PRUNINGS)
    return chosen


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
        raise PolicyError(f"top-down search splits '{wide[0]}' in too many ways; take 'bottom-up', or 'gsps' or 'gops'")
    if direction != "auto" or wide or seed is None:
        return direction != "top-down"
    merges = sum(len(labels) - len(set(labels.tolist())) for labels in seed)
    return len(domains) < MANY_ATTRIBUTES and 2 * merges <= sum(len(labels) - 1 for labels in seed)


def _infeasible(search: Search | FullDomain, table: CompressedTable, k: int, suppress: float) -> Exception:
    if search.stopped:
        return InfeasibleError(
            f"no release with k={k} was found before the search stopped ({search.stopped}); allow more time"
        )
    return InfeasibleError(
        f"no generalization satisfies k={k} for {table.records} records with a share of {suppress} suppressed; lower k "
        "or raise 'suppress'"
    )


def _proof(search: Search | FullDomain, costs: Costs) -> dict[str, Any]:
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


def _found(table: CompressedTable, costs: Costs, partitions: list[Labels], facts: Mapping[str, Any]) -> Found:
    """The recoding of partitions, and the classes that stay where records are suppressed."""
    classes = costs.classes(partitions)
    large = classes.sizes >= costs.k
    kept = large[classes.of_row]
    recodings: list[AttributeRecoding] = []
    for index, domain in enumerate(costs.domains):
        released = set(costs.rows[kept, index].tolist())
        recodings.append(domain.recoding(blocks_of(partitions[index].tolist()), released))
    told, released_classes, suppressed = withhold(table, recodings, ~kept)
    return Found(told, classes=released_classes, facts={"measure": costs.cost, **facts, "suppressed": suppressed})
