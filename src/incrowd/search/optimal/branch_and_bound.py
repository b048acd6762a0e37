"""Branch and bound over the partitions of all attributes, bottom-up or top-down, as in the paper.

A node holds a state of each attribute's enumeration tree and the attributes that may still change (applicators). One
of these is chosen: a child moves it on, another one settles it as it is, so every combination has exactly one parent.
Below a node lies nothing finer than its finest partitions and nothing coarser than its coarsest, which gives the bound
of `costs`.

A node is dropped only if no partition below it is allowed and better than the best, which keeps the invariant of
`best_first`; the search ends, since the tree is finite.

The prunings, each of which can be switched off and none of which changes the optimum:

- bound: drop a node whose bound is no better than the best.
- applicators: a join that alone drives the bound over the best is forbidden in the whole subtree.
- useful: use the coarsest partitions below a node: records whose class is not good even there are suppressed for
  sure, which drops the node if suppression is not allowed; what must be generalized to get a release is.
- requeue: look at a node's bound, and look again when its turn comes, before making its children.
- node-order: the node with the lowest bound first, else first come first served.
- applicator-order: attributes with few children first, so that the many children have few attributes left.
- innermost: do not enumerate one attribute, but find its cheapest partition for each combination of the others, and a
  bound where they still may change.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from incrowd.run import Run
from incrowd.search.optimal import PRUNINGS
from incrowd.search.optimal.best_first import BestFirst
from incrowd.search.optimal.blocks import Apart, Labels, blocks_of, join, labels_of, parted, together
from incrowd.search.optimal.costs import Costs
from incrowd.search.optimal.innermost import ask, innermost_of
from incrowd.search.optimal.partitions import Reach

NODE_BYTES = 2_000  # about, with its states
CACHED_CHILDREN = 300_000
LESS_ROOM = 0.8  # of the room below the best; joins are forbidden again when this little is left


@dataclass(slots=True)
class Node:
    """A place in the search tree.

    Args:
        states: Of each attribute.
        active: The attributes that may change below, in order.
        apart: Of each attribute, the values that must not be joined below.
        bound: No cost below is lower.
        room: What the best was above the bound when joins were last forbidden.
        settled: Whether its parent has the same partitions.
        seen: Whether it was evaluated.
    """

    states: tuple[Any, ...]
    active: tuple[int, ...]
    apart: tuple[Apart, ...]
    bound: float
    room: float = np.inf
    settled: bool = False
    seen: bool = False


class TreeSearch(BestFirst[Node]):
    """The paper's search, from the original values up or from the most general ones down."""

    def __init__(
        self,
        costs: Costs,
        limit: int,
        up: bool,
        run: Run,
        prunings: Iterable[str] = PRUNINGS,
        gap: float = 0.0,
        memory: float = 1000,
    ) -> None:
        self._up, self._on = up, frozenset(prunings)
        solved = innermost_of(costs) if "innermost" in self._on else None
        super().__init__(costs, limit, run, gap, int(memory * 1e6 / NODE_BYTES), solved, "node-order" in self._on)
        self._reaches: dict[tuple[int, Any, Apart], Reach] = {}
        self._cached = 0
        self.direction = "bottom-up" if up else "top-down"

    def _root(self) -> Node:
        domains = self.costs.domains
        states = tuple(domain.space.start(self._up) for domain in domains)
        apart = tuple((0,) * domain.space.size for domain in domains)
        active = tuple(index for index in range(len(domains)) if index != self._solved)
        return Node(states, active, apart, 0.0)

    def _hopeless(self, bound: float) -> bool:
        return "bound" in self._on and not self.costs.better(bound, self.best)

    def _visit(self, node: Node) -> None:
        if self._hopeless(node.bound):
            self.pruned += 1
            return
        if not node.seen:
            node.seen = True
            self.visited += 1
            if not self._evaluate(node) or self._hopeless(node.bound):
                self.pruned += 1
                return
            if "requeue" in self._on and not self._stack:
                self._push(node)
                return
        for child in self._children(node):
            self._push(child)

    def _children(self, node: Node) -> Iterable[Node]:
        """Move one attribute on, in all ways, or settle it."""
        if not node.active:
            return
        index = node.active[0]
        if "applicator-order" in self._on:
            index = min(node.active, key=lambda active: (len(self._reach(node, active).children), active))
        rest = tuple(active for active in node.active if active != index)
        if rest:
            yield Node(node.states, rest, node.apart, node.bound, node.room, settled=True)
        for state in self._reach(node, index).children:
            states = (*node.states[:index], state, *node.states[index + 1 :])
            yield Node(states, node.active, node.apart, node.bound, node.room)

    def _reach(self, node: Node, index: int) -> Reach:
        key = (index, node.states[index], node.apart[index])
        if key not in self._reaches:
            if self._cached > CACHED_CHILDREN:
                self._reaches.clear()
                self._cached = 0
            space, up = self.costs.domains[index].space, self._up or index == self._solved  # whose children are unused
            self._reaches[key] = space.reach(node.states[index], node.apart[index], up)
            self._cached += len(self._reaches[key].children) + 10
        return self._reaches[key]

    def _evaluate(self, node: Node) -> bool:
        """Bound a node and offer its partitions; False if nothing below it is allowed and better."""
        fresh = not node.settled
        while True:
            reaches = [self._reach(node, index) for index in range(len(node.states))]
            is_free = [index in node.active or index == self._solved for index in range(len(reaches))]
            fine = [r.fine if free else r.visited for r, free in zip(reaches, is_free, strict=True)]
            coarse = [r.coarse if free else r.visited for r, free in zip(reaches, is_free, strict=True)]
            if "useful" not in self._on:
                coarse = self.costs.everything
            if not self._bound(node, fine, coarse):
                return False
            if fresh:
                apart, solving = node.apart[self._solved or 0], self._innermost is not None
                self._offer([reach.visited for reach in reaches], apart, lowered=solving)
                fresh = False
            if self._hopeless(node.bound) or not self._forbid(node, fine, coarse, is_free):
                return True

    def _bound(self, node: Node, fine: list[Labels], coarse: list[Labels]) -> bool:
        """Raise the bound of a node; whether anything below it may be allowed, and better where that is known."""
        if self._innermost is not None:
            best = self.best if "bound" in self._on else np.inf
            bound = self._innermost.bound(fine, coarse, node.apart[self._innermost.index], best)
            node.bound = max(node.bound, min(bound, self.best))
            return bool(np.isfinite(bound))
        bound, sure = self.costs.between(fine, coarse)
        node.bound = max(node.bound, bound)
        return "useful" not in self._on or sure <= self._limit

    def _forbid(self, node: Node, fine: list[Labels], coarse: list[Labels], is_free: list[bool]) -> bool:
        """Forbid joins that cost too much, where there is so much less room below the best that it may pay.

        Returns:
            Whether anything was forbidden that makes the coarsest partitions finer.
        """
        room = self.best - node.bound
        if "applicators" not in self._on or np.isinf(room) or room > LESS_ROOM * node.room:
            return False
        node.room, before = room, node.apart
        for index, domain in enumerate(self.costs.domains):
            if not is_free[index]:
                continue
            blocks, apart = blocks_of(fine[index].tolist()), node.apart[index]
            for mask in domain.space.smallest_joins():
                made = domain.space.made(blocks, mask)
                if not together(mask, apart) or not set(made).difference(blocks):
                    continue
                ask(self._run)
                labels = labels_of(join((*blocks, *made)), domain.space.size)
                bound, _ = self.costs.between([*fine[:index], labels, *fine[index + 1 :]], coarse)
                if not self.costs.better(bound, self.best):
                    apart = parted(apart, domain.space.pieces(mask))
            node.apart = (*node.apart[:index], apart, *node.apart[index + 1 :])
        return node.apart != before and "useful" in self._on
