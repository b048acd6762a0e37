"""Generalized domains: what all values of one attribute become at once, and the chain of ever more general ones.

Full-domain methods (Datafly, Samarati, Incognito, mu-Argus) move an attribute as a whole from one level to the next:

- Taxonomy: level 0 is the leaves, level l the nodes `height - l` edges below the root. Paths may have unequal lengths:
  a value whose path is shorter stays itself until the others have climbed to its depth, so that every level is a cut.
  Missing values, a leaf below the root, stay themselves up to the last level.
- Numbers and dates without a taxonomy: level 0 is the values, the last level one interval, and each level in between
  halves the intervals of the next by ranks: with n values the bounds of 2^d intervals stand at the ranks n i / 2^d.
  Missing values stay apart up to one more level, at which nothing is told from anything.
- Categories without a taxonomy: the values, then "*".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from incrowd.recodings.attribute import AttributeRecoding, Cells, Disclosure, Intervals, cut_of
from incrowd.table import Attribute, Floats, NumberAttribute, TaxonomyAttribute

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Domain:
    """A generalized domain of an attribute.

    Args:
        attribute: The attribute.
        recoding: What its values become.
        cells: The released value of each code, numbered as in the recoding.
    """

    attribute: Attribute
    recoding: AttributeRecoding
    cells: Cells

    @cached_property
    def width(self) -> int:
        """Number of released values, those that do not occur included."""
        return len(self.recoding.labels)

    @cached_property
    def losses(self) -> Floats:
        """Generalized loss of each code."""
        return self.recoding.losses(self.attribute)[self.cells]


def cut_domain(attribute: TaxonomyAttribute, nodes: Sequence[int]) -> Domain:
    """The domain of the nodes of a cut, given in the order of their leaves."""
    taxonomy, below = attribute.taxonomy, np.array(nodes)
    cells = np.repeat(np.arange(len(below)), taxonomy.stop[below] - taxonomy.start[below])
    return Domain(attribute, cut_of(attribute, nodes), cells)


def interval_domain(attribute: NumberAttribute, cuts: Sequence[int], *, apart: bool = True) -> Domain:
    """The domain of intervals of ranks; an interval of one value is that value.

    Args:
        attribute: The attribute.
        cuts: The ranks at which an interval begins, ascending, without 0.
        apart: Whether missing values are told from numbers; if not, numbers are not told from each other either.
    """
    ranks = len(attribute.numbers)
    name, scale, domain = attribute.name, attribute.scale, attribute.domain
    if attribute.missing is not None and not apart:
        return Domain(attribute, Intervals(name, scale, (), domain, "merged"), np.zeros(attribute.size, np.int64))
    edges = np.array([0, *cuts, ranks])
    exact = attribute.numbers[edges[:-1][np.diff(edges) == 1]]
    bounds = attribute.numbers[np.array(cuts, np.int64)]
    missing = "none" if attribute.missing is None else "apart"
    recoding = Intervals(name, scale, tuple(bounds.tolist()), domain, missing, tuple(exact.tolist()))
    cells = np.repeat(np.arange(len(edges) - 1), np.diff(edges))
    return Domain(attribute, recoding, cells if attribute.missing is None else np.append(cells, recoding.missing_cell))


def disclosure_domain(attribute: Attribute, shown: Mask) -> Domain:
    """The domain of the codes that are shown; the others are suppressed."""
    texts = np.array(attribute.values().to_pylist(), object)
    missing_shown = attribute.missing is not None and bool(shown[attribute.missing])
    listed = shown.copy()
    if attribute.missing is not None:
        listed[attribute.missing] = False
    recoding = Disclosure(attribute.name, tuple(texts[listed].tolist()), missing_shown)
    cells = np.where(listed, np.cumsum(listed) - 1, len(recoding.shown))
    if attribute.missing is not None:
        cells[attribute.missing] = recoding.missing_cell
    return Domain(attribute, recoding, cells)


def hierarchy(attribute: Attribute) -> tuple[Domain, ...]:
    """The domain generalization hierarchy of an attribute: its domains, from its values to the most general."""
    if isinstance(attribute, TaxonomyAttribute):
        depth, height = attribute.taxonomy.depth, attribute.taxonomy.height
        leaf = np.array([not below for below in attribute.taxonomy.children])
        cuts = [np.flatnonzero((depth == most) | (leaf & (depth < most))) for most in range(height, -1, -1)]
        return tuple(cut_domain(attribute, cut.tolist()) for cut in cuts)
    if isinstance(attribute, NumberAttribute):
        ranks = len(attribute.numbers)
        halvings = range(max(ranks - 1, 0).bit_length(), -1, -1)
        levels = [interval_domain(attribute, halved(ranks, depth)) for depth in halvings]
        joined = attribute.missing is not None and ranks > 0
        return (*levels, interval_domain(attribute, (), apart=False)) if joined else tuple(levels)
    shown = np.ones(attribute.size, bool)
    return tuple(disclosure_domain(attribute, mask) for mask in (shown, ~shown)[: 1 + (attribute.size > 1)])


def halved(ranks: int, depth: int) -> list[int]:
    """Where intervals begin after halving all ranks `depth` times, without 0."""
    parts = 1 << depth
    return sorted({ranks * part // parts for part in range(1, parts)} - {0})
