"""KACA1 and KACA2: local recoding by agglomerative clustering in attribute hierarchies (Li, Wong, Fu, Pei, TKDE 2008).

KACA1 picks a class of less than k records at random and generalizes it with its nearest class. If the two have 2k
records or more, only as many records of the nearest take part as the small class lacks (the stub), the others (the
trunk) stay as they are. The random choices come from the seed; of equally near classes the one with the smallest random
key is taken. A stub takes its records from the members that a class has had longest.

Invariant: every record is in exactly one class, and a class is never split below k. It ends, since each round either
merges two classes or turns a small class into one of k records. In the end no class is smaller than k; each is
released as the closest common generalization of its members, which is never more general than what the rounds made.

KACA2 bounds inconsistency, the share of an attribute's values that are not on its most frequent level. It first
generalizes attributes as a whole, level by level, until their values that occur less than k times are a share below the
bound (a lower bound of what will be generalized), then runs KACA1, then generalizes attributes whose inconsistency is
not below the bound as a whole again, from the most specific level up. k still holds: generalizing a whole attribute
never splits a class. It ends at the latest with one value in every attribute, which is consistent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.hierarchical_distance import inconsistency
from incrowd.policy import QuasiIdentifier
from incrowd.recodings.local.hierarchies import Hierarchy, Nodes, hierarchy_of
from incrowd.recodings.local.mapping import LocalMapping, common, distinct, mapping_of, nodes_of
from incrowd.search import Found
from incrowd.search.distances import details, weights_of
from incrowd.steps import Step
from incrowd.table import CompressedTable

BUCKET = 16  # classes per bucket of the index; without limit the search is the plain quadratic loop
Numbers = npt.NDArray[np.int64]


def kaca(
    table: CompressedTable,
    quasi_identifiers: Sequence[QuasiIdentifier],
    *,
    max_inconsistency: float | None = None,
    distance: str = "height",
    beta: float = 1,
    priorities: Mapping[str, float] | None = None,
    seed: int = 0,
    bucket: int = BUCKET,
    on_step: Callable[[Step], object] | None = None,
) -> Found:
    """KACA1; with a bound on inconsistency KACA2.

    Args:
        table: The compressed table.
        quasi_identifiers: One, over all attributes of the table.
        max_inconsistency: The inconsistency of every attribute is below it (or nothing, where it is 0).
        distance: "height" or "uniform" for the weighted hierarchical distance, "ncp" for the loss of the same name.
        beta: Exponent of the height weights.
        priorities: Weights of attributes by name; those with low ones are generalized first.
        seed: Seed of the random choices.
        bucket: Classes per bucket of the index; the result does not depend on it.
        on_step: Not called: there are no steps to take back.
    """
    k = quasi_identifiers[0].k
    hierarchies = [hierarchy_of(attribute) for attribute in table.attributes]
    cluster = _Clustering(table, hierarchies, distance, beta, priorities, k, seed, bucket)
    if max_inconsistency is None:
        parts = cluster(nodes_of(table, hierarchies), table.counts)
        return Found((), facts={"distance": distance}, local=mapping_of(table, hierarchies, *parts))
    mapping, levels = _kaca2(table, hierarchies, cluster, k, max_inconsistency)
    return Found((), facts={"distance": distance, "inconsistency": levels}, local=mapping)


def _kaca2(
    table: CompressedTable, hierarchies: Sequence[Hierarchy], cluster: _Clustering, k: int, most: float
) -> tuple[LocalMapping, dict[str, float]]:
    """KACA1 between two generalizations of whole attributes; also the inconsistency of each attribute."""
    tuples = nodes_of(table, hierarchies)
    start = np.stack(
        [_generalize_rare(h, tuples[:, a], table.counts, k, most) for a, h in enumerate(hierarchies)], axis=1
    )
    merged, number = distinct(start)
    groups, members, records = cluster(merged, np.bincount(number, table.counts).astype(np.int64))
    part_tuples, part_groups, part_records = trace(number, table.counts, groups, members, records)
    _, part_groups = np.unique(part_groups, return_inverse=True)
    levels = {}
    nodes = np.empty((len(part_tuples), len(hierarchies)), np.int32)
    for a, hierarchy in enumerate(hierarchies):
        column = common(hierarchy, start[part_tuples, a], part_groups)[part_groups]
        nodes[:, a], levels[hierarchy.name] = _make_consistent(hierarchy, column, part_records, most)
    return LocalMapping.build(hierarchies, tuples, part_tuples, nodes, part_records), levels


class _Clustering:
    """KACA1 on tuples of nodes, by fixed hierarchies and options."""

    def __init__(
        self,
        table: CompressedTable,
        hierarchies: Sequence[Hierarchy],
        distance: str,
        beta: float,
        priorities: Mapping[str, float] | None,
        k: int,
        seed: int,
        bucket: int,
    ) -> None:
        weights = weights_of(distance, beta, priorities, hierarchies)
        self._forest = forest_of(hierarchies, details(table.attributes, hierarchies, distance, weights)[0])
        self._k, self._seed, self._bucket = k, seed, bucket

    def __call__(self, tuples: Nodes, counts: Numbers) -> tuple[Any, Any, Any]:
        """Tuple, class and records of each part."""
        from incrowd.search.agglomeration import agglomerate

        forest, roots = self._forest
        seed = self._seed % 2**63
        return agglomerate(forest, roots, tuples + roots, counts.astype(np.int64), self._k, seed, self._bucket)


def forest_of(hierarchies: Sequence[Hierarchy], detail: Sequence[npt.NDArray[np.int64]]) -> tuple[Any, Nodes]:
    """All hierarchies behind each other, for compiled code, and where each begins."""
    from incrowd.search.class_index import Forest

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


def to_level(hierarchy: Hierarchy, nodes: Nodes, level: int) -> Nodes:
    """Generalize values below a level (1 is the root) to that level."""
    tree, out = hierarchy.taxonomy, nodes.copy()
    while (below := tree.depth[out] + 1 > level).any():
        out[below] = tree.parent[out[below]]
    return out


def _generalize_rare(hierarchy: Hierarchy, nodes: Nodes, counts: Numbers, k: int, most: float) -> Nodes:
    """Generalize an attribute as a whole until the values with less than k records are few enough (Lemma 4)."""
    level = hierarchy.taxonomy.height + 1
    while level > 1:
        frequencies = np.bincount(nodes, counts)
        if (rare := frequencies[frequencies < k].sum() / counts.sum()) < most or rare == 0:
            break
        level -= 1
        nodes = to_level(hierarchy, nodes, level)
    return nodes


def _make_consistent(hierarchy: Hierarchy, nodes: Nodes, records: Numbers, most: float) -> tuple[Nodes, float]:
    """Generalize an attribute as a whole until it is consistent enough; its values, and their inconsistency."""
    level = hierarchy.taxonomy.height + 1
    while (found := inconsistency(hierarchy.taxonomy, nodes, records)) >= most and found > 0:
        level -= 1
        nodes = to_level(hierarchy, nodes, level)
    return nodes, found


def trace(
    number: Numbers, counts: Numbers, tuples: Numbers, groups: Numbers, records: Numbers
) -> tuple[Numbers, Numbers, Numbers]:
    """Parts of the original tuples from parts of the tuples that they were generalized to.

    The records of a generalized tuple are laid in a row twice: by original tuple, and by part. Every stretch between
    two borders of either belongs to one original tuple and one part.

    Args:
        number: The generalized tuple of each original one.
        counts: Records of each original tuple.
        tuples: The generalized tuple of each part.
        groups: The group of each part.
        records: The records of each part.
    """
    by_tuple = np.argsort(number, kind="stable")
    by_part = np.lexsort((groups, tuples))
    ends = [np.cumsum(counts[by_tuple]), np.cumsum(records[by_part])]
    borders = np.unique(np.concatenate(ends))
    stretch = np.diff(borders, prepend=0)
    own = by_tuple[np.searchsorted(ends[0], borders)]
    part = by_part[np.searchsorted(ends[1], borders)]
    return own, groups[part], stretch
