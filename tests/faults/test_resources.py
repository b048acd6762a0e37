"""No compiled kernels, damaged ones, no compiler, and too little memory."""

import os
import resource
import shutil
from pathlib import Path

import pytest
from tests.faults.processes import MORE, anonymize, names, one_line, people, run, script

import incrowd
from incrowd import errors
from incrowd.errors import lacks_memory
from incrowd.search.native.library import file_name


@pytest.fixture
def sources(tmp_path):
    """The environment of a process whose package has the sources of its kernels, but nothing compiled."""
    copy = tmp_path / "code" / "incrowd"
    shutil.copytree(Path(incrowd.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__", "kernels-*"))
    return {**os.environ, "PYTHONPATH": f"{copy.parent}{os.pathsep}{Path(__file__).parents[2]}"}


def test_sources_compile_when_a_kernel_is_first_needed(sources, tmp_path):
    people(tmp_path)
    for _ in range(2):
        found = run(*anonymize(tmp_path, "--method", "cover", "--overwrite"), env=sources)
        assert found.returncode == 0, found.stderr
        (made,) = (tmp_path / "code").rglob("kernels-*")
    assert made.stat().st_size > 10_000


def test_without_compiled_kernels_and_a_compiler_there_is_one_line_that_says_so(sources, tmp_path):
    people(tmp_path)
    found = run(*anonymize(tmp_path, "--method", "cover"), env={**sources, "PATH": "", "CC": ""})
    one_line(found, 1, "there is no C compiler to make them; install a wheel for this platform")
    assert names(tmp_path) == ["code", "people.csv"]


@pytest.mark.parametrize("fault", ["damaged", "failing"])
def test_kernels_that_do_not_load_or_compile_are_one_line(sources, tmp_path, fault):
    people(tmp_path)
    if fault == "damaged":
        (tmp_path / "code" / "incrowd" / "search" / "native" / file_name()).write_bytes(b"damaged")
    found = run(*anonymize(tmp_path, "--method", "cover"), env={**sources, "CC": "false"})
    one_line(found, 1, "the compiled kernels do not load" if fault == "damaged" else "the C compiler false failed")


@pytest.mark.parametrize("method", ["optimal", "cover", "kaca"])
@pytest.mark.parametrize("megabytes", [500, 1000] if MORE == 1 else range(450, 1500, 50))
def test_too_little_memory_is_one_line(tmp_path, method, megabytes):
    people(tmp_path)
    most = megabytes << 20

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (most, most))

    found = run(*anonymize(tmp_path, "--method", method), preexec_fn=limit)
    assert "Traceback" not in found.stderr
    if found.returncode:
        lines = [line for line in found.stderr.splitlines() if line.startswith("error:")]
        assert found.returncode == 1, found.stderr
        assert len(lines) == 1
        assert "not enough memory" in lines[0]
        assert names(tmp_path) == ["people.csv"]


def test_an_error_that_python_lost_is_one_of_memory_where_that_is_scarce(monkeypatch):
    lost = SystemError("error return without exception set")
    assert not lacks_memory(lost)
    monkeypatch.setattr(errors, "_LITTLE", 1 << 60)
    assert lacks_memory(lost)
    assert not lacks_memory(SystemError("bad argument to internal function"))


@pytest.mark.parametrize("megabytes", [140, 150])  # with 120, Python itself crashes once in a hundred times
def test_so_little_memory_that_libraries_do_not_load_is_one_line(tmp_path, megabytes):
    people(tmp_path)
    most = megabytes << 20
    code = "import sys; from incrowd.__main__ import main; main()"
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({most}, {most})); "
    found = script(limit + code, *anonymize(tmp_path))
    one_line(found, 1, "not enough memory")
    assert names(tmp_path) == ["people.csv"]
