"""Strict Mondrian straight from its definition: boxes of plain records, cut as long as every part is good."""

from collections import defaultdict
from fractions import Fraction


class Mondrian:
    """The search on one table.

    Args:
        problem: The table.
        good: Whether some records, given by number, are a good class.
        priorities: Weights by attribute, 1 for those that are not named.
    """

    def __init__(self, problem, good, priorities=None) -> None:
        self.rows, self._good = problem.rows, good
        self._columns = {column.name: column for column in sorted(problem.columns, key=lambda column: column.name)}
        self._weights = {name: Fraction(str((priorities or {}).get(name, 1))) for name in self._columns}

    def boxes(self) -> set[frozenset[int]]:
        """The boxes that cannot be cut, as sets of records."""
        waiting, found = [frozenset(range(len(self.rows)))], set()
        while waiting:
            box = waiting.pop()
            parts = self.cut(box)
            waiting += parts
            if not parts:
                found.add(box)
        return found

    def cut(self, box):
        """The parts of a box in the widest attribute that it can be cut in, the first by name of equals."""
        widths = {name: self._weights[name] * self.width(name, box) for name in self._columns}
        for name in sorted(self._columns, key=lambda name: -widths[name]):
            for parts in self._cuts(name, box):
                if len(parts) > 1 and all(map(self._good, parts)):
                    return parts
        return []

    def values(self, name, box):
        return {self.rows[record][name] for record in box}

    def width(self, name, box):
        """The loss of the smallest box around some records, in one attribute."""
        column, values = self._columns[name], self.values(name, box)
        if len(values) == 1:
            return Fraction(0)
        if column.kind == "flat" or (column.kind == "number" and None in values):
            return Fraction(1)
        if column.kind == "tree":
            leaves = self._leaves(name, self._node(name, values))
            return Fraction(len(leaves) - 1, len(self._leaves(name, 0)) - 1)
        low, high = column.domain or self._extent(column)
        first, last, low, high = (Fraction(str(number)) for number in (min(values), max(values), low, high))
        return (last - first) / (high - low)

    @staticmethod
    def _extent(column):
        known = [value for value in column.values if value is not None]
        return min(known), max(known)

    def _leaves(self, name, node):
        """The values below a node of a taxonomy; a missing value lies right below the root."""
        column = self._columns[name]
        tree = column.taxonomy
        leaves = {label for label in tree.leaf_codes if tree.labels[node] in tree.path(tree.leaf_code(label))}
        return leaves | ({None} if node == 0 and None in column.values else set())

    def _node(self, name, values):
        """The lowest node above some values."""
        nodes = range(len(self._columns[name].taxonomy.labels))
        return min(
            (node for node in nodes if values <= self._leaves(name, node)),
            key=lambda node: (len(self._leaves(name, node)), -node),
        )

    def _cuts(self, name, box):
        """The ways to cut, the first good one is taken: numbers in two, the most even first; else one way."""
        column, values = self._columns[name], self.values(name, box)
        if column.kind != "number" or None in values:
            yield self._parts(box, name, lambda value: self._child(column, values, value))
            return
        ways = [self._parts(box, name, lambda value, cut=cut: value < cut) for cut in sorted(values)[1:]]
        yield from sorted(ways, key=lambda parts: abs(len(parts[0]) - len(parts[1])))

    def _child(self, column, values, value):
        """What a record falls to when values are cut: missing or not, a single value, or a child of their node."""
        if value is None or column.kind == "number":
            return value is None
        if column.kind == "flat":
            return value
        path = column.taxonomy.path(column.taxonomy.leaf_code(value))  # from the value up
        above = column.taxonomy.labels[self._node(column.name, values)]
        return path[max(0, path.index(above) - 1)]

    def _parts(self, box, name, key):
        found = defaultdict(set)
        for record in box:
            found[key(self.rows[record][name])].add(record)
        return [frozenset(part) for part in found.values()]
