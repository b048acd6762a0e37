"""Branch and bound that asks of two values whether they stay together, the question that says most first.

A node holds a range of partitions of each attribute (`ranges`): no finer than one, with some values apart. A question
splits it in two, the partitions that make a join and those that do not, so every combination lies below exactly one of
both. A join raises what the finest partitions cost; keeping values apart makes the coarsest ones finer, which leaves
more records in classes that are not good. Both sides are bounded for every question (strong branching), by the cheapest
partition of the innermost attribute where one can be solved:

- Where no side can beat the best, the node is dropped; where one cannot, the other one is the answer for all that is
  left, and nothing branches.
- Else the question is asked whose two bounds rise most, by the product of both.

A side's bound holds below the node too, since there the ranges are only smaller: what was hopeless stays so. The
invariant is that of `best_first`; the search ends, since every child has a question less.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from incrowd.run import Run
from incrowd.search.optimal.best_first import BestFirst
from incrowd.search.optimal.blocks import Labels
from incrowd.search.optimal.costs import Costs
from incrowd.search.optimal.innermost import ask, innermost_of
from incrowd.search.optimal.ranges import Range, Ranges

NODE_BYTES = 10_000  # about, with what is known of its questions

Question = tuple[int, int]  # attribute, smallest join
Sides = tuple[float, float]  # bounds of making a join, and of keeping its values apart
UNKNOWN: Sides = (0.0, 0.0)
MOST_OFFERED = 20_000  # remembered
EFFORT = 5  # times the rows that a question looks at, about
RISE = 1e-6  # of a bound: what a side counts as at least, where bounds do not rise


@dataclass(slots=True)
class Node:
    """A place in the search tree.

    Args:
        ranges: Of each attribute.
        bound: No cost below is lower.
        known: Bounds of both sides of questions, from above.
    """

    ranges: tuple[Range, ...]
    bound: float
    known: Mapping[Question, Sides] = field(default_factory=dict)


class PairSearch(BestFirst[Node]):
    """A search by questions."""

    direction = "pairs"

    def __init__(self, costs: Costs, limit: int, run: Run, gap: float = 0.0, memory: float = 1000) -> None:
        super().__init__(costs, limit, run, gap, int(memory * 1e6 / NODE_BYTES), innermost_of(costs))
        self._ranges = [Ranges(domain.space) for domain in costs.domains]
        self._offered: set[bytes] = set()

    def _root(self) -> Node:
        return Node(tuple(ranges.everything() for ranges in self._ranges), 0.0)

    def _hopeless(self, bound: float) -> bool:
        return not self.costs.better(bound, self.best)

    def _effort(self, node: Node) -> int:
        return super()._effort(node) + EFFORT * sum(1 for _ in self._questions(node))

    def _visit(self, node: Node) -> None:
        if self._hopeless(node.bound):
            self.pruned += 1
            return
        self.visited += 1
        self._offer_once([known.fine for known in node.ranges])
        self._offer_once([known.coarse for known in node.ranges])
        question = self._asked(node)
        if question is None:
            self.pruned += 1
            return
        for side, bound in enumerate(node.known[question]):
            child = self._answered(node.ranges, question, side)
            self._push(Node(child, max(bound, node.bound), node.known))

    def _asked(self, node: Node) -> Question | None:
        """The question to ask; None if nothing is left to be asked. Answers on the way what can be answered."""
        known = dict(node.known)
        for question in sorted(self._questions(node), key=lambda q: -self._rise(node, known.get(q, UNKNOWN))):
            index, smallest = question
            if smallest not in node.ranges[index].questions:  # answered by another one
                continue
            ask(self._run)
            known[question] = self._sides(node, question, known.get(question, UNKNOWN))
            join, part = map(self._hopeless, known[question])
            if join and part:
                return None
            if join or part:
                node.ranges = self._answered(node.ranges, question, int(join))
                node.bound = max(node.bound, known[question][int(join)])
        if self._hopeless(node.bound):
            return None
        node.known = known
        left = list(self._questions(node))
        if not left:
            self._offer_once([of.fine for of in node.ranges])
            return None
        return max(left, key=lambda asked: self._rise(node, known[asked]))

    def _sides(self, node: Node, question: Question, known: Sides) -> Sides:
        """Bounds of both sides of a question, unless what is known of them is enough."""
        if any(map(self._hopeless, known)):
            return known
        join, part = (self._bound(self._answered(node.ranges, question, side)) for side in (0, 1))
        return max(join, known[0], node.bound), max(part, known[1], node.bound)

    def _questions(self, node: Node) -> Iterator[Question]:
        """What is left to be asked, of all attributes but the one that is solved."""
        for index, known in enumerate(node.ranges):
            if index != self._solved:
                yield from ((index, smallest) for smallest in known.questions)

    def _rise(self, node: Node, sides: Sides) -> float:
        """How much two bounds rise above that of a node, as a product."""
        little = RISE * max(1.0, node.bound)
        join, part = (max(side - node.bound, little) for side in sides)
        return join * part

    def _answered(self, ranges: tuple[Range, ...], question: Question, side: int) -> tuple[Range, ...]:
        """The ranges after a question is answered: 0 makes the join, 1 keeps its values apart."""
        index, smallest = question
        of = self._ranges[index]
        new = of.parted(ranges[index], smallest) if side else of.joined(ranges[index], smallest)
        return (*ranges[:index], new, *ranges[index + 1 :])

    def _bound(self, ranges: tuple[Range, ...]) -> float:
        """No allowed cost within some ranges is lower; infinite if none is better than the best."""
        fine, coarse = [of.fine for of in ranges], [of.coarse for of in ranges]
        if self._innermost is not None:
            return self._innermost.bound(fine, coarse, ranges[self._innermost.index].apart, self.best)
        bound, sure = self.costs.between(fine, coarse)
        return np.inf if sure > self._limit else bound

    def _offer_once(self, partitions: list[Labels]) -> None:
        """Offer partitions with the cheapest one of the innermost attribute, once: a child has some of its parent."""
        key = b"".join(labels.tobytes() for index, labels in enumerate(partitions) if index != self._solved)
        if key in self._offered:
            return
        if len(self._offered) >= MOST_OFFERED:
            self._offered.clear()
        self._offered.add(key)
        self._offer(partitions, (0,) * self.costs.width)
