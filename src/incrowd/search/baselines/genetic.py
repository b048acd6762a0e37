"""Iyengar's genetic algorithm (2002): generalizations as chromosomes that cross, mutate, and survive by what they lose.

A chromosome is a cut, intervals or shown values for every attribute (see below). Its fitness is the loss of the
release: NCP, the generalized loss per cell, or CM, the share of records whose label is not that of the majority in
their class. Records in classes that are too small are left out, and penalised as in the paper: they lose 1 in either.
Where a model does not allow leaving out records, a chromosome with a bad class is less fit than all without.
The release may cost less than the fitness of its chromosome: a value that only left-out records have is withheld, and a
record that then equals a released class stays in. What is reported as the best is the cost of the release.

As in the paper (after Whitley's GENITOR) one child is born at a time: two parents, drawn by rank so that the best is
one and a half times as likely as the median, cross at two points; bits mutate; and the child takes the place of the
worst chromosome if it is better and not there already. The first generation is random, and the most general table is
part of it.

Invariant: the best chromosome is never lost, and its release satisfies the policy, since what does not is left out. The
search ends when `patience` children in a row have brought nothing better, or after `evaluations`. It promises nothing
about the optimum. The same key gives the same release, in any order of rows and columns; of chromosomes that
are equally fit the one that was there first is ahead.

Iyengar has a bit for every pair of neighbouring values, and repairs chromosomes that fit no cut of the taxonomy. Here
the bits are what can be decided freely, so nothing has to be repaired:

- Taxonomy: a bit per inner node, whether it is opened. Closed nodes that are reached from the root are released.
- Numbers and dates: a bit per possible bound between two neighbouring intervals, at most 64 of them (by ranks, as in
  `domains`), and with missing values one for distinguishing those from numbers at all.
- Categories without a taxonomy: a bit per value, whether it is shown.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from incrowd.errors import PolicyError
from incrowd.privacy.model import Requirements
from incrowd.recodings.kinds import halved
from incrowd.recodings.steps import Improve, Step
from incrowd.run import Run
from incrowd.search.baselines.domains import Domain, Mask, cut_domain, disclosure_domain, interval_domain
from incrowd.search.baselines.outcome import Outcome
from incrowd.search.costs import Cost, readable, released_cost, weighs_cells
from incrowd.search.loss_scale import LossScale
from incrowd.search.method import SearchResult
from incrowd.search.priorities import weights_by_name
from incrowd.table.attributes import Attribute, NumberAttribute, TaxonomyAttribute
from incrowd.table.compressed import CompressedTable

HALVINGS = 6  # numbers have up to 2^6 intervals


@dataclass(frozen=True)
class Genes:
    attribute: Attribute
    _known: dict[bytes, Domain] = field(default_factory=dict)

    @cached_property
    def _scale(self) -> LossScale:
        return LossScale(self.attribute)

    @property
    def size(self) -> int:
        if isinstance(self.attribute, TaxonomyAttribute):
            return len(self._inner(self.attribute))
        if isinstance(self.attribute, NumberAttribute):
            return len(self._bounds(self.attribute)) + (self.attribute.missing is not None)
        return self.attribute.size

    @staticmethod
    def _inner(attribute: TaxonomyAttribute) -> list[int]:
        return [node for node, below in enumerate(attribute.taxonomy.children) if below]

    @staticmethod
    def _bounds(attribute: NumberAttribute) -> list[int]:
        ranks = len(attribute.numbers)
        return halved(ranks, min(HALVINGS, max(ranks - 1, 0).bit_length()))

    def domain(self, bits: Mask) -> Domain:
        key = np.packbits(bits).tobytes()
        if key not in self._known:
            self._known[key] = self._express(bits)
        return self._known[key]

    def _express(self, bits: Mask) -> Domain:
        attribute = self.attribute
        if isinstance(attribute, TaxonomyAttribute):
            opened = {node for node, bit in zip(self._inner(attribute), bits.tolist(), strict=True) if bit}
            nodes, waiting = [], [0]
            while waiting:
                node = waiting.pop()
                if node in opened:
                    waiting += reversed(attribute.taxonomy.children[node])
                else:
                    nodes.append(node)
            return cut_domain(self._scale, nodes)
        if isinstance(attribute, NumberAttribute):
            apart = attribute.missing is None or not len(attribute.numbers) or bool(bits[-1])
            bounds = zip(self._bounds(attribute), bits.tolist(), strict=False)
            return interval_domain(self._scale, [bound for bound, bit in bounds if bit], apart=apart)
        return disclosure_domain(self._scale, bits)


@dataclass(frozen=True)
class Chromosome:
    """The genes of all attributes behind each other."""

    genes: Sequence[Genes]

    @property
    def size(self) -> int:
        return sum(gene.size for gene in self.genes)

    def domains(self, bits: Mask) -> list[Domain]:
        ends = np.cumsum([gene.size for gene in self.genes])
        parts = np.split(bits, ends[:-1])
        return [gene.domain(part) for gene, part in zip(self.genes, parts, strict=True)]

    def random(self, random: np.random.Generator) -> Mask:
        """Random bits; how many are set varies from attribute to attribute and from chromosome to chromosome.

        With even chances most tables would be so fine that nearly all records would have to be left out.
        """
        return np.concatenate([random.random(gene.size) < random.random() ** 2 for gene in self.genes])


BIAS = 1.5  # how much likelier the best parent is than the median
WORST = Fraction(1)  # no fitness of a release is worse


def genetic(
    table: CompressedTable,
    requirements: Requirements,
    run: Run,
    *,
    fitness: Cost | None = None,
    population: int = 100,
    patience: int = 1000,
    evaluations: int = 20_000,
    priorities: Mapping[str, float] | None = None,
) -> SearchResult:
    """Breed generalizations; by default for good labels if there is a target and no priorities, else for low loss."""
    fitness = fitness or ("cm" if table.has_target and not priorities else "ncp")
    weighs_cells("fitness", fitness, priorities)
    if fitness == "cm" and not table.has_target:
        raise PolicyError("The 'fitness' parameter must be ncp when there is no target. Got 'cm'.")
    weights = weights_by_name([attribute.name for attribute in table.attributes], priorities)
    herd = _Herd(table, requirements, fitness, run, weights)
    herd.settle(population)
    while herd.stalled < patience and herd.evaluations < evaluations and run.should_continue():
        herd.breed()
        run.amount(herd.evaluations, evaluations, "generalizations bred")
    facts = {
        "evaluations": herd.evaluations,
        "stopped": "stalled" if herd.stalled >= patience else "evaluations",
        "improvements": herd.improvements,
    }
    found = herd.outcome(herd.best[2]).found(facts)
    best = released_cost(table, found.recoding, fitness, priorities)
    return replace(found, facts={"fitness": fitness, "best": best, **found.facts})


class _Herd:
    """The chromosomes that are alive, fittest first."""

    def __init__(
        self,
        table: CompressedTable,
        requirements: Requirements,
        cost: Cost,
        run: Run,
        weights: Mapping[str, Fraction],
    ) -> None:
        self._weights = weights
        self._table = table
        self._requirements = requirements
        self._cost = cost
        self._random = np.random.default_rng(run.key.number("genetic"))
        self._run = run
        self._order = sorted(range(len(table.attributes)), key=lambda index: table.attributes[index].name)
        self._chromosome = Chromosome([Genes(table.attributes[index]) for index in self._order])
        self._alive: list[tuple[Fraction, int, Mask]] = []  # fitness, when born, bits
        self._known: set[bytes] = set()
        closed = all(requirement.upward_closed for requirement in requirements)
        self._may_leave_out = closed and not any(requirement.columns for requirement in requirements)  # it would tell
        self.improvements: list[tuple[int, float]] = []
        self.evaluations = self.stalled = 0

    @property
    def best(self) -> tuple[Fraction, int, Mask]:
        """The fittest chromosome: fitness, when it was born, bits."""
        return self._alive[0]

    def outcome(self, bits: Mask) -> Outcome:
        expressed = dict(zip(self._order, self._chromosome.domains(bits), strict=True))
        domains = [expressed[index] for index in range(len(expressed))]
        return Outcome(self._table, self._requirements, domains, self._weights)

    def settle(self, size: int) -> None:
        """The first generation: the most general table, and random ones."""
        self._add(np.zeros(self._chromosome.size, bool))
        for _ in range(size - 1):
            if not self._run.should_continue():
                return
            self._add(self._chromosome.random(self._random))

    def breed(self) -> None:
        """One child of two parents takes the place of the worst if it is better."""
        first, second = (self._alive[self._rank()][2] for _ in range(2))
        size = self._chromosome.size
        low, high = sorted(self._random.integers(0, size + 1, 2).tolist())
        child = first.copy()
        child[low:high] = second[low:high]
        child ^= self._random.random(size) < 1 / max(size, 1)
        if np.packbits(child).tobytes() in self._known:
            self.evaluations += 1
            self.stalled += 1
            return
        self._add(child)
        self._known.discard(np.packbits(self._alive.pop()[2]).tobytes())

    def _rank(self) -> int:
        """A rank, drawn with linear bias towards the best."""
        share = (BIAS - np.sqrt(BIAS * BIAS - 4 * (BIAS - 1) * self._random.random())) / (2 * (BIAS - 1))
        return min(int(len(self._alive) * share), len(self._alive) - 1)

    def _add(self, bits: Mask) -> None:
        outcome = self.outcome(bits)
        fitness = self._fitness(outcome)
        improved = not self._alive or fitness < self.best[0]
        self.evaluations += 1
        self.stalled = 0 if improved else self.stalled + 1
        insort(self._alive, (fitness, self.evaluations, bits), key=lambda entry: entry[:2])
        self._known.add(np.packbits(bits).tobytes())
        if improved:
            self._report(readable(fitness), outcome)

    def _fitness(self, outcome: Outcome) -> Fraction:
        """The lower the fitter; what cannot be released is less fit than all that can, the less the more is bad."""
        bad = outcome.suppressed
        if bad == self._table.records or (bad and not self._may_leave_out):
            return WORST + Fraction(bad, self._table.records)
        return outcome.cost(self._cost)

    def _report(self, fitness: float, outcome: Outcome) -> None:
        gain = self.improvements[-1][1] - fitness if self.improvements else 0.0
        self.improvements.append((self.evaluations, fitness))
        number, anonymity = self.evaluations, outcome.released_anonymity
        self._run.step(Step(number, "", None, (), gain, 0.0, fitness, anonymity, Improve(number)))
