"""Columns of a table, original or released, as the numbers that a classifier learns from.

Numbers and dates stay numbers, everything else becomes a category. A released interval is, by default, the number in
its middle: a recipient knows that [30-40) lies below [40-50), and so should a classifier. Nothing but the released text
is used for that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from incrowd.errors import DataError
from incrowd.formats.sources import as_array
from incrowd.table.missing import encoded, is_missing
from incrowd.table.scales import Scale, has_commas, scale_of, text_of

INTERVALS = ("midpoints", "categories")


@dataclass(frozen=True)
class Features:
    """A matrix for classifiers.

    Args:
        matrix: Rows x columns; numbers as they are (not-a-number where missing), categories as codes.
        numeric: Which columns are numbers.
    """

    matrix: npt.NDArray[np.float64]
    numeric: npt.NDArray[np.bool_]


def comma_types(table: pa.Table, names: Sequence[str], missing_values: Sequence[str]) -> dict[str, str]:
    """The type of every column that holds numbers with a decimal comma, in a table that may have those."""
    return {name: "comma" for name in names if has_commas(_present(table, name, missing_values), None, expected=True)}


def _present(table: pa.Table, name: str, missing_values: Sequence[str]) -> pa.Array:
    """The distinct values of a column, without missing ones."""
    values = encoded(as_array(table.column(name)), name).dictionary
    return values.filter(pa.array(~is_missing(values, missing_values)))


def scales_of(
    table: pa.Table, names: Sequence[str], missing_values: Sequence[str], types: Mapping[str, str]
) -> dict[str, Scale]:
    """The scale of every column that holds numbers or dates."""
    scales = {}
    for name in names:
        values = _present(table, name, missing_values)
        try:
            scale = scale_of(values, name, types.get(name))
        except DataError:  # numbers with a few words among them: a category, as good as any
            scale = None
        if scale is not None:
            scales[name] = scale
    return scales


def features_of(
    table: pa.Table, names: Sequence[str], missing_values: Sequence[str], scales: Mapping[str, Scale]
) -> Features:
    """Columns as they are, original or released."""
    matrix = np.empty((len(table), len(names)))
    numeric = np.zeros(len(names), bool)
    for place, name in enumerate(names):
        column = encoded(as_array(table.column(name)), name)
        values = column.dictionary
        numbers = _numbers(name, values, missing_values, scales[name]) if name in scales else None
        numeric[place] = numbers is not None
        value_of = np.append(np.arange(len(values)), -1.0) if numbers is None else np.append(numbers, np.nan)
        matrix[:, place] = value_of[column.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)]
    return Features(matrix, numeric)


def _numbers(name: str, values: pa.Array, missing_values: Sequence[str], scale: Scale) -> Any:
    """Distinct values as numbers, None if one of them is neither a number nor an interval."""
    missing = is_missing(values, missing_values)
    numbers = np.full(len(values), np.nan)
    present = values.filter(pa.array(~missing))
    try:
        numbers[~missing] = scale.numbers(present, name)
    except DataError:
        try:
            numbers[~missing] = [scale.middle(text) for text in text_of(present).to_pylist()]
        except (DataError, ValueError):
            return None
    return numbers
