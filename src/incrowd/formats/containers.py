"""What a file or a frame may say besides the values of its rows: nothing that no released row has.

Dictionaries and categories keep values of rows that were left out, and their order can be that of the original rows.
The metadata of a schema holds the number of original rows, bounding boxes, or whatever somebody once put there. So
dictionaries are cut down to what released rows have, and of metadata only what pandas has to know of types goes out.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.formats.usual_types import as_stored, as_usual
from incrowd.table.arrays import filled, to_arrow, to_numpy

_PANDAS = b"pandas"
_LOOKED_AT = 8192  # rows
_KEPT_NOTES = ("name", "field_name", "pandas_type", "numpy_type")


def bare(schema: pa.Schema) -> pa.Schema:
    """The names and types of a schema, without any metadata."""
    return pa.schema([pa.field(field.name, field.type, field.nullable) for field in schema])


def without_unused(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """A column whose dictionary, if it has one, holds what its rows have and nothing else.

    Values are in the order in which they occur; where the dictionary is ordered, that order stays.
    """
    if not pa.types.is_dictionary(column.type):
        return column
    if isinstance(column, pa.ChunkedArray):
        if column.num_chunks == 0:
            return column
        column = column.unify_dictionaries()
        column = column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)
    size, rows = len(column.dictionary), len(column)
    kind = pa.int32() if size < 1 << 31 else pa.int64()
    indices = to_numpy(filled(column.indices.cast(kind), size))
    first = _first_places(indices, size)
    used = np.flatnonzero(first[:-1] < rows)
    if not column.type.ordered:
        used = used[np.argsort(first[used])]
    if np.array_equal(used, np.arange(size)):
        return column
    place = np.zeros(size + 1, indices.dtype)
    place[used] = np.arange(len(used))
    if column.null_count:
        places = to_arrow(place.take(indices), indices == size).cast(column.type.index_type)
    else:
        places = pc.take(to_arrow(place).cast(column.type.index_type), column.indices, boundscheck=False)
    dictionary = as_stored(as_usual(column.dictionary, "").take(to_arrow(used)), column.type.value_type)
    return pa.DictionaryArray.from_arrays(places, dictionary, ordered=column.type.ordered, safe=False)


def _first_places(indices: npt.NDArray[Any], size: int) -> npt.NDArray[np.int64]:
    """Where each value occurs first, or the number of rows where it does not; the last is for null.

    Most values are among the first rows. All rows are searched only if they are not.
    """
    for rows in (min(_LOOKED_AT, len(indices)), len(indices)):
        first = np.full(size + 1, len(indices))
        places = indices[:rows][::-1].astype(np.intp)  # what numpy wants places to be
        first[places] = np.arange(rows - 1, -1, -1)  # of several, the last one stays
        if (first[:-1] < len(indices)).all():
            break
    return first


def pandas_notes(old: pa.Schema, new: pa.Schema) -> dict[bytes, bytes] | None:
    """The metadata that lets pandas restore the types of columns that were released as they are; None without any.

    Pandas keeps them in a JSON document, together with its index and the number of rows, which do not go out.

    Args:
        old: The schema of the original table.
        new: The schema of the release.
    """
    try:
        notes = json.loads((old.metadata or {})[_PANDAS])
        columns = [
            {**{key: note.get(key) for key in _KEPT_NOTES}, "metadata": _time_zone(note)}
            for note in notes["columns"]
            if _is_as_it_was(note.get("field_name", note["name"]), old, new)
        ]
    except (ValueError, TypeError, KeyError, AttributeError):  # there are none, or they are not as pandas writes them
        return None
    kept = {"index_columns": [], "column_indexes": [], "columns": columns, "pandas_version": "1.4.0"}
    return {_PANDAS: json.dumps(kept).encode()}


def _is_as_it_was(name: str, old: pa.Schema, new: pa.Schema) -> bool:
    return name in old.names and name in new.names and bool(old.field(name).type == new.field(name).type)


def _time_zone(note: dict[str, Any]) -> dict[str, str] | None:
    zone = (note.get("metadata") or {}).get("timezone")
    return {"timezone": zone} if isinstance(zone, str) else None
