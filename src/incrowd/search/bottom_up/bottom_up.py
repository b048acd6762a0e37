"""Bottom-up generalization (BUG): from the values themselves up, the cheapest generalization first.

The search starts with every value as itself. As long as a quasi-identifier does not hold, it performs the valid
generalization {c} -> p that loses least information per anonymity gained, IP(G) = I(G) / P(G); where none gains
anonymity, the one that loses least, I(G). A generalization is valid if everything below each c has been generalized
to c. P(G) is by how much it raises the worst level of a privacy model, counted up to its threshold, so that more
anonymity than asked for is worth nothing; with k-anonymity that is the size of the smallest class, counted up to k.
With several models, or several quasi-identifiers, P(G) is the sum over them; attributes of which every quasi-identifier
holds are left alone.

I(G) depends on the histogram of one attribute only and is known for all generalizations beforehand. P(G) depends on the
classes, and is worked out for critical generalizations only: by Theorem 1 of the paper at most one per attribute (and
model) can raise the worst level, since it must touch every class of that level. Without `pruning` P(G) is worked out
for every valid generalization; the steps are the same. A step reads the classes that it touches.

Invariant: after every step each attribute is a cut of its tree, and no level is worse than before. The search ends,
since each step shrinks a cut, and ends with the policy satisfied, since at the top all records are one class. States
on the way do not satisfy it; they can be looked at, not written.

With `tighten`, generalizations that later ones made needless are taken back at the end, so that none of what is left
could be; the paper leaves them as they are.

With `partial`, children of a node of a given taxonomy need not generalize all at once: two of them, or groups of them,
become a group `{a, b}` while the others stay. With `suppress_values`, rare values become `*` by themselves. Both are
extensions that the paper names. They change the trees and nothing else; see `generalization_trees`. A greedy search can
be led astray by them, so groups, and then the rare values of one column after the other by name, are kept only where
the search loses less with them than without.

A budget (`suppress`) ends the search as soon as leaving out the records of bad classes stays within that share. What is
released then can lose more than without a budget, so that is searched too, and the release that loses less is taken.
What withholding values of left-out records adds to these may exceed the budget, with models that are not upward closed;
then nobody is left out.

Ties are broken by the name of the attribute, then by the order of its values. What is compared is exact: I(G) of cells
is a fraction, and `search.exact` says when two values with logarithms are equal.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from math import fsum
from typing import Literal

import numpy as np

from incrowd.errors import InfeasibleError, PolicyError
from incrowd.privacy.model import Requirements, with_suppression
from incrowd.recodings.replay import describe, replayed
from incrowd.recodings.steps import Change, Step, TakeBack
from incrowd.run import Run
from incrowd.search.bottom_up.class_index import ClassIndex, Merge
from incrowd.search.bottom_up.losses import Losses, ranks
from incrowd.search.bottom_up.problem import Problem, rare_values
from incrowd.search.bottom_up.tighten import Grouping, Tightening
from incrowd.search.costs import cost_of, weighed_cost
from incrowd.search.exact import RELATIVE, choose, comparable, contenders
from incrowd.search.leaving_out import budget_of, compared, records_left_out, suppressed, withhold
from incrowd.search.limits import BELOW_TOP
from incrowd.search.method import SearchResult
from incrowd.search.priorities import weights_by_name
from incrowd.table.attributes import TaxonomyAttribute
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, sort_tuples
from incrowd.taxonomies.levels import above

Information = Literal["entropy", "weighted", "ncp"]


def bottom_up(
    table: CompressedTable,
    requirements: Requirements,
    run: Run,
    *,
    information: Information | None = None,
    pruning: bool = True,
    suppress: float = 0.0,
    tighten: bool = False,
    restarts: int = 0,
    priorities: Mapping[str, float] | None = None,
    partial: bool = False,
    suppress_values: float = 0.0,
) -> SearchResult:
    """Search from the bottom; with several searches steps are reported once the best is known.

    By default what is lost is "weighted" information with a target: what few records lose counts little then, and both
    the target and the cells keep more.
    """
    for requirement in requirements if suppress else ():
        with_suppression(requirement.models)
    if information is None:
        information = "weighted" if table.has_target else "ncp"
    if information != "ncp" and not table.has_target:
        raise PolicyError(f"The 'information' parameter must be ncp when there is no target. Got {information!r}.")
    budget = min(budget_of(table, suppress), table.records - 1)
    rare = rare_values(table, requirements, Fraction(str(suppress_values)))
    several = bool(restarts or partial or rare or budget)
    weights = weights_by_name([attribute.name for attribute in table.attributes], priorities)
    found: list[SearchResult] = []
    for most in dict.fromkeys((0, budget)):  # who leaves out nobody may lose less
        problem = Problem(table, requirements, information, most, weights)
        ways = _Ways(restarts, partial, rare, pruning, tighten)
        try:
            best, tried = _best_way(problem, run, ways, report=not several)
        except InfeasibleError:  # as can be where columns have a highest level
            if most == budget and not found:
                raise
            continue
        recoding = replayed(table.attributes, best.steps, "specific")
        recoding, _ = withhold(table, requirements, recoding, best.suppressed)
        if (left_out := records_left_out(table, recoding)) > most:
            continue
        facts = {"information": information, "information_lost": best.lost, "generalizations_tried": tried}
        found.append(SearchResult(recoding, tuple(best.steps), "specific", {**facts, "suppressed_records": left_out}))
    if information == "ncp":
        result = min(found, key=lambda each: weighed_cost(table, each.recoding, priorities))
    else:
        result = min(found, key=lambda each: cost_of(table, each.recoding))
    for step in result.steps if several else ():
        run.check()
        run.step(step)
    return result


@dataclass(frozen=True)
class _Ways:
    restarts: int
    partial: bool
    rare: Mapping[str, tuple[int, ...]]
    pruning: bool
    tighten: bool


def _best_way(problem: Problem, run: Run, ways: _Ways, *, report: bool) -> tuple[_Search, int]:
    """The search that loses least of all that were asked for, and the generalizations that they tried."""
    best = _Search(problem, run).search(ways.pruning, ways.tighten, report=report)
    tried = best.tried

    def attempt(problem: Problem, random: np.random.Generator | None = None) -> None:
        nonlocal best, tried
        another = _Search(problem, run, random).search(ways.pruning, ways.tighten, report=False)
        tried += another.tried
        best = another if another.loses_less_than(best) else best

    names = (*[None] * ways.partial, *sorted(ways.rare))  # groups first, then rare values column by column
    for number, name in enumerate(names, 1):
        run.amount(number, len(names), "ways to part values")
        known = best.problem
        rare = known.rare if name is None else {**known.rare, name: ways.rare[name]}
        attempt(replace(known, groups=known.groups or name is None, rare=rare))
    problem = best.problem
    for restart in range(1, ways.restarts + 1):
        run.amount(restart, ways.restarts, "restarts")
        attempt(problem, np.random.default_rng(run.key.number("restarts", restart)))
    return best, tried


@dataclass(frozen=True)
class _Best:
    """The generalization to perform next, tried out where that was needed."""

    attribute: int
    node: int
    gain: float
    score: float
    merges: dict[int, Merge]


class _Search:
    def __init__(self, problem: Problem, run: Run, random: np.random.Generator | None = None) -> None:
        self.problem = problem
        self._run = run
        self._factors = problem.factors(random)
        lost = zip(problem.losses, self._factors, strict=True)
        self._information = [loss.information * factors for loss, factors in lost]
        self._errors = [loss.error * factors for loss, factors in zip(problem.losses, self._factors, strict=True)]
        self._ranks = ranks(problem.losses, self._information, self._errors, self._exact_information)
        self._classes = problem.indexes()
        self._names = [attribute.name for attribute in problem.table.attributes]
        self._done = [np.zeros(len(tree.parent), bool) for tree in problem.trees]
        self._waiting_for = [np.array([len(below) for below in tree.children]) for tree in problem.trees]
        self._valid: list[set[int]] = [set() for _ in problem.trees]
        self._outside = [
            above(each.taxonomy, each.top) if isinstance(each, TaxonomyAttribute) else frozenset[int]()
            for each in problem.table.attributes
        ]
        self._queue: list[tuple[int, str, int, int, int]] = []
        for index, tree in enumerate(problem.trees):
            for leaf in tree.leaves.tolist():
                self._reached(index, leaf)
        self.steps: list[Step] = []
        self.tried = 0
        self.suppressed = np.zeros(len(problem.table.counts), bool)

    def _exact_information(self, attribute: int, node: int) -> Fraction:
        information, factor = self.problem.losses[attribute].exact_information(node), self._factors[attribute][node]
        return information if factor == 1 else information * Fraction(float(factor))

    @property
    def lost(self) -> float:
        """What was lost in all, for people to read."""
        shares = zip(self.problem.losses, self._done, strict=True)
        return round(fsum(chain.from_iterable(loss.share[done].tolist() for loss, done in shares)), 12)

    def loses_less_than(self, other: _Search) -> bool:
        """Whether the result lost less; a record that is left out has lost everything that there was to lose."""
        losses = self.problem.losses
        weights = list(self._differences(other))
        if left_out := Fraction(self._left_out - other._left_out, self.problem.table.records):
            weights += [(loss, node, left_out) for loss in losses for node in loss.nodes.tolist()]
        difference = fsum(float(weight) * float(loss.share[node]) for loss, node, weight in weights)
        if abs(difference) > RELATIVE:
            return difference < 0
        exact = sum((loss.exact_share(node) * weight for loss, node, weight in weights), Fraction(0))
        return comparable(exact, losses[0].decimals) < 0

    def _differences(self, other: _Search) -> Iterator[tuple[Losses, int, Fraction]]:
        """The generalizations that only one of two searches has performed: 1 for this one, -1 for the other one."""
        for sign, one, another in ((1, self, other), (-1, other, self)):
            for index, loss in enumerate(one.problem.losses):
                same = one.problem.trees[index] is another.problem.trees[index]
                done = one._done[index] & ~another._done[index] if same else one._done[index]
                yield from ((loss, node, Fraction(sign)) for node in np.flatnonzero(done).tolist())

    @property
    def _left_out(self) -> int:
        return int(self.problem.table.counts[self.suppressed].sum())

    def search(self, pruning: bool, tighten: bool, *, report: bool) -> _Search:
        """Generalize until the policy is satisfied, and tighten what was found."""
        for step in chain(self._generalize(pruning), self._tighten() if tighten else ()):
            self.steps.append(step)
            self._run.check()
            if report:
                self._run.step(step)
        return self

    def _generalize(self, pruning: bool) -> Iterator[Step]:
        while not self._satisfied():
            if (best := self._best(pruning)) is None:  # nothing else can be generalized
                raise InfeasibleError(BELOW_TOP)
            yield self._perform(best)

    def _tighten(self) -> Iterator[Step]:
        kept = np.flatnonzero(~self.suppressed)
        table, trees, lost = self.problem.table, self.problem.trees, self.problem.losses
        number = np.maximum(np.cumsum(~self.suppressed) - 1, 0)
        tuples = table.class_counts(number, len(kept), ~self.suppressed)
        groupings = [
            Grouping(each.attributes, requirement, self._groups(each)[kept], tuples)
            for each, requirement in zip(
                self._classes, compared(self.problem.requirements, table, ~self.suppressed), strict=True
            )
        ]
        tightening = Tightening(table, trees, self.problem.share_ranks, self._done, kept, groupings)
        for attribute, node in tightening.taken_back(self._run):
            cost = -round(lost[attribute].unweighted(node), 12)
            change = TakeBack(trees[attribute].changes[node])
            yield self._step(attribute, change, 0, cost, cost, tuple(grouping.anonymity for grouping in groupings))

    def _satisfied(self) -> bool:
        """Whether every quasi-identifier holds, or does so without records that may be left out."""
        if all(classes.holds for classes in self._classes):
            return True
        if not self.problem.budget or max(classes.bad for classes in self._classes) > self.problem.budget:
            return False
        table = self.problem.table
        out = suppressed([self._groups(classes) for classes in self._classes], self.problem.requirements, table)
        if int(table.counts[out].sum()) > self.problem.budget:
            return False
        self.suppressed = out
        return True

    def _groups(self, classes: ClassIndex) -> Codes:
        """The class of each tuple."""
        columns = []
        for index in classes.attributes:
            nodes = self.problem.trees[index].cut(self._done[index])
            columns.append(nodes[self.problem.table.codes[index]])
        order, starts = sort_tuples(columns, [len(self._done[index]) for index in classes.attributes])
        groups = np.empty(len(order), np.int64)
        groups[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(order))))
        return groups

    def _best(self, pruning: bool) -> _Best | None:
        """The valid generalization with the least IP(G), or the least I(G) where that is infinite for all."""
        found = []
        for attribute, node, indexes in self._critical() if pruning else self._all_valid():
            self._run.check()
            self.tried += 1
            merges = {number: self._classes[number].attempt(attribute, node) for number in indexes}
            if gain := sum(merge.gain for merge in merges.values()):
                score = float(self._information[attribute][node]) / gain
                found.append(_Best(attribute, node, gain, score, merges))
        return self._best_of(found) if found else self._cheapest()

    def _best_of(self, found: Sequence[_Best]) -> _Best:
        """The one with the least IP(G): floats decide where they are far apart, exact values among the others."""
        scores = np.array([one.score for one in found])
        errors = np.array([self._errors[one.attribute][one.node] / one.gain for one in found])
        close = [found[place] for place in contenders(-scores, errors)]
        if len(close) > 1:
            exact = [self._exact_information(one.attribute, one.node) / Fraction(one.gain) for one in close]
            least = choose(exact, decimals=self.problem.losses[0].decimals, lowest=True)
            close = [close[place] for place in least]
        firsts = [tree.first for tree in self.problem.trees]
        best: _Best = min(close, key=lambda one: (self._names[one.attribute], firsts[one.attribute][one.node]))
        return best

    def _critical(self) -> Iterator[tuple[int, int, list[int]]]:
        """Generalizations that may gain anonymity, and in which quasi-identifiers."""
        found: dict[tuple[int, int], list[int]] = {}
        for number, classes in enumerate(self._classes):
            for attribute in () if classes.holds else classes.attributes:
                for node in set(classes.critical(attribute, self._valid[attribute])):
                    found.setdefault((attribute, node), []).append(number)
        return ((attribute, node, indexes) for (attribute, node), indexes in found.items())

    def _all_valid(self) -> Iterator[tuple[int, int, list[int]]]:
        """Every valid generalization, with the quasi-identifiers that do not hold."""
        for attribute, valid in enumerate(self._valid):
            every = enumerate(self._classes)
            indexes = [number for number, classes in every if attribute in classes.attributes and not classes.holds]
            for node in valid if indexes else ():
                yield attribute, node, indexes

    def _cheapest(self) -> _Best | None:
        """The valid generalization that loses least, of attributes that still matter."""
        needed = {index for classes in self._classes if not classes.holds for index in classes.attributes}
        while self._queue:
            *_, attribute, node = self._queue[0]
            if attribute in needed and node in self._valid[attribute]:
                return _Best(attribute, node, 0, float(self._information[attribute][node]), {})
            heapq.heappop(self._queue)  # performed, or never needed again: a quasi-identifier that holds does for good
        return None

    def _perform(self, best: _Best) -> Step:
        attribute, node = best.attribute, best.node
        for number, classes in enumerate(self._classes):
            if attribute in classes.attributes:
                classes.perform(best.merges.get(number) or classes.attempt(attribute, node))
        self._done[attribute][node] = True
        self._valid[attribute].remove(node)
        self._reached(attribute, node)
        loss = round(self.problem.losses[attribute].unweighted(node), 12)
        change = self.problem.trees[attribute].changes[node]
        anonymity = tuple(classes.anonymity for classes in self._classes)
        return self._step(attribute, change, best.gain, loss, round(best.score, 12), anonymity)

    def _step(
        self, attribute: int, change: Change, gain: float, loss: float, score: float, anonymity: tuple[int, ...]
    ) -> Step:
        value, children = describe(self.problem.table.attributes[attribute], change)
        number, name = len(self.steps) + 1, self._names[attribute]
        return Step(number, name, value, children, gain, loss, score, anonymity, change)

    def _reached(self, attribute: int, node: int) -> None:
        """A node is on the cut: its parent becomes valid if all its siblings are, too."""
        tree, waiting_for = self.problem.trees[attribute], self._waiting_for[attribute]
        if (parent := int(tree.parent[node])) >= 0 and parent not in self._outside[attribute]:
            waiting_for[parent] -= 1
            if not waiting_for[parent]:
                self._valid[attribute].add(parent)
                rank, first = int(self._ranks[attribute][parent]), int(tree.first[parent])
                heapq.heappush(self._queue, (rank, self._names[attribute], first, attribute, parent))
