"""Priorities: weights of attributes that a search goes by, the higher the longer an attribute is kept specific."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from incrowd.errors import UnknownNameError
from incrowd.options import ByColumn, Option
from incrowd.schemas.shapes import Number

PRIORITIES = Option(
    "weight of each attribute, 1 if not named; those with low weights are generalized first",
    ByColumn(Number(0, 1000, above=True), "zip=5,age=2"),
)


def weights_by_name(names: Sequence[str], priorities: Mapping[str, float] | None) -> dict[str, Fraction]:
    """The weight of each attribute, as it is written: 0.1 is a tenth.

    Raises UnknownNameError for a weight of something else.
    """
    for name in priorities or {}:
        if name not in names:
            raise UnknownNameError("quasi-identifier column", name, list(names), "the 'priorities' parameter")
    return {name: Fraction(str((priorities or {}).get(name, 1))) for name in names}
