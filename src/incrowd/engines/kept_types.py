"""Columns that a recoding leaves as they are keep the type that they have in the table at hand.

Recoded values are labels, and labels are text: `[20-30)`, `*`. Where every released value of a column means
itself, nothing of it has to be text. Which columns these are follows from the recoding and from the types of the table,
never from the rows, so that all rows that a recoding is applied to get the same types.

A value is made from its label alone, and written as that label again. So cells are equal if and only if their labels
are, all that was counted of labels is true of values, and nothing of an original value goes out that its label does not
say, such as the sign of a zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from incrowd.recodings.recoding import Recoding
from incrowd.table.arrays import text_array
from incrowd.table.scales import text_of


@dataclass(frozen=True)
class KeptTypes:
    """The columns that keep their type.

    Args:
        values: By column, the value of each of its labels; null for a missing one.
    """

    values: Mapping[str, pa.Array] = field(default_factory=dict)

    @classmethod
    def of(cls, recoding: Recoding, schema: pa.Schema) -> KeptTypes:
        """The columns of a table that a recoding leaves as they are, and whose type is not one of text."""
        values = {}
        for name in recoding.names:
            if name in schema.names and _can_be_kept(kind := schema.field(name).type):
                texts = recoding.unchanged(name)
                made = None if texts is None else _made(text_array(texts), kind)
                if made is not None:
                    values[name] = made
        return cls(values)

    def typed(self, name: str, column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
        """A column of labels, as values if it keeps its type; its dictionary is all labels of the recoding."""
        if name not in self.values:
            return column
        if isinstance(column, pa.ChunkedArray):
            return pa.chunked_array([self.typed(name, chunk) for chunk in column.chunks], self.values[name].type)
        return self.values[name].take(column.indices)

    def batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        for name in self.values:
            typed = self.typed(name, batch.column(name))
            batch = batch.set_column(batch.schema.get_field_index(name), pa.field(name, typed.type), typed)
        return batch


def _can_be_kept(kind: pa.DataType) -> bool:
    floating = pa.types.is_float32(kind) or pa.types.is_float64(kind)
    numeric = floating or pa.types.is_integer(kind) or pa.types.is_decimal(kind)
    return bool(numeric or pa.types.is_boolean(kind) or pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def _made(texts: pa.Array, kind: pa.DataType) -> pa.Array | None:
    """The values of a type that are written as some texts; None unless every text has one."""
    try:
        values = texts.cast(kind)
    except pa.ArrowException:
        return None
    return values if text_of(values).equals(texts) else None
