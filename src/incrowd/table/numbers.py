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


def with_point(text: str) -> str:
    """A number with a decimal comma as one with a point; any other text as it is."""
    pointed = text.replace(".", "").replace(",", ".")
    return pointed if "," in text and number_of(pointed) is not None else text
