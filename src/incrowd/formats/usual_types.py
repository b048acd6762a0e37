"""Types of Arrow that few of its functions know: rows are read in a usual type, and released in their own again.

Views and texts in runs are other layouts of the same values, narrow decimals are decimals. What is released as it is
keeps its type wherever the file or the frame has that type.
"""

from __future__ import annotations

from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import DataError, shown_type

Column = TypeVar("Column", pa.Array, pa.ChunkedArray)
_VIEWS = {"string_view": pa.string(), "binary_view": pa.binary()}


def usual(kind: pa.DataType) -> pa.DataType:
    """The type in which values of a type are worked with."""
    if pa.types.is_run_end_encoded(kind):
        return usual(kind.value_type)
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, usual(kind.value_type), kind.ordered)
    if pa.types.is_decimal32(kind) or pa.types.is_decimal64(kind):
        return pa.decimal128(kind.precision, kind.scale)
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(usual(field.type)) for field in kind])
    if pa.types.is_list(kind) or pa.types.is_list_view(kind):
        return kind if _is_usual(kind) else pa.list_(_item(kind))
    if pa.types.is_large_list(kind) or pa.types.is_large_list_view(kind):
        return kind if _is_usual(kind) else pa.large_list(_item(kind))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_item(kind), kind.list_size)
    return _VIEWS.get(str(kind), kind)


def _is_usual(kind: Any) -> bool:
    return bool(usual(kind.value_type) == kind.value_type)


def _item(kind: Any) -> pa.Field:
    return kind.value_field.with_type(usual(kind.value_type))


def as_usual(column: Column, name: str) -> Column:
    kind = usual(column.type)
    try:
        return column if kind == column.type else _converted(column, kind)
    except pa.ArrowException:
        raise DataError(
            f"column '{name}' has type {shown_type(column.type)}, which cannot be read; convert it"
        ) from None


def as_stored(column: Column, kind: pa.DataType) -> Column:
    """A column that was read in its usual type, in the type that it has where it is stored."""
    return column if column.type == kind else _converted(column, kind)


def usual_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    if all(usual(field.type) == field.type for field in batch.schema):
        return batch
    columns = [as_usual(batch.column(place), field.name) for place, field in enumerate(batch.schema)]
    return pa.RecordBatch.from_arrays(columns, schema=usual_schema(batch.schema))


def usual_schema(schema: pa.Schema) -> pa.Schema:
    return pa.schema([field.with_type(usual(field.type)) for field in schema], schema.metadata)


def stored_schema(schema: pa.Schema, source: Any) -> pa.Schema:
    """What is to be written: columns that are released as they were read have the type that their source stores."""
    stored: pa.Schema | None = getattr(source, "stored", None)
    if stored is None:
        return schema
    read = source.schema
    fields = []
    for field in schema:
        known = field.name in stored.names and field.name in read.names
        same = known and read.field(field.name).type == field.type
        fields.append(field.with_type(stored.field(field.name).type) if same else field)
    return pa.schema(fields, schema.metadata)


def _converted(column: Any, kind: pa.DataType) -> Any:
    """A column in another layout or width, which has the same values."""
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([_converted(chunk, kind) for chunk in column.chunks], kind)
    if pa.types.is_run_end_encoded(column.type):
        return as_stored(pc.run_end_decode(column), kind)
    if pa.types.is_run_end_encoded(kind):
        return pc.run_end_encode(as_stored(column, kind.value_type), kind.run_end_type)
    if pa.types.is_dictionary(column.type) and pa.types.is_dictionary(kind):
        indices = column.indices.cast(kind.index_type)
        return pa.DictionaryArray.from_arrays(indices, column.dictionary.cast(kind.value_type), ordered=kind.ordered)
    return column.cast(kind)
