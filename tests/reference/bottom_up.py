"""Bottom-up generalization straight from the definitions: slow, obvious, an oracle.

Works on plain rows and recounts everything for every generalization. Shares nothing with `incrowd.search`. What is
compared is exact: see `masked`.
"""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise

from tests.reference.masked import ANY, Flat, MaskedTable, Numbers, Tree, Value, comparable

Hierarchy = list[tuple[Value, list[Value]]]  # every p with its {c}, in the order that breaks ties


@dataclass(frozen=True)
class Generalization:
    """{c} -> p, with all that the paper says about it."""

    attribute: str
    value: Value
    children: tuple[Value, ...]
    information: Fraction
    gain: int
    score: Fraction | None
    anonymity: tuple[int, ...]


class BottomUp(MaskedTable):
    """The search on one table, by a measure of I(G): "entropy", "weighted" or "ncp".

    With `groups`, children of a node join two by two; `rare` has values by column that are suppressed, rarest first.
    """

    def __init__(self, attributes, rows, classes, quasi_identifiers, measure, groups=False, rare=None) -> None:
        super().__init__(attributes, rows, classes, quasi_identifiers)
        self._measure, self._groups, self._rare = measure, groups, rare or {}
        self.hierarchies = {attribute.name: self._hierarchy(attribute) for attribute in attributes}

    def bottom(self) -> dict[str, list[Value]]:
        """Every value as itself."""
        return {name: self._leaves(attribute) for name, attribute in self.attributes.items()}

    def _leaves(self, attribute) -> list[Value]:
        return [Value(member, frozenset([member])) for member in sorted(attribute.top.members, key=_last)]

    def _hierarchy(self, attribute) -> Hierarchy:
        if isinstance(attribute, Tree):
            parted = self._groups or self._rare.get(attribute.name)
            return self._parted_tree(attribute) if parted else _tree(attribute)
        return self._intervals(attribute) if isinstance(attribute, Numbers) else self._suppressions(attribute)

    def _intervals(self, attribute: Numbers) -> Hierarchy:
        """Of all neighbours the two that lose least are joined; of equals the smallest, then the lowest."""
        intervals = [value for value in self._leaves(attribute) if value.name is not None]
        missing = Value(None, frozenset([None]))
        found = []
        while len(intervals) > 1:
            pairs = list(pairwise(intervals))
            joined = [Value("joined", a.members | b.members) for a, b in pairs]
            lost = [self.loss(attribute.name, p, pair, weighted=True) for p, pair in zip(joined, pairs, strict=True)]
            records = [len(self.under(attribute.name, value)) for value in joined]
            at = min(range(len(pairs)), key=lambda at: (comparable(lost[at]), records[at], at))
            found.append((joined[at], list(pairs[at])))
            intervals[at : at + 2] = [joined[at]]
        if None in attribute.top.members and intervals:
            found.append((Value(ANY, attribute.top.members), [intervals[0], missing]))
        return sorted(found, key=lambda item: min(item[0].members - {None}))

    def _suppressions(self, attribute: Flat) -> Hierarchy:
        """The suppressed values grow by the rarest one."""
        count = Counter(row[attribute.name] for row in self._rows)
        return _growing(sorted(self._leaves(attribute), key=lambda value: (count[value.name], _last(value.name))), 2)

    def rare(self, attribute: Tree, share: Fraction, least: int) -> list:
        """The rarest values that have at most a share of the records; none if they are no crowd, or only one occurs."""
        count = Counter(row[attribute.name] for row in self._rows)
        place = _places(attribute)
        rarest = sorted(place, key=lambda value: (count[value], place[value]))
        few = [n for n in range(len(rarest) + 1) if sum(count[v] for v in rarest[:n]) <= share * len(self._rows)]
        found = rarest[: few[-1]]
        several = sum(count[value] > 0 for value in found) > 1
        return found if several and sum(count[value] for value in found) >= least else []

    def _parted_tree(self, attribute: Tree) -> Hierarchy:
        """A taxonomy whose children join two by two, or whose rare values become one by themselves."""
        place = _places(attribute)
        rare = self._rare.get(attribute.name, [])
        absent = len(set(rare) - {row[attribute.name] for row in self._rows})
        found = _growing([Value(value, frozenset([value])) for value in rare], absent + 2)
        suppressed = [found[-1][0]] if found else []

        def first(value):
            return place[rare[0]] if value in suppressed else min(place[member] for member in value.members)

        def join(parts):
            parts = sorted(parts, key=first)
            while self._groups and len(parts) > 2:
                pairs = [(Value("joined", a.members | b.members), [a, b]) for a, b in combinations(parts, 2)]
                lost = [comparable(self.loss(attribute.name, p, pair, weighted=True)) for p, pair in pairs]
                keys = [
                    (lost[at], len(self.under(attribute.name, p)), *map(first, pair))
                    for at, (p, pair) in enumerate(pairs)
                ]
                found.append(pairs[keys.index(min(keys))])
                parts = sorted([part for part in parts if part not in found[-1][1]] + [found[-1][0]], key=first)
            if len(parts) > 1:
                found.append((Value("joined", frozenset().union(*(part.members for part in parts))), parts))
                parts = [found[-1][0]]
            return parts

        def visit(value):
            children = next(attribute.refinements(value, None), None)
            if children is None:
                return [] if value.name in rare else [value]
            parts = [part for child in children for part in visit(child)]
            if value != attribute.top or not suppressed:
                return join(parts)
            found.append((attribute.top, [*(join(parts) if self._groups else parts), *suppressed]))
            return []

        visit(attribute.top)
        return sorted(found, key=lambda item: first(item[1][0]) if item[0].name != ANY else place[rare[0]])

    def valid(self, state) -> list[tuple[str, Value, list[Value]]]:
        """The generalizations that can be performed, in the order that breaks ties."""
        return [
            (name, parent, children)
            for name in sorted(state)
            for parent, children in self.hierarchies[name]
            if all(child in state[name] for child in children)
        ]

    def satisfied(self, state) -> bool:
        """Whether every quasi-identifier holds."""
        return all(a >= k for a, (_, k) in zip(self.anonymity(state), self._qids, strict=True))

    def generalize(self, state, name, parent, children):
        """The table after a generalization."""
        return state | {name: [value for value in state[name] if value not in children] + [parent]}

    def candidates(self, state) -> list[Generalization]:
        """Every valid generalization of an attribute that still matters, with its measures."""
        before = self.anonymity(state)
        found = []
        for name, parent, children in self.valid(state):
            if not any(name in names and a < k for a, (names, k) in zip(before, self._qids, strict=True)):
                continue
            after = self.anonymity(self.generalize(state, name, parent, children))
            gain = sum(min(b, k) - min(a, k) for a, b, (_, k) in zip(before, after, self._qids, strict=True))
            lost = self.loss(name, parent, children)
            found.append(
                Generalization(name, parent, tuple(children), lost, gain, lost / gain if gain else None, after)
            )
        return found

    def best(self, state) -> Generalization | None:
        """The smallest IP(G), or the smallest I(G) where all are infinite; the first of equals."""
        found = self.candidates(state)
        if gaining := [generalization for generalization in found if generalization.gain]:
            return min(gaining, key=lambda generalization: comparable(generalization.score))
        return min(found, key=lambda generalization: comparable(generalization.information), default=None)

    def loss(self, name, parent, children, weighted=False) -> Fraction:
        """I(G)."""
        total = self.under(name, parent)
        parts = [(child, self.under(name, child)) for child in children]
        if self._measure == "ncp":
            lost = sum(len(r) * (self._cell(name, parent) - self._cell(name, c)) for c, r in parts)
            return Fraction(lost) / len(self._rows)
        lost = self.entropy(total) - sum(Fraction(len(r), max(1, len(total))) * self.entropy(r) for _, r in parts)
        return lost * len(total) / len(self._rows) if weighted or self._measure == "weighted" else lost

    def _cell(self, name, value) -> Fraction:
        """What a cell loses; a value itself nothing, a suppressed one everything."""
        if value.name == ANY and isinstance(self.attributes[name], Tree):
            return Fraction(1)
        return Fraction(0) if len(value.members) == 1 else self.attributes[name].loss(value)

    def search(self) -> tuple[list[Generalization], Fraction]:
        """All steps, and what they lose of the whole table."""
        state, steps, lost = self.bottom(), [], Fraction(0)
        while not self.satisfied(state):
            best = self.best(state)
            share = (
                1
                if self._measure != "entropy"
                else Fraction(len(self.under(best.attribute, best.value)), len(self._rows))
            )
            lost += best.information * share
            state = self.generalize(state, best.attribute, best.value, best.children)
            steps.append(best)
        return steps, lost

    def left_out(self, state) -> set[int]:
        """The records to leave out so that every class that is left is large enough."""
        out: set[int] = set()
        while True:
            rows = enumerate(self._rows)
            table = {record: self.masked(state, row) for record, row in rows if record not in out}
            small = set()
            for names, k in self._qids:
                counter = Counter(tuple(row[name] for name in names) for row in table.values())
                small |= {record for record, row in table.items() if counter[tuple(row[n] for n in names)] < k}
            if not small:
                return out
            out |= small


def _growing(rarest: list[Value], first: int) -> Hierarchy:
    """The suppressed values, which grow by the rarest one; the first ones at once."""
    found = []
    for number in range(first, len(rarest) + 1):
        before = rarest[:first] if number == first else [found[-1][0], rarest[number - 1]]
        found.append((Value(ANY, frozenset().union(*(value.members for value in rarest[:number]))), before))
    return found


def _places(attribute: Tree) -> dict:
    """Where each value stands in the order of the taxonomy; missing values come last."""
    found = []

    def visit(value: Value) -> None:
        children = next(attribute.refinements(value, None), [])
        found.extend([] if children else [value.name])
        for child in children:
            visit(child)

    visit(attribute.top)
    return {value: place for place, value in enumerate(found)}


def _last(member):
    """Missing values come last."""
    return (member is None, member)


def _tree(attribute: Tree) -> Hierarchy:
    found = []

    def visit(value: Value) -> None:
        for children in attribute.refinements(value, None):
            found.append((value, children))
            for child in children:
                visit(child)

    visit(attribute.top)
    return found
