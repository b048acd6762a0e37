"""What is still in question of one attribute: partitions no finer than one, in which some values stay apart.

Every partition of a space is told by its smallest joins: two neighbours for intervals, any two values for sets, all
children of a node for cuts. A partition joins them or keeps them apart, so each question halves what is left, and
questions may be asked in any order. When none is left, the finest and the coarsest partition are the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from incrowd.search.optimal.blocks import Apart, Blocks, Labels, bits, first, join, labels_of, together
from incrowd.search.optimal.partitions import Space

MOST_RANGES = 20_000  # remembered


@dataclass(frozen=True)
class Range:
    """Partitions of one attribute.

    Args:
        blocks: Those of the finest partition.
        apart: Of each position, the positions that it shares no block with.
        fine: Labels of the finest partition.
        coarse: Labels of one that is no finer than any.
        questions: The smallest joins that some of the partitions have and others do not.
    """

    blocks: Blocks
    apart: Apart
    fine: Labels = field(compare=False)
    coarse: Labels = field(compare=False)
    questions: tuple[int, ...] = field(compare=False)


class Ranges:
    """The ranges of one space.

    Args:
        space: The space.
    """

    def __init__(self, space: Space) -> None:
        self._space, self._known = space, dict[tuple[Blocks, Apart], Range]()
        self._joins = tuple(space.smallest_joins())

    def everything(self) -> Range:
        """All partitions of the space."""
        size = self._space.size
        return self._range(tuple(1 << position for position in range(size)), (0,) * size)

    def joined(self, old: Range, smallest: int) -> Range:
        """The partitions of a range that make one of its smallest joins."""
        made = self.made(old, smallest)
        blocks = [block for block in old.blocks if not any(block & new for new in made)]
        return self._range(tuple(sorted((*blocks, *made), key=first)), old.apart)

    def made(self, old: Range, smallest: int) -> Blocks:
        """The blocks that one of its smallest joins makes of those of the finest partition of a range."""
        return self._space.made(old.blocks, smallest)

    def parted(self, old: Range, smallest: int) -> Range:
        """The partitions of a range that do not."""
        apart = list(old.apart)
        for piece in self._space.pieces(smallest):
            for position in bits(piece):
                apart[position] |= smallest & ~piece
        return self._range(old.blocks, tuple(apart))

    def _range(self, blocks: Blocks, apart: Apart) -> Range:
        if (blocks, apart) not in self._known:
            if len(self._known) >= MOST_RANGES:
                self._known.clear()
            self._known[blocks, apart] = self._new(blocks, apart)
        return self._known[blocks, apart]

    def _new(self, blocks: Blocks, apart: Apart) -> Range:
        block_of = {position: block for block in blocks for position in bits(block)}
        questions: list[int] = []
        grown: list[int] = []
        for smallest in self._joins:
            if smallest & ~block_of[first(smallest)] == 0:
                continue
            new = self._space.made(blocks, smallest)
            if all(together(block, apart) for block in new):
                questions.append(smallest)
                grown += new
        size = self._space.size
        coarse = labels_of(join((*blocks, *grown)), size)
        return Range(blocks, apart, labels_of(blocks, size), coarse, tuple(questions))
