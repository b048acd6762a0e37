"""What a target tells apart: regions of a table, grown as a decision tree over its attributes.

A split of an attribute with a taxonomy, or of text, sets the records with one node of its hierarchy (a value, or
anything below an inner node) apart from the rest of a region. A split of numbers or dates is a cut: what lies below it
is set apart from what does not, missing values included. Of all splits that leave two good regions the one is made that
saves most bits about the labels. A split takes bits to describe, the logarithm of the number of labels. The tree is
grown while a split saves a quarter of that, then every split goes that does not save it all, together with the splits
below it. Records without a label count for privacy, and tell nothing.

Records of different regions can always be told apart after any generalization within the regions: what lies below a
node, or a cut, never equals what does not.

Bits are counted in whole units, so that sums are exact in any order, and ties are ties: of equally good splits the one
of the attribute that comes first by name is made, then the first node in the hierarchy, or the lowest cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd.privacy.model import Requirement
from incrowd.recodings.hierarchies import Hierarchy
from incrowd.run import Run
from incrowd.table.attributes import NumberAttribute
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import count

Numbers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Array = npt.NDArray[Any]

UNIT = 1 << 20  # units of information per bit
GROWS = 4  # a split is tried if it saves so large a part of what it takes to describe it
TRIES = 64  # of the best splits of a region that are tried, where privacy models count more than records


class Split(NamedTuple):
    """What sets a part of a region apart: codes of an attribute from the first up to, but not including, the last."""

    attribute: int
    start: int
    stop: int


@dataclass(frozen=True)
class Labels:
    """Who has which label: entry e says that `counts[e]` records of `tuples[e]` have the label `codes[e]`.

    Args:
        tuples: The tuple of each entry, ascending.
        codes: The label of each entry; `width` for records whose label is not known.
        counts: Records of each entry.
        width: How many labels there are.
    """

    tuples: Numbers
    codes: Numbers
    counts: Numbers
    width: int

    @classmethod
    def of(cls, table: CompressedTable) -> Labels:
        """All that the target of a table tells; a missing label is none."""
        target = table.target
        assert target is not None
        width = target.width - (None in target.values)
        return cls(target.tuples.astype(np.int64), target.codes.astype(np.int64), target.counts, width)

    @cached_property
    def known(self) -> int:
        """Records whose label is known."""
        return int(self.counts[self.codes < self.width].sum())

    @cached_property
    def price(self) -> int:
        """What it takes to describe a split: the logarithm of the number of labels, in units of information."""
        return int(information(np.array([self.known]))[0]) // max(1, self.known)


@dataclass(frozen=True)
class Regions:
    """The regions of a table, in preorder: a region that is split comes before its parts.

    Args:
        parent: The region that each is a part of, -1 for all records.
        records: How many records each has.
        gain: What its split saves, in units of information over all its records; 0 for one that is not split.
        splits: The splits, and what each saves.
        hints: Splits, and what each saves, of attributes that have none among those: they went, since they saved too
            little.
        found: The region of each tuple, of those that are not split.
    """

    parent: Numbers
    records: Numbers
    gain: Numbers
    splits: tuple[tuple[Split, int], ...]
    hints: tuple[tuple[Split, int], ...]
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
    """Grow the regions of a table."""
    labels = Labels.of(table)
    growing = _Growing(table, hierarchies, requirement, labels)
    parent: list[int] = []
    gains: list[int] = []
    splits: list[Split | None] = []
    found = np.zeros(len(table.counts), np.int64)
    waiting = [(np.arange(len(labels.tuples)), [np.arange(hierarchy.size) for hierarchy in hierarchies], -1)]
    while waiting:
        run.check()
        entries, nodes, above = waiting.pop()
        number = len(parent)
        parent.append(above)
        found[labels.tuples[entries]] = number
        gain, split, nodes = growing.best_split(entries, nodes)
        gains.append(gain)
        splits.append(split)
        if split is not None:
            inside = growing.inside(entries, split)
            waiting += [(entries[~inside], nodes, number), (entries[inside], nodes, number)]
    return _pruned(parent, gains, splits, found, labels.price, table)


def _pruned(
    parent: Sequence[int],
    gains: Sequence[int],
    splits: Sequence[Split | None],
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
    gain = [gains[region] if one else 0 for region, one in zip(stays, split, strict=True)]
    made = tuple((one, saves) for one, saves in zip(split, gain, strict=True) if one is not None)
    used = {one.attribute for one, _ in made}
    every = zip(splits, gains, strict=True)
    hints = tuple((one, saves) for one, saves in every if one is not None and one.attribute not in used)
    return Regions(np.array(whole), records, np.array(gain), made, hints, home)


class _Growing:
    """What is asked of every region while a tree grows."""

    def __init__(
        self, table: CompressedTable, hierarchies: Sequence[Hierarchy], requirement: Requirement, labels: Labels
    ) -> None:
        self._table, self._hierarchies, self._requirement, self._labels = table, hierarchies, requirement, labels
        self._least, self._size = labels.price // GROWS, requirement.least_size
        self._codes = [codes[labels.tuples].astype(np.int64) for codes in table.codes]
        self._by_name = sorted(range(len(hierarchies)), key=lambda a: hierarchies[a].name)
        self._information = information(np.arange(int(labels.counts.sum()) + 1))

    def inside(self, entries: Numbers, split: Split) -> Mask:
        """Which of some entries a split sets apart."""
        codes = self._codes[split.attribute][entries]
        return np.asarray((codes >= split.start) & (codes < split.stop))

    def best_split(self, entries: Numbers, nodes: Sequence[Numbers]) -> tuple[int, Split | None, list[Numbers]]:
        """What the best split of some entries saves, the split, and the nodes with enough records on both sides.

        Nodes of each attribute are looked at; one with too few records here has too few in every part of it. What is
        saved is 0, and the split None, if none is worth it.
        """
        enough, found = list(nodes), list[tuple[int, Split]]()
        every = count(self._labels.codes[entries], self._labels.width + 1, self._labels.counts[entries])
        if every.sum() < 2 * self._size or np.count_nonzero(every[:-1]) < 2:
            return 0, None, enough
        for attribute in self._by_name:
            starts, stops, inside = self._sides(attribute, entries, nodes[attribute])
            size = inside.sum(axis=1)
            good = (size >= self._size) & (every.sum() - size >= self._size)
            if not self._is_cut(attribute):
                enough[attribute] = nodes[attribute][good]
            if not good.any():
                continue
            starts, stops, inside = starts[good], stops[good], inside[good, :-1]
            saved = self._bits(every[:-1]) - self._bits(inside) - self._bits(every[:-1] - inside)
            ordered = np.argsort(-saved, kind="stable")[:TRIES] if self._table.protected else [saved.argmax()]
            found += [
                (int(saved[place]), Split(attribute, int(starts[place]), int(stops[place])))
                for place in ordered
                if saved[place] > self._least
            ]
        for gain, split in sorted(found, key=lambda each: -each[0])[:TRIES]:  # of equal ones the first stays first
            if self._is_allowed(entries, split):
                return gain, split, enough
        return 0, None, enough

    def _is_cut(self, attribute: int) -> bool:
        return isinstance(self._table.attributes[attribute], NumberAttribute)

    def _sides(self, attribute: int, entries: Numbers, nodes: Numbers) -> tuple[Array, Array, Numbers]:
        """The codes that each split of an attribute sets apart, and how many of their records have each label."""
        width = self._labels.width + 1
        present, places = np.unique(self._codes[attribute][entries], return_inverse=True)
        keys = places * width + self._labels.codes[entries]
        by_code = count(keys, len(present) * width, self._labels.counts[entries]).reshape(-1, width)
        sums = np.concatenate([np.zeros((1, width), np.int64), by_code.cumsum(axis=0)])
        if self._is_cut(attribute):
            return np.zeros(len(present) - 1, np.int64), present[:-1] + 1, sums[1:-1]
        starts, stops = (ends[nodes] for ends in self._hierarchies[attribute].spans())
        return starts, stops, sums[np.searchsorted(present, stops)] - sums[np.searchsorted(present, starts)]

    def _bits(self, labels: Numbers) -> Numbers:
        """What it takes to tell the labels of some records, over the last axis of their counts."""
        told: Numbers = self._information[labels.sum(axis=-1)] - self._information[labels].sum(axis=-1)
        return told

    def _is_allowed(self, entries: Numbers, split: Split) -> bool:
        """Whether both sides of a split are good, for models that count more than records too."""
        if not self._table.protected:
            return True
        size = len(self._table.counts)
        sides, kept = np.zeros(size, np.int64), np.zeros(size, bool)
        tuples = self._labels.tuples[entries]
        sides[tuples], kept[tuples] = self.inside(entries, split), True
        return bool(self._requirement.good(self._table.class_counts(sides, 2, kept)).all())


def information(counts: Array) -> Numbers:
    """A count times its logarithm, in units of information."""
    logs = np.log2(np.maximum(counts, 1))
    whole: Numbers = np.rint(counts * logs * UNIT).astype(np.int64)
    return whole
