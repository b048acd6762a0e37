"""No folder for compiled code, a damaged one, a full one, and too little memory."""

import os
import resource
import shutil
from pathlib import Path

import pytest
from tests.faults.processes import MORE, anonymize, names, one_line, people, run, script

import incrowd
from incrowd import errors
from incrowd.errors import lacks_memory

KERNEL = """
from incrowd.search.compiled import compiled

@compiled
def double(number):
    return 2 * number

print(double(21))
"""
ALL_KERNELS = (
    "import importlib, pkgutil, incrowd.search as s\n"
    "for module in pkgutil.walk_packages(s.__path__, 'incrowd.search.'):\n    importlib.import_module(module.name)\n"
)


@pytest.fixture
def no_cache(tmp_path):
    """The environment of a process for which no folder can be made: neither beside the code nor for the user."""
    source = Path(incrowd.__file__).parent
    copy = tmp_path / "code" / "incrowd"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [copy, *(path for path in copy.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").write_text("a file, where a folder should be")
    tests = Path(__file__).parent.parent.parent
    nowhere = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"), "/dev/null")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA")}
    return {**kept, **nowhere, "PYTHONPATH": f"{copy.parent}{os.pathsep}{tests}"}


def test_kernels_need_no_folder_to_be_kept_in(no_cache, tmp_path):
    kernel = tmp_path / "code" / "kernel.py"
    kernel.write_text(KERNEL)
    found = script(ALL_KERNELS + "import kernel", env=no_cache)
    assert (found.returncode, found.stdout, found.stderr) == (0, "42\n", "")


@pytest.mark.skipif(MORE == 1, reason="compiles for minutes; with INCROWD_HYPOTHESIS=fuzz")
@pytest.mark.parametrize("method", ["optimal", "cover", "kaca"])
def test_methods_need_no_folder_for_compiled_code(no_cache, tmp_path, method):
    people(tmp_path)
    found = run(*anonymize(tmp_path, "--method", method), env=no_cache, timeout=600)
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize("fault", ["damaged", "full"])
def test_a_folder_of_compiled_code_that_is_of_no_use(tmp_path, fault):
    (tmp_path / "kernel.py").write_text(KERNEL)
    words = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    words["PYTHONPATH"] = f"{tmp_path}{os.pathsep}{words.get('PYTHONPATH', '')}"
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n" if fault == "full" else ""
    for _ in range(2):
        found = script(limit + "import kernel", env={**words, "PYTHONDONTWRITEBYTECODE": "1"})
        assert (found.returncode, found.stdout, found.stderr) == (0, "42\n", "")
        kept = [path for path in (tmp_path / "cache").rglob("*.nb?") if path.stat().st_size]
        assert fault == "full" or kept
        for path in kept:
            path.write_bytes(b"damaged")


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
