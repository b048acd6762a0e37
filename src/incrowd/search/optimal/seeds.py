"""A good anonymization to start an optimal search with: the better the first one, the more can be pruned.

What a scheme contains is searched before it. A level is a cut, a cut joins neighbours, neighbours are sets: bhs, ghs,
gops, then ops and gsps, then sps. What is good in a rigid scheme is found in a fraction of the time, and it is a
release of the more flexible scheme too, which costs no more there. Each search starts from that, from the coarsest and
the finest partitions, and from a top-down refinement made just coarse enough for the scheme; all of these are lowered
first (`descent`).

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
from incrowd.search.optimal.best_first import ENOUGH
from incrowd.search.optimal.blocks import Labels, blocks_of, labels_of
from incrowd.search.optimal.costs import Costs, Partitions
from incrowd.search.optimal.descent import Descent, Seed
from incrowd.search.optimal.pairs import PairSearch
from incrowd.search.optimal.released import tightened
from incrowd.search.optimal.schemes import Domain, Order, domain_of
from incrowd.search.top_down.top_down import top_down
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
STEPS = 100_000_000  # steps of a top-down refinement, times the rows that each looks at

Found = tuple[list[Labels], Sequence[Domain]]


def stages(domains: Sequence[Domain], order: Order | None) -> list[tuple[str, ...]]:
    """The scheme of each attribute in each stage, from rigid to flexible, without the schemes of the search itself."""
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for rank in range(len(RIGID_FIRST)):
        schemes = []
        for domain in domains:
            inside = _contained(domain, order)
            schemes.append(next((word for word in reversed(inside) if RIGID_FIRST.index(word) <= rank), inside[0]))
        found.setdefault(_distinct(domains, schemes), tuple(schemes))
    found.pop(_distinct(domains, [domain.scheme for domain in domains]), None)
    return list(found.values())


def _contained(domain: Domain, order: Order | None) -> tuple[str, ...]:
    """The schemes that the scheme of an attribute contains, and itself."""
    inside = CONTAINED[domain.scheme]
    has_own_order = domain.attribute.name in (order or {}) and domain.scheme in ("ops", "sps")  # not the taxonomy's
    if isinstance(domain.attribute, NumberAttribute) or has_own_order:
        return tuple(word for word in inside if word in ("ops", "sps"))
    return inside


def _distinct(domains: Sequence[Domain], schemes: Sequence[str]) -> tuple[str, ...]:
    """One name for schemes that allow the same."""
    pairs = zip(domains, schemes, strict=True)
    return tuple(
        WITHOUT_GROUPS.get(word, word) if isinstance(d.attribute, FlatAttribute) else word for d, word in pairs
    )


class Seeds:
    """Searches the schemes that the scheme of a search contains, one after the other."""

    def __init__(
        self, table: CompressedTable, costs: Costs, limit: int, order: Order | None, run: Run, memory: float = 1000
    ) -> None:
        self._table, self._costs, self._limit = table, costs, limit
        self._order, self._whole, self._run, self._memory = order, run, run.quietly(), memory

    def seed(self) -> Seed:
        """A good anonymization to start the search with; costs infinitely much if there is none."""
        found: list[Found] = []
        best = np.inf
        for schemes in stages(self._costs.domains, self._order):
            domains = [
                domain_of(self._table, index, word, self._order, tight=domain.tight)
                for index, (word, domain) in enumerate(zip(schemes, self._costs.domains, strict=True))
            ]
            own = self._costs.under(self._table, domains)
            search = PairSearch(own, self._limit, self._run, memory=self._memory)
            search.offer(*self._seed(own, [each for each in found if _contains(schemes, each[1])]))
            search.run(WORK)
            if search.partitions is not None:
                found.append((search.partitions, domains))
                best = min(best, search.best)
                self._whole.tell(Best(self._costs.reported(best), self._costs.reported(0.0), 0, 0))
            if search.stopped not in ("", ENOUGH):
                break
        return self._seed(self._costs, found)

    def _seed(self, costs: Costs, found: Sequence[Found]) -> Seed:
        """A good anonymization to start a search with, from what others found."""
        domains = costs.domains
        starts = [costs.everything]
        if self._run.should_continue():
            cells = [
                m.of_codes(d.attribute)[list(d.codes)] for m, d in zip(self._refined.attributes, domains, strict=True)
            ]
            starts.append(_fitted(cells, domains))
        starts += [_fitted(_carried(partitions, before, domains), domains) for partitions, before in found]
        if self._limit:  # a more flexible scheme parts values that only left-out records have
            tight = [tightened(costs, start) for start in starts]
            starts = [*starts, *tight] if costs.as_released else tight
        starts += [[np.arange(domain.space.size) for domain in domains], costs.everything]
        return Descent(costs, self._limit, self._run).best(starts)

    @cached_property
    def _refined(self) -> ByValue:
        """The release of a top-down refinement."""
        steps = max(1, STEPS // len(self._table.counts))
        found = top_down(self._table, (self._costs.requirement,), self._run, max_steps=steps).recoding
        assert isinstance(found, ByValue)
        return found


def _contains(schemes: Sequence[str], domains: Sequence[Domain]) -> bool:
    """Whether schemes allow all that others do."""
    return all(domain.scheme in CONTAINED[word] for word, domain in zip(schemes, domains, strict=True))


def _carried(partitions: Partitions, old: Sequence[Domain], new: Sequence[Domain]) -> list[Labels]:
    """Partitions found in one scheme, in the positions of another one."""
    moved = []
    for labels, before, after in zip(partitions, old, new, strict=True):
        label_of = dict(zip(before.codes, labels.tolist(), strict=True))
        moved.append(np.array([label_of[code] for code in after.codes]))
    return moved


def _fitted(partitions: Partitions, domains: Sequence[Domain]) -> list[Labels]:
    """Partitions made just coarse enough for the schemes."""
    pairs = zip(partitions, domains, strict=True)
    return [labels_of(d.space.closure(blocks_of(labels.tolist())), d.space.size) for labels, d in pairs]
