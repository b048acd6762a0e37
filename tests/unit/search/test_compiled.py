"""Kernels: plain Python for a small table, compiled for a larger one, without the interpreter lock."""

import numpy as np

from incrowd.search import compiled as module
from incrowd.search.compiled import has_compiled, kernel, ready


@kernel
def double(number):
    return 2 * number


@kernel
def draw(state):
    state[0] = np.uint64(double(state[0])) + np.uint64(2**63 + 1)
    return state[0]


def test_both_forms_of_a_kernel_give_the_same(monkeypatch, tmp_path):
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))  # nothing is compiled yet
    found = []
    for tuples in (module.UNCOMPILED, module.UNCOMPILED + 1):
        state, form = np.array([2**63 + 3], np.uint64), ready(draw, tuples)
        found.append([int(form(state)) for _ in range(4)])  # it wraps around without a warning
    assert found[0] == found[1]
    assert has_compiled()


def test_it_is_compiled_when_it_is_first_called_with_what_it_calls():
    @kernel
    def next_of(number):
        return double(number) + 1

    form = ready(next_of, module.UNCOMPILED + 1)
    assert not form.signatures
    assert form(10) == 21
    assert form.signatures
    assert form.targetoptions["nogil"]
    assert form is ready(next_of, 10**6)
    assert ready(next_of, 1)(0.5) == 2.0


def test_another_version_of_the_compiler_makes_everything_ready_by_itself(monkeypatch):
    monkeypatch.setattr(module, "TRIED", ("0.0.",))
    monkeypatch.setitem(globals(), "double", kernel(double.function))
    form = ready(kernel(draw.function), module.UNCOMPILED + 1)
    assert form(np.array([2**63 + 3], np.uint64)) == 2**63 + 7
