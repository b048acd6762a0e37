"""Compiled code: kernels work without the interpreter lock, are kept on disk, and give back numbers."""

import importlib
import pkgutil

import numba
import numpy as np
import pytest

import incrowd.search
from incrowd.search.compiled import TRIED, compiled, compiled_within

KERNELS = [
    (module.name, name, value)
    for module in pkgutil.walk_packages(incrowd.search.__path__, "incrowd.search.")
    if not module.ispkg
    for name, value in vars(importlib.import_module(module.name)).items()
    if hasattr(value, "targetoptions") and value.py_func.__module__ == module.name
]


def test_there_are_kernels():
    assert len(KERNELS) > 20


@pytest.mark.parametrize("kernel", [value for *_, value in KERNELS], ids=[f"{m}.{n}" for m, n, _ in KERNELS])
def test_a_kernel_works_without_the_interpreter_lock(kernel):
    assert kernel.targetoptions["nogil"]


def test_a_function_is_compiled_when_it_is_first_called():
    @compiled
    def double(number):
        return 2 * number

    assert not double.signatures
    assert double(21) == 42
    assert double.signatures


@pytest.mark.skipif(not numba.__version__.startswith(TRIED), reason="another version of the compiler")
def test_what_only_compiled_code_calls_is_made_ready_in_its_callers_alone():
    @compiled_within
    def double(number):
        return 2 * number

    @compiled_within
    def next_of(number):
        return double(number) + 1

    @compiled
    def both(number):
        return double(number) + next_of(number)

    assert both(10) == 41
    assert both(0.5) == 3.0
    for kernel in (double, next_of):
        assert len(kernel.signatures) == 2
        for result in kernel.overloads.values():
            assert result.library.get_pointer_to_function(result.fndesc.llvm_cpython_wrapper_name) == 0
        with pytest.raises(KeyError):
            kernel(10)


@pytest.mark.skipif(not numba.__version__.startswith(TRIED), reason="another version of the compiler")
def test_what_only_compiled_code_calls_counts_no_references_and_so_cannot_allocate():
    @compiled_within
    def last_of(rows):
        row = rows[-1]
        return row[-1]

    @compiled_within
    def nothing(size):
        return len(np.zeros(size))

    assert compiled(lambda rows: last_of(rows))(np.arange(6).reshape(2, 3)) == 5
    with pytest.raises(numba.core.errors.NumbaError):
        compiled(lambda size: nothing(size))(3)


def test_another_version_of_the_compiler_makes_everything_ready_by_itself(monkeypatch):
    monkeypatch.setattr("incrowd.search.compiled.TRIED", ("0.0.",))

    @compiled_within
    def double(number):
        return 2 * number

    assert compiled(lambda number: double(number))(21) == 42
    assert double(21) == 42
