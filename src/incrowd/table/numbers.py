"""Numbers in text."""

from __future__ import annotations

from math import isfinite


def number_of(text: str) -> float | None:
    """The finite number that a text is; None if it is none."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None
