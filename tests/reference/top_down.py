"""Top-down specialization and refinement straight from the definitions of the papers: slow, obvious, an oracle.

Works on plain rows and recounts everything for every candidate. Shares nothing with `incrowd.search`. Gains, losses and
scores are exact, as in `tests.reference.masked`: of scores that agree to 40 decimals the first wins.
"""

from dataclasses import dataclass
from fractions import Fraction

from tests.reference.masked import MaskedTable, PartedTree, State, Value, comparable

SCORES = {
    "tds": lambda gain, loss: gain / loss if loss else gain,
    "tdr": lambda gain, loss: gain / (loss + 1),
    "gain": lambda gain, loss: gain,
}


@dataclass(frozen=True)
class Refinement:
    """v -> child(v), with all that the papers say about it."""

    attribute: str
    value: Value
    children: tuple[Value, ...]
    gain: Fraction
    loss: Fraction
    score: Fraction
    anonymity: tuple[int, ...]
    valid: bool
    beneficial: bool


class TopDown(MaskedTable):
    """The search on one table, by a criterion: "tds", "tdr" or "gain"."""

    def __init__(self, attributes, rows, classes, quasi_identifiers, criterion) -> None:
        super().__init__(attributes, rows, classes, quasi_identifiers)
        self._criterion = criterion

    def top(self) -> State:
        """The most general table."""
        return {name: [attribute.top] for name, attribute in self.attributes.items()}

    def refine(self, state: State, refinement: Refinement) -> State:
        """The table after a refinement."""
        values = state[refinement.attribute]
        at = values.index(refinement.value)
        return state | {refinement.attribute: [*values[:at], *refinement.children, *values[at + 1 :]]}

    def candidates(self, state: State) -> list[Refinement]:
        """Every refinement that is open, valid or not, in the order that breaks ties."""
        found = [
            (name, value, children)
            for name in sorted(state)
            for value in state[name]
            for children in self.attributes[name].refinements(
                value, lambda children, name=name, value=value: self.gain(name, value, children)
            )
        ]
        found.sort(key=lambda each: (each[0], self._order(*each)))
        return [self._refinement(state, *each) for each in found]

    def _order(self, name: str, value: Value, children: list[Value]) -> float:
        """Where a refinement stands among those of its attribute, if not where its value does."""
        attribute = self.attributes[name]
        return attribute.order(value, children) if isinstance(attribute, PartedTree) else 0

    def best(self, state: State) -> Refinement | None:
        """The valid and beneficial refinement with the highest score, the first of equals."""
        allowed = [refinement for refinement in self.candidates(state) if refinement.valid and refinement.beneficial]
        highest = max((comparable(refinement.score) for refinement in allowed), default=0)
        return next((refinement for refinement in allowed if comparable(refinement.score) == highest), None)

    def valid(self, state: State) -> bool:
        """Whether every quasi-identifier holds."""
        return all(a >= k for a, (_, k) in zip(self.anonymity(state), self._qids, strict=True))

    def run(self) -> list[Refinement]:
        """The refinements performed, until none is valid and beneficial."""
        state, performed = self.top(), []
        while best := self.best(state):
            performed.append(best)
            state = self.refine(state, best)
        return performed

    def gain(self, name: str, value: Value, children: list[Value]) -> Fraction:
        """InfoGain(v); without a target the share of the attribute's loss that is removed."""
        records = {child: self.under(name, child) for child in children}
        if self._classes is not None:
            total = self.under(name, value)
            return self.entropy(total) - sum(Fraction(len(r), len(total)) * self.entropy(r) for r in records.values())
        loss = self.attributes[name].loss
        return sum(len(r) * (loss(value) - loss(child)) for child, r in records.items()) / len(self._rows)

    def _refinement(self, state: State, name: str, value: Value, children: list[Value]) -> Refinement:
        gain = self.gain(name, value, children) if (records := self.under(name, value)) else Fraction(0)
        draft = Refinement(name, value, tuple(children), gain, 0, 0, (), False, False)
        refined = self.refine(state, draft)
        before, after = self.anonymity(state), self.anonymity(refined)
        pairs = zip(before, after, self._qids, strict=True)
        lost = [Fraction(a) - Fraction(b) for a, b, (names, _) in pairs if name in names]
        loss = sum(lost) / len(lost)
        valid = self.valid(refined)
        beneficial = (
            len({self._classes[record] for record in records}) > 1 if self._classes is not None else bool(records)
        )
        score = SCORES[self._criterion](gain, loss)
        return Refinement(name, value, tuple(children), gain, loss, score, after, valid, beneficial)
