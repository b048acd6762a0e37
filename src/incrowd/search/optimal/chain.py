"""From rigid schemes to flexible ones: what a scheme contains is searched before it, and starts its own search.

A level is a cut, a cut joins neighbours, neighbours are sets: bhs, ghs, gops, then ops and gsps, then sps. What is good
in a rigid scheme is found in a fraction of the time, and it is a release of the more flexible scheme too, which costs
no more there. So a search that has to stop is no worse than the rigid ones that it contains, as far as those got in
their share of the time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from incrowd.errors import PolicyError
from incrowd.run import Run
from incrowd.search.optimal import level_lattice, pairs
from incrowd.search.optimal.blocks import Labels, blocks_of, labels_of
from incrowd.search.optimal.branch_and_bound import Search
from incrowd.search.optimal.costs import Costs, Partitions
from incrowd.search.optimal.descent import Descent, Seed
from incrowd.search.optimal.level_lattice import LevelLattice
from incrowd.search.optimal.pairs import PairSearch
from incrowd.search.optimal.partitions import TreeSpace
from incrowd.search.optimal.schemes import Domain, Order, domain_of
from incrowd.search.optimal.seeds import Seeds, carried, coarsest_of, from_top_down
from incrowd.table.attributes import FlatAttribute, NumberAttribute
from incrowd.table.compressed import CompressedTable

RIGID_FIRST = ("bhs", "ghs", "gops", "ops", "gsps", "sps")
CONTAINED = {
    "bhs": ("bhs",),
    "ghs": ("bhs", "ghs"),
    "gops": ("bhs", "ghs", "gops"),
    "ops": ("bhs", "ghs", "gops", "ops"),
    "gsps": ("bhs", "ghs", "gops", "gsps"),
    "sps": RIGID_FIRST,
}
SHARE = 8  # a scheme on the way gets one part in so many of the time that is left
QUICK = 3.0  # seconds for each part of looking for a seed
MANY_ATTRIBUTES = 5  # from here on top-down is faster, as in the paper
WIDE = 18  # children of a node beyond which splitting sets from the top makes too many

Found = tuple[list[Labels], Sequence[Domain]]


def stages(domains: Sequence[Domain], order: Order | None) -> list[tuple[str, ...]]:
    """The scheme of each attribute in each stage, from rigid to flexible, but for the last one."""
    found: list[tuple[str, ...]] = []
    for rank in range(len(RIGID_FIRST)):
        words = []
        for domain in domains:
            inside = _contained(domain, order)
            words.append(next((word for word in reversed(inside) if RIGID_FIRST.index(word) <= rank), inside[0]))
        found.append(tuple(words))
    last = tuple(domain.scheme for domain in domains)
    return [words for words in dict.fromkeys(found) if words != last]


def _contained(domain: Domain, order: Order | None) -> tuple[str, ...]:
    """The schemes that the scheme of an attribute contains, and itself."""
    inside = CONTAINED[domain.scheme]
    if isinstance(domain.attribute, NumberAttribute):  # without a taxonomy
        return tuple(word for word in inside if word in ("ops", "sps"))
    if isinstance(domain.attribute, FlatAttribute):  # levels are cuts, and groups do not guide
        return tuple(word for word in inside if word in ("bhs", "ops", domain.scheme))
    if domain.attribute.name in (order or {}) and domain.scheme in ("ops", "sps"):  # an order that no taxonomy knows
        return tuple(word for word in inside if word in ("ops", "sps"))
    return inside


def seeded(table: CompressedTable, costs: Costs, limit: int, order: Order | None, run: Run) -> Seed | None:
    """A good anonymization to start a search with, no worse than what the schemes find that are contained in its own.

    First the seeds of all schemes from rigid to flexible, each of which starts the next one's; then the rigid schemes
    are searched for what is better than the last seed. That fails soon where there is nothing.

    Args:
        table: The table.
        costs: Those of the search.
        limit: Records that may be suppressed.
        order: The order of a column's values, as given by the user.
        run: What is done here shares its time with the search.

    Returns:
        None if nothing is allowed.
    """
    found: list[Found] = []
    on_the_way: list[tuple[Costs, Seed | None]] = []
    for words in stages(costs.domains, order):
        if not run.goes_on():
            break
        domains = [domain_of(table, index, word, order) for index, word in enumerate(words)]
        own = Costs(table, domains, costs.cost, costs.requirement, costs.priorities)
        seed = Seeds(own, limit, run.quietly(quick(run))).best(starts(found, domains))
        on_the_way.append((own, seed))
        if seed is not None:
            found.append((seed[1], domains))
    refined = from_top_down(table, costs.requirement, costs, run.quietly(quick(run)))
    most_general = coarsest_of(costs.domains)
    best = Seeds(costs, limit, run.quietly(quick(run))).best([most_general, refined, *starts(found, costs.domains)])
    for own, seed in on_the_way:
        up = goes_up(own.domains, "auto", seed[1] if seed else None)
        better = _better(own, limit, up, best[0] if best else np.inf, _part(run)) if run.goes_on() else None
        if better is not None:
            descent = Descent(costs, limit, run.quietly(quick(run)))
            best = descent.lowered(descent.of(*starts([(better, own.domains)], costs.domains)))
    return best


def starts(found: Sequence[Found], domains: Sequence[Domain]) -> list[list[Labels]]:
    """What was found in other schemes, made just coarse enough for these."""
    return [_fitted(carried(partitions, before, domains), domains) for partitions, before in found]


def _fitted(partitions: Partitions, domains: Sequence[Domain]) -> list[Labels]:
    pairs = zip(partitions, domains, strict=True)
    return [labels_of(d.space.closure(blocks_of(labels.tolist())), d.space.size) for labels, d in pairs]


def _part(run: Run) -> Run:
    """A part of a run for one scheme."""
    left = run.seconds_left
    return run.quietly(None if left is None else max(left / SHARE, 1e-3))


def _better(costs: Costs, limit: int, up: bool, best: float, run: Run) -> list[Labels] | None:
    """The cheapest of a scheme that is found within the time of a run; None if nothing beats the best."""
    search: Search | PairSearch | LevelLattice
    if level_lattice.fits(costs):
        search = LevelLattice(costs, limit, run)
    elif pairs.is_best(costs):
        search = PairSearch(costs, limit, run)
    else:
        search = Search(costs, limit, up, run)
    search.best = best
    search.run()
    return search.partitions


def quick(run: Run) -> float:
    """Seconds for a part of looking for a seed."""
    return QUICK if run.seconds_left is None else max(min(QUICK, run.seconds_left / 6), 1e-3)


def goes_up(domains: Sequence[Domain], direction: str, seed: list[Labels] | None) -> bool:
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
