"""The first `cover` on a machine beside the second, and on one and two cores; writes `results/first_use.md`.

    python -m benchmarks.first_use HIERARCHIES

The first 30,162 records of Adult, eight attributes, the hierarchies of a folder, the default effort. Every run is a
process of its own. A clone compiles its kernels when they are first needed; a wheel has them. Seconds on the clock of
the whole process, with start-up and reading; then those of the search alone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results" / "first_use.md"
CODE = """
import sys, time
import pyarrow.csv
from benchmarks.local_recoding import TRAINING, compressed, needed, total
from incrowd import datasets
from incrowd.key import Key
from incrowd.run import Run
from incrowd.search.registry import METHODS
table = compressed(pyarrow.csv.read_csv(datasets.adult()).slice(0, TRAINING), sys.argv[1])
k, threads = map(int, sys.argv[2:])
clock, cpu = time.perf_counter(), time.process_time()
found = METHODS["cover"](table, needed(k), {}, Run(key=Key.for_experiments(0), threads=threads))
took = f"{time.perf_counter() - clock:.2f} | {time.process_time() - cpu:.2f}"
print(f"{took} | {total(table, k, found.recoding).ncp:.4f}")
"""


def ran(source: Path, hierarchies: str, k: int, threads: int) -> tuple[float, str]:
    """Seconds of the process, and what it prints."""
    environment = {**os.environ, "PYTHONPATH": f"{source}{os.pathsep}{ROOT}"}
    began = time.perf_counter()
    command = [sys.executable, "-c", CODE, hierarchies, str(k), str(threads)]
    found = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True)
    return time.perf_counter() - began, found.stdout.strip()


def main(hierarchies: str) -> None:
    """Write the results."""
    text = ["# The first use, and several cores", "", "`python -m benchmarks.first_use HIERARCHIES`", ""]
    with tempfile.TemporaryDirectory() as folder:
        ignored = shutil.ignore_patterns("__pycache__", "kernels-*")
        shutil.copytree(ROOT / "src" / "incrowd", Path(folder) / "incrowd", ignore=ignored)
        first, second = (ran(Path(folder), hierarchies, 10, 2)[0] for _ in range(2))
    text += ["`cover` on Adult, k = 10, seconds on the clock of a process on two cores:", ""]
    text += ["| first in a clone, which compiles | second | first over second |", "| ---: | ---: | ---: |"]
    text += [f"| {first:.1f} | {second:.1f} | {first / second:.2f} |", ""]
    text += ["The search alone:", "", "| k | cores | clock s | CPU s | NCP |", "| ---: | ---: | ---: | ---: | ---: |"]
    for k in (5, 10, 50):
        for threads in (1, 2):
            text.append(f"| {k} | {threads} | {ran(ROOT / 'src', hierarchies, k, threads)[1]} |")
    RESULTS.write_text("\n".join([*text, ""]), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
