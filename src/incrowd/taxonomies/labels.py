"""The labels of released values: one grammar, formatted and parsed here and nowhere else.

| label | means |
| --- | --- |
| `*` | any value |
| `known` | any value, but not a missing one |
| `[20-25)` | from 20 up to, but not including, 25 |
| `[20-25]` | from 20 to 25 |
| `[-5 to 3)` | the same, where a bound holds a hyphen |
| `<18`, `<=18`, `>=65` | open at one end |
| `{a, b}` | one of these values |
| anything else | that value |

What is formatted here parses back to the same bounds, whatever numbers, dates or times they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

ANY = "*"  # a suppressed value, the root of a built tree, or a number that could be any
KNOWN = "known"  # any number, but not missing
MISSING = "missing"  # a missing value within a set


@dataclass(frozen=True)
class Interval:
    """The bounds of an interval, as text.

    Args:
        low: The lower bound, which is part of the interval; None for none.
        high: The upper bound; None for none.
        closed: Whether the upper bound is part of the interval.
    """

    low: str | None
    high: str | None
    closed: bool = False

    @property
    def label(self) -> str:
        if self.low is None:
            return ANY if self.high is None else f"<{'=' if self.closed else ''}{self.high}"
        if self.high is None:
            return f">={self.low}"
        separator = " to " if "-" in self.low + self.high else "-"
        return f"[{self.low}{separator}{self.high}{']' if self.closed else ')'}"


def interval_label(low: str | None, high: str | None, *, closed: bool = False) -> str:
    return Interval(low, high, closed).label


def set_label(values: Sequence[str | None]) -> str | None:
    """The label of a set of values; of one value that value, None for missing values alone."""
    if len(values) == 1:
        return values[0]
    return "{" + ", ".join(MISSING if value is None else value for value in values) + "}"


def parse_interval(label: str) -> Interval | None:
    """The interval that a label of numbers or dates means; None if it is a single value."""
    if label in (ANY, KNOWN):
        return Interval(None, None)
    if label.startswith(">="):
        return Interval(label[2:], None)
    if label.startswith("<"):
        closed = label.startswith("<=")
        return Interval(None, label[1 + closed :], closed)
    if not label.startswith("["):
        return None
    bounds = label[1:-1].split(" to " if " to " in label else "-")
    if len(bounds) != 2 or label[-1] not in ")]":
        raise ValueError(f"'{label}' is not an interval")
    return Interval(bounds[0], bounds[1], label.endswith("]"))


def number_label(number: float | Fraction) -> str:
    """The text of a finite number without exponent or needless zeros: 18, 0.5, -3."""
    if number == int(number):
        return str(int(number))
    exact = (
        Decimal(number.numerator) / number.denominator if isinstance(number, Fraction) else Decimal(repr(float(number)))
    )
    return f"{exact.normalize():f}"
