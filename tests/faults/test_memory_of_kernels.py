"""The kernels under the sanitizers of a C compiler: they stay inside their arrays, and nothing is left undefined."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import incrowd
from incrowd.search.native import library

ROOT = Path(__file__).parents[2]
SUITE = [
    *("tests/unit/search/clustering", "tests/property/test_optimal.py", "tests/property/test_local_recoding.py"),
    "tests/unit/search/automatic/test_boosting.py::test_trees_split_where_a_slow_reference_does",
]
CHECKED = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc with its sanitizers")
def test_kernels_stay_inside_their_arrays(tmp_path):
    sanitizer = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True).stdout.strip()
    if not os.path.isabs(sanitizer):
        pytest.skip("gcc has no address sanitizer here")
    shutil.copytree(Path(incrowd.__file__).parent, tmp_path / "incrowd", ignore=shutil.ignore_patterns("kernels-*"))
    target = tmp_path / "incrowd" / "search" / "native" / library.file_name()
    options = [option for option in library.OPTIONS if option not in ("-O3", "-g0", "-s")]
    subprocess.run(["gcc", *options, *CHECKED, "-fPIC", "-o", target, "kernels.c"], cwd=library.SOURCES, check=True)
    environment = {
        **os.environ,
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}",
        "LD_PRELOAD": sanitizer,
        "ASAN_OPTIONS": "detect_leaks=0",
        "INCROWD_HYPOTHESIS": "test",  # sanitizers are slow, and more examples reach no other lines
        "PYTHONMALLOC": "malloc",  # so that every array has a border that is watched
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    found = subprocess.run([*command, *SUITE], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert found.returncode == 0, (found.stdout + found.stderr)[-4000:]
