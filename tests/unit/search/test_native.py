"""How kernels are compiled, found and called, and that Python and C mean the same by what they exchange."""

import re
import subprocess
import sys
import threading
import time
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, get_type_hints

import numpy as np
import pytest

import incrowd.search.native.kernels as calls
from incrowd.search.automatic import boosting
from incrowd.search.clustering import agglomeration, class_index, destroy_and_repair, exchange, pool, rounds, space
from incrowd.search.clustering import with_sensitive_values as sensitive
from incrowd.search.native import library
from incrowd.search.native.kernels import Float64, Int64, Mask, given, kernel
from incrowd.search.optimal import kernels as optimal

TEXT = "\n".join(path.read_text() for path in sorted(library.SOURCES.glob("*.[ch]")))
MODULES = (agglomeration, boosting, class_index, destroy_and_repair, exchange, pool, rounds, sensitive, space, optimal)
STRUCTS = dict(re.findall(r"typedef struct \{\n((?:    .*\n)+)\} (\w+);", TEXT))
STRUCTS = {name: body for body, name in STRUCTS.items()}
TUPLES = {
    name: kind
    for module in MODULES
    for name, kind in vars(module).items()
    if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields") and name in STRUCTS
}
ARRAYS = {
    getattr(calls, name): name for name in ("Int32", "UInt32", "Int64", "UInt64", "Float64", "Mask")
}  # by type of Python


def c_name(kind):
    return "i64" if kind in (int, bool) else ARRAYS.get(kind) or kind.__name__


def test_every_struct_of_c_is_a_named_tuple():
    assert set(STRUCTS) == set(TUPLES)
    assert len(STRUCTS) > 15


@pytest.mark.parametrize("name", STRUCTS)
def test_a_struct_has_the_fields_of_its_named_tuple_in_the_same_order(name):
    fields = re.findall(r"^    (\w+) (\w+);", STRUCTS[name], re.MULTILINE)
    hints = get_type_hints(TUPLES[name])
    assert fields == [(c_name(hints[field]), field) for field in TUPLES[name]._fields]


def test_every_kernel_that_python_declares_takes_in_c_what_is_declared():
    exported = dict(re.findall(r"^EXPORT i64 (\w+)\(\s*([^)]*?)\s*\)", TEXT, re.MULTILINE))
    declared = {}
    for module in MODULES:
        for kind in vars(module).values():
            if getattr(kind, "kinds", None) is not None:
                declared[kind.__name__] = kind.kinds
    assert set(declared) == set(exported)
    for name, kinds in declared.items():
        words = [
            " ".join(part.replace("const", "").replace("*", " * ").split()[:-1]) for part in exported[name].split(",")
        ]
        assert words == [c_name(kind) + ("" if c_name(kind) == "i64" else " *") for kind in kinds], name


def test_numbers_that_both_name_are_the_same_in_both():
    named = {}
    for body in re.findall(r"enum \{([^}]*)\}", TEXT):
        last = -1
        for word in body.split(","):
            name, _, value = (part.strip() for part in word.partition("="))
            last = int(value) if value else last + 1
            named[name] = last
    both = [(module, name) for module in MODULES for name in named if isinstance(getattr(module, name, None), int)]
    assert len(both) > 30
    for module, name in both:
        assert getattr(module, name) == named[name], name


def test_an_array_of_another_type_or_order_is_an_error():
    numbers = np.arange(6)
    assert given(numbers, Int64).rows == 6
    assert given(numbers.reshape(2, 3), Int64).columns == 3
    for wrong, kind in (
        (numbers.astype(np.int32), Int64),
        (numbers[::2], Int64),
        (numbers > 2, Int64),
        (numbers, Mask),
    ):
        with pytest.raises(TypeError, match="takes contiguous arrays"):
            given(wrong, kind)
    with pytest.raises(ValueError, match="zip"):
        optimal.group_rows(numbers)


class Held(NamedTuple):
    numbers: Int64
    many: int
    share: Float64


def test_a_struct_keeps_the_memory_of_its_arrays():
    struct = given(Held(np.arange(10**6), 3, np.ones(2)), Held)
    assert struct.many == 3
    assert struct.numbers.rows == 10**6
    assert struct.kept.numbers[-1] == 10**6 - 1
    assert given(struct, Held) is struct


def test_kernels_run_without_the_interpreter_lock():
    size = 4_000_000
    rows, weights = np.zeros((size, 4), np.int64), np.ones(size, np.int64)
    labels, offsets, slots = np.zeros(4, np.int64), np.arange(4), np.full(1 << 23, -1, np.int64)
    thread = threading.Thread(target=optimal.group, args=(rows, weights, labels, offsets, slots))
    thread.start()
    ticks = 0
    while thread.is_alive():
        time.sleep(0.0005)
        ticks += 1
    assert ticks > 5


def test_what_is_compiled_is_found_by_its_sources_and_replaces_older_ones(tmp_path, monkeypatch):
    for path in library.SOURCES.glob("*.[ch]"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(library, "SOURCES", tmp_path)
    assert library.library().parent == tmp_path
    before = library.file_name()
    assert [path.name for path in tmp_path.glob("kernels-*")] == [before]
    text = (tmp_path / "rounds.c").read_text()
    (tmp_path / "rounds.c").write_text(text + "/* changed */\n")
    assert library.library().name != before
    assert [path.name for path in tmp_path.glob("kernels-*")] == [library.file_name()]
    (tmp_path / "rounds.c").write_bytes(text.replace("\n", "\r\n").encode())
    assert library.file_name() == before


def test_where_nothing_can_be_written_it_is_compiled_for_one_process(tmp_path, monkeypatch):
    made = library.made
    monkeypatch.setattr(library, "file_name", lambda: "kernels-none.so")

    def only_elsewhere(path):
        if path.parent == library.SOURCES:
            raise PermissionError
        return made(path)

    monkeypatch.setattr(library, "made", only_elsewhere)
    monkeypatch.setattr(library.tempfile, "tempdir", str(tmp_path))
    assert library.library().parent.parent == tmp_path


@pytest.mark.parametrize("module", ["incrowd", "incrowd.search.clustering.cover", "incrowd.search.optimal.optimal"])
def test_importing_a_search_compiles_and_loads_nothing(module):
    import_module(module)
    code = f"import sys, {module}, incrowd.search.native.kernels as n; sys.exit(n._library.cache_info().currsize)"
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=Path(__file__).parents[3]).returncode == 0


def test_a_kernel_of_no_library_is_an_error(monkeypatch):
    def none():
        raise library.NoCompilerError("there is no C compiler")

    monkeypatch.setattr(calls, "library", none)
    calls._library.cache_clear()
    with pytest.raises(calls.KernelsError, match="there is no C compiler"):
        kernel("something", int)(3)
    calls._library.cache_clear()
