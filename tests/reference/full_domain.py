"""Full-domain generalization straight from the definitions: every node of the lattice, every class, counted."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, product

from tests.reference.masked import ANY, Value
from tests.reference.problem import Column, Problem


def height(column: Column) -> int:
    """Levels above the values."""
    distinct = set(column.values)
    if column.kind == "tree":
        return column.taxonomy.height
    if column.kind == "flat":
        return int(len(distinct) > 1)
    numbers = distinct - {None}
    halvings = 0
    while 2**halvings < len(numbers):
        halvings += 1
    return halvings + (None in distinct and bool(numbers))


def generalize(column: Column, value, level: int):
    """What a value is at a level; equal results are one released value."""
    if level == 0:
        return value
    top = height(column)
    if column.kind == "flat" or level == top:
        return "top"
    if value is None:
        return None
    if column.kind == "tree":
        path = column.taxonomy.path(column.taxonomy.leaf_code(value))[::-1]
        return path[min(len(path) - 1, top - level)]
    numbers = sorted(set(column.values) - {None})
    parts = 2 ** (top - (None in column.values) - level)
    bounds = [len(numbers) * part // parts for part in range(parts + 1)]
    rank = numbers.index(value)
    return next(part for part in range(parts) if bounds[part] <= rank < bounds[part + 1])


def loss(column: Column, value, level: int) -> Fraction:
    """What a cell loses at a level; a value itself nothing."""
    if level == 0:
        return Fraction(0)
    cell = generalize(column, value, level)
    domain = {*column.taxonomy.leaf_codes} if column.kind == "tree" else set()
    members = {other for other in {*column.values} | domain if generalize(column, other, level) == cell}
    if len(members) == 1:
        return Fraction(0)
    return column.attribute().loss(Value(ANY, frozenset(members)))


class FullDomain:
    """A problem, its lattice, and how many records may be left out."""

    def __init__(self, problem: Problem, budget: int):
        self.problem = problem
        self.budget = min(budget, len(problem.rows) - 1)
        self.heights = {column.name: height(column) for column in problem.columns}

    def nodes(self):
        """All nodes: levels by name."""
        names = sorted(self.heights)
        for levels in product(*(range(self.heights[name] + 1) for name in names)):
            yield dict(zip(names, levels, strict=True))

    def rows(self, node):
        """The generalized records."""
        columns = [[generalize(c, value, node[c.name]) for value in c.values] for c in self.problem.columns]
        names = [column.name for column in self.problem.columns]
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    def small(self, rows, attributes, k):
        """Records that share their values with fewer than k."""
        keys = [tuple(row[name] for name in attributes) for row in rows]
        counts = Counter(keys)
        return [row for row, key in zip(rows, keys, strict=True) if counts[key] < k]

    def suppressed(self, node):
        """How many records must be left out."""
        rows = self.rows(node)
        kept = rows
        while True:
            out = [row for qid in self.problem.quasi_identifiers for row in self.small(kept, qid.attributes, qid.k)]
            if not out:
                return len(rows) - len(kept)
            gone = {id(row) for row in out}
            kept = [row for row in kept if id(row) not in gone]

    def holds(self, node):
        """Whether few enough records must be left out."""
        return self.suppressed(node) <= self.budget

    def loss(self, node):
        """NCP of a node that leaves nobody out."""
        return self.loss_of(node, range(len(self.problem.rows)))

    def loss_of(self, node, left):
        """NCP of a node of which these records are released; a left-out one has lost everything."""
        columns, records = self.problem.columns, len(self.problem.rows)
        cells = [loss(column, column.values[number], node[column.name]) for column in columns for number in left]
        return sum(cells, (records - len(left)) * Fraction(len(columns))) / (records * len(columns))

    def minimal(self):
        """The nodes that hold while none below them does."""
        held = [node for node in self.nodes() if self.holds(node)]
        return [a for a in held if not any(a != b and all(b[name] <= a[name] for name in a) for b in held)]

    def unsafe(self, node, length):
        """Per combination of up to `length` attributes the unsafe values; and the records that have one."""
        rows, found, records = self.rows(node), Counter(), set()
        needed = {}
        for qid in self.problem.quasi_identifiers:
            for size in range(1, length + 1):
                for attributes in combinations(sorted(qid.attributes), size):
                    needed[attributes] = max(qid.k, needed.get(attributes, 0))
        for attributes, k in needed.items():
            small = self.small(rows, attributes, k)
            found[attributes] = len({tuple(row[name] for name in attributes) for row in small})
            records |= {id(row) for row in small}
        return found, len(records)
