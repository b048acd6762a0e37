"""All blocks of a space, one after the other, so that each begins with one before it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from incrowd.search.optimal.blocks import Tree
from incrowd.search.optimal.partitions import TreeSpace
from incrowd.table.grouping import Counts

Line = tuple[int, int, int, int, bool]


def members_of(blocks: Sequence[int], size: int) -> tuple[Counts, Counts]:
    """Where the positions of each block start in one list of them all, and that list."""
    width = (size + 7) // 8
    rows = np.frombuffer(b"".join(block.to_bytes(width, "little") for block in blocks), np.uint8)
    is_in = np.unpackbits(rows.reshape(len(blocks), width), axis=1, bitorder="little")  # blocks x positions
    return np.append(0, np.cumsum(is_in.sum(axis=1, dtype=np.int64))), np.nonzero(is_in)[1]


def walk(space: TreeSpace) -> list[Line]:
    """All blocks of a space and what they begin with: mask, depth, node that is added, line after, is it of the space.

    A single value is a block; so are two or more children of a node, as the mode allows. One child that is not a value
    is met again as all of its own children.
    """
    lines: list[Line] = []
    for node, children in enumerate(space.tree.children):
        for number, child in enumerate(children):
            if space.mode == "run":
                _add_runs(space.tree, children[number:], lines)
            elif space.mode == "set":
                _add_sets(space.tree, children, number, 0, 0, lines)
            elif not space.tree.children[child]:
                lines.append((space.tree.masks[child], 0, child, len(lines) + 1, True))
        if space.mode == "all" and children:
            lines.append((space.tree.masks[node], 0, node, len(lines) + 1, True))
    return lines


def _add_runs(tree: Tree, children: Sequence[int], lines: list[Line]) -> None:
    """The first child, the first two, the first three and so on."""
    mask, after = 0, len(lines) + len(children)
    for depth, child in enumerate(children):
        mask |= tree.masks[child]
        lines.append((mask, depth, child, after, depth > 0 or not tree.children[child]))


def _add_sets(tree: Tree, children: Sequence[int], number: int, mask: int, depth: int, lines: list[Line]) -> None:
    """The given children, one more, and all sets of later ones besides."""
    child, here = children[number], len(lines)
    mask |= tree.masks[child]
    lines.append((mask, depth, child, 0, depth > 0 or not tree.children[child]))
    for following in range(number + 1, len(children)):
        _add_sets(tree, children, following, mask, depth + 1, lines)
    lines[here] = (mask, depth, child, len(lines), lines[here][4])
