"""A table as a target sees it: values that tell nothing apart are one, and regions are one attribute more.

Clustering works on that table as on any other. The hierarchy of an attribute that splits some region is cut down to the
nodes of its splits, and numbers and dates with cuts are ranges between them, so that a released column has few and the
same words everywhere, from which a model can learn. An attribute that splits none, but was about to, is cut down to the
splits that saved too little; others stay as they are. A class that stays in its region costs what its cells lose; to
leave it costs far more, by what the target loses (see `regions`). The region itself is not released. Where the target
tells nothing apart, the table stays as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from incrowd.privacy.model import Requirement
from incrowd.recodings.hierarchies import Hierarchy, Nodes
from incrowd.recodings.kinds import hierarchy_of
from incrowd.recodings.mapping import LocalMapping, common, mapping_of, nodes_of, trace
from incrowd.recodings.ranges import Ranges
from incrowd.run import Run
from incrowd.search.clustering.regions import Regions, regions_of
from incrowd.table.attributes import Attribute, NumberAttribute, TaxonomyAttribute, numeric
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, count, group
from incrowd.taxonomies.taxonomy import Taxonomy

Numbers = npt.NDArray[np.int64]
Parts = tuple[Numbers, Numbers, Numbers]

WEIGHT = 16  # all that the target can lose costs so many times what all cells can lose
LARGEST = 1 << 60  # of a product of details and records


@dataclass(frozen=True)
class Words:
    """What a search makes of the values of an attribute.

    Args:
        attribute: The attribute that is searched.
        code: The code of each original one.
        nodes: The original node of each node; of an attribute with cuts there is none.
        start: The first original code that each node stands for.
        stop: One more than the last.
    """

    attribute: Attribute
    code: Numbers
    nodes: Nodes | None
    start: Nodes
    stop: Nodes

    def released(
        self, attribute: Attribute, hierarchy: Hierarchy, seen: Hierarchy, nodes: Nodes, groups: Numbers
    ) -> tuple[Hierarchy, Nodes]:
        """The hierarchy that is released of an original attribute, and the node of each group."""
        if self.nodes is not None:
            return hierarchy, self.nodes[common(seen, nodes, groups)]
        attribute = numeric(attribute)
        size = int(groups.max()) + 1
        starts, stops = np.full(size, attribute.size), np.zeros(size, np.int64)
        np.minimum.at(starts, groups, self.start[nodes])
        np.maximum.at(stops, groups, self.stop[nodes])
        starts[(stops > len(attribute.numbers)) & (starts < len(attribute.numbers))] = 0  # some are missing
        spans = list(zip(starts.tolist(), stops.tolist(), strict=True))
        ranges = Ranges.of(attribute, spans)
        return ranges, np.array([ranges.node(*span) for span in spans], np.int32)


@dataclass(frozen=True)
class View:
    """A table as a search sees it.

    Args:
        table: The table that is searched.
        hierarchies: The hierarchy of each of its attributes.
        detail: The detail of each node, per attribute.
        number: The tuple of each original one; None where they are the same.
        words: What became of the original attributes.
        fixed: Attributes that the search adds; rounds keep them at their most specific level.
    """

    table: CompressedTable
    hierarchies: Sequence[Hierarchy]
    detail: Sequence[Numbers]
    number: Numbers | None = None
    words: Sequence[Words] = ()
    fixed: tuple[int, ...] = ()

    def mapping(self, table: CompressedTable, hierarchies: Sequence[Hierarchy], parts: Parts) -> LocalMapping:
        """What parts of the tuples that were searched make of the original ones; those of group -1 are left out."""
        if self.number is None:
            return mapping_of(table, hierarchies, *parts)
        tuples = nodes_of(self.table, self.hierarchies)[parts[0]]
        tuples[parts[1] < 0] = 0  # nobody sees the range of those who are left out
        _, groups = np.unique(parts[1], return_inverse=True)
        released = [
            words.released(table.attributes[a], hierarchies[a], self.hierarchies[a], tuples[:, a], groups)
            for a, words in enumerate(self.words)
        ]
        made, classes = [hierarchy for hierarchy, _ in released], np.stack([nodes for _, nodes in released], axis=1)
        own, of_own, records = trace(self.number, table.counts, parts[0], np.where(parts[1] < 0, -1, groups), parts[2])
        return LocalMapping.build(made, nodes_of(table, made), own, classes[of_own], records, np.asarray(of_own < 0))


def target_view(
    table: CompressedTable,
    hierarchies: Sequence[Hierarchy],
    detail: Sequence[Numbers],
    requirement: Requirement,
    run: Run,
) -> View:
    """The table as its target sees it."""
    regions = regions_of(table, hierarchies, requirement, run)
    if len(regions.parent) == 1:
        return View(table, hierarchies, detail)
    pairs = zip(table.attributes, hierarchies, strict=True)
    words = [_words(attribute, hierarchy, regions, a) for a, (attribute, hierarchy) in enumerate(pairs)]
    tree = Taxonomy(tuple(map(str, range(len(regions.parent)))), regions.parent.astype(np.int32))
    attributes: list[Attribute] = [*(each.attribute for each in words), TaxonomyAttribute("", tree)]
    codes: list[Codes] = [
        *(each.code[column] for each, column in zip(words, table.codes, strict=True)),
        tree.start[regions.found],
    ]
    number, firsts = group(codes, [attribute.size for attribute in attributes])
    found = [hierarchy_of(attribute) for attribute in attributes]
    cells = [_detail(*each) for each in zip(table.attributes, words, detail, strict=True)]
    lost = sum(int(column.max()) for column in cells)  # what the cells of a record can lose
    told = regions.details(WEIGHT * lost)
    coarser = 1 + (lost + max(told)) * table.records // LARGEST
    return View(
        _grouped(table, attributes, codes, number, firsts),
        found,
        [*(column // coarser for column in cells), np.array([each // coarser for each in told], np.int64)],
        number,
        words,
        (len(hierarchies),),
    )


def _words(attribute: Attribute, hierarchy: Hierarchy, regions: Regions, place: int) -> Words:
    """What the splits of an attribute, or else the hints, leave of its values."""
    splits = [(split, gain) for split, gain in (*regions.splits, *regions.hints) if split.attribute == place]
    start, stop = hierarchy.spans()
    if not splits:
        return Words(attribute, np.arange(attribute.size), np.arange(hierarchy.size, dtype=np.int32), start, stop)
    if isinstance(attribute, NumberAttribute):
        cuts = Counter[int]()
        for split, gain in splits:
            cuts[split.stop] += gain
        tree, spans = nested(attribute.size, cuts, attribute.missing)
        code = np.searchsorted(sorted({first for first, _ in spans}), np.arange(attribute.size), side="right") - 1
        ends = np.array(spans, np.int32)
        return Words(TaxonomyAttribute(hierarchy.name, tree), code, None, ends[:, 0], ends[:, 1])
    used = [np.flatnonzero((start == split.start) & (stop == split.stop))[0] for split, _ in splits]
    tree, origin, code = cut_down(hierarchy, used)
    return Words(TaxonomyAttribute(hierarchy.name, tree), code, origin, start[origin], stop[origin])


def _detail(attribute: Attribute, words: Words, detail: Numbers) -> Numbers:
    """The detail of each node of what is searched, from that of the original nodes."""
    if words.nodes is not None:
        return detail[words.nodes]
    kept: Numbers = np.rint((1 - numeric(attribute).loss(words.start, words.stop)) * int(detail.max())).astype(np.int64)
    return kept


def nested(size: int, cuts: Mapping[int, int], missing: int | None) -> tuple[Taxonomy, list[tuple[int, int]]]:
    """A tree of ranges between cuts, in which the cut that saves most is made first, of equal ones the lowest.

    Args:
        size: Number of codes.
        cuts: What each cut saves; it lies before this code.
        missing: The code of missing values, the last one, which are set apart before anything else.

    Returns:
        The tree, and the first code, and one more than the last, of each of its nodes.
    """
    saved = dict(cuts)
    if missing:
        saved[missing] = max(saved.values(), default=0) + 1
    spans: list[tuple[int, int]] = []
    parent: list[int] = []
    waiting = [(0, size, -1)]
    while waiting:
        start, stop, above = waiting.pop()
        number = len(spans)
        spans.append((start, stop))
        parent.append(above)
        if inner := [cut for cut in saved if start < cut < stop]:
            cut = min(inner, key=lambda each: (-saved[each], each))
            waiting += [(cut, stop, number), (start, cut, number)]
    return Taxonomy(tuple(map(str, range(len(spans)))), np.array(parent, np.int32)), spans


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
