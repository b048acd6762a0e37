"""What is proven about a local release: a bound for the loss of any, and the gap between the two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.measures.hierarchical_distance import Weights
from incrowd.privacy.model import Requirement
from incrowd.privacy.size_rule import SizeRule
from incrowd.recodings.hierarchies import Hierarchy
from incrowd.recodings.mapping import LocalMapping
from incrowd.run import Run
from incrowd.search.clustering.distances import details
from incrowd.search.clustering.levels import Levels, level_nodes, mixed
from incrowd.search.clustering.proof.prices import bound
from incrowd.table.compressed import CompressedTable

Array = npt.NDArray[Any]

QUICK = 1_000_000  # tuples x choices of levels that are looked at where nobody asked for a bound
MOST = 1_000_000_000  # the same where somebody did


@dataclass(frozen=True)
class Priced:
    """A table as prices and programs see it.

    Args:
        levels: All choices of one level per attribute; `hashes` are levels x tuples.
        lost: What each tuple loses at each level of each attribute, in units of detail: levels x tuples.
        detail: The detail of each node, per attribute.
        unit: How many units are the loss of one cell.
    """

    levels: Levels
    lost: Array
    detail: Sequence[Array]
    unit: int

    @classmethod
    def of(cls, table: CompressedTable, hierarchies: Sequence[Hierarchy], most: int) -> Priced | None:
        """None if there are more choices of levels, times tuples, than `most`."""
        detail, unit = details(table.attributes, hierarchies, "ncp", Weights())
        nodes = [level_nodes(hierarchy) for hierarchy in hierarchies]
        heights = np.array([*map(len, nodes)])
        if prod(heights.tolist()) * len(table.counts) > most:
            return None
        pairs = [(a, level) for a, column in enumerate(nodes) for level in column]
        hashes = np.array([mixed(level + (a << 40))[table.codes[a]] for a, level in pairs])
        leaves = [detail[a][hierarchy.leaves] for a, hierarchy in enumerate(hierarchies)]
        lost = np.array([(leaves[a] - detail[a][level])[table.codes[a]] for a, level in pairs])
        rounds = np.indices(tuple(heights.tolist())).reshape(len(heights), -1).T
        return cls(Levels(hashes, np.zeros((0, 0), np.int64), rounds, heights), lost, detail, unit)

    def losses(self, mapping: LocalMapping) -> Array:
        """What all records of each tuple lost together."""
        lost = np.zeros(len(mapping.part_tuples), np.int64)
        for a, detail in enumerate(self.detail):
            lost += detail[mapping.tuples[mapping.part_tuples, a]] - detail[mapping.classes[mapping.part_classes, a]]
        found = np.zeros(len(mapping.tuples), np.int64)
        np.add.at(found, mapping.part_tuples, lost * mapping.part_records)
        return found


def proven(
    table: CompressedTable,
    requirement: Requirement,
    hierarchies: Sequence[Hierarchy],
    mapping: LocalMapping,
    run: Run,
    most: int = QUICK,
) -> dict[str, float]:
    """The bound (as NCP) and the gap, as facts of a release; nothing if that would take long.

    Args:
        table: The table.
        requirement: What a class needs.
        hierarchies: The hierarchy of each attribute.
        mapping: The release; no record is left out.
        run: Asked in between whether to go on.
        most: How many tuples, times choices of levels, may be looked at in a pass.
    """
    priced = Priced.of(table, hierarchies, most) if run.should_continue() else None
    if priced is None:
        return {}
    lost, needs = priced.losses(mapping), SizeRule(requirement.least_size)
    least = bound(priced.levels, priced.lost, table.counts, lost / table.counts, needs, run)
    total, cells = float(lost.sum()), priced.unit * table.records * len(hierarchies)
    return gap(ceil(least), total, cells)  # what is lost is a whole number of units


def gap(least: float, total: float, cells: int) -> dict[str, float]:
    """Bound and gap as facts: the bound as NCP, the gap as a share of the loss."""
    least = min(least, total)
    return {"bound": least / cells, "gap": (total - least) / total if total else 0.0}
