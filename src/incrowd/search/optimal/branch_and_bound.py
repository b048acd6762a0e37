"""Branch and bound over the partitions of all attributes, bottom-up or top-down.

A node holds a state of each attribute's enumeration tree and the attributes that may still change (applicators). One
of these is chosen: a child moves it on, another one settles it as it is, so every combination has exactly one parent.
Below a node lies nothing finer than its finest partitions and nothing coarser than its coarsest, which gives the bound
of `costs`.

A node is dropped only if no partition below it is allowed and better than the best, which keeps the invariant of
`best_first`; the search ends, since the tree is finite.

The prunings, each of which can be switched off and none of which changes the optimum:

- bound: drop a node whose bound is no better than the best.
- applicators: joining two values that alone drives the bound over the best is forbidden in the whole subtree.
- useful: use the coarsest partitions below a node: records whose class is not good even there are suppressed for
  sure, which drops the node if suppression is not allowed; what must be generalized to get a release is.
- requeue: look at a node's bound, and look again when its turn comes, before making its children.
- node-order: the node with the lowest bound first, else first come first served.
- applicator-order: attributes with few children first, so that the many children have few attributes left.
- innermost: do not enumerate the attribute with most partitions, but find its cheapest one for each combination of the
  others, and a bound where they still may change.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from incrowd.run import Run
from incrowd.search.optimal import PRUNINGS
from incrowd.search.optimal.best_first import BestFirst
from incrowd.search.optimal.blocks import Apart, Labels
from incrowd.search.optimal.costs import Bound, Classes, Costs
from incrowd.search.optimal.innermost import Innermost, innermost_of
from incrowd.search.optimal.partitions import Reach
from incrowd.table.grouping import Floats

NODE_BYTES = 2_000  # about, with its states
CACHED_CHILDREN = 300_000
LESS_ROOM = 0.8  # of the room below the best; joins are forbidden again when so little is left


@dataclass(slots=True)
class Node:
    """A place in the search tree.

    Args:
        states: Of each attribute.
        active: The attributes that may change below, in order.
        apart: Of each attribute, the values that must not be joined below.
        bound: No cost below is lower.
        room: What the best was above the bound when joins were last forbidden.
        settled: Whether its parent stands for the same partitions.
        seen: Whether it was evaluated.
    """

    states: tuple[Any, ...]
    active: tuple[int, ...]
    apart: tuple[Apart, ...]
    bound: float
    room: float = np.inf
    settled: bool = False
    seen: bool = False


def solved_of(costs: Costs, prunings: Collection[str]) -> int | None:
    """The attribute that a search with these prunings solves instead of enumerating it."""
    return innermost_of(costs) if "innermost" in prunings else None


class Search(BestFirst[Node]):
    """A branch and bound search; `run` it, then read `best`, `bound` and the counts.

    Args:
        costs: What is to be low.
        limit: Records that may be suppressed.
        up: Whether from the original values up.
        run: Gets the progress; when it is over, the best so far stays.
        prunings: The names of those that are on.
        gap: Stop when the best is within this share of the bound.
        memory: Megabytes that waiting nodes may take.
    """

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
        super().__init__(costs, limit, run, gap, int(memory * 1e6 / NODE_BYTES), "node-order" in self._on)
        self._reaches: dict[tuple[int, Any, Apart], Reach] = {}
        self._cached = 0
        self._solved = solved_of(costs, self._on)
        self._innermost: Innermost | None = None
        self.direction = "bottom-up" if up else "top-down"

    def _root(self) -> Node:
        domains = self.costs.domains
        states = tuple(domain.space.start(self._up) for domain in domains)
        apart = tuple((0,) * domain.space.size for domain in domains)
        active = tuple(index for index in range(len(domains)) if index != self._solved)
        return Node(states, active, apart, 0.0)

    def _prepare(self) -> None:
        if self._solved is not None:
            self._innermost = Innermost(self.costs, self._solved, self._limit, self._run)

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
            space = self.costs.domains[index].space
            solved = self._innermost is not None and index == self._innermost.index  # nobody asks for its children
            self._reaches[key] = space.reach(node.states[index], node.apart[index], self._up or solved)
            self._cached += len(self._reaches[key].children) + 10
        return self._reaches[key]

    def _evaluate(self, node: Node) -> bool:
        """Bound a node and offer what it stands for; False if nothing below it is allowed and better."""
        fresh = not node.settled
        while True:
            reaches = [self._reach(node, index) for index in range(len(node.states))]
            free = [index in self._free(node) for index in range(len(reaches))]
            fine = [r.fine if on else r.visited for r, on in zip(reaches, free, strict=True)]
            coarse = [r.coarse if on else r.visited for r, on in zip(reaches, free, strict=True)]
            visited = [reach.visited for reach in reaches]
            if self._innermost is not None:
                if not self._bound_innermost(node, fine, coarse):
                    return False
                if fresh:
                    self._offer_cheapest(node, visited)
                if not self._is_time_to_forbid(node):
                    return True
            known = self.costs.between(fine, coarse if "useful" in self._on else None)
            if fresh and self._innermost is None:
                self._offer(known.classes if self._up else None, visited)
            fresh = False
            if "useful" in self._on and known.sure > self._limit:
                return False
            node.bound = max(node.bound, known.bound)
            if self._hopeless(node.bound) or not self._forbid(node, fine, coarse, known):
                return True

    def _free(self, node: Node) -> tuple[int, ...]:
        """The attributes that are not fixed."""
        return node.active if self._innermost is None else (*node.active, self._innermost.index)

    def _is_time_to_forbid(self, node: Node) -> bool:
        """Whether there is so much less room below the best than when joins were last forbidden that it may pay."""
        room = self.best - node.bound
        if not room <= LESS_ROOM * node.room:
            return False
        node.room = room
        return True

    def _bound_innermost(self, node: Node, fine: list[Labels], coarse: list[Labels]) -> bool:
        """Raise the bound to what the innermost attribute costs at least; whether that leaves anything."""
        assert self._innermost is not None
        apart, best = node.apart[self._innermost.index], self.best if "bound" in self._on else np.inf
        bound = self._innermost.bound(fine, coarse if "useful" in self._on else self.costs.everything, apart, best)
        node.bound = max(node.bound, self.best if bound is None else bound)
        return bound is not None

    def _offer_cheapest(self, node: Node, partitions: list[Labels]) -> None:
        assert self._innermost is not None
        index = self._innermost.index
        labels = self._innermost.cheapest(partitions, node.apart[index], self.best)
        if labels is not None:
            self._offer(None, [*partitions[:index], labels, *partitions[index + 1 :]])

    def _offer(self, classes: Classes | None, partitions: list[Labels]) -> None:
        cost, suppressed = self.costs.of(partitions, classes)
        if suppressed <= self._limit:
            (self.offer if self._innermost is None else self._offer_lowered)(cost, partitions)

    def _forbid(self, node: Node, fine: list[Labels], coarse: list[Labels], known: Bound) -> bool:
        """Raise the bound by what bad classes cost, and forbid to join values where that is too much.

        Returns:
            Whether anything was forbidden that was not before.
        """
        if "applicators" not in self._on:
            return False
        costs = self.costs
        shares = {index: costs.shares(fine, known, index) for index in self._free(node)}
        charged, used = 0.0, np.zeros((len(fine), costs.width))
        if self._innermost is None:  # else its bound is better, and this one takes too long
            joint = self._joint(node, fine, coarse, shares)
            charged, used = costs.charges(fine, coarse, known, joint, self._limit, self._run)
        node.bound = max(node.bound, known.bound + charged)
        if self._hopeless(node.bound):
            return False
        apart, below = list(node.apart), costs.below(self.best)
        for index, share in shares.items():
            if share is None:
                continue
            labels = fine[index]
            left = share - used[index, : len(labels), None]
            too_much = known.bound + charged + left + left.T >= below
            bad = too_much[labels][:, labels] & (labels[:, None] != labels)
            apart[index] = tuple(old | new for old, new in zip(apart[index], _masks(bad), strict=True))
        changed = tuple(apart) != node.apart
        node.apart = tuple(apart)
        return changed and "useful" in self._on

    def _joint(
        self, node: Node, fine: list[Labels], coarse: list[Labels], shares: Mapping[int, Floats | None]
    ) -> Floats:
        """What joining two blocks costs at least: attributes x labels x labels, infinite where they stay apart."""
        joint = np.full((len(fine), self.costs.width, self.costs.width), np.inf)
        for index, share in shares.items():
            size = len(fine[index])
            if share is None:
                joint[index, :size, :size] = 0.0
                continue
            price = share if self.costs.cost == "ncp" else share + share.T
            joint[index, :size, :size] = np.where(_free(fine[index], coarse[index], node.apart[index]), price, np.inf)
        return joint


def _masks(matrix: Any) -> list[int]:
    """The rows of a matrix of truth values as bit masks."""
    return [int.from_bytes(row.tobytes(), "little") for row in np.packbits(matrix, axis=1, bitorder="little")]


def _free(labels: Labels, coarse: Labels, apart: Apart) -> Any:
    """Which labels (rows and columns) stand for blocks that may be merged."""
    size = len(labels)
    width = (size + 7) // 8
    rows = np.frombuffer(b"".join(mask.to_bytes(width, "little") for mask in apart), np.uint8).reshape(size, width)
    free = np.unpackbits(rows, axis=1, count=size, bitorder="little") == 0
    free &= coarse[:, None] == coarse
    firsts = labels == np.arange(size)
    free &= firsts[:, None] & firsts
    np.fill_diagonal(free, False)
    return free
