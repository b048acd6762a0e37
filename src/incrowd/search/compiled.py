"""Compiled code of searches: compiled when first called, kept on disk, and without the interpreter lock.

A kernel does an amount of work and gives back numbers, or fills arrays that it is given; what takes long is cut into
slices (`Run.in_slices`). Compilation, which cannot be interrupted, happens beside the thread that answers interrupts
(`Run.beside`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile when first called, and keep the result on disk."""
    kernel: Any = numba.njit(cache=True, nogil=True)(function)
    return kernel  # type: ignore[no-any-return]
