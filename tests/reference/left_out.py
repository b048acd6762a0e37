"""Releases in which records are left out, by brute force and straight from the definitions.

A release says nothing of left-out records: an interval goes from the lowest to the highest number that a released
record has in it, a set names the values that released records have in it. Its cost is counted from its labels.
"""

from collections import Counter
from fractions import Fraction
from itertools import product

from tests.reference.optimal import released, set_partitions


def runs(values):
    """All partitions of a list into runs of neighbours."""
    if not values:
        yield []
        return
    for length in range(1, len(values) + 1):
        for others in runs(values[length:]):
            yield [values[:length], *others]


def partitions_of(column, scheme):
    """The partitions of the values of a column that ops or sps allows."""
    values = sorted(set(column))
    return list(runs(values) if scheme == "ops" else set_partitions(values))


def loss_of_cell(shown, column, extent):
    """The generalized loss of a cell that stands for some values: their range, or how many they are."""
    if len(shown) == 1:
        return Fraction(0)
    if isinstance(column[0], str):
        return Fraction(len(shown) - 1, len(set(column)) - 1)
    low, high = (Fraction(str(end)) for end in extent or (min(column), max(column)))
    return (Fraction(str(max(shown))) - Fraction(str(min(shown)))) / (high - low)


def hdm_of_cell(shown, column, value, scheme):
    """The share of the other records that a cell does not tell from a record with a value."""
    inside = set(shown)
    if scheme == "ops" and not isinstance(value, str):
        inside = {other for other in column if min(shown) <= other <= max(shown)}
    counts = Counter(column)
    covered = sum(counts[other] for other in inside)
    return Fraction(covered - counts[value], len(column) - counts[value]) if covered > counts[value] else Fraction(0)


def released_cost(columns, schemes, partitions, k, measure, extents, good=None):
    """What a release costs in sum, and how many records it leaves out.

    Args:
        good: Whether some records, by number, are a good class of a release of some; by default if there are k.
    """
    rows = list(zip(*columns, strict=True))
    block_of = [{value: place for place, block in enumerate(blocks) for value in block} for blocks in partitions]
    classes = [tuple(of[value] for of, value in zip(block_of, row, strict=True)) for row in rows]
    sizes = Counter(classes)
    stay = released(classes, good or (lambda inside, left: len(inside) >= k))
    kept = [number in stay for number in range(len(rows))]
    left_out = kept.count(False)
    if measure == "dm":
        together = sum(sizes[cells] for cells, stays in zip(classes, kept, strict=True) if stays)
        return together + left_out * len(rows), left_out
    cost = Fraction(left_out)
    for place, column in enumerate(columns):
        shown = {}
        for row, cells, stays in zip(rows, classes, kept, strict=True):
            if stays:
                shown.setdefault(cells[place], set()).add(row[place])
        for row, cells, stays in zip(rows, classes, kept, strict=True):
            if stays and measure == "ncp":
                cost += loss_of_cell(shown[cells[place]], column, extents[place]) / len(columns)
            elif stays:
                cost += hdm_of_cell(shown[cells[place]], column, row[place], schemes[place]) / len(columns)
    return cost, left_out


def cheapest(columns, schemes, k, limit, measure, extents, good=None):
    """The lowest cost of all releases that leave out at most so many records."""
    spaces = [partitions_of(column, scheme) for column, scheme in zip(columns, schemes, strict=True)]
    costs = (released_cost(columns, schemes, chosen, k, measure, extents, good) for chosen in product(*spaces))
    return min(cost for cost, left_out in costs if left_out <= limit)


def loss_of_label(label, column, extent):
    """The generalized loss of a released cell, read from its label alone."""
    if label == "*":
        return Fraction(1)
    if isinstance(column[0], str):
        return Fraction(label.count(", "), max(1, len(set(column)) - 1))
    text = str(label)
    if text[0] not in "[<>{":
        return Fraction(0)
    low, high = (Fraction(str(end)) for end in extent or (min(column), max(column)))
    width, step = high - low, int(all(isinstance(value, int) for value in column))
    if text[0] == "{":
        numbers = [Fraction(number) for number in text[1:-1].split(", ")]
        low, high = min(numbers), max(numbers)
    elif text[0] == "<":
        high = Fraction(text[1:]) - step
    elif text[0] == ">":
        low = Fraction(text[2:])
    else:
        low, high = map(Fraction, text[1:-1].split("-"))
        high -= step * (text[-1] == ")")
    return (high - low) / width


def counted(columns, released, measure, extents):
    """What released rows cost in sum, counted from their labels alone; dm or ncp."""
    left_out = len(columns[0]) - len(released)
    if measure == "dm":
        return sum(size * size for size in Counter(released).values()) + left_out * len(columns[0])
    lost = Fraction(0)
    for place, column in enumerate(columns):
        lost += sum(loss_of_label(row[place], column, extents[place]) for row in released)
    return left_out + lost / len(columns)
