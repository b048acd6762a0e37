"""Arrays of numbers and texts between numpy, Python and Arrow, as pyarrow makes them, but without pandas.

Where pandas is installed, pyarrow imports it at the first `pa.array`, `pa.scalar` or `to_numpy`, whatever it is given.
That takes 0.2 CPU seconds, more than a release of a small table. Numbers, truths and texts need none of it: they are
handed over as the bytes that they are. All else goes the usual way.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Values = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

_MOST_BYTES = (1 << 31) - 1  # of all texts of an array


def to_arrow(values: Values, missing: Mask | None = None) -> pa.Array:
    """An array of numbers or truths as Arrow has it, without a copy where that is possible."""
    if values.dtype.kind not in "iufb" or not values.dtype.isnative or values.ndim != 1:
        return pa.array(values, mask=missing)
    valid = None if missing is None or not missing.any() else _bits(~missing)
    held = _bits(values) if values.dtype.kind == "b" else pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [valid, held])


def to_numpy(values: pa.Array) -> Values:
    """An Arrow array as numpy has it, read-only where it is not a copy; nulls of numbers are not-a-number."""
    kind = values.type
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    if not (numeric or pa.types.is_boolean(kind)) or values.null_count:
        return np.asarray(values.to_numpy(zero_copy_only=False))
    if not len(values):
        return np.empty(0, kind.to_pandas_dtype())
    held, start, stop = values.buffers()[1], values.offset, values.offset + len(values)
    if not numeric:
        return np.unpackbits(np.frombuffer(held, np.uint8), count=stop, bitorder="little")[start:].view(np.bool_)
    found = np.frombuffer(held, kind.to_pandas_dtype(), stop)[start:]
    found.flags.writeable = False
    return found


def filled(values: pa.Array, filler: Any) -> pa.Array:
    """Numbers or truths with another one in place of each null."""
    if not values.null_count:
        return values
    return pc.fill_null(values, to_arrow(np.array([filler], values.type.to_pandas_dtype()))[0])


def text_array(values: Iterable[str | None]) -> pa.Array:
    values = list(values)
    encoded = [b"" if value is None else value.encode() for value in values]
    ends = np.cumsum([0, *map(len, encoded)])
    if ends[-1] > _MOST_BYTES:
        return pa.array(values, pa.string())
    missing = np.array([value is None for value in values], bool)
    buffers = [_bits(~missing) if missing.any() else None, pa.py_buffer(ends.astype(np.int32))]
    return pa.Array.from_buffers(pa.string(), len(values), [*buffers, pa.py_buffer(b"".join(encoded))])


def _bits(truths: Mask) -> pa.Buffer:
    return pa.py_buffer(np.packbits(truths, bitorder="little"))
