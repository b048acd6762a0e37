"""What a target tells apart: regions of a table, grown as a decision tree over the hierarchies of its attributes.

A split sets the records with one node of a hierarchy (a value, or anything below an inner node) apart from the rest of
a region. Of all splits that leave two good regions the one is made that saves most bits about the labels. A split takes
bits to describe, the logarithm of the number of records. The tree is grown while a split saves a quarter of that, then
every split goes that does not save it all, together with the splits below it. Records of different regions can always
be told apart after any generalization within the regions: what lies below a node never equals what does not.

Bits are counted in whole units, so that sums are exact in any order, and ties are ties: of equally good splits the one
of the attribute that comes first by name is made, then that of the node that comes first in the hierarchy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.privacy.model import Requirement
from incrowd.privacy.needs import Needs, is_good
from incrowd.recodings.hierarchies import Hierarchy
from incrowd.run import Run
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import count

Numbers = npt.NDArray[np.int64]
Array = npt.NDArray[Any]

UNIT = 1 << 20  # units of information per bit
GROWS = 4  # a split is tried if it saves so large a part of what it takes to describe it


@dataclass(frozen=True)
class Regions:
    """The regions of a table, in preorder: a region that is split comes before its parts.

    Args:
        parent: The region that each is a part of, -1 for all records.
        records: How many records each has.
        gain: What its split saves, in units of information over all its records; 0 for one that is not split.
        splits: Attribute and node of each split.
        found: The region of each tuple, of those that are not split.
    """

    parent: Numbers
    records: Numbers
    gain: Numbers
    splits: tuple[tuple[int, int], ...]
    found: Numbers

    def details(self, everything: int) -> list[int]:
        """What each region says of the label, in whole numbers: all of them together `everything` per record.

        A record gains with each split what its region gains per record.
        """
        total, records = max(1, int(self.gain.sum())), int(self.records[0])
        detail = [0] * len(self.parent)
        for region, above in enumerate(self.parent.tolist()):
            if above >= 0:
                more = int(self.gain[above]) * records * everything // (int(self.records[above]) * total)
                detail[region] = detail[above] + more
        return detail


def regions_of(table: CompressedTable, hierarchies: Sequence[Hierarchy], requirement: Requirement, run: Run) -> Regions:
    """Grow the regions of a table.

    Args:
        table: The table, with a target.
        hierarchies: The hierarchy of each attribute.
        requirement: What a region needs.
        run: Asked in between whether to go on.
    """
    price = int(information(np.array([table.records]))[0]) // max(1, table.records)
    parent: list[int] = []
    gains: list[int] = []
    splits: list[tuple[int, int] | None] = []
    found = np.zeros(len(table.counts), np.int64)
    waiting = [(np.arange(len(table.counts)), -1, [np.arange(hierarchy.size) for hierarchy in hierarchies])]
    while waiting:
        run.check()
        tuples, above, nodes = waiting.pop()
        number = len(parent)
        parent.append(above)
        found[tuples] = number
        gain, split, nodes = _best_split(table, hierarchies, requirement, tuples, nodes, price // GROWS)
        gains.append(gain)
        splits.append(split)
        if split is not None:
            inside = _below(hierarchies, table, tuples, split)
            waiting += [(tuples[~inside], number, nodes), (tuples[inside], number, nodes)]
    return _pruned(parent, gains, splits, found, price, table)


def _pruned(
    parent: Sequence[int],
    gains: Sequence[int],
    splits: Sequence[tuple[int, int] | None],
    found: Numbers,
    price: int,
    table: CompressedTable,
) -> Regions:
    """Regions without the splits that save less than they cost, those below them included."""
    saved = [gain - price if split is not None else 0 for gain, split in zip(gains, splits, strict=True)]
    for region in range(len(parent) - 1, 0, -1):
        saved[parent[region]] += max(0, saved[region])
    number: list[int] = []  # of each region among those that stay; that of the one it is in, if it goes
    stays: list[int] = []
    for region, above in enumerate(parent):
        kept = above < 0 or (saved[above] > 0 and stays[number[above]] == above)
        number.append(len(stays) if kept else number[above])
        stays += [region] if kept else []
    split = [splits[region] if saved[region] > 0 else None for region in stays]
    home = np.array(number)[found]
    records = count(home, len(stays), table.counts)
    whole = [number[parent[region]] if region else -1 for region in stays]
    for region in range(len(stays) - 1, 0, -1):
        records[whole[region]] += records[region]
    return Regions(
        np.array(whole),
        records,
        np.array([gains[region] if one else 0 for region, one in zip(stays, split, strict=True)]),
        tuple(one for one in split if one is not None),
        home,
    )


def information(counts: Array) -> Numbers:
    """A count times its logarithm, in units of information."""
    logs = np.log2(np.maximum(counts, 1))
    whole: Numbers = np.rint(counts * logs * UNIT).astype(np.int64)
    return whole


def _bits(labels: Array) -> Numbers:
    """What it takes to tell the labels of some records, over the last axis of their counts."""
    told: Numbers = information(labels.sum(axis=-1)) - information(labels).sum(axis=-1)
    return told


def _below(
    hierarchies: Sequence[Hierarchy], table: CompressedTable, tuples: Numbers, split: tuple[int, int]
) -> npt.NDArray[np.bool_]:
    """Which of some tuples have the node of a split."""
    attribute, node = split
    start, stop = hierarchies[attribute].spans()
    codes = table.codes[attribute][tuples]
    inside: npt.NDArray[np.bool_] = (codes >= start[node]) & (codes < stop[node])
    return inside


def _best_split(
    table: CompressedTable,
    hierarchies: Sequence[Hierarchy],
    requirement: Requirement,
    tuples: Numbers,
    nodes: Sequence[Numbers],
    least: int,
) -> tuple[int, tuple[int, int] | None, list[Numbers]]:
    """What the best split of some tuples saves, the split, and the nodes with enough records on both sides.

    Nodes of each attribute are looked at; one with too few records here has too few in every part of it. What is saved
    is 0, and the split None, if none is worth it.
    """
    entries, target, needs = _entries(table, tuples), table.target, Needs(requirement.least_size)
    assert target is not None
    labels, counts, of_tuple = target.codes[entries], target.counts[entries], target.tuples[entries]
    every = np.bincount(labels, counts, target.width).astype(np.int64)
    rows: list[tuple[int, int, int]] = []  # what is saved, attribute, node
    enough = list(nodes)
    for attribute in sorted(range(len(hierarchies)), key=lambda a: hierarchies[a].name):
        start, stop = (ends[nodes[attribute]] for ends in hierarchies[attribute].spans())
        codes = table.codes[attribute][of_tuple].astype(np.int64)
        inside = _labels_between(start, stop, codes, labels, counts, target.width)
        good = is_good(needs, inside.sum(axis=1)) & is_good(needs, (every - inside).sum(axis=1))
        enough[attribute], inside = nodes[attribute][good], inside[good]
        saved = _bits(every) - _bits(inside) - _bits(every - inside)
        worth = saved > least
        of_worth = zip(saved[worth].tolist(), enough[attribute][worth].tolist(), strict=True)
        rows += [(gain, attribute, node) for gain, node in of_worth]
    for gain, attribute, node in sorted(rows, key=lambda row: -row[0]):  # of equal ones the first stays first
        if _is_allowed(table, hierarchies, requirement, tuples, (attribute, node)):
            return gain, (attribute, node), enough
    return 0, None, enough


def _labels_between(start: Array, stop: Array, codes: Numbers, labels: Array, counts: Array, width: int) -> Numbers:
    """How many records with codes of each range have each label: ranges x labels."""
    present, places = np.unique(codes, return_inverse=True)
    by_code = np.bincount(places * width + labels, counts, len(present) * width).reshape(-1, width)
    sums = np.concatenate([np.zeros((1, width)), by_code.cumsum(axis=0)]).astype(np.int64)
    found: Numbers = sums[np.searchsorted(present, stop)] - sums[np.searchsorted(present, start)]
    return found


def _is_allowed(
    table: CompressedTable,
    hierarchies: Sequence[Hierarchy],
    requirement: Requirement,
    tuples: Numbers,
    split: tuple[int, int],
) -> bool:
    """Whether both sides of a split are good, for models that count more than records too."""
    if not table.protected:
        return True
    sides, kept = np.zeros(len(table.counts), np.int64), np.zeros(len(table.counts), bool)
    sides[tuples], kept[tuples] = _below(hierarchies, table, tuples, split), True
    return bool(requirement.good(table.class_counts(sides, 2, kept)).all())


def _entries(table: CompressedTable, tuples: Numbers) -> Numbers:
    """The entries of the target's histogram of some tuples, ascending."""
    assert table.target is not None
    kept = np.zeros(len(table.counts), bool)
    kept[tuples] = True
    return np.flatnonzero(kept[table.target.tuples])
