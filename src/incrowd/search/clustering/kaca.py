"""KACA1 and KACA2: local recoding by agglomerative clustering in attribute hierarchies (Li, Wong, Fu, Pei, TKDE 2008).

KACA1 picks a class that is not good (of less than k records) at random and generalizes it with its nearest class. If
the two could be two good ones (2k records or more), only as many records of the nearest take part as the small class
lacks (the stub), the others (the trunk) stay as they are. The random choices come from the run; of equally near
classes the one with the smallest random key is taken. A stub takes its records from the members that a class has had
longest.

Invariant: every record is in exactly one class, and a good class is never split into one that is not. It ends, since
each round either merges two classes or makes a small class good. In the end every class is good; each is released as
the closest common generalization of its members, which is never more general than what the rounds made.

With a budget (`suppress`) records are left out where that saves more than they had (see `leaving_out`); in KACA2 after
KACA1, before attributes are generalized as a whole again, and only if all records together have lost less in the end.

KACA2 bounds inconsistency, the share of an attribute's values that are not on its most frequent level. It first
generalizes attributes as a whole, level by level, until their values that occur too seldom (less than k times) are a
share below the bound (a lower bound of what will be generalized), then runs KACA1, then generalizes attributes whose
inconsistency is not below the bound as a whole again, from the most specific level up. Classes stay good: generalizing
a whole attribute never splits one. It ends at the latest with one value in every attribute, which is consistent. Shares
are compared as fractions, the bound as the decimal number that it was written as: 4 of 40 values are not below 0.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import fsum
from typing import Any

import numpy as np

from incrowd.errors import TimeLimitError
from incrowd.measures.hierarchical_distance import Weights, inconsistency
from incrowd.privacy.model import Requirement, Requirements, with_suppression
from incrowd.recodings.by_tuple import ByTuple
from incrowd.recodings.hierarchies import Hierarchy, Nodes
from incrowd.recodings.kinds import hierarchy_of
from incrowd.recodings.mapping import LocalMapping, common, distinct, mapping_of, nodes_of, trace
from incrowd.run import Run
from incrowd.search.clustering.agglomeration import agglomerated
from incrowd.search.clustering.distances import details, weights_of
from incrowd.search.clustering.leaving_out import leave_out
from incrowd.search.clustering.proof import proven
from incrowd.search.clustering.space import BUCKET, Array, Parts, Space
from incrowd.search.clustering.with_sensitive_values import counts_values, made_good
from incrowd.search.leaving_out import budget_of
from incrowd.search.method import SearchResult
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import count


def kaca(
    table: CompressedTable,
    requirements: Requirements,
    run: Run,
    *,
    max_inconsistency: float | None = None,
    distance: str = "height",
    beta: float = 1,
    level_weights: Mapping[str, Sequence[float]] | None = None,
    priorities: Mapping[str, float] | None = None,
    suppress: float = 0.0,
    bucket: int = BUCKET,
) -> SearchResult:
    """KACA1; with a bound on inconsistency KACA2. The result does not depend on `bucket`, classes per bucket."""
    (requirement,) = requirements
    budget = budget_of(table, suppress)
    if budget:
        with_suppression(requirement.models)
    hierarchies = [hierarchy_of(attribute) for attribute in table.attributes]
    weights = weights_of(distance, beta, priorities, hierarchies, level_weights)
    detail = details(table.attributes, hierarchies, distance, weights)[0]
    lost = details(table.attributes, hierarchies, "ncp", Weights())[0]
    cluster = _clusters(table, requirement, hierarchies, detail, run, bucket)
    tuples, facts = nodes_of(table, hierarchies), dict[str, Any](distance=distance)
    if max_inconsistency is None:
        parts = cluster(tuples)
        if budget:
            run.anytime = True  # every class is good
            parts, left_out = leave_out(Space.of(table, requirement, hierarchies, lost), parts, budget, run)
            facts["suppressed_records"] = left_out
        mapping = mapping_of(table, hierarchies, *parts)
        run.anytime = True
        if not budget:
            facts |= proven(table, requirement, hierarchies, mapping, run)
        return SearchResult(ByTuple.of(mapping, run.key), facts=facts)
    most = Fraction(str(max_inconsistency))
    start = _generalize_rare(table, hierarchies, requirement, most, run)
    parts = cluster(start)
    mapping, facts["inconsistency"] = _make_consistent(hierarchies, tuples, start, parts, most, run)
    run.anytime = True
    if not budget:
        facts |= proven(table, requirement, hierarchies, mapping, run)
        return SearchResult(ByTuple.of(mapping, run.key), facts=facts)
    facts["suppressed_records"] = 0
    for spared in (0, budget):  # rare values may be those of records that are left out
        if spared:
            try:
                part = run.part()  # classes are good in the end, and not before
                start = _generalize_rare(table, hierarchies, requirement, most, part, spared)
                parts = _clusters(table, requirement, hierarchies, detail, part, bucket)(start)
            except TimeLimitError:
                run.ended_early = run.over
                break
        fewer, left_out = leave_out(Space.of(table, requirement, hierarchies, lost, start), parts, budget, run)
        found, reached = _make_consistent(hierarchies, tuples, start, fewer, most, run)
        if _loss(table, found) < _loss(table, mapping):
            mapping, facts["inconsistency"], facts["suppressed_records"] = found, reached, left_out
    return SearchResult(ByTuple.of(mapping, run.key), facts=facts)


def _clusters(
    table: CompressedTable,
    requirement: Requirement,
    hierarchies: Sequence[Hierarchy],
    detail: Sequence[Array],
    run: Run,
    bucket: int,
) -> Callable[[Nodes], Parts]:
    """What makes classes of tuples that may be generalized already."""

    def cluster(start: Nodes) -> Parts:
        space = Space.of(table, requirement, hierarchies, detail, start)
        nodes, number = distinct(space.tuples)
        if counts_values(requirement):
            groups, _ = made_good(space, number, run)
            return np.arange(len(groups)), groups, table.counts
        counts = count(number, len(nodes), table.counts)
        return trace(number, table.counts, *agglomerated(space, nodes, counts, run, bucket))

    return cluster


def _generalize_rare(
    table: CompressedTable,
    hierarchies: Sequence[Hierarchy],
    requirement: Requirement,
    most: Fraction,
    run: Run,
    spared: int = 0,
) -> Nodes:
    """Generalize attributes as a whole until the records with rare values are few enough (Lemma 4); tuples of nodes.

    This many `spared` records with rare values do not count, as they may be left out.
    """
    columns = nodes_of(table, hierarchies)
    for a, hierarchy in enumerate(hierarchies):
        for level in range(hierarchy.taxonomy.height, 0, -1):
            run.check()
            values = table.class_counts(columns[:, a], hierarchy.size)
            rare = int(values.records[~requirement.good(values)].sum())
            if is_below(Fraction(max(0, rare - spared), table.records), most):
                break
            columns[:, a] = hierarchy.to_level(columns[:, a], level)
    return columns


def _make_consistent(
    hierarchies: Sequence[Hierarchy],
    tuples: Nodes,
    start: Nodes,
    parts: Parts,
    most: Fraction,
    run: Run,
) -> tuple[LocalMapping, dict[str, float]]:
    """Generalize attributes as a whole until each is consistent enough; the mapping, and their inconsistency.

    `start` is what `tuples` were before clustering. Parts with the class -1 are left out, and do not count.
    """
    numbers, groups, records = parts
    left_out = groups < 0
    _, groups = np.unique(groups, return_inverse=True)
    reached = {}
    nodes = np.empty((len(numbers), len(hierarchies)), np.int32)
    for a, hierarchy in enumerate(hierarchies):
        column, level = common(hierarchy, start[numbers, a], groups)[groups], hierarchy.taxonomy.height + 1
        while not is_below(found := inconsistency(hierarchy.taxonomy, column[~left_out], records[~left_out]), most):
            run.check()
            level -= 1
            column = hierarchy.to_level(column, level)
        nodes[:, a], reached[hierarchy.name] = column, float(found)
    return LocalMapping.build(hierarchies, tuples, numbers, nodes, records, left_out), reached


def _loss(table: CompressedTable, mapping: LocalMapping) -> float:
    """What all records together have lost, one that is left out everything."""
    stay = ~mapping.left_out
    nodes, records = mapping.classes[mapping.part_classes[stay]], mapping.part_records
    pairs = zip(mapping.hierarchies, table.attributes, nodes.T, strict=True)
    lost = [float(records[stay] @ hierarchy.losses(attribute)[column]) for hierarchy, attribute, column in pairs]
    return fsum(lost) + int(records[~stay].sum()) * len(lost)


def is_below(share: Fraction, most: Fraction) -> bool:
    """Whether a share is below the bound, or nothing."""
    return share < most or share == 0
