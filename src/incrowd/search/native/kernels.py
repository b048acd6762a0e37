"""How Python calls the kernels: each is declared with what it takes: numbers, arrays and named tuples.

A kernel does an amount of work and returns a whole number, or fills arrays that it is given; what takes long is cut
into slices (`Run.in_slices`). It runs without the interpreter lock. A named tuple becomes a C struct with the same
fields in the same order, which share the memory of its arrays. An array of another type than declared is an error.
"""

from __future__ import annotations

import ctypes
import shutil
from functools import cache, cached_property
from typing import Any, TypeAlias, get_args, get_type_hints

import numpy as np
import numpy.typing as npt

from incrowd.errors import IncrowdError
from incrowd.search.native.library import SOURCES, NoCompilerError, library

Int32: TypeAlias = npt.NDArray[np.int32]
UInt32: TypeAlias = npt.NDArray[np.uint32]
Int64: TypeAlias = npt.NDArray[np.int64]
UInt64: TypeAlias = npt.NDArray[np.uint64]
Float64: TypeAlias = npt.NDArray[np.float64]
Mask: TypeAlias = npt.NDArray[np.bool_]

Kind = Any  # what a kernel takes: int, an array, or a class of named tuples


class KernelsError(IncrowdError):
    """There are no compiled kernels, and none can be made."""


class Given(ctypes.Structure):
    """An array: where its numbers are, and its shape; a list has one column."""

    _fields_ = (("at", ctypes.c_void_p), ("rows", ctypes.c_int64), ("columns", ctypes.c_int64))


@cache
def dtype_of(kind: Kind) -> np.dtype[Any] | None:
    """The type of the numbers of an array, None of anything else."""
    parts = get_args(kind)
    if len(parts) == 1:  # newer versions of numpy keep the alias: NDArray[int64]
        (scalar,) = parts
    elif len(parts) == 2:
        (scalar,) = get_args(parts[1])
    else:
        return None
    numbers: np.dtype[Any] = np.dtype(scalar)
    return numbers


@cache
def struct_of(kind: Kind) -> Any:
    """The C struct of a class of named tuples."""
    hints = get_type_hints(kind)
    fields = [(name, _c_type(hints[name])) for name in kind._fields]
    return type(kind.__name__, (ctypes.Structure,), {"_fields_": fields})


def _c_type(kind: Kind) -> Any:
    if kind in (int, bool):
        return ctypes.c_int64
    return struct_of(kind) if dtype_of(kind) is None else Given


def given(value: Any, kind: Kind) -> Any:
    """A value as C sees it; keep it as long as it is in use. A kernel called often takes it instead of the value.

    Raises:
        TypeError: It is not what was declared.
    """
    if kind in (int, bool):
        return int(value)
    if (dtype := dtype_of(kind)) is None:
        if isinstance(value, ctypes.Structure):
            return value
        hints = get_type_hints(kind)
        struct = struct_of(kind)(*(given(part, hints[name]) for name, part in zip(kind._fields, value, strict=True)))
        struct.kept = value
        return struct
    if value.dtype != dtype or not value.flags.c_contiguous:
        raise TypeError(f"a kernel takes contiguous arrays of {dtype}, got {value.dtype}, shape {value.shape}")
    return Given(value.ctypes.data, len(value), value[:1].size if len(value) else 1)


class Kernel:
    """A kernel by its name in C, and what it takes."""

    def __init__(self, name: str, kinds: tuple[Kind, ...]) -> None:
        self.__name__, self.kinds = name, kinds

    def __call__(self, *arguments: Any) -> int:
        found = [given(value, kind) for value, kind in zip(arguments, self.kinds, strict=True)]
        return int(self._function(*found))

    @cached_property
    def _function(self) -> Any:
        function = getattr(_library(), self.__name__)
        types = [_c_type(kind) for kind in self.kinds]
        function.argtypes = [each if each is ctypes.c_int64 else ctypes.POINTER(each) for each in types]
        function.restype = ctypes.c_int64
        return function


def kernel(name: str, *kinds: Kind) -> Kernel:
    """A kernel by its name in C, and what it takes; the library is loaded when it is first called."""
    return Kernel(name, kinds)


@cache
def _library() -> ctypes.CDLL:
    try:
        path = library()
        loaded = ctypes.CDLL(str(path))
    except NoCompilerError as error:
        raise KernelsError(str(error)) from None
    except OSError as error:
        if "memory" in str(error) or "map segment" in str(error):
            raise MemoryError from None
        raise KernelsError(f"the compiled kernels do not load; install incrowd again: {error}") from None
    if path.parent != SOURCES:
        shutil.rmtree(path.parent, ignore_errors=True)
    return loaded
