"""What a new row becomes after a local recoding, slowly and by the definition: from released labels alone."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from incrowd.taxonomies.labels import parse_interval


@dataclass(frozen=True)
class Released:
    """The released labels of a column, the most general first; `paths` by leaf where there is a taxonomy."""

    labels: tuple[str | None, ...]
    is_number: bool = False
    paths: dict[str, tuple[str, ...]] | None = None

    def ends(self, label: str) -> tuple[Any, Any]:
        """Where an interval begins and ends: a number and whether it lies before (0) or after (1) the end."""
        found = parse_interval(label)
        if found is None:
            return (Fraction(label), 0), (Fraction(label), 1)
        low = None if found.low is None else (Fraction(found.low), 0)
        return low, None if found.high is None else (Fraction(found.high), int(found.closed))

    def covers(self, label: str | None, value: Any) -> bool:
        if label == self.labels[0] or label is None or value is None:
            return label == self.labels[0] or (label is None and value is None)
        if self.paths is not None:
            return label in self.paths[value]
        if not self.is_number:
            return label == value
        low, high = self.ends(label)
        place = (Fraction(str(value)), 0.5)  # between before and after
        return (low is None or low < place) and (high is None or place < high)

    def includes(self, label: str | None, other: str | None) -> bool:
        """Whether a label covers all that another one covers."""
        if label in (self.labels[0], other) or other is None or label is None:
            return label in (self.labels[0], other)
        if self.paths is not None:
            return all(label in path[path.index(other) :] for path in self.paths.values() if other in path)
        if not self.is_number or other == self.labels[0]:
            return False
        (low, high), (lower, higher) = self.ends(label), self.ends(other)
        return (low is None or (lower is not None and low <= lower)) and (
            high is None or (higher is not None and higher <= high)
        )

    def size(self, label: str | None) -> int:
        if label is None:
            return 1
        if self.paths is not None:
            return sum(label in path for path in self.paths.values()) + (label == self.labels[0])
        if not self.is_number:
            return len(self.labels) if label == self.labels[0] else 1
        bounds = {end for shown in self.labels if shown is not None for end in self.ends(shown)} - {None}
        low, high = self.ends(label)
        inside = [b for b in bounds if (low is None or low < b) and (high is None or b < high)]
        return len(inside) + 1 + (label == self.labels[0])  # missing values are one more

    def loss(self, label: str | None) -> Fraction:
        return Fraction(self.size(label) - 1, max(1, self.size(self.labels[0]) - 1))


def recoded(row: tuple[Any, ...], classes: list[tuple[str | None, ...]], columns: list[Released]) -> tuple[Any, ...]:
    """The row as a tuple of labels."""

    def rank(labels: tuple[str | None, ...]) -> tuple[int, Fraction]:
        covered = sum(c.covers(label, value) for c, label, value in zip(columns, labels, row, strict=True))
        return -covered, sum((c.loss(label) for c, label in zip(columns, labels, strict=True)), Fraction(0))

    taken = min(classes, key=rank)  # the first of several
    return tuple(
        label if column.covers(label, value) else widened(column, label, value)
        for column, label, value in zip(columns, taken, row, strict=True)
    )


def widened(column: Released, label: str | None, value: Any) -> str | None:
    found = [other for other in column.labels if column.covers(other, value) and column.includes(other, label)]
    return min(found, key=column.size)
