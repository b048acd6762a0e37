"""The number that a class shows of a column, as users write it: mean, median or mode, or with a step as in mean:5."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

FORM = r"(mean|median|mode)(:(?=.*[1-9])([0-9]{1,18}(\.[0-9]{1,18})?))?"


@dataclass(frozen=True)
class Form:
    """What a column shows of a class.

    Args:
        centre: "mean", "median" or "mode".
        step: What numbers are rounded to multiples of; None for the finest place that the column has.
    """

    centre: str
    step: Fraction | None = None

    @classmethod
    def of(cls, text: str) -> Form:
        found = re.fullmatch(FORM, text)
        assert found is not None  # a policy has checked it
        return cls(found[1], Fraction(found[3]) if found[3] else None)
