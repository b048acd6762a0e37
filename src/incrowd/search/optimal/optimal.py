"""Optimal anonymization (Li and Li 2007): the cheapest anonymization that a generalization scheme allows, with proof.

`schemes` says which partitions each attribute may have, `costs` what they cost. `branch_and_bound` finds the cheapest
combination as in the paper; `pairs` needs far fewer nodes. What is found comes with its cost, a lower bound that no
release of the scheme can beat, and the gap between them: 0 means optimal. All three are those of what is released
(`released`), left-out records included.

The default cost is NCP, the loss per cell. DM looks at the sizes of classes only: it is as content with some columns
as they are and all others starred as with all columns a little coarser.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from incrowd.errors import InfeasibleError, PolicyError, many
from incrowd.privacy.model import Requirements, with_suppression
from incrowd.run import Run
from incrowd.search.leaving_out import budget_of
from incrowd.search.method import SearchResult
from incrowd.search.optimal import PRUNINGS
from incrowd.search.optimal.as_released import ReleasedCosts
from incrowd.search.optimal.branch_and_bound import TreeSearch
from incrowd.search.optimal.costs import Costs
from incrowd.search.optimal.descent import Descent
from incrowd.search.optimal.innermost import innermost_of
from incrowd.search.optimal.pairs import PairSearch
from incrowd.search.optimal.partitions import TreeSpace
from incrowd.search.optimal.released import lowered, released
from incrowd.search.optimal.scheme_sizes import explain
from incrowd.search.optimal.schemes import Domain, Order, domains_of
from incrowd.search.optimal.seeds import Seeds
from incrowd.table.compressed import CompressedTable

SECONDS = 60  # time limit where none is given
MANY_ATTRIBUTES = 5  # from here on top-down is faster, as in the paper
WIDE = 18  # children of a node beyond which splitting sets from the top makes too many

AnySearch = TreeSearch | PairSearch


def optimal(
    table: CompressedTable,
    requirements: Requirements,
    run: Run,
    *,
    scheme: str | Mapping[str, str] | None = None,
    cost: str = "ncp",
    suppress: float = 0.0,
    direction: str = "auto",
    prunings: str | Sequence[str] = "all",
    order: Order | None = None,
    gap: float = 0.0,
    memory: float = 1000,
    priorities: Mapping[str, float] | None = None,
) -> SearchResult:
    """Search for the cheapest anonymization; the options are those of the method's declaration.

    The run gets the size of each attribute's space, then the progress now and then. When it is over, without a time
    limit after a minute, the best so far is given.

    Returns:
        The recoding, the classes that are released where records are suppressed, and as facts the cost, the bound, the
        gap, whether the optimum is proven, and the nodes visited and pruned.

    Raises:
        PolicyError: An option is wrong, or a scheme does not fit an attribute.
        InfeasibleError: No anonymization of the scheme is allowed.
    """
    (requirement,) = requirements
    with_suppression(requirement.models if suppress > 0 else ())
    chosen = _chosen(prunings, direction)
    limit = budget_of(table, suppress)
    domains = domains_of(table, scheme, order, tight=limit > 0)
    counted = ReleasedCosts if limit and not requirement.upward_closed else Costs
    costs = counted(table, domains, cost, requirement, priorities, limit)
    by_questions = direction == "pairs" or (direction == "auto" and set(chosen) == set(PRUNINGS))
    spaces = explain(domains, innermost_of(costs) if "innermost" in chosen else None)
    run.note("\n".join(spaces))

    def searched(limit: int, known: AnySearch | None = None) -> AnySearch:
        """A search of its own, begun with what another one knows if there is one."""
        search: AnySearch
        with run.at_most(SECONDS):
            if by_questions:
                search = PairSearch(costs, limit, run, gap, memory)
            else:
                search = TreeSearch(costs, limit, _goes_up(domains, direction), run, chosen, gap, memory)
            if "seeding" in chosen:
                search.offer(*Seeds(table, costs, limit, order, run, memory).seed())
            else:  # everyone is released at least
                search.offer(*Descent(costs, limit, run).of(costs.everything))
            if known is not None and known.partitions is not None:
                search.offer(known.best, known.partitions)
            search.run()
        return search

    search = found = searched(limit)
    if limit and search.partitions is not None and costs.at_least(search.bound) < search.best and run.should_continue():
        # a budget costs nothing: what was stopped may be worse than a release that leaves out nobody
        other = searched(0, search)
        found = other if other.partitions is not None and costs.better(other.best, search.best) else search
    if (partitions := found.partitions) is None:
        raise InfeasibleError(
            f"no generalization satisfies {', '.join(map(str, requirement.models))} for "
            f"{many(table.records, 'record')} with a share of {suppress} suppressed; lower the requirement, "
            "or raise 'suppress'"
        )
    if search.stopped == "time limit" and run.seconds_left is None:
        run.note(f"stopped after {SECONDS} seconds, since no time limit was given; a longer one may find a lower cost")
    made = released(table, costs, partitions)
    best = made.cost if costs.better(made.cost, found.best) else found.best  # they differ by rounding, or it is less
    facts = {**_proof(search, costs, best, lowered(costs, costs.at_least(search.bound), limit)), "spaces": spaces}
    return SearchResult(made.recoding, facts={"measure": cost, **facts, "suppressed_records": made.suppressed})


def _chosen(prunings: str | Sequence[str], direction: str) -> Sequence[str]:
    chosen = PRUNINGS if prunings == "all" else (prunings,) if isinstance(prunings, str) else tuple(prunings)
    if direction == "pairs" and set(chosen) != set(PRUNINGS):
        raise PolicyError("the direction 'pairs' uses all prunings; leave 'prunings' out, or choose another direction")
    return chosen


def _goes_up(domains: Sequence[Domain], direction: str) -> bool:
    """Bottom-up for few attributes, as in the paper, and where top-down is too wide."""
    wide = [
        domain.attribute.name
        for domain in domains
        if isinstance(domain.space, TreeSpace)
        and domain.space.mode == "set"
        and max(map(len, domain.space.tree.children)) > WIDE
    ]
    if direction == "top-down" and wide:
        raise PolicyError(f"top-down search splits '{wide[0]}' in too many ways; use 'bottom-up', 'gsps' or 'gops'")
    return direction == "bottom-up" or (direction == "auto" and (bool(wide) or len(domains) < MANY_ATTRIBUTES))


def _proof(search: AnySearch, costs: Costs, best: float, bound: float) -> dict[str, Any]:
    return {
        "direction": search.direction,
        "cost": costs.reported(best),
        "bound": costs.reported(bound),
        "gap": (best - bound) / best if best > 0 else 0.0,
        "optimal": bound >= best,
        "stopped": search.stopped or ("proven" if bound >= best else "all searched"),
        "nodes": search.visited,
        "pruned": search.pruned,
    }
