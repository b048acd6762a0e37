"""All hierarchies of a table behind each other, as arrays; what compiled and uncompiled code of clustering reads.

Hierarchies are laid in preorder: node x has the descendants x+1 to end[x]-1. `detail` says how much a node still says,
more for deeper ones, in whole numbers: sums are exact, so ties are ties, in any order of addition.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd.recodings.hierarchies import Hierarchy, Nodes

Array = npt.NDArray[Any]


class Forest(NamedTuple):
    """The hierarchies of all attributes: parent (-1 at roots), end of the descendants, and detail of each node."""

    parent: Array
    end: Array
    detail: Array


def forest_of(hierarchies: Sequence[Hierarchy], detail: Sequence[npt.NDArray[np.int64]]) -> tuple[Forest, Nodes]:
    """All hierarchies behind each other, and where each begins."""
    sizes = [len(hierarchy.taxonomy.labels) for hierarchy in hierarchies]
    roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)
    parents = [
        np.where(h.taxonomy.parent < 0, -1, h.taxonomy.parent + r) for h, r in zip(hierarchies, roots, strict=True)
    ]
    ends = [hierarchy.end + root for hierarchy, root in zip(hierarchies, roots, strict=True)]
    forest = Forest(
        np.concatenate(parents).astype(np.int32), np.concatenate(ends).astype(np.int32), np.concatenate(detail)
    )
    return forest, roots
