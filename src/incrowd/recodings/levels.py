"""Levels of generalization: what all values of one attribute become at once, from its values to the most general.

Full-domain methods (Datafly, Samarati, Incognito, mu-Argus) move an attribute as a whole from one level to the next:

- Taxonomy: level 0 is the leaves, level l the nodes `height - l` edges below the root. Paths may have unequal lengths:
  a value whose path is shorter stays itself until the others have climbed to its depth, so that every level is a cut.
  Missing values, a leaf below the root, stay themselves up to the last level.
- Numbers and dates without a taxonomy: level 0 is the values, the last level one interval, and each level in between
  halves the intervals of the next by ranks: with n values the bounds of 2^d intervals stand at the ranks n i / 2^d.
  Missing values stay apart up to one more level, at which nothing is distinguished.
- Categories without a taxonomy: the values, then "*".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from incrowd.recodings.attributes.any_kind import AttributeRecoding
from incrowd.recodings.attributes.cut import cut_of
from incrowd.recodings.attributes.disclosure import Disclosure
from incrowd.recodings.attributes.intervals import Intervals
from incrowd.table.attributes import Attribute, NumberAttribute, TaxonomyAttribute

Mask = npt.NDArray[np.bool_]


def levels_of(attribute: Attribute) -> tuple[AttributeRecoding, ...]:
    """The domain generalization hierarchy of an attribute: its values, and ever more general ones."""
    if isinstance(attribute, TaxonomyAttribute):
        depth, height = attribute.taxonomy.depth, attribute.taxonomy.height
        leaf = np.array([not below for below in attribute.taxonomy.children])
        cuts = [np.flatnonzero((depth == most) | (leaf & (depth < most))) for most in range(height, -1, -1)]
        return tuple(cut_of(attribute, cut.tolist()) for cut in cuts)
    if isinstance(attribute, NumberAttribute):
        ranks = len(attribute.numbers)
        halvings = range(max(ranks - 1, 0).bit_length(), -1, -1)
        levels = [intervals_at(attribute, halved(ranks, depth)) for depth in halvings]
        joined = attribute.missing is not None and ranks > 0
        return (*levels, intervals_at(attribute, (), apart=False)) if joined else tuple(levels)
    shown = np.ones(attribute.size, bool)
    return tuple(showing(attribute, mask) for mask in (shown, ~shown)[: 1 + (attribute.size > 1)])


def intervals_at(attribute: NumberAttribute, cuts: Sequence[int], *, apart: bool = True) -> Intervals:
    """Intervals of ranks; an interval of one value is that value.

    Args:
        attribute: The attribute.
        cuts: The ranks at which an interval begins, ascending, without 0.
        apart: Whether missing values are distinguished from numbers; if not, numbers are not distinguished either.
    """
    name, scale, domain = attribute.name, attribute.scale, attribute.domain
    if attribute.missing is not None and not apart:
        return Intervals(name, scale, (), domain, "merged")
    edges = np.array([0, *cuts, len(attribute.numbers)])
    exact = attribute.numbers[edges[:-1][np.diff(edges) == 1]]
    bounds = attribute.numbers[np.array(cuts, np.int64)]
    missing = "none" if attribute.missing is None else "apart"
    return Intervals(name, scale, tuple(bounds.tolist()), domain, missing, tuple(exact.tolist()))


def showing(attribute: Attribute, shown: Mask) -> Disclosure:
    """The codes that are shown; the others are suppressed."""
    texts = np.array(attribute.values().to_pylist(), object)
    missing_shown = attribute.missing is not None and bool(shown[attribute.missing])
    listed = shown.copy()
    if attribute.missing is not None:
        listed[attribute.missing] = False
    return Disclosure(attribute.name, tuple(texts[listed].tolist()), missing_shown)


def halved(ranks: int, depth: int) -> list[int]:
    """Where intervals begin after halving all ranks `depth` times, without 0."""
    parts = 1 << depth
    return sorted({ranks * part // parts for part in range(1, parts)} - {0})
