"""Compiled code: kernels work without the interpreter lock, are kept on disk, and give back numbers."""

import importlib
import pkgutil

import pytest

import incrowd.search
from incrowd.search.compiled import compiled

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
