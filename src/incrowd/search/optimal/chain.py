"""From rigid schemes to flexible ones: what a scheme contains is searched before it, and starts its own search.

A level is a cut, a cut joins neighbours, neighbours are sets: bhs, ghs, gops, then ops and gsps, then sps. What is good
in a rigid scheme is found in a fraction of the time, and it is a release of the more flexible scheme too, which costs
no more there.

A rigid scheme is searched here exactly as it is alone, step by step, up to an amount of work that is counted and does
not depend on the clock. So a more flexible scheme is never worse, wherever both are stopped: up to that amount it has
done the same, and afterwards it has what that led to. Only what a rigid scheme finds later, in a search of its own that
takes longer, may be better for a while. (`sps` contains two schemes of which neither contains the other; it searches
`ops` first and does what `gsps` does that much later.)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from incrowd.recodings.by_value import ByValue
from incrowd.run import Best, Run
from incrowd.search.optimal.blocks import Labels, blocks_of, labels_of
from incrowd.search.optimal.costs import Costs, Partitions
from incrowd.search.optimal.descent import Seed
from incrowd.search.optimal.limits import ENOUGH
from incrowd.search.optimal.released import tightened
from incrowd.search.optimal.schemes import Domain, Order, domain_of
from incrowd.search.optimal.searches import begun, kind_of
from incrowd.search.optimal.seeds import Seeds, carried, coarsest_of, refined, refined_by
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
WITHOUT_GROUPS = {"ghs": "bhs", "gops": "ops", "gsps": "sps"}  # the same where no groups guide
WORK = 30_000_000  # rows that the search of a rigid scheme may look at

Found = tuple[list[Labels], Sequence[Domain]]


def stages(domains: Sequence[Domain], order: Order | None) -> list[tuple[str, ...]]:
    """The scheme of each attribute in each stage, from rigid to flexible, but for the last one."""
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for rank in range(len(RIGID_FIRST)):
        words = []
        for domain in domains:
            inside = _contained(domain, order)
            words.append(next((word for word in reversed(inside) if RIGID_FIRST.index(word) <= rank), inside[0]))
        found.setdefault(_told_apart(domains, words), tuple(words))
    found.pop(_told_apart(domains, [domain.scheme for domain in domains]), None)
    return list(found.values())


def _contained(domain: Domain, order: Order | None) -> tuple[str, ...]:
    """The schemes that the scheme of an attribute contains, and itself."""
    inside = CONTAINED[domain.scheme]
    if isinstance(domain.attribute, NumberAttribute):  # without a taxonomy
        return tuple(word for word in inside if word in ("ops", "sps"))
    if domain.attribute.name in (order or {}) and domain.scheme in ("ops", "sps"):  # an order that no taxonomy knows
        return tuple(word for word in inside if word in ("ops", "sps"))
    return inside


def _told_apart(domains: Sequence[Domain], words: Sequence[str]) -> tuple[str, ...]:
    """One name for schemes that allow the same."""
    pairs = zip(domains, words, strict=True)
    return tuple(
        WITHOUT_GROUPS.get(word, word) if isinstance(d.attribute, FlatAttribute) else word for d, word in pairs
    )


class Chain:
    """The schemes that the scheme of a search contains, one after the other.

    Args:
        table: The table.
        costs: Those of the search.
        limit: Records that may be suppressed.
        order: The order of a column's values, as given by the user.
        run: Gets the best of each scheme; what is done here shares its time with the search.
        memory: Megabytes that waiting nodes may take.
    """

    def __init__(
        self, table: CompressedTable, costs: Costs, limit: int, order: Order | None, run: Run, memory: float = 1000
    ) -> None:
        self._table, self._costs, self._limit = table, costs, limit
        self._order, self._whole, self._run, self._memory = order, run, run.quietly(), memory

    def seed(self) -> Seed | None:
        """A good anonymization to start the search with, no worse than what was found on the way; None without one."""
        found: list[Found] = []
        best = np.inf
        for words in stages(self._costs.domains, self._order):
            domains = [
                domain_of(self._table, index, word, self._order, tight=domain.tight)
                for index, (word, domain) in enumerate(zip(words, self._costs.domains, strict=True))
            ]
            own = Costs(self._table, domains, self._costs.cost, self._costs.requirement, self._costs.priorities)
            kind = kind_of(own)
            seed = None if kind == "lattice" else self._seed(own, [each for each in found if _contains(words, each[1])])
            search = begun(kind, own, self._limit, self._run, seed, memory=self._memory)
            search.run(WORK)
            if search.partitions is not None:
                found.append((search.partitions, domains))
                best = min(best, search.best)
                self._whole.tell(Best(self._costs.reported(best), self._costs.reported(0.0), 0, 0))
            if search.stopped not in ("", ENOUGH):
                break
        return self._seed(self._costs, found)

    def _seed(self, costs: Costs, found: Sequence[Found]) -> Seed | None:
        """A good anonymization to start a search with, from what others found."""
        starts = [coarsest_of(costs.domains)]
        if self._run.should_continue():
            starts.append(refined_by(self._refined, costs.domains))
        starts += fitted(found, costs.domains)
        if self._limit:  # a more flexible scheme parts values that only left-out records have
            starts = [tightened(costs, start) for start in starts]
        return Seeds(costs, self._limit, self._run).best(starts)

    @cached_property
    def _refined(self) -> ByValue:
        return refined(self._table, self._costs.requirement, self._run)


def _contains(words: Sequence[str], domains: Sequence[Domain]) -> bool:
    """Whether schemes allow all that others do."""
    return all(domain.scheme in CONTAINED[word] for word, domain in zip(words, domains, strict=True))


def fitted(found: Sequence[Found], domains: Sequence[Domain]) -> list[list[Labels]]:
    """What was found in other schemes, made just coarse enough for these."""
    return [_fitted(carried(partitions, before, domains), domains) for partitions, before in found]


def _fitted(partitions: Partitions, domains: Sequence[Domain]) -> list[Labels]:
    pairs = zip(partitions, domains, strict=True)
    return [labels_of(d.space.closure(blocks_of(labels.tolist())), d.space.size) for labels, d in pairs]
