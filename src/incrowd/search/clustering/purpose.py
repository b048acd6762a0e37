"""A table as a target sees it: values that tell nothing apart are one, and regions are one attribute more.

Clustering works on that table as on any other. The hierarchy of an attribute that splits some region is cut down to the
nodes of its splits, so that a released column has few and the same words everywhere, from which a model can learn;
attributes that split none stay as they are. A class that stays in its region costs what its cells lose; to leave it
costs far more, by what the target loses (see `regions`). The region itself is not released.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from incrowd.privacy.model import Requirement
from incrowd.recodings.hierarchies import Hierarchy, Nodes, hierarchy_of
from incrowd.recodings.mapping import LocalMapping, common, mapping_of, nodes_of, trace
from incrowd.run import Run
from incrowd.search.clustering.regions import regions_of
from incrowd.table.attributes import Attribute, TaxonomyAttribute
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, count, group
from incrowd.taxonomies.taxonomy import Taxonomy

Numbers = npt.NDArray[np.int64]
Parts = tuple[Numbers, Numbers, Numbers]

WEIGHT = 16  # all that the target can lose costs so many times what all cells can lose
LARGEST = 1 << 60  # of a product of details and records


@dataclass(frozen=True)
class View:
    """A table as a search sees it.

    Args:
        table: The table that is searched.
        hierarchies: The hierarchy of each of its attributes.
        detail: The detail of each node, per attribute.
        number: The tuple of each original one; None where they are the same.
        nodes: The original node of each node, of the original attributes.
        fixed: Attributes that the search adds; rounds keep them at their most specific level.
    """

    table: CompressedTable
    hierarchies: Sequence[Hierarchy]
    detail: Sequence[Numbers]
    number: Numbers | None = None
    nodes: Sequence[Nodes] = ()
    fixed: tuple[int, ...] = ()

    def mapping(self, table: CompressedTable, hierarchies: Sequence[Hierarchy], parts: Parts) -> LocalMapping:
        """What parts of the tuples that were searched make of the original ones.

        Args:
            table: The original table.
            hierarchies: The hierarchy of each of its attributes.
            parts: Tuple, group (-1 for records that are left out) and records of each part.
        """
        if self.number is None:
            return mapping_of(table, hierarchies, *parts)
        tuples = nodes_of(self.table, self.hierarchies)
        _, groups = np.unique(parts[1], return_inverse=True)
        classes = np.stack(
            [
                nodes[common(hierarchy, tuples[parts[0], a], groups)]
                for a, (nodes, hierarchy) in enumerate(
                    zip(self.nodes, self.hierarchies[: len(hierarchies)], strict=True)
                )
            ],
            axis=1,
        )
        own, of_own, records = trace(self.number, table.counts, parts[0], np.where(parts[1] < 0, -1, groups), parts[2])
        return LocalMapping.build(
            hierarchies, nodes_of(table, hierarchies), own, classes[of_own], records, np.asarray(of_own < 0)
        )


def seen_by_target(
    table: CompressedTable,
    hierarchies: Sequence[Hierarchy],
    detail: Sequence[Numbers],
    requirement: Requirement,
    run: Run,
) -> View:
    """The table as its target sees it.

    Args:
        table: The table, with a target.
        hierarchies: The hierarchy of each attribute.
        detail: The detail of each node, per attribute.
        requirement: What a class needs.
        run: Asked in between whether to go on.
    """
    regions = regions_of(table, hierarchies, requirement, run)
    attributes: list[Attribute] = []
    codes: list[Codes] = []
    nodes: list[Nodes] = []
    for a, hierarchy in enumerate(hierarchies):
        used = {node for attribute, node in regions.splits if attribute == a}
        taxonomy, origin, code = cut_down(hierarchy, used) if used else (None, np.arange(hierarchy.size), None)
        attributes.append(TaxonomyAttribute(hierarchy.name, taxonomy) if taxonomy else table.attributes[a])
        codes.append(table.codes[a] if code is None else code[table.codes[a]])
        nodes.append(origin.astype(np.int32))
    tree = Taxonomy(tuple(map(str, range(len(regions.parent)))), regions.parent.astype(np.int32))
    attributes.append(TaxonomyAttribute("", tree))
    codes.append(tree.start[regions.found])
    number, firsts = group(codes, [attribute.size for attribute in attributes])
    found = [hierarchy_of(attribute) for attribute in attributes]
    cells = [column[origin] for column, origin in zip(detail, nodes, strict=True)]
    lost = sum(int(column.max()) for column in cells)  # what the cells of a record can lose
    told = regions.details(WEIGHT * lost)
    coarser = 1 + (lost + max(told)) * table.records // LARGEST
    return View(
        _grouped(table, attributes, codes, number, firsts),
        found,
        [*(column // coarser for column in cells), np.array([each // coarser for each in told], np.int64)],
        number,
        nodes,
        (len(hierarchies),),
    )


def _grouped(
    table: CompressedTable, attributes: Sequence[Attribute], codes: Sequence[Codes], number: Numbers, firsts: Codes
) -> CompressedTable:
    """The table of the tuples that are left."""
    columns = tuple(
        c[firsts].astype(np.min_scalar_type(max(1, a.size - 1))) for a, c in zip(attributes, codes, strict=True)
    )
    histograms = {name: histogram.grouped(number, len(firsts)) for name, histogram in table.protected.items()}
    counts = count(number, len(firsts), table.counts)
    return replace(table, attributes=tuple(attributes), codes=columns, counts=counts, target=None, protected=histograms)


def cut_down(hierarchy: Hierarchy, used: Iterable[int]) -> tuple[Taxonomy, Nodes, Codes]:
    """A hierarchy of some of its nodes and the root, where all that lies closest below one of them is one leaf.

    Args:
        hierarchy: The hierarchy.
        used: The nodes that stay.

    Returns:
        The tree, the original node of each of its nodes, and the new code of each code. A leaf that was made for the
        rest below a node stands for that node.
    """
    stays = np.zeros(hierarchy.size, bool)
    stays[[0, *used]] = True
    above = np.arange(hierarchy.size)  # the closest node that stays
    for node in range(1, hierarchy.size):
        if not stays[node]:
            above[node] = above[hierarchy.taxonomy.parent[node]]
    home = above[hierarchy.leaves]  # of each code
    inner = np.zeros(hierarchy.size, bool)
    inner[[above[hierarchy.taxonomy.parent[node]] for node in np.flatnonzero(stays) if node]] = True
    origin: list[int] = []
    parent: list[int] = []
    place, leaf = np.zeros(hierarchy.size, np.int64), np.zeros(hierarchy.size, np.int64)
    occupied = np.zeros(hierarchy.size, bool)
    occupied[home] = True
    for node in np.flatnonzero(stays).tolist():
        place[node] = leaf[node] = len(origin)
        origin.append(node)
        parent.append(int(place[above[hierarchy.taxonomy.parent[node]]]) if node else -1)
        if inner[node] and occupied[node]:
            leaf[node] = len(origin)
            origin.append(node)
            parent.append(int(place[node]))
    tree = Taxonomy(tuple(map(str, range(len(origin)))), np.array(parent, np.int32))
    return tree, np.array(origin, np.int32), tree.start[leaf[home]].astype(np.int64)
