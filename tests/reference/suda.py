"""Minimal sample uniques straight from the definition: every set of columns, every record."""

from itertools import combinations
from math import prod


def minimal_uniques(records, largest):
    """By record, the sets of columns on which it differs from all others, and no smaller set within them does."""
    width = len(records[0])
    found = [[] for _ in records]
    for size in range(1, largest + 1):
        for columns in combinations(range(width), size):
            for place, record in enumerate(records):
                others = (other for number, other in enumerate(records) if number != place)
                alone = all(any(record[i] != other[i] for i in columns) for other in others)
                if alone and not any(set(smaller) < set(columns) for smaller in found[place]):
                    found[place].append(columns)
    return found


def scores(records, largest):
    """The score of each record: over its sets of size m, the product of (ATT - i) for i = m .. M."""
    width = len(records[0])
    last = min(largest, width - 1)
    return [
        sum(prod(width - i for i in range(len(columns), last + 1)) for columns in own)
        for own in minimal_uniques(records, largest)
    ]
