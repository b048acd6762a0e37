"""Blocks of positions 0 to n - 1 as bit masks, trees that guide how they may be joined, and how many ways there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Mode = Literal["set", "run", "all"]
Labels = npt.NDArray[np.int64]  # block of each position, named by the first position in it
Apart = tuple[int, ...]
Blocks = tuple[int, ...]


def bits(mask: int) -> Iterator[int]:
    """The positions in a mask, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def first(mask: int) -> int:
    """The first position in a mask."""
    return (mask & -mask).bit_length() - 1


def join(masks: Iterable[int]) -> list[int]:
    """The finest disjoint masks that hold each of the given ones in one piece."""
    joined: list[int] = []
    for mask in masks:
        apart = []
        for other in joined:
            if other & mask:
                mask |= other
            else:
                apart.append(other)
        joined = [*apart, mask]
    return joined


def labels_of(masks: Iterable[int], size: int) -> Labels:
    """Blocks as labels; positions in no block are blocks of their own."""
    labels = np.arange(size)
    for mask in masks:
        if mask & (mask - 1):
            labels[list(bits(mask))] = first(mask)
    return labels


def blocks_of(labels: Iterable[Any]) -> Blocks:
    """Labels as blocks, in the order of their first positions."""
    blocks: dict[Any, int] = {}
    for position, label in enumerate(labels):
        blocks[label] = blocks.get(label, 0) | 1 << position
    return tuple(blocks.values())


def together(mask: int, apart: Apart) -> bool:
    """Whether no two positions of a mask must be apart."""
    return not any(apart[position] & mask for position in bits(mask))


def parted(apart: Apart, pieces: Sequence[int]) -> Apart:
    """What must be apart, and also all positions of different pieces."""
    found, whole = list(apart), sum(pieces)
    for piece in pieces:
        for position in bits(piece):
            found[position] |= whole & ~piece
    return tuple(found)


@dataclass(frozen=True)
class Tree:
    """A tree over positions whose inner nodes have at least two children; node 0 is the root, parents come first."""

    children: tuple[tuple[int, ...], ...]
    masks: tuple[int, ...]

    @classmethod
    def of(cls, nested: Any) -> Tree:
        """A tree from nested lists of positions 0 to n - 1 in order; lists of one thing count as that thing."""
        children: list[tuple[int, ...]] = []
        masks: list[int] = []

        def add(thing: Any) -> int:
            while isinstance(thing, list) and len(thing) == 1:
                thing = thing[0]
            node = len(masks)
            children.append(())
            masks.append(0 if isinstance(thing, list) else 1 << thing)
            if isinstance(thing, list):
                children[node] = tuple(add(below) for below in thing)
                masks[node] = sum(masks[child] for child in children[node])
            return node

        add(nested)
        return cls(tuple(children), tuple(masks))

    @property
    def size(self) -> int:
        return self.masks[0].bit_length()


def count_partitions(tree: Tree, mode: Mode) -> int:
    """Number of partitions of a `TreeSpace`, without enumerating them.

    At a node each child is either left to itself or joined with others; joined ones have no freedom left.
    """
    counts = [1] * len(tree.children)
    for node in range(len(tree.children) - 1, -1, -1):
        below = [counts[child] for child in tree.children[node]]
        if below:
            counts[node] = {"set": _sets, "run": _runs, "all": _all}[mode](below)
    return counts[0]


def _sets(below: Sequence[int]) -> int:
    size = len(below)
    lonely = [1]  # coefficient i: sum of products over all choices of i children that stay alone
    for count in below:
        lonely = [a + b * count for a, b in zip([*lonely, 0], [0, *lonely], strict=True)]
    binomial, joined = [1], [1]  # joined[n]: set partitions of n things without singletons
    for n in range(1, size + 1):
        joined.append(sum(binomial[m] * joined[n - 1 - m] for m in range(1, n)))
        binomial = [a + b for a, b in zip([*binomial, 0], [0, *binomial], strict=True)]
    return sum(lonely[alone] * joined[size - alone] for alone in range(size + 1))


def _runs(below: Sequence[int]) -> int:
    ways = [1]  # ways[i]: of the first i children
    for place, count in enumerate(below, 1):
        ways.append(ways[place - 1] * count + sum(ways[: place - 1]))
    return ways[-1]


def _all(below: Sequence[int]) -> int:
    product = 1
    for count in below:
        product *= count
    return product + 1
