"""Chromosomes: the generalization of a whole table as bits, every combination of which is valid.

Iyengar has a bit for every pair of neighbouring values, and repairs chromosomes that fit no cut of the taxonomy. Here
the bits stand for what can be decided freely, so nothing has to be repaired:

- Taxonomy: a bit per inner node, whether it is opened. Closed nodes that are reached from the root are released.
- Numbers and dates: a bit per possible bound between two neighbouring intervals, at most 64 of them (by ranks, as in
  `domains`), and with missing values one for distinguishing those from numbers at all.
- Categories without a taxonomy: a bit per value, whether it is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from incrowd.recodings.kinds import halved
from incrowd.search.baselines.domains import Domain, Mask, cut_domain, disclosure_domain, interval_domain
from incrowd.search.loss_scale import LossScale
from incrowd.table.attributes import Attribute, NumberAttribute, TaxonomyAttribute

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
