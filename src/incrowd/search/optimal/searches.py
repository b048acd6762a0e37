"""Which search is the fastest for some schemes, and that search, begun with what is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from incrowd.errors import PolicyError
from incrowd.run import Run
from incrowd.search.optimal import PRUNINGS, level_lattice, pairs
from incrowd.search.optimal.branch_and_bound import Search
from incrowd.search.optimal.costs import Costs
from incrowd.search.optimal.descent import NOTHING, Seed
from incrowd.search.optimal.level_lattice import LevelLattice
from incrowd.search.optimal.pairs import PairSearch
from incrowd.search.optimal.partitions import TreeSpace
from incrowd.search.optimal.schemes import Domain

MANY_ATTRIBUTES = 5  # from here on top-down is faster, as in the paper
WIDE = 18  # children of a node beyond which splitting sets from the top makes too many

AnySearch = Search | PairSearch | LevelLattice
Kind = Literal["lattice", "pairs", "tree"]


def kind_of(costs: Costs, direction: str = "auto", prunings: Sequence[str] = PRUNINGS) -> Kind:
    """The search that fits what is asked for."""
    is_free = direction == "auto" and tuple(prunings) == PRUNINGS
    if is_free and level_lattice.fits(costs):
        return "lattice"
    return "pairs" if direction == "pairs" or (is_free and pairs.is_best(costs)) else "tree"


def begun(
    kind: Kind,
    costs: Costs,
    limit: int,
    run: Run,
    seed: Seed | None,
    *,
    direction: str = "auto",
    prunings: Sequence[str] = PRUNINGS,
    gap: float = 0.0,
    memory: float = 1000,
) -> AnySearch:
    """A search that only has to be run.

    Args:
        kind: Which one.
        costs: What is to be low.
        limit: Records that may be suppressed.
        run: Gets the progress; when it is over, the best so far stays.
        seed: What there is to begin with; a lattice needs nothing.
        direction: "bottom-up", "top-down", or "auto", for a tree.
        prunings: The names of those that are on, for a tree.
        gap: Stop when the best is within this share of the bound.
        memory: Megabytes that may be used.

    Raises:
        PolicyError: The direction does not fit.
    """
    if kind == "lattice":
        return LevelLattice(costs, limit, run, gap, memory)
    search: Search | PairSearch
    if kind == "pairs":
        search = PairSearch(costs, limit, run, gap, memory)
    else:
        up = _goes_up(costs.domains, direction, seed if "seeding" in prunings else None)
        search = Search(costs, limit, up, run, prunings, gap, memory)
    search.offer(*(seed or NOTHING))
    return search


def _goes_up(domains: Sequence[Domain], direction: str, seed: Seed | None) -> bool:
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
    merges = sum(len(labels) - len(set(labels.tolist())) for labels in seed[1])
    return len(domains) < MANY_ATTRIBUTES and 2 * merges <= sum(len(labels) - 1 for labels in seed[1])
