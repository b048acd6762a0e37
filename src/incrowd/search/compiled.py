"""Compiled code of searches: compiled when first called, kept on disk if possible, without the interpreter lock.

A kernel does an amount of work and gives back numbers, or fills arrays that it is given; what takes long is cut into
slices (`Run.in_slices`). Compilation, which cannot be interrupted, happens beside the thread that answers interrupts
(`Run.beside`). What was compiled is kept beside the code, in the user's cache folder, or in NUMBA_CACHE_DIR; where none
can be written, or what lies there is damaged, it is compiled again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba

_LOADER_BYTES = 160 << 20  # what it takes to set the compiler up, which loading from disk needs too
_COMPILER_BYTES = 256 << 20  # what compiling the largest kernel takes, with room to spare

Function = TypeVar("Function", bound=Callable[..., Any])


class _Forgiving:
    """A cache on disk that nothing depends on: what it cannot read is not there, what it cannot write is not kept."""

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def load_overload(self, *arguments: Any) -> Any:
        """What was compiled before, None if there is nothing, or nothing that can be read.

        Raises:
            MemoryError: There is not enough memory to load it, or to compile it.
        """
        _check_memory(_LOADER_BYTES)
        try:
            found = self._cache.load_overload(*arguments)
        except MemoryError:
            raise
        except Exception:  # whatever unpickling a damaged file raises
            found = None
        if found is None:
            _check_memory(_COMPILER_BYTES)
        return found

    def save_overload(self, *arguments: Any) -> None:
        """Keep what was compiled, if there is room for it."""
        try:
            self._cache.save_overload(*arguments)
        except Exception:
            return

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)


def _check_memory(needed: int) -> None:
    """Raise MemoryError if the limit of the process is near: the compiler would end the process when it reaches it."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except (ImportError, OSError):
        return
    if limit != resource.RLIM_INFINITY and limit - used < needed:
        raise MemoryError


def compiled(function: Function) -> Function:
    """Compile when first called, and keep the result on disk if that is possible."""
    kernel: Any = numba.njit(nogil=True)(function)
    with contextlib.suppress(RuntimeError):  # no folder to keep it in
        kernel.enable_caching()
    kernel._cache = _Forgiving(kernel._cache)
    return kernel  # type: ignore[no-any-return]
