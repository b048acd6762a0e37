"""Branch and bound that asks of two values whether they stay together, the question that says most first.

A node holds a range of partitions of each attribute (`ranges`): no finer than one, with some values apart. A question
splits it in two, the partitions that make a join and those that do not, so every combination lies below exactly one of
both. A join raises what the finest partitions cost; keeping values apart makes the coarsest ones finer, which leaves
more records in classes that are not good. Both sides are bounded for every question (strong branching), by the cheapest
partition of the innermost attribute where there is one:

- Where no side can beat the best, the node is dropped; where one cannot, the other one is the answer for all that is
  left, and nothing branches.
- Else the question is asked whose two bounds rise most, by the product of both.

Where the innermost attribute has too many blocks for that (sets of many values), nodes are bounded by `cuts`, which
also say which joins are hopeless, and how much each of the others matters.

A side's bound holds below the node too, since there the ranges are only smaller: what was hopeless stays so. The
invariant is that of `best_first`; the search ends, since every child has a question less.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from incrowd.run import Run
from incrowd.search.optimal import cuts, probes
from incrowd.search.optimal.best_first import BestFirst
from incrowd.search.optimal.blocks import Labels
from incrowd.search.optimal.costs import Costs
from incrowd.search.optimal.cuts import CutBounds, Cuts
from incrowd.search.optimal.innermost import Innermost, most_even
from incrowd.search.optimal.partitions import TreeSpace
from incrowd.search.optimal.probes import Probes, Sides
from incrowd.search.optimal.ranges import Range, Ranges

NODE_BYTES = 10_000  # about, with what is known of its questions
CUT_BYTES = 20_000  # about, of the cuts of a node, which two children share

Question = tuple[int, int]  # attribute, smallest join
UNKNOWN: Sides = (0.0, 0.0)
MOST_OFFERED = 20_000  # remembered
ONE_BY_ONE = 5  # times as long as with probes is what a question takes without
LITTLE_DOUBT = 0.01  # of a join that is surely made, or surely not
FEW = 3.0  # power of the blocks of an attribute: those with few blocks are asked first, since they change most
RISE = 1e-6  # of a bound: what a side counts as at least, where bounds do not rise


@dataclass(slots=True)
class Node:
    """A place in the search tree.

    Args:
        ranges: Of each attribute.
        bound: No cost below is lower.
        known: Bounds of both sides of questions, from above.
        cuts: Those that bounded its parent, if it was bounded by cuts.
    """

    ranges: tuple[Range, ...]
    bound: float
    known: Mapping[Question, Sides] = field(default_factory=dict)
    cuts: Cuts | None = None


def is_best(costs: Costs) -> bool:
    """Whether this search is the fastest: where an attribute can be solved, and sets can be bounded well."""
    solved = most_even(costs)
    spaces = [domain.space for domain in costs.domains]
    sets = any(isinstance(space, TreeSpace) and space.mode == "set" for space in spaces)
    return solved is not None and (probes.fits(costs, solved) or not sets or cuts.fits(costs, solved))


class PairSearch(BestFirst[Node]):
    """A search by questions.

    Args:
        costs: What is to be low.
        limit: Records that may be suppressed.
        run: Gets the progress; when it is over, the best so far stays.
        gap: Stop when the best is within this share of the bound.
        memory: Megabytes that waiting nodes may take.
    """

    direction = "pairs"

    def __init__(self, costs: Costs, limit: int, run: Run, gap: float = 0.0, memory: float = 1000) -> None:
        self._solved = most_even(costs)
        self._by_probes = self._solved is not None and probes.fits(costs, self._solved)
        self._by_cuts = not self._by_probes and cuts.fits(costs, self._solved)
        each = NODE_BYTES + CUT_BYTES if self._by_cuts else NODE_BYTES
        super().__init__(costs, limit, run, gap, int(memory * 1e6 / each))
        self._ranges = [Ranges(domain.space) for domain in costs.domains]
        self._innermost: Innermost | None = None
        self._probes: Probes | None = None
        self._cuts: CutBounds | None = None
        self._offered: set[bytes] = set()

    def _root(self) -> Node:
        return Node(tuple(ranges.everything() for ranges in self._ranges), 0.0)

    def _prepare(self) -> None:
        if self._solved is not None:
            self._innermost = Innermost(self.costs, self._solved, self._limit, self._run)
            if self._by_probes:
                self._probes = Probes(self.costs, self._innermost, self._limit, self._ranges, self._run)
            elif self._by_cuts:
                self._cuts = CutBounds(self.costs, self._limit, self._run)

    def _hopeless(self, bound: float) -> bool:
        return not self.costs.better(bound, self.best)

    def _effort(self, node: Node) -> int:
        each = 1 if self._probes is not None else ONE_BY_ONE
        return super()._effort(node) + each * sum(1 for _ in self._questions(node))

    def _visit(self, node: Node) -> None:
        if self._hopeless(node.bound):
            self.pruned += 1
            return
        self.visited += 1
        if self._cuts is None:
            self._offer([known.fine for known in node.ranges])
            self._offer([known.coarse for known in node.ranges])
            question = self._asked(node)
        else:
            question = self._asked_by_cuts(self._cuts, node)
        if question is None:
            self.pruned += 1
            return
        for side, bound in enumerate(node.known[question]):
            child = self._answered(node.ranges, question, side)
            self._push(Node(child, max(bound, node.bound), node.known, node.cuts))

    def _asked(self, node: Node) -> Question | None:
        """The question to ask; None if nothing is left to be asked. Answers on the way what can be answered."""
        known = dict(node.known)
        again = True
        while again:
            again = False
            for question, bounds in self._probed(node, known):
                before = known.get(question, UNKNOWN)
                sides = known[question] = (max(bounds[0], before[0]), max(bounds[1], before[1]))
                join, part = map(self._hopeless, sides)
                if join and part:
                    return None
                if (join or part) and question[1] in node.ranges[question[0]].questions:
                    node.ranges = self._answered(node.ranges, question, int(join))
                    node.bound = max(node.bound, sides[int(join)])
                    again = self._probes is not None
            if self._hopeless(node.bound):
                return None
        node.known = known
        left = list(self._questions(node))
        if not left:
            self._offer([of.fine for of in node.ranges])
            return None
        return max(left, key=lambda asked: self._rise(node, known[asked]))

    def _asked_by_cuts(self, bounds: CutBounds, node: Node) -> Question | None:
        """The same by cuts: a join of which they say little, that costs much, of an attribute with few blocks."""
        known = bounds.known(node.ranges, node.cuts, self.best)
        node.bound, node.cuts = max(node.bound, float(known.bound)), known.cuts
        if self._hopeless(node.bound):
            return None
        for index, one, other in known.hopeless.tolist():
            if (question := 1 << one | 1 << other) in node.ranges[index].questions:
                node.ranges = self._answered(node.ranges, (index, question), 1)
        is_asked = known.open[:, 0] != self._solved
        if not is_asked.any():
            self._offer([of.fine for of in node.ranges])
            return None
        joins, prices = known.open[is_asked], known.prices[is_asked]
        doubt = np.clip(np.minimum(prices, 1 - prices), LITTLE_DOUBT, None)
        blocks = np.array([len(of.blocks) for of in node.ranges])[joins[:, 0]]
        index, one, other = joins[(doubt * (known.costs[is_asked] + 1) / blocks**FEW).argmax()].tolist()
        asked = index, 1 << one | 1 << other
        node.known = {asked: (node.bound, node.bound)}
        return asked

    def _probed(self, node: Node, known: Mapping[Question, Sides]) -> Iterator[tuple[Question, Sides]]:
        """The questions of a node, and the bounds of both of their sides; all at once, or one after the other."""
        if self._probes is None:
            for question in sorted(self._questions(node), key=lambda q: -self._rise(node, known.get(q, UNKNOWN))):
                if question[1] in node.ranges[question[0]].questions:  # not answered by another one
                    yield question, self._sides(node, question, known.get(question, UNKNOWN))
            return
        ranges = node.ranges
        lines = self._probes.lines(ranges)
        node.bound = max(node.bound, self._probes.bound(lines, self.best))
        for index in range(len(ranges)):
            if index != self._solved and not self._hopeless(node.bound):
                for smallest, sides in self._probes.sides(ranges, lines, index, self.best):
                    yield (index, smallest), sides

    def _sides(self, node: Node, question: Question, known: Sides) -> Sides:
        """Bounds of both sides of a question, unless what is known of them is enough."""
        if any(map(self._hopeless, known)):
            return known
        join, part = (self._bound(self._answered(node.ranges, question, side)) for side in (0, 1))
        return max(join, node.bound), max(part, node.bound)

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
            bound = self._innermost.bound(fine, coarse, ranges[self._innermost.index].apart, self.best)
            return np.inf if bound is None else bound
        known = self.costs.between(fine, coarse)
        return np.inf if known.sure > self._limit else known.bound

    def _offer(self, partitions: list[Labels]) -> None:
        """Offer partitions with the cheapest one of the innermost attribute, once: a child has some of its parent."""
        key = b"".join(labels.tobytes() for index, labels in enumerate(partitions) if index != self._solved)
        if key in self._offered:
            return
        if len(self._offered) >= MOST_OFFERED:
            self._offered.clear()
        self._offered.add(key)
        if self._innermost is not None:
            index = self._innermost.index
            labels = self._innermost.cheapest(partitions, (0,) * len(partitions[index]), self.best)
            if labels is None:
                return
            partitions = [*partitions[:index], labels, *partitions[index + 1 :]]
        cost, suppressed = self.costs.of(partitions)
        if suppressed <= self._limit:
            self._offer_lowered(cost, partitions)
