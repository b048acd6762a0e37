"""Optimal anonymization by brute force, straight from the definitions: every partition of every scheme, every cost."""

from collections import Counter
from dataclasses import dataclass
from itertools import product
from typing import ClassVar


@dataclass(frozen=True)
class Crowd:
    """At least so many records in a class, any number from 1 on; k-anonymity begins at 2."""

    least_size: int

    name: ClassVar[str] = "crowd"
    column: ClassVar[str | None] = None
    whole: ClassVar[bool] = True
    upward_closed: ClassVar[bool] = True
    for_everyone: ClassVar[bool] = False

    @property
    def threshold(self):
        """The size."""
        return self.least_size

    def levels(self, classes):
        """The size of each class."""
        return classes.records

    def __str__(self):
        return f"crowd={self.least_size}"


@dataclass(frozen=True)
class Tables:
    """Classes fill tables of so many: a union of good classes is good, but whoever joins a good class can spoil it."""

    least_size: int

    name: ClassVar[str] = "tables"
    column: ClassVar[str | None] = None
    whole: ClassVar[bool] = True
    upward_closed: ClassVar[bool] = False
    for_everyone: ClassVar[bool] = False
    threshold: ClassVar[int] = 1

    def fitted(self, histogram):
        """Itself: it compares with nothing."""
        return self

    def levels(self, classes):
        """1 if all tables are full, else 0."""
        return (classes.records % self.least_size == 0).astype(int)

    def __str__(self):
        return f"tables={self.least_size}"


def set_partitions(values):
    """All partitions of a list into lists."""
    if not values:
        yield []
        return
    for partition in set_partitions(values[:-1]):
        for place, block in enumerate(partition):
            yield [*partition[:place], [*block, values[-1]], *partition[place + 1 :]]
        yield [*partition, [values[-1]]]


def level_partitions(taxonomy):
    """All values at one level, values that end above it as they are."""
    for depth in range(taxonomy.height, -1, -1):
        groups = {}
        for code, path in enumerate(taxonomy.paths()):
            groups.setdefault(path[max(0, len(path) - 1 - depth)], []).append(code)
        yield list(groups.values())


def is_cut(taxonomy, partition):
    """Whether every block is all the leaves of one node."""
    nodes = {tuple(range(a, b)) for a, b in zip(taxonomy.start.tolist(), taxonomy.stop.tolist(), strict=True)}
    return all(tuple(block) in nodes for block in partition)


def is_ordered(partition):
    """Whether every block is an interval of codes."""
    return all(block == list(range(block[0], block[-1] + 1)) for block in partition)


def is_guided(taxonomy, partition):
    """Whether with x and y a block holds all that is closer to x than y is."""

    def ancestor(x, y):
        return taxonomy.lowest_common_ancestor(taxonomy.leaves[x], taxonomy.leaves[y])

    for block in partition:
        for x, y in product(block, block):
            far = int(taxonomy.depth[ancestor(x, y)])
            for z in range(len(taxonomy.leaves)):
                if x != y and z not in block and taxonomy.depth[ancestor(x, z)] > far:
                    return False
    return True


def allowed(taxonomy, scheme):
    """Every partition of the leaves that a scheme allows, as a set of sorted tuples of tuples."""
    if scheme == "bhs":
        found = level_partitions(taxonomy)
    else:
        test = {
            "ghs": lambda p: is_cut(taxonomy, p),
            "ops": is_ordered,
            "sps": lambda p: True,
            "gsps": lambda p: is_guided(taxonomy, p),
            "gops": lambda p: is_ordered(p) and is_guided(taxonomy, p),
        }[scheme]
        found = (p for p in set_partitions(list(range(len(taxonomy.leaves)))) if test(p))
    return {tuple(sorted(map(tuple, partition))) for partition in found}


def cost_of(rows, labels, partitions, k, measure, good=None, weights=None):
    """The cost of an anonymization and the number of suppressed records, record by record.

    Args:
        rows: Records as tuples of codes.
        labels: The class of each record.
        partitions: Per attribute, the blocks.
        k: Smallest class.
        measure: "dm", "hdm", "ncp" or "cm", as sums over records.
        weights: The priority of each attribute, for ncp.
        good: Whether a class of some records, by number, is good, where that is not to have k of them.
    """
    good = good or (lambda inside: len(inside) >= k)
    block_of = [{code: block for block in partition for code in block} for partition in partitions]
    recoded = [tuple(blocks[code] for blocks, code in zip(block_of, row, strict=True)) for row in rows]
    classes, total = {}, len(rows)
    for number, cells in enumerate(recoded):
        classes.setdefault(cells, []).append(number)
    is_good = {cells: good(inside) for cells, inside in classes.items()}
    counts = [Counter(column) for column in zip(*rows, strict=True)]
    cost = suppressed = 0
    for row, cells, _ in zip(rows, recoded, labels, strict=True):
        if not is_good[cells]:
            suppressed += 1
            cost += total if measure == "dm" else 1
        elif measure == "dm":
            cost += len(classes[cells])
        elif measure == "hdm":
            lost = 0
            for code, block, count in zip(row, cells, counts, strict=True):
                together = sum(count[other] for other in block)
                lost += (together - count[code]) / (total - count[code]) if together > count[code] else 0
            cost += lost / len(row)
        elif measure == "ncp":
            width = [max(1, sum(map(len, partition)) - 1) for partition in partitions]
            shares = weights or [1] * len(row)
            lost = (s * (len(block) - 1) / w for block, w, s in zip(cells, width, shares, strict=True))
            cost += sum(lost) / sum(shares)
    if measure == "cm":
        for cells, inside in classes.items():
            frequent = max(Counter(labels[number] for number in inside).values())
            cost += len(inside) - frequent if is_good[cells] else 0
    return cost, suppressed


def brute_force(rows, labels, taxonomies, schemes, k, limit, measure, good=None):
    """The lowest cost of all anonymizations that suppress at most `limit` records."""
    spaces = [sorted(allowed(t, scheme)) for t, scheme in zip(taxonomies, schemes, strict=True)]
    costs = (cost_of(rows, labels, partitions, k, measure, good) for partitions in product(*spaces))
    return min((cost for cost, suppressed in costs if suppressed <= limit), default=None)


def released(cells, good):
    """The records that stay when bad classes are left out, all at once, over and over.

    Args:
        cells: What the class of each record is called.
        good: Whether some records, by number, are a good class of a release of some records.
    """
    classes = {}
    for number, name in enumerate(cells):
        classes.setdefault(name, set()).add(number)
    stay = list(classes.values())
    while bad := [inside for inside in stay if not good(inside, set().union(*stay))]:
        stay = [inside for inside in stay if inside not in bad]
    return set().union(*stay)


def tightest(partition, known, space):
    """The finest partition of a space in which known values that shared a block still do."""
    kept = [set(block) & known for block in partition]
    fits = [other for other in space if all(any(block <= set(wide) for wide in other) for block in kept)]
    return max(fits, key=len)


def cheapest_release(rows, labels, taxonomies, scheme, limit, measure, good):
    """The lowest cost of all tables that are released without more records than the limit; None if there is none.

    What a table shows are the values of its records, and those that the scheme puts between them.
    """
    spaces = [sorted(allowed(taxonomy, scheme)) for taxonomy in taxonomies]
    costs = []
    for partitions in product(*spaces):
        block_of = [{code: block for block in partition for code in block} for partition in partitions]
        cells = (tuple(of[code] for of, code in zip(block_of, row, strict=True)) for row in rows)
        stay = released(cells, good)
        if len(rows) - len(stay) > limit:
            continue
        known = [{rows[number][place] for number in stay} for place in range(len(spaces))]
        shown = [tightest(*each) for each in zip(partitions, known, spaces, strict=True)]
        costs.append(cost_of(rows, labels, shown, 0, measure, lambda inside, stay=stay: set(inside) <= stay)[0])
    return min(costs, default=None)
