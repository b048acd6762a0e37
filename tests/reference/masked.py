"""Attributes and masked tables in plain Python: what the slow searches work on.

Shares nothing with `incrowd.search`; of `incrowd` it uses the shape of taxonomies only.

Everything is exact. Losses are fractions of the numbers as they are written. Logarithms are taken to 80 digits, which
are fractions too from then on, and values are compared rounded to 40 decimals (`comparable`): equal values are found
equal, and fractions of small tables that differ do so long before that.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache
from typing import Any

from incrowd.taxonomies.taxonomy import Taxonomy

ANY = "*"
TIE = 1e-9
DIGITS = Context(prec=80)


@cache
def log2(number: int) -> Fraction:
    """The binary logarithm of a whole number."""
    return Fraction(DIGITS.divide(DIGITS.ln(Decimal(number)), DIGITS.ln(Decimal(2))))


def comparable(value: Fraction) -> Fraction:
    """What is compared: values that agree to 40 decimals are equal."""
    return round(value, 40)


@dataclass(frozen=True)
class Value:
    """A masked value: its name, and the domain values that it stands for."""

    name: Any
    members: frozenset


class Tree:
    """A categorical attribute with a taxonomy; a missing value is one more leaf below the root."""

    def __init__(self, name: str, column: list, taxonomy: Taxonomy) -> None:
        self.name = name
        self._taxonomy = taxonomy
        self._missing = [Value(None, frozenset([None]))] if None in column else []
        root = self._value(0)
        self.top = Value(root.name, root.members.union(*(value.members for value in self._missing)))

    def _value(self, node: int) -> Value:
        label, below = self._taxonomy.labels[node], self._taxonomy.children[node]
        return Value(
            label, frozenset().union(*(self._value(n).members for n in below)) if below else frozenset([label])
        )

    def refinements(self, value: Value, gain: Any) -> Iterator[list[Value]]:
        """A node into its children."""
        if value.name is not None:
            node = self._taxonomy.node(value.name)
            if children := [self._value(child) for child in self._taxonomy.children[node]]:
                yield children + (self._missing if node == 0 else [])

    def loss(self, value: Value) -> Fraction:
        """(leaves - 1) / (all leaves - 1)."""
        return Fraction(len(value.members) - 1, max(1, len(self.top.members) - 1))


class PartedTree(Tree):
    """The same, where one child of a node may be shown while the others stay together, by the name of the node.

    A node with one child is that child. Of more than `most` children only the most frequent ones are shown by
    themselves, and nobody shows a child that nobody has.
    """

    def __init__(self, name: str, column: list, taxonomy: Taxonomy, most: int) -> None:
        super().__init__(name, column, taxonomy)
        self._column, self._most = column, most
        self.top = Value(self._end(0).name, self.top.members)

    def _end(self, node: int) -> Value:
        """The last of a chain."""
        below = self._taxonomy.children[node]
        alone = len(below) == 1 and not (node == 0 and self._missing)
        return self._end(below[0]) if alone else self._value(node)

    def refinements(self, value: Value, gain: Any) -> Iterator[list[Value]]:
        """What is left of a node into all of its children, or into one and the rest."""
        if value.name is None:
            return
        node = self._taxonomy.node(value.name)
        children = [self._end(child) for child in self._taxonomy.children[node]]
        left = [c for c in children + (self._missing if node == 0 else []) if c.members <= value.members]
        if len(left) > 1:
            yield left
        for child in left if len(left) > 2 else ():
            if self._shown(child, children + (self._missing if node == 0 else [])):
                yield [child, Value(value.name, value.members - child.members)]

    def _shown(self, child: Value, siblings: list[Value]) -> bool:
        """Whether a child may be shown by itself."""
        records = [sum(value in sibling.members for value in self._column) for sibling in siblings]
        most = sorted(range(len(siblings)), key=lambda place: -records[place])[: self._most]
        place = siblings.index(child)
        return place in most and records[place] > 0

    def order(self, value: Value, children: list[Value]) -> float:
        """Parents first: of the node whose children are shown, or of the child that is."""
        name = value.name if all(child.name != value.name for child in children) else children[0].name
        return float("inf") if name is None else self._taxonomy.node(name)


class Numbers:
    """A number; the top covers all numbers and missing values, which its first refinement tells apart."""

    def __init__(self, name: str, column: list, domain: tuple | None) -> None:
        self.name = name
        self._occurring = sorted(set(column) - {None})
        self._whole = all(float(number).is_integer() for number in self._occurring)
        self._domain = domain or (self._occurring[0], self._occurring[-1]) if self._occurring else (0, 0)
        self.top = Value(ANY, frozenset(column))

    def refinements(self, value: Value, gain: Any) -> Iterator[list[Value]]:
        """Numbers from missing ones, or an interval into the halves that gain most; the lowest cut among equals."""
        numbers = sorted(value.members - {None})
        if None in value.members and numbers:
            yield [Value("known", frozenset(numbers)), Value(None, frozenset([None]))]
        elif len(numbers) > 1:
            halves = [[self._interval(numbers[:cut]), self._interval(numbers[cut:])] for cut in range(1, len(numbers))]
            gains = [comparable(gain(children)) for children in halves]
            yield next(children for children, g in zip(halves, gains, strict=True) if g == max(gains))

    @staticmethod
    def _interval(numbers: list) -> Value:
        return Value((numbers[0], numbers[-1]), frozenset(numbers))

    def loss(self, value: Value) -> Fraction:
        """Width of the interval, which reaches up to the next one (on whole numbers to one below), over the range."""
        lowest, highest = map(_written, self._domain)
        numbers = value.members - {None}
        if not numbers:
            return Fraction(0)
        if None in value.members:
            return Fraction(1)
        above = [number for number in self._occurring if number > max(numbers)]
        low = lowest if min(numbers) == self._occurring[0] else _written(min(numbers))
        high = _written(above[0]) - (1 if self._whole else 0) if above else highest
        return (high - low) / (highest - lowest) if highest > lowest else Fraction(0)


def _written(number: Any) -> Fraction:
    """A number as it is written: 0.1 is a tenth."""
    return Fraction(str(number))


class Flat:
    """A categorical attribute without a taxonomy: suppressed values are disclosed one by one."""

    def __init__(self, name: str, column: list) -> None:
        self.name = name
        self.top = Value(ANY, frozenset(column))

    def refinements(self, value: Value, gain: Any) -> Iterator[list[Value]]:
        """The suppressed set into one of its values and the rest."""
        if value.name == ANY:
            for member in sorted(value.members, key=lambda member: (member is None, member)):
                yield [Value(member, frozenset([member])), Value(ANY, value.members - {member})]

    def loss(self, value: Value) -> Fraction:
        """1 for a suppressed value, 0 for one that is shown."""
        return Fraction(value.name == ANY)


State = dict[str, list[Value]]  # the masked values of each attribute


class MaskedTable:
    """Rows, and what they look like in a state.

    Args:
        attributes: Every attribute of the quasi-identifiers.
        rows: One mapping from attribute to domain value per record; None is a missing value.
        classes: The class of each record, or None where there is no target.
        quasi_identifiers: Attribute names and k of each.
    """

    def __init__(self, attributes, rows, classes, quasi_identifiers) -> None:
        self.attributes = {attribute.name: attribute for attribute in attributes}
        self._rows = rows
        self._classes = classes
        self._qids = quasi_identifiers

    def masked(self, state: State, row: dict) -> dict[str, Value]:
        """A record as it would be released."""
        return {name: next(v for v in values if row[name] in v.members) for name, values in state.items()}

    def counts(self, state: State) -> list[Counter]:
        """a(qid) for every qid that occurs, per quasi-identifier."""
        table = [self.masked(state, row) for row in self._rows]
        return [Counter(tuple(row[name] for name in names) for row in table) for names, _ in self._qids]

    def anonymity(self, state: State) -> tuple[int, ...]:
        """A(QID) of each."""
        return tuple(min(counter.values()) for counter in self.counts(state))

    def under(self, name: str, value: Value) -> list[int]:
        """R_v: the records generalized to v."""
        return [record for record, row in enumerate(self._rows) if row[name] in value.members]

    def entropy(self, records: list[int]) -> Fraction:
        """I(R), in bits."""
        return _entropy(tuple(sorted(Counter(self._classes[record] for record in records).values())))


@cache
def _entropy(counts: tuple[int, ...]) -> Fraction:
    """The sum over labels of -share log2(share)."""
    number = sum(counts)
    return sum((Fraction(n, number) * (log2(number) - log2(n)) for n in counts), Fraction(0))
