"""Kernels: functions of numbers and arrays that run as plain Python, or compiled by numba.

A kernel does an amount of work and returns numbers, or fills arrays that it is given; what takes long is cut into
slices (`Run.in_slices`). Called from Python it is plain Python: on a machine that never ran it, compiling takes many
seconds, which a small table is not worth. The few loops in which that would take long have another form in numpy
(`in_numpy`). `ready` returns the compiled form for a larger table. Compilation cannot be interrupted, so it happens in
another thread than the one that answers interrupts (`Run.in_thread`).

Compiled code is kept next to the source, in the user's cache folder, or in NUMBA_CACHE_DIR. Where none of these can be
written, or what is there is damaged, it is compiled again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

import numpy as np

UNCOMPILED = 1000  # tuples of a table that is searched without compiled code
TRIED = ("0.68.",)  # versions of the compiler whose inner steps are known

_LOADER_BYTES = 160 << 20  # what it takes to set the compiler up, which loading from disk needs too
_COMPILER_BYTES = 256 << 20  # what compiling the largest kernel takes, with room to spare

Function = TypeVar("Function", bound=Callable[..., Any])

_made: list[Any] = []  # what numba made of functions in this process


class _Kernel:
    """A function that other kernels may call, in both forms."""

    def __init__(
        self, function: FunctionType, plain: Callable[..., Any] | None = None, *, inline: bool = False
    ) -> None:
        self.function, self._inline, self._plain = function, inline, plain or function
        self.__doc__, self.__module__ = function.__doc__, function.__module__

    def __call__(self, *arguments: Any) -> Any:
        return self._plain(*arguments)

    @cached_property
    def compiled(self) -> Any:
        """What numba makes of it, to be called from Python."""
        return compiled(self._bound())

    @cached_property
    def called(self) -> Any:
        """The same for compiled code that calls it. It allocates nothing, and so need not count references to arrays.

        In small functions that would take longer than all they do.
        """
        import numba

        options: dict[str, Any] = {"_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        if numba.__version__.startswith(TRIED):
            options["pipeline_class"] = _within()
        return numba.njit(nogil=True, **({"inline": "always"} if self._inline else options))(self._bound())

    def _bound(self) -> FunctionType:
        """The same code, in which the kernels that it calls are compiled ones."""
        names = {name: self.function.__globals__.get(name) for name in self.function.__code__.co_names}
        called = {name: value.called for name, value in names.items() if isinstance(value, _Kernel)}
        return FunctionType(self.function.__code__, self.function.__globals__ | called)


def kernel(function: Function) -> Function:
    """Make a kernel of a function."""
    return cast("Function", _Kernel(cast("FunctionType", function)))


def in_numpy(plain: Callable[..., Any]) -> Callable[[Function], Function]:
    """Make a kernel of a function that does the same as a plain one, which is quick without the compiler."""

    def made(function: Function) -> Function:
        return cast("Function", _Kernel(cast("FunctionType", function), plain))

    return made


def inlined(function: Function) -> Function:
    """Make a kernel of a function that is copied into whatever compiled code calls it."""
    return cast("Function", _Kernel(cast("FunctionType", function), inline=True))


def ready(function: Function, tuples: int) -> Function:
    """A kernel in the form for a table with this many distinct tuples; the result does not depend on it."""
    if tuples > UNCOMPILED:
        return compiled_form(function)
    return np.errstate(over="ignore")(function)  # random numbers wrap around


def compiled_form(function: Function) -> Function:
    """What numba makes of a kernel."""
    return cast("Any", function).compiled  # type: ignore[no-any-return]


def compiled(function: Function) -> Function:
    """Compile a function when it is first called, and keep the result on disk if that is possible."""
    import numba

    made: Any = numba.njit(nogil=True)(function)
    with contextlib.suppress(RuntimeError):  # no folder to keep it in
        made.enable_caching()
    made._cache = _Forgiving(made._cache)
    _made.append(made)
    return made  # type: ignore[no-any-return]


def has_compiled() -> bool:
    """Whether something was compiled in this process, because it was not on disk."""
    return any(made.stats.cache_misses for made in _made)


@cache
def _within() -> Any:
    """A compiler that translates a function that only compiled code calls, and leaves the rest to its callers.

    The compiler optimizes a function together with all that it calls; to do it for each by itself as well doubles the
    time of a first use (21 instead of 11 seconds for `cover`).
    """
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler

    class Unfinished(JITCodeLibrary):
        def _optimize_final_module(self) -> None:
            return

        def _finalize_final_module(self) -> None:
            self._finalized = True

    class Within(Compiler):
        def _compile_core(self) -> Any:
            state, unfinished = self.state, cast("Any", Unfinished)
            state.library = unfinished(state.targetctx.codegen(), state.func_id.func_qualname)
            state.flags.no_compile = True
            translated = cast("Any", super())._compile_core()
            state.library.finalize()
            # Callers find it by its entry point, which has to be built in; this one raises KeyError when called.
            translated = translated._replace(entry_point={}.__getitem__)
            state.targetctx.insert_user_function(translated.entry_point, translated.fndesc, [translated.library])
            return translated

    return Within


class _Forgiving:
    """A cache on disk that nothing depends on: what cannot be read is compiled, what cannot be written is not kept."""

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def load_overload(self, *arguments: Any) -> Any:
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
        with contextlib.suppress(Exception):
            self._cache.save_overload(*arguments)

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
