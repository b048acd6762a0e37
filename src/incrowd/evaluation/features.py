"""Columns of a table, original or released, as the numbers that a model learns from.

Numbers and dates stay numbers, everything else becomes a category. A released interval is, by default, the number in
its middle: a recipient knows that [30-40) lies below [40-50), and so should a model. Nothing but the released text
is used for that.

A model that learns from released rows and predicts for original ones must be told as well what a released category
means. Where released values do not overlap, an original value is the one that covers it. Where they do, as after a
local method, each of them becomes a column, which holds how much of what a row may be lies in it: 1 for a nurse in the
columns of `nurse` and of `care`, 1/2 for `care` in the column of `nurse`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import DataError
from incrowd.formats.sources import as_array
from incrowd.recodings.recoding import Recoding
from incrowd.table.arrays import filled, text_array, to_numpy
from incrowd.table.missing import encoded, is_missing
from incrowd.table.scales import Scale, has_commas, scale_of, text_of

INTERVALS = ("midpoints", "bounds", "categories")
MOST_LABELS = 100  # released values of a column that become columns; the rarest do not


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
    table: pa.Table,
    names: Sequence[str],
    missing_values: Sequence[str],
    scales: Mapping[str, Scale],
    *,
    bounds: bool = False,
) -> Features:
    """Columns as they are, original or released; numbers as two columns where `bounds`, their lowest and highest."""
    columns: list[Any] = []
    for name in names:
        column = encoded(as_array(table.column(name)), name)
        values = column.dictionary
        numbers = _numbers(name, values, missing_values, scales[name], bounds=bounds) if name in scales else None
        if numbers is None:
            columns.append((np.append(np.arange(len(values)), -1.0)[places_in(column)], False))
        else:
            columns += [(np.append(each, np.nan)[places_in(column)], True) for each in numbers]
    return _joined(columns, len(table))


def _joined(columns: Sequence[tuple[Any, bool]], rows: int) -> Features:
    matrix = np.column_stack([column for column, _ in columns]) if columns else np.empty((rows, 0))
    return Features(matrix.astype(np.float64), np.array([numeric for _, numeric in columns], bool))


def places_in(column: pa.DictionaryArray) -> Any:
    """Where each row's value stands in the dictionary; right behind it for null."""
    return to_numpy(column.indices.fill_null(len(column.dictionary)))


def _numbers(
    name: str, values: pa.Array, missing_values: Sequence[str], scale: Scale, *, bounds: bool = False
) -> list[Any] | None:
    """Distinct values as numbers, perhaps as both bounds; None if one is neither a number nor an interval."""
    missing = is_missing(values, missing_values)
    present = values.filter(pa.array(~missing))
    found = np.full((2 if bounds else 1, len(values)), np.nan)
    try:
        found[:, ~missing] = scale.numbers(present, name).astype(np.float64)
    except DataError:
        try:
            texts = text_of(present).to_pylist()
            ends = np.array([scale.ends(text) for text in texts], np.float64).reshape(-1, 2).T
            found[:, ~missing] = ends if bounds else [scale.middle(text) for text in texts]
        except (DataError, ValueError):
            return None
    return list(found)


def told_features(
    released: pa.Table,
    original: pa.Table,
    names: Sequence[str],
    missing_values: Sequence[str],
    scales: Mapping[str, Scale],
    recoding: Recoding,
    *,
    bounds: bool = False,
) -> Features:
    """Released rows, and after them original rows in the same columns.

    Args:
        released: Rows to learn from.
        original: Rows to predict for.
        names: The columns that are used.
        missing_values: Texts that count as missing.
        scales: How the columns that are to be numbers are read.
        recoding: What new rows would be recoded by.
        bounds: Whether numbers become two columns.
    """
    columns: list[Any] = []
    for name in names:
        pair = [encoded(as_array(table.column(name)), name) for table in (released, original)]
        found: list[list[Any]] = []
        if name in scales:
            numbers = (_numbers(name, c.dictionary, missing_values, scales[name], bounds=bounds) for c in pair)
            found = [each for each in numbers if each is not None]
        if len(found) == len(pair):
            shown, missing = found[0], is_missing(pair[0].dictionary, missing_values)
            for side, parts in enumerate(zip(*found, strict=True)):
                if not np.isnan(parts[0]).all():  # else there is nothing to learn
                    closed = np.where(np.isnan(parts[0]) & ~missing, _outermost(shown, side), parts[0])
                    column = [np.append(p, np.nan)[places_in(c)] for p, c in zip((closed, parts[1]), pair, strict=True)]
                    columns.append((np.concatenate(column), True))
        elif name in recoding.names:
            columns += _labels(recoding, name, *pair)
        else:
            columns.append((np.concatenate(_codes(*pair)), False))
    return _joined(columns, released.num_rows + original.num_rows)


def _outermost(shown: Sequence[Any], side: int) -> float:
    """What stands for a value that could be any, or for the open end of an interval, so that it looks like no hole.

    Original rows have no holes, and a model must not learn from them that a value was generalized: it is the middle of
    all, or the outermost of all bounds, so that `<50` and `>=50` do not look the same.
    """
    if len(shown) == 1:
        return float(np.nanmean(shown[0]))
    return float(np.nanmax(shown) if side else np.nanmin(shown))


def _codes(*columns: pa.DictionaryArray) -> list[Any]:
    """The categories of columns that nothing was done to, as codes that mean the same in each."""
    texts = [text_of(column.dictionary) for column in columns]
    known = pc.unique(pa.concat_arrays(texts))
    found = [np.append(to_numpy(pc.index_in(each, known)), -1) for each in texts]
    return [codes[places_in(column)] for codes, column in zip(found, columns, strict=True)]


def _labels(recoding: Recoding, name: str, released: pa.DictionaryArray, original: pa.DictionaryArray) -> list[Any]:
    """A category for released values and those that they cover, or a column for each where they overlap."""
    labels = recoding.all_labels(name)
    nothing = labels.index(None) if None in labels else -1
    found = filled(pc.index_in(text_of(released.dictionary), text_array(labels), skip_nulls=True), -1)
    shown = np.append(to_numpy(found), nothing)[places_in(released)]
    cells = np.append(recoding.cells(name, original.dictionary), recoding.missing_cell(name))[places_in(original)]
    start, stop = recoding.covered(name)
    used = np.unique(shown[shown >= 0])
    covers = (start[used] <= cells[:, None]) & (cells[:, None] < stop[used])  # original rows x labels
    order = used[np.argsort(start[used], kind="stable")]
    if (stop[order][:-1] <= start[order][1:]).all():
        codes = np.where(covers.any(axis=1), used[covers.argmax(axis=1)] if len(used) else -1, -1)
        return [(np.concatenate([shown, codes]), False)]
    common = used[np.argsort(-np.bincount(shown[shown >= 0])[used], kind="stable")][:MOST_LABELS]
    columns = []
    for label in common.tolist():
        overlap = np.minimum(stop, stop[label]) - np.maximum(start, start[label])
        share = np.append(np.maximum(overlap, 0) / (stop - start), 0.0)[shown]
        inside = (start[label] <= cells) & (cells < stop[label])
        if (share < 1).any():
            columns.append((np.concatenate([share, inside]), True))
    return columns
