"""How the witness reads values: as which text, and what a value of a sensitive column counts as.

This is its own reading, from the definitions in the documentation. The search has another one, so that a mistake in
either shows as a difference between what was meant and what was counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from math import isinf, isnan
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


_SMALL, _LARGE = 1e-6, 1e22  # floats between them are written without a power


@dataclass(frozen=True)
class Meaning:
    """What the values of a sensitive column count as.

    Args:
        missing: Texts that stand for a missing value.
        commas: Whether values are numbers with a decimal comma.
        groups: Values that count as one, by the name of the group.
        bins: Bounds in ascending order; numbers between two of them count as one value.
    """

    missing: tuple[str, ...] = ()
    commas: bool = False
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    bins: tuple[float, ...] = ()

    def counted(self, value: Any) -> str | None:
        """What a value counts as: its group, its bin, its number, or itself; None if it is missing."""
        text = as_text(value)
        if text is None or text in self.missing:
            return None
        for name, members in self.groups.items():
            if text in members:
                return name
        number = pointed(text) if self.commas else text
        return _bin(number, self.bins) if self.bins else number


def pointed(text: str) -> str:
    """A number such as 1.234,5 as 1234.5; any other text as it is."""
    whole, comma, rest = text.partition(",")
    number = f"{whole.replace('.', '')}.{rest.replace('.', '')}"
    return number if comma and "," not in rest and _number(number) is not None else text


def _bin(text: str, bounds: tuple[float, ...]) -> str:
    """The range between two bounds that a number is in; what is no number stays."""
    number = _number(text)
    if number is None:
        return text
    below = [bound for bound in bounds if bound <= number]
    above = [bound for bound in bounds if bound > number]
    if not below:
        return f"<{above[0]:g}"
    return f"[{below[-1]:g}-{above[0]:g})" if above else f">={below[-1]:g}"


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return None if isnan(number) or isinf(number) else number


def as_text(value: Any) -> str | None:
    """A value of any type as a text, the same in every kind of file; None if there is none."""
    if value is None or value == "" or value != value:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float | Decimal):
        return _digits(value)
    if isinstance(value, datetime):
        return _moment(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return value.isoformat() if isinstance(value, date) else str(value)


def _digits(value: float | Decimal) -> str:
    """All digits of a number and no more: 3 for 3.0, and 0.5 for 0.50; very large and very small ones with a power."""
    if isinstance(value, float):
        if value and not _SMALL <= abs(value) < _LARGE:
            return repr(value).removesuffix(".0")
        value = Decimal(repr(value))
    text = f"{value:f}" if value.is_finite() else str(value)
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _moment(value: datetime) -> str:
    """A moment to the digit that it has, in UTC where it has a zone."""
    zone = ""
    if value.tzinfo is not None:
        value, zone = value.astimezone(UTC).replace(tzinfo=None), "Z"
    text = value.isoformat(sep=" ")
    return (text.rstrip("0") if "." in text else text) + zone


def plain(values: pa.Array) -> list[Any]:
    """Values as Python has them: those that it would change or cannot have, in digits."""
    import pyarrow as pa

    kind = values.type
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        values = values if kind.tz is None else values.cast(pa.timestamp("ns", "UTC"))
        return [_shortened(text) for text in values.cast(pa.string()).to_pylist()]
    if pa.types.is_time(kind):
        return list(values.cast(pa.string()).to_pylist())
    if pa.types.is_float16(kind) or pa.types.is_float32(kind):  # 0.1 would become 0.10000000149
        return [None if text is None else float(text) for text in values.cast(pa.string()).to_pylist()]
    return list(values.to_pylist())


def _shortened(text: str | None) -> str | None:
    if text is None or "." not in text:
        return text
    zone = "Z" if text.endswith("Z") else ""
    return text.removesuffix("Z").rstrip("0").rstrip(".") + zone
