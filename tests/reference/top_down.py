"""Top-down specialization and refinement straight from the definitions of the papers: slow, obvious, an oracle.

Works on plain rows and recounts everything for every candidate. Shares nothing with `incrowd.search`; of `incrowd` it
uses the shape of taxonomies only.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import log2
from typing import Any

from incrowd.taxonomies.taxonomy import Taxonomy

ANY = "*"
TIE = 1e-9

SCORES = {
    "tds": lambda gain, loss: gain / loss if loss else gain,
    "tdr": lambda gain, loss: gain / (loss + 1),
    "gain": lambda gain, loss: gain,
}


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

    def loss(self, value: Value) -> float:
        """(leaves - 1) / (all leaves - 1)."""
        return (len(value.members) - 1) / max(1, len(self.top.members) - 1)


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
            gains = [gain(children) for children in halves]
            yield next(children for children, g in zip(halves, gains, strict=True) if g >= max(gains) - TIE)

    @staticmethod
    def _interval(numbers: list) -> Value:
        return Value((numbers[0], numbers[-1]), frozenset(numbers))

    def loss(self, value: Value) -> float:
        """Width of the interval, which reaches up to the next one (on whole numbers to one below), over the range."""
        lowest, highest = self._domain
        numbers = value.members - {None}
        if not numbers:
            return 0
        if None in value.members:
            return 1
        above = [number for number in self._occurring if number > max(numbers)]
        low = lowest if min(numbers) == self._occurring[0] else min(numbers)
        high = above[0] - (1 if self._whole else 0) if above else highest
        return (high - low) / (highest - lowest) if highest > lowest else 0


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

    def loss(self, value: Value) -> float:
        """1 for a suppressed value, 0 for one that is shown."""
        return float(value.name == ANY)


State = dict[str, list[Value]]  # the masked values of each attribute


@dataclass(frozen=True)
class Refinement:
    """v -> child(v), with all that the papers say about it."""

    attribute: str
    value: Value
    children: tuple[Value, ...]
    gain: float
    loss: float
    score: float
    anonymity: tuple[int, ...]
    valid: bool
    beneficial: bool


class TopDown:
    """The search on one table.

    Args:
        attributes: Every attribute of the quasi-identifiers.
        rows: One mapping from attribute to domain value per record; None is a missing value.
        classes: The class of each record, or None where there is no target.
        quasi_identifiers: Attribute names and k of each.
        criterion: "tds", "tdr" or "gain".
    """

    def __init__(self, attributes, rows, classes, quasi_identifiers, criterion) -> None:
        self.attributes = {attribute.name: attribute for attribute in attributes}
        self._rows = rows
        self._classes = classes
        self._qids = quasi_identifiers
        self._criterion = criterion

    def top(self) -> State:
        """The most general table."""
        return {name: [attribute.top] for name, attribute in self.attributes.items()}

    def masked(self, state: State, row: dict) -> dict[str, Value]:
        """A record as it would be released."""
        return {name: next(v for v in values if row[name] in v.members) for name, values in state.items()}

    def counts(self, state: State) -> list[Counter]:
        """a(qid) for every qid that occurs, per quasi-identifier."""
        table = [self.masked(state, row) for row in self._rows]
        return [Counter(tuple(row[name] for name in names) for row in table) for names, _ in self._qids]

    def refine(self, state: State, refinement: Refinement) -> State:
        """The table after a refinement."""
        values = state[refinement.attribute]
        at = values.index(refinement.value)
        return state | {refinement.attribute: [*values[:at], *refinement.children, *values[at + 1 :]]}

    def candidates(self, state: State) -> list[Refinement]:
        """Every refinement that is open, valid or not, in the order that breaks ties."""
        return [
            self._refinement(state, name, value, children)
            for name in sorted(state)
            for value in state[name]
            for children in self.attributes[name].refinements(
                value, lambda children, name=name, value=value: self.gain(name, value, children)
            )
        ]

    def best(self, state: State) -> Refinement | None:
        """The valid and beneficial refinement with the highest score, the first of equals."""
        allowed = [refinement for refinement in self.candidates(state) if refinement.valid and refinement.beneficial]
        highest = max((refinement.score for refinement in allowed), default=0)
        return next((refinement for refinement in allowed if refinement.score >= highest - TIE), None)

    def run(self) -> list[Refinement]:
        """The refinements performed, until none is valid and beneficial."""
        state, performed = self.top(), []
        while best := self.best(state):
            performed.append(best)
            state = self.refine(state, best)
        return performed

    def gain(self, name: str, value: Value, children: list[Value]) -> float:
        """InfoGain(v); without a target the share of the attribute's loss that is removed."""
        records = {child: self._under(name, child) for child in children}
        if self._classes is not None:
            total = self._under(name, value)
            return self.entropy(total) - sum(len(r) / len(total) * self.entropy(r) for r in records.values())
        loss = self.attributes[name].loss
        return sum(len(r) * (loss(value) - loss(child)) for child, r in records.items()) / len(self._rows)

    def entropy(self, records: list[int]) -> float:
        """I(R), in bits."""
        shares = [n / len(records) for n in Counter(self._classes[record] for record in records).values()]
        return -sum(share * log2(share) for share in shares)

    def _under(self, name: str, value: Value) -> list[int]:
        """R_v: the records generalized to v."""
        return [record for record, row in enumerate(self._rows) if row[name] in value.members]

    def _refinement(self, state: State, name: str, value: Value, children: list[Value]) -> Refinement:
        gain = self.gain(name, value, children) if (records := self._under(name, value)) else 0.0
        draft = Refinement(name, value, tuple(children), gain, 0, 0, (), False, False)
        before = [min(counter.values()) for counter in self.counts(state)]
        after = [min(counter.values()) for counter in self.counts(self.refine(state, draft))]
        lost = [a - b for a, b, (names, _) in zip(before, after, self._qids, strict=True) if name in names]
        loss = sum(lost) / len(lost)
        valid = all(a >= k for a, (_, k) in zip(after, self._qids, strict=True))
        beneficial = (
            len({self._classes[record] for record in records}) > 1 if self._classes is not None else bool(records)
        )
        score = SCORES[self._criterion](gain, loss)
        return Refinement(name, value, tuple(children), gain, loss, score, tuple(after), valid, beneficial)
