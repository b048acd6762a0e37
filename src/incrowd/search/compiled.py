"""Compiled code of searches: compiled when first called, kept on disk if possible, without the interpreter lock.

A kernel does an amount of work and gives back numbers, or fills arrays that it is given; what takes long is cut into
slices (`Run.in_slices`). Compilation, which cannot be interrupted, happens beside the thread that answers interrupts
(`Run.in_thread`). What was compiled is kept beside the code, in the user's cache folder, or in NUMBA_CACHE_DIR; where
none can be written, or what lies there is damaged, it is compiled again.

The compiler optimizes a function together with all that it calls. What only compiled code calls is therefore made ready
in its callers alone (`compiled_within`): done for itself as well, it would take most of the time of a first use.
Such functions allocate nothing, and so count no references to the arrays that they are given: in small functions that
would take longer than all they do.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

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


class _Unfinished(JITCodeLibrary):
    """The code of one function as it was translated: neither optimized nor machine code."""

    def _optimize_final_module(self) -> None:
        return

    def _finalize_final_module(self) -> None:
        self._finalized = True


class _Within(Compiler):
    """Translates a function that only compiled code calls, and leaves the rest to the compilation of its callers."""

    def _compile_core(self) -> Any:
        state, unfinished = self.state, cast("Any", _Unfinished)
        state.library = unfinished(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        translated = cast("Any", super())._compile_core()
        state.library.finalize()
        # Callers find the function by its entry point, which has to be built in; this one raises KeyError when called.
        translated = translated._replace(entry_point={}.__getitem__)
        state.targetctx.insert_user_function(translated.entry_point, translated.fndesc, [translated.library])
        return translated


TRIED = ("0.68.",)  # versions of the compiler whose inner steps are known; others make everything ready by itself
_WITHIN: dict[str, Any] = {
    "pipeline_class": _Within,
    "_nrt": False,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}


def compiled_within(function: Function) -> Function:
    """Compile into every compiled function that calls this one; Python cannot call it, and it can make no arrays."""
    kernel: Function = numba.njit(nogil=True, **(_WITHIN if numba.__version__.startswith(TRIED) else {}))(function)
    return kernel


def compiled(function: Function) -> Function:
    """Compile when first called, and keep the result on disk if that is possible."""
    kernel: Any = numba.njit(nogil=True)(function)
    with contextlib.suppress(RuntimeError):  # no folder to keep it in
        kernel.enable_caching()
    kernel._cache = _Forgiving(kernel._cache)
    return kernel  # type: ignore[no-any-return]
