"""What is still in question of one attribute: partitions no finer than one, in which some values stay apart.

Every partition of a space is told by its smallest joins: two neighbours for intervals, any two values for sets, all
children of a node for cuts. A partition joins them or keeps them apart, so each question halves what is left, and
questions may be asked in any order. When none is left, the finest and the coarsest partition are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from incrowd.search.optimal.blocks import Apart, Blocks, Labels, bits, first, join, labels_of, together
from incrowd.search.optimal.partitions import Space, TreeSpace

MOST_RANGES = 20_000  # remembered


@dataclass(frozen=True)
class Range:
    """Partitions of one attribute.

    Args:
        blocks: Those of the finest partition.
        apart: Of each position, the positions that it shares no block with.
        questions: The smallest joins that some of the partitions have and others do not, and the blocks that each of
            them makes of those of the finest partition.
    """

    blocks: Blocks
    apart: Apart
    questions: Mapping[int, Blocks] = field(compare=False)

    @cached_property
    def fine(self) -> Labels:
        """Labels of the finest partition."""
        return labels_of(self.blocks, len(self.apart))

    @cached_property
    def coarse(self) -> Labels:
        """Labels of a partition that is no finer than any."""
        made = (block for blocks in self.questions.values() for block in blocks)
        return labels_of(join((*self.blocks, *made)), len(self.apart))

    @cached_property
    def near(self) -> npt.NDArray[np.bool_]:
        """Which values may share a block, labels x labels of the finest partition; true for a label and itself."""
        size = len(self.apart)
        width = (size + 7) // 8
        rows = np.frombuffer(b"".join(far.to_bytes(width, "little") for far in self.apart), np.uint8)
        far = np.unpackbits(rows.reshape(size, width), axis=1, count=size, bitorder="little")
        is_in = (self.fine[:, None] == np.arange(size)).astype(np.float32)  # positions x labels
        are_far = is_in.T @ far.astype(np.float32) @ is_in
        return np.asarray((are_far == 0) & (self.coarse[:, None] == self.coarse))


class Ranges:
    """The ranges of one space.

    Args:
        space: The space.
    """

    def __init__(self, space: Space) -> None:
        self._space, self._known = space, dict[tuple[Blocks, Apart], Range]()
        self._kinds: dict[int, Labels] = {}

    def everything(self) -> Range:
        """All partitions of the space."""
        size = self._space.size
        blocks = tuple(1 << position for position in range(size))
        questions = {smallest: self._space.made(blocks, smallest) for smallest in self._space.smallest_joins()}
        return Range(blocks, (0,) * size, questions)

    def kinds(self, smallest: int) -> Labels:
        """Of each position of sets, 3 per node around a smallest join that it lies in, and 1 or 2 in its pieces."""
        if smallest not in self._kinds:
            assert isinstance(self._space, TreeSpace)
            kinds = np.zeros(self._space.size, np.int64)
            for node in self._space.around(smallest):
                kinds[list(bits(node))] += 3
            for number, piece in enumerate(self._space.pieces(smallest), 1):
                kinds[list(bits(piece))] += number
            self._kinds[smallest] = kinds
        return self._kinds[smallest]

    def joined(self, old: Range, smallest: int) -> Range:
        """The partitions of a range that make one of its smallest joins."""
        made = old.questions[smallest]
        kept = [block for block in old.blocks if not any(block & new for new in made)]
        blocks = tuple(sorted((*kept, *made), key=first))
        if (known := self._known.get((blocks, old.apart))) is not None:
            return known
        questions = {}
        for other, before in old.questions.items():
            if any(other & ~new == 0 for new in made):  # answered
                continue
            after = before
            if any(block & new for block in before for new in made):
                after = self._space.made(blocks, other)
            if after == before or all(together(block, old.apart) for block in after):
                questions[other] = after
        return self._remembered(Range(blocks, old.apart, questions))

    def parted(self, old: Range, smallest: int) -> Range:
        """The partitions of a range that do not."""
        apart, pieces = list(old.apart), self._space.pieces(smallest)
        for piece in pieces:
            for position in bits(piece):
                apart[position] |= smallest & ~piece
        if (known := self._known.get((old.blocks, tuple(apart)))) is not None:
            return known

        def is_allowed(block: int) -> bool:
            return sum(block & piece != 0 for piece in pieces) < 2

        questions = {other: made for other, made in old.questions.items() if all(map(is_allowed, made))}
        return self._remembered(Range(old.blocks, tuple(apart), questions))

    def _remembered(self, new: Range) -> Range:
        if len(self._known) >= MOST_RANGES:
            self._known.clear()
        self._known[new.blocks, new.apart] = new
        return new
