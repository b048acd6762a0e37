"""What is still in question of one attribute: partitions no finer than one, in which some values stay apart.

A partition of a space is determined by its smallest joins: two neighbours for intervals, any two values for sets, all
children of a node for cuts. A partition joins them or keeps them apart, so each question halves what is left, and
questions may be asked in any order. When none is left, the finest and the coarsest partition are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from incrowd.search.optimal.blocks import Apart, Blocks, Labels, first, join, labels_of, parted, together
from incrowd.search.optimal.partitions import Space

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


class Ranges:
    """The ranges of one space, which are remembered."""

    def __init__(self, space: Space) -> None:
        self._space, self._known = space, dict[tuple[Blocks, Apart], Range]()

    def everything(self) -> Range:
        """All partitions of the space."""
        size = self._space.size
        blocks = tuple(1 << position for position in range(size))
        questions = {smallest: self._space.made(blocks, smallest) for smallest in self._space.smallest_joins()}
        return Range(blocks, (0,) * size, questions)

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
        """The partitions of a range that do not make it."""
        pieces = self._space.pieces(smallest)
        apart = parted(old.apart, pieces)
        if (known := self._known.get((old.blocks, apart))) is not None:
            return known

        def is_allowed(block: int) -> bool:
            return sum(block & piece != 0 for piece in pieces) < 2

        questions = {other: made for other, made in old.questions.items() if all(map(is_allowed, made))}
        return self._remembered(Range(old.blocks, apart, questions))

    def _remembered(self, new: Range) -> Range:
        if len(self._known) >= MOST_RANGES:
            self._known.clear()
        self._known[new.blocks, new.apart] = new
        return new
