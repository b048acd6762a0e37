"""Top-down search with a budget of records that may be left out, straight from its definition."""

from collections import Counter
from fractions import Fraction

from tests.reference.masked import Flat, comparable
from tests.reference.top_down import SCORES, Refinement, TopDown


class LeavingOut(TopDown):
    """The search on one table.

    Args:
        attributes: As in `TopDown`, like all others.
        budget: How many records may be left out.
        good: Whether records, given by number, are a good class of a quasi-identifier, given by number, in a release of
            some records; by default k.
        weights: What gains are multiplied by, by attribute; 1 for those that are not named.
    """

    def __init__(self, attributes, rows, classes, quasi_identifiers, criterion, budget, good=None, weights=None):
        super().__init__(attributes, rows, classes, quasi_identifiers, criterion)
        self._budget = budget
        self._good = good or (lambda number, records, left: len(records) >= self._qids[number][1])
        self._level = lambda number, records, left: len(records)
        self._weights = weights or {}
        self._known = {}  # who is released in a state
        self._forgotten = set()  # refinements that would have left out too many when they were looked at

    def classes_of(self, state, number, records):
        """The classes of some records over a quasi-identifier."""
        names, found = self._qids[number][0], {}
        for record in sorted(records):
            row = self._rows[record]
            shown = tuple(next(v.name for v in state[name] if row[name] in v.members) for name in names)
            found.setdefault(shown, set()).add(record)
        return list(found.values())

    def released(self, state, before=None) -> set[int]:
        """Who is left when bad classes are left out, over and over; who was left out before stays left out."""
        key = tuple((name, tuple(values)) for name, values in state.items())
        if key not in self._known:
            self._known[key] = self._stable(state, set(range(len(self._rows))) if before is None else before)
        return self._known[key]

    def _stable(self, state, left) -> set[int]:
        while bad := self._bad(state, left):
            left = left - set().union(*bad)
        return left

    def _bad(self, state, left, numbers=None):
        numbers = range(len(self._qids)) if numbers is None else numbers
        every = ((number, records) for number in numbers for records in self.classes_of(state, number, left))
        return [records for number, records in every if not self._good(number, records, left)]

    def best(self, state):
        """The best refinement; one that leaves out too many by itself, or is the best and leaves out too many, ends."""
        left, open_ = self.released(state), []
        room = self._budget - (len(self._rows) - len(left))
        for each in self.candidates(state):
            key = each.attribute, each.value, each.children
            if isinstance(self.attributes[each.attribute], Flat):  # a value, whatever others are still suppressed
                key = each.attribute, each.children[0]
            refined = self.refine(state, each)
            if any(sum(map(len, self._bad(refined, left, [n]))) > room for n in range(len(self._qids))):
                self._forgotten.add(key)
            if each.beneficial and key not in self._forgotten:
                open_.append((key, each))
        while open_:
            highest = max(comparable(each.score) for _, each in open_)
            place = next(i for i, (_, each) in enumerate(open_) if comparable(each.score) == highest)
            key, each = open_.pop(place)
            if each.valid:
                return each
            self._forgotten.add(key)
        return None

    def anonymity(self, state):
        """The worst class of those that are released."""
        left, numbers = self.released(state), range(len(self._qids))
        return tuple(
            min((self._level(n, records, left) for records in self.classes_of(state, n, left)), default=0)
            for n in numbers
        )

    def _refinement(self, state, name, value, children):
        records = self.under(name, value)
        gain = Fraction(self.gain(name, value, children)) if records else Fraction(0)
        gain *= Fraction(str(self._weights.get(name, 1)))
        draft = Refinement(name, value, tuple(children), gain, 0, 0, (), False, False)
        refined, left, now = self.refine(state, draft), self.released(state), self.anonymity(state)
        stays = self.released(refined, left)
        lost = []
        for number, (names, _) in enumerate(self._qids):
            if name in names:
                classes = self.classes_of(refined, number, left)
                bad = sum(len(records) for records in classes if not self._good(number, records, left))
                good = [records for records in classes if self._good(number, records, left)]
                stay = [self._level(number, records, left) for records in good]
                lost.append(Fraction(now[number]) - Fraction(min([now[number], *stay])) + bad)
        loss = sum(lost) / len(lost)
        valid = len(self._rows) - len(stays) <= self._budget
        labels = len(Counter(self._classes[record] for record in records)) if self._classes is not None else 2
        renamed = [r for child in children if child.name != value.name for r in self.under(name, child)]
        beneficial = labels > 1 and bool(left & set(renamed))
        score = SCORES[self._criterion](gain, loss)
        return Refinement(name, value, tuple(children), gain, loss, score, self.anonymity(refined), valid, beneficial)
