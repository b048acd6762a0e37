"""Spaces of partitions and the trees that enumerate them: pure combinatorics on positions 0 to n - 1.

A `TreeSpace` is all partitions whose blocks are unions of children of one node of a tree: any of them (mode "set"),
neighbours ("run") or all at once ("all"). With a flat tree these are the set partitions and the ordered partitions,
with a taxonomy the guided ones and the cuts. A `LevelSpace` is a chain of ever coarser partitions.

Both are enumerated in two directions. Bottom-up starts with single values; a child extends the block that begins last,
or begins a block further right (the tree of Li and Li, with the condition that their proof uses and their Figure 6
leaves out, without which partitions are met twice). Top-down starts with the coarsest partition; a child fixes the
blocks from left to right, keeps some as they are and splits the next. In both every partition has exactly one parent:
take away the last child of the last block, or give back the last block that was split off.

Blocks are bit masks. `apart` holds for each position the positions that it must not share a block with, and they with
it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

from incrowd.search.optimal.blocks import (
    Apart,
    Blocks,
    Labels,
    Mode,
    Tree,
    bits,
    blocks_of,
    count_partitions,
    first,
    join,
    labels_of,
    together,
)


class State(NamedTuple):
    """A place in an enumeration tree.

    Bottom-up: the blocks of two or more so far, the node and the number of the child that were joined last, and the
    first position of the last block. Top-down: the blocks that are fixed, in order; the rest is as coarse as can be.
    """

    blocks: Blocks
    node: int = -1
    child: int = 0
    floor: int = -1


@dataclass(frozen=True)
class Reach:
    """What lies below a state: every partition there is at least as coarse as `fine`, no coarser than `coarse`.

    Args:
        fine: Labels of the finest.
        coarse: Labels of the coarsest, as far as `apart` allows.
        visited: Labels of the partition that the state stands for.
        children: The states below.
    """

    fine: Labels
    coarse: Labels
    visited: Labels
    children: tuple[Any, ...]


@dataclass(frozen=True)
class TreeSpace:
    """All partitions into unions of children of one node."""

    tree: Tree
    mode: Mode
    _moves: dict[int, tuple[tuple[int, int, int], ...]] = field(default_factory=dict, compare=False, repr=False)

    @property
    def size(self) -> int:
        return self.tree.size

    @cached_property
    def partitions(self) -> int:
        return count_partitions(self.tree, self.mode)

    def start(self, up: bool) -> State:
        """Where an enumeration starts."""
        return State(())

    def reach(self, state: State, apart: Apart, up: bool) -> Reach:
        """What lies below a state."""
        return self._reach_up(state, apart) if up else self._reach_down(state, apart)

    def closure(self, blocks: Sequence[int]) -> Blocks:
        """The finest partition of the space that is no finer than the given one."""
        while True:
            grown = join(self._smallest_block(block) for block in blocks)
            if set(grown) == set(blocks):
                return tuple(sorted(grown, key=first))
            blocks = grown

    def smallest_joins(self) -> Iterator[int]:
        """Blocks of two or more positions that tell every partition: by which of them lie within one of its blocks."""
        yield from (mask for mask, _, _ in self._pairs(self.tree.masks[0]))

    def pieces(self, mask: int) -> list[int]:
        """What a smallest join puts together: no block holds positions of two of these unless it holds it all."""
        node = next(n for n in range(len(self.tree.masks) - 1, -1, -1) if mask & ~self.tree.masks[n] == 0)
        return [self.tree.masks[child] for child in self.tree.children[node] if self.tree.masks[child] & mask]

    def made(self, blocks: Blocks, mask: int) -> Blocks:
        """The new blocks of the finest partition no finer than a given one that has some positions in one block."""
        before = 0
        while mask != before:
            before = mask = self._smallest_block(mask)
            for block in blocks:
                if block & mask:
                    mask |= block
        return (mask,)

    def _smallest_block(self, block: int) -> int:
        """The smallest block of the space around some positions."""
        node = 0
        while True:
            inside = [child for child in self.tree.children[node] if self.tree.masks[child] & block]
            if len(inside) != 1:
                break
            node = inside[0]
        if not inside:
            return block
        children = self.tree.children[node]
        if self.mode == "run":
            inside = list(children[children.index(inside[0]) : children.index(inside[-1]) + 1])
        elif self.mode == "all":
            inside = list(children)
        return sum(self.tree.masks[child] for child in inside)

    def _pairs(self, allowed: int) -> tuple[tuple[int, int, int], ...]:
        """The smallest blocks within some positions: mask, node, number of the last child."""
        if allowed not in self._moves:
            if len(self._moves) > 1_000_000 // self.size**2:
                self._moves.clear()
            self._moves[allowed] = tuple(self._find_pairs(allowed))
        return self._moves[allowed]

    def _find_pairs(self, allowed: int) -> Iterator[tuple[int, int, int]]:
        for node, children in enumerate(self.tree.children):
            if self.mode == "all":
                if children and self.tree.masks[node] & ~allowed == 0:
                    yield self.tree.masks[node], node, len(children) - 1
                continue
            masks = [self.tree.masks[child] for child in children]
            for left, mask in enumerate(masks):
                if mask & ~allowed:
                    continue
                for right in range(left + 1, left + 2 if self.mode == "run" else len(masks)):
                    if right < len(masks) and masks[right] & ~allowed == 0:
                        yield mask | masks[right], node, right

    # Bottom-up

    def _reach_up(self, state: State, apart: Apart) -> Reach:
        blocks = state.blocks
        covered = sum(blocks)
        children = [
            State((*blocks[:-1], blocks[-1] | mask), state.node, number, state.floor)
            for number, mask in self._extensions(state, covered)
            if together(blocks[-1] | mask, apart)
        ]
        allowed = (self.tree.masks[0] & ~covered) >> (state.floor + 1) << (state.floor + 1)
        for mask, node, number in self._pairs(allowed):
            if together(mask, apart):
                children.append(State((*blocks, mask), node, number, first(mask)))
        fine = labels_of(blocks, self.size)
        coarse = labels_of(join((*blocks, *(child.blocks[-1] for child in children))), self.size)
        return Reach(fine, coarse, fine, tuple(children))

    def _extensions(self, state: State, covered: int) -> Iterator[tuple[int, int]]:
        """Children that may join the last block: number and mask."""
        if state.node < 0 or self.mode == "all":
            return
        siblings = self.tree.children[state.node]
        end = len(siblings) if self.mode == "set" else min(len(siblings), state.child + 2)
        for number in range(state.child + 1, end):
            mask = self.tree.masks[siblings[number]]
            if not mask & covered:
                yield number, mask

    # Top-down

    def _reach_down(self, state: State, apart: Apart) -> Reach:
        rest = self.tree.masks[0] & ~sum(state.blocks)
        pairs = [mask for mask, _, _ in self._pairs(rest)]
        pieces = sorted(join((*pairs, *(1 << position for position in bits(rest)))), key=first)
        visited = labels_of((*state.blocks, *pieces), self.size)
        allowed = [mask for mask in pairs if together(mask, apart)]
        coarse = visited if len(allowed) == len(pairs) else labels_of((*state.blocks, *join(allowed)), self.size)
        children, kept = [], list(state.blocks)
        for piece in pieces:
            children += [State((*kept, block)) for block in self._splits(piece, rest, apart)]
            if not together(piece, apart):
                break
            kept.append(piece)
        return Reach(labels_of(state.blocks, self.size), coarse, visited, tuple(children))

    def _splits(self, piece: int, rest: int, apart: Apart) -> Iterator[int]:
        """The blocks, other than the whole piece, that the first position of a piece could be in."""
        start = first(piece)
        if piece != 1 << start:
            yield 1 << start
        for node, children in enumerate(self.tree.children):
            masks = [self.tree.masks[child] for child in children]
            number = next((i for i, mask in enumerate(masks) if first(mask) == start and mask & ~rest == 0), None)
            if number is None:
                continue
            if self.mode == "all":
                whole = self.tree.masks[node]
                candidates = [whole] if number == 0 and whole & ~rest == 0 and together(whole, apart) else []
            else:
                candidates = []
                if together(masks[number], apart):
                    self._grow(masks[number], masks[number + 1 :], rest, apart, candidates)
            yield from (mask for mask in candidates if mask != piece)

    def _grow(self, block: int, later: Sequence[int], rest: int, apart: Apart, grown: list[int]) -> None:
        """Collect all blocks of a block and one or more of the later siblings."""
        for number, mask in enumerate(later):
            if mask & ~rest == 0 and not any(apart[position] & (block | mask) for position in bits(mask)):
                grown.append(block | mask)
                self._grow(block | mask, later[number + 1 :], rest, apart, grown)
            if self.mode == "run":
                return


@dataclass(frozen=True)
class LevelSpace:
    """A chain of partitions, finest first."""

    levels: tuple[tuple[int, ...], ...]  # labels

    @property
    def size(self) -> int:
        return len(self.levels[0])

    @property
    def partitions(self) -> int:
        return len(self.levels)

    @cached_property
    def _blocks(self) -> tuple[Blocks, ...]:
        return tuple(blocks_of(labels) for labels in self.levels)

    @cached_property
    def _labels(self) -> tuple[Labels, ...]:
        return tuple(labels_of(blocks, self.size) for blocks in self._blocks)

    def start(self, up: bool) -> int:
        """Where an enumeration starts: a level."""
        return 0 if up else len(self.levels) - 1

    def reach(self, state: int, apart: Apart, up: bool) -> Reach:
        """What lies below a level."""
        last = len(self.levels) - 1
        top = last if up else state
        while top > 0 and not all(together(block, apart) for block in self._blocks[top]):
            top -= 1
        labels = self._labels
        if not up:
            return Reach(labels[0], labels[top], labels[state], (state - 1,) if state else ())
        above = (state + 1,) if state < last and top > state else ()
        return Reach(labels[state], labels[max(top, state)], labels[state], above)

    def level(self, blocks: Sequence[int]) -> int:
        """The level with these blocks."""
        return next(number for number, level in enumerate(self._blocks) if set(level) == set(blocks))

    def closure(self, blocks: Sequence[int]) -> Blocks:
        """The finest level that is no finer than the given partition."""
        return next(level for level in self._blocks if len(join((*level, *blocks))) == len(level))

    def smallest_joins(self) -> Iterator[int]:
        """One new block of each level but the finest, which tell every level."""
        for below, above in pairwise(self._blocks):
            yield max(set(above) - set(below), key=int.bit_count)

    def made(self, blocks: Blocks, mask: int) -> Blocks:
        """The new blocks of the finest level no finer than a given one that has some positions in one block."""
        return tuple(set(self.closure(join((*blocks, mask)))).difference(blocks))

    def pieces(self, mask: int) -> list[int]:
        """What a smallest join puts together: the blocks of the level below."""
        number = next(number for number, level in enumerate(self._blocks) if mask in level)
        return [block for block in self._blocks[number - 1] if block & mask]


Space = TreeSpace | LevelSpace


def partitions(space: Space, up: bool = True) -> Iterator[Blocks]:
    """All partitions of a space, in the order of a depth-first walk."""
    free = (0,) * space.size
    waiting = [space.start(up)]
    while waiting:
        reach = space.reach(waiting.pop(), free, up)  # type: ignore[arg-type]
        yield blocks_of(reach.visited.tolist())
        waiting += reach.children
