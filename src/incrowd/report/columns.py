"""Columns of a table as codes, read once from its rows, and what a report counts in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.table.grouping import Codes, Counts, count, group
from incrowd.table.members import Members
from incrowd.table.scales import text_of

if TYPE_CHECKING:
    import pyarrow as pa

    from incrowd.formats.sources import Source


@dataclass(frozen=True)
class Columns:
    """Some columns of a table.

    Args:
        records: Rows of the table.
        codes: By column, the code of each row.
        labels: By column, the value of each code as text; None for an empty cell.
    """

    records: int
    codes: dict[str, Codes]
    labels: dict[str, tuple[str | None, ...]]

    def counts(self, name: str) -> Counts:
        return count(self.codes[name], len(self.labels[name]), None)

    def members(self, names: Sequence[str], unit: str | None = None) -> Members:
        """Who is in which class over some columns: records, or the people that a unit tells apart."""
        groups, firsts = group([self.codes[name] for name in names], [len(self.labels[name]) for name in names])
        return Members(groups, len(firsts), None if unit is None else self.codes[unit])


def read_columns(source: Source, names: Sequence[str]) -> Columns:
    """Read some columns of a table; an empty text is an empty cell."""
    known: dict[str, dict[str | None, int]] = {name: {} for name in names}
    parts: dict[str, list[Codes]] = {name: [] for name in names}
    records = 0
    for batch in source.batches(list(names), encoded=list(names)):
        records += len(batch)
        for name in names:
            parts[name].append(_codes(batch.column(name), known[name]))
    nothing = np.empty(0, np.int64)
    codes = {name: np.concatenate([nothing, *found]).astype(np.int64) for name, found in parts.items()}
    return Columns(records, codes, {name: tuple(values) for name, values in known.items()})


def _codes(column: pa.Array, known: dict[str | None, int]) -> Codes:
    """The code of each value; values that were not known before become known."""
    import pyarrow as pa

    if pa.types.is_nested(column.type):
        column = pa.array([None if value is None else str(value) for value in column.to_pylist()], pa.string())
    column = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    indices = column.indices.fill_null(len(column.dictionary)).to_numpy(zero_copy_only=False)
    used = np.unique(indices)
    kind = column.dictionary.type
    written = pa.types.is_floating(kind) or pa.types.is_decimal(kind) or pa.types.is_timestamp(kind)
    values = [*(text_of(column.dictionary) if written else column.dictionary).to_pylist(), None]  # 3.0 as 3
    code_of = np.zeros(len(values), np.int64)
    for place in used.tolist():
        code_of[place] = known.setdefault(_text(values[place]), len(known))
    return np.asarray(code_of[indices])


def _text(value: Any) -> str | None:
    return None if value is None or value == "" else str(value)
