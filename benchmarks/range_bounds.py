"""Do ranges begin and end at people: the bounds of ranges that are shown against the values of the members.

    python -m benchmarks.range_bounds

Who sees the range `[20-37]` guesses that a member is 20, and that one is 37. The guess is compared with one at any
other value of the same range, which is right as often as members have the values between. Bounds that are right more
often than that were taken from people. A range that is open at one end shows one bound only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

import incrowd
from incrowd.recodings.by_tuple import ByTuple
from incrowd.recodings.ranges import Ranges
from incrowd.release.release import Release
from incrowd.table.attributes import NumberAttribute
from incrowd.taxonomies.labels import Interval, parse_interval

FEW = ("age", "education", "marital-status", "sex", "race")
NUMBERS = ("age", "education-num", "hours-per-week", "sex")
FINE = ("age", "fnlwgt")


@dataclass(frozen=True)
class Guesses:
    """How often a value of a range was that of a member.

    Args:
        ranges: Ranges that were shown, each of one class and column.
        bounds: Bounds that they show.
        right: Bounds that are the value of a member.
        both: Ranges of which both ends are shown, and are values of members.
        elsewhere: The share of right guesses at values between, on the average of the bounds.
    """

    ranges: int
    bounds: int
    right: int
    both: int
    elsewhere: float

    @property
    def at_bounds(self) -> float:
        """The share of right guesses at bounds."""
        return self.right / max(1, self.bounds)


def guessed(release: Release) -> Guesses:
    """Guess that somebody has the bounds of each range of whole numbers in a release of a local method."""
    recoding = release.recoding
    assert isinstance(recoding, ByTuple)
    mapping, found = recoding.mapping, np.zeros(6)
    stay = ~mapping.left_out
    order = np.argsort(mapping.part_classes[stay], kind="stable")
    of_class, tuples = mapping.part_classes[stay][order], mapping.part_tuples[stay][order]
    firsts = np.searchsorted(of_class, np.arange(len(mapping.classes) + 1))
    for place, (hierarchy, attribute) in enumerate(zip(mapping.hierarchies, release.table.attributes, strict=True)):
        if not isinstance(hierarchy, Ranges):
            continue
        assert isinstance(attribute, NumberAttribute)
        codes = release.table.codes[place]
        for number, node in enumerate(mapping.classes[:, place].tolist()):
            label = hierarchy.label(node)
            interval = None if label is None else parse_interval(label)
            if interval is None or interval.low is None is interval.high:
                continue
            ranks = codes[tuples[firsts[number] : firsts[number + 1]]]
            values = set(attribute.numbers[ranks[ranks < len(attribute.numbers)]].tolist())
            found += _of_range(interval, values)
    ranges, bounds, right, both, compared, elsewhere = found.tolist()
    return Guesses(int(ranges), int(bounds), int(right), int(both), elsewhere / max(1, compared))


def _of_range(interval: Interval, values: set[int]) -> tuple[float, ...]:
    """One range, its bounds, those that are right, whether both are; bounds to compare, and what is right between."""
    low = None if interval.low is None else int(interval.low)
    high = None if interval.high is None else int(interval.high) - (not interval.closed)
    shown = [bound for bound in (low, high) if bound is not None]
    right = [bound in values for bound in shown]
    inner = range(min(values) if low is None else low + 1, (max(values) + 1) if high is None else high)
    both = int(len(shown) == 2 and all(right))
    compared = len(shown) if len(inner) else 0
    return 1, len(shown), sum(right), both, compared, compared * len(values & set(inner)) / max(1, len(inner))


def releases(names: Sequence[str], method: str, k: int, **words: Any) -> Release:
    """Adult on some columns, numbers without a taxonomy."""
    trees = {name: path for name, path in incrowd.datasets.taxonomies("adult").items() if name in names}
    for name in ("age", "education-num", "hours-per-week"):
        trees.pop(name, None)
    rows = pa.csv.read_csv(incrowd.datasets.adult()).select(names)
    return incrowd.anonymize(rows, quasi_identifiers=list(names), k=k, method=method, taxonomies=trees, **words)


def figures() -> Iterator[str]:
    """Lines of the table."""
    yield "| columns | method | k | bounds | ranges | right at bounds | right elsewhere | both ends | NCP |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for names in (FEW, NUMBERS, FINE):
        for method in ("mondrian", "argus"):
            for k in (5, 10, 50):
                for bounds in ("exact", "round"):
                    release = releases(names, method, k, bounds=bounds)
                    found = guessed(release)
                    right = f"{found.at_bounds:.1%} | {found.elsewhere:.1%} | {found.both:,}"
                    ncp = f"{release.measures.total.ncp:.4f}"
                    yield f"| {', '.join(names)} | {method} | {k} | {bounds} | {found.ranges:,} | {right} | {ncp} |"


if __name__ == "__main__":
    for line in figures():
        print(line)
