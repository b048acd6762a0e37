"""Tries every mutation in a copy of the tree, and reports those that no test noticed.

    make mutants
    python -m tests.mutants --only row_order --only witness
    python -m tests.mutants --check

Each mutation names the few tests that should notice, so that a run takes minutes and not days. A test that fails, or
hangs, has noticed. Equivalent mutations, which change nothing that can be seen, are listed with the reason.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.mutants.faults import FAULTS
from tests.mutants.figures import FIGURES
from tests.mutants.outflow import OUTFLOW
from tests.mutants.promises import PROMISES
from tests.mutants.searches import SEARCHES
from tests.mutants.writers import WRITERS

MUTATIONS = (*PROMISES, *SEARCHES, *OUTFLOW, *FIGURES, *FAULTS, *WRITERS)
ROOT = Path(__file__).parents[2]
PARTS = (
    "src",
    "tests",
    "papers",
    "docs",
    "benchmarks",
    "pyproject.toml",
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
)
SECONDS = 600  # tests that take longer have noticed a hang


def places(mutation):
    """How often the text that is to be changed stands in its file; once is right."""
    return (ROOT / "src/incrowd" / mutation.file).read_text(encoding="utf-8").count(mutation.before)


def copy_to(folder):
    """A copy of the tree."""
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        elif (ROOT / part).exists():
            shutil.copy(ROOT / part, folder / part)


def run_tests(folder, tests, fresh):
    """Run some tests in a copy; the exit code, and the last lines.

    Args:
        folder: The copy.
        tests: The tests.
        fresh: Whether nothing compiled before may be used: compiled code does not see changes in what it calls.
    """
    environment = {**os.environ, "PYTHONPATH": f"{folder / 'src'}:{folder}", "PYTHONDONTWRITEBYTECODE": "1"}
    environment["NUMBA_CACHE_DIR"] = tempfile.mkdtemp(dir=folder) if fresh else str(folder / "compiled")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        *(f"tests/{test}" for test in tests),
    ]
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return 1, "it hangs"
    return done.returncode, "\n".join((done.stdout + done.stderr).splitlines()[-3:])


def noticed_by(mutation, folder):
    """Make one mutation in a copy and run its tests; who noticed, empty if nobody did."""
    path = folder / "src/incrowd" / mutation.file
    text, stamps = path.read_text(encoding="utf-8"), path.stat()
    path.write_text(text.replace(mutation.before, mutation.after), encoding="utf-8")
    try:
        code, output = run_tests(folder, mutation.tests, "njit" in text or "@compiled" in text)
    finally:
        path.write_text(text, encoding="utf-8")
        os.utime(path, ns=(stamps.st_atime_ns, stamps.st_mtime_ns))
    if code not in (0, 1):
        return f"an error: {output}"  # not even the collection works: noticed, but a bad mutation
    failed = [line.split(" - ")[0] for line in output.splitlines() if line.startswith("FAILED")]
    return "" if code == 0 else (failed or [output])[0]


def main():
    """Try the mutations; exit code 1 if one survives."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", default=[], help="mutations whose name holds this text")
    parser.add_argument("--part", default="1/1", help="such as 1/2 for the first half")
    parser.add_argument("--trust", action="store_true", help="do not run the tests without a mutation first")
    parser.add_argument("--check", action="store_true", help="only see whether every text is there once")
    arguments = parser.parse_args()
    if wrong := [mutation.name for mutation in MUTATIONS if places(mutation) != 1]:
        sys.exit("not there, or not once:\n" + "\n".join(wrong))
    part, parts = map(int, arguments.part.split("/"))
    chosen = [m for m in MUTATIONS if not arguments.only or any(word in m.name for word in arguments.only)][
        part - 1 :: parts
    ]
    if arguments.check:
        sys.exit(print(f"{len(MUTATIONS)} mutations, {sum(bool(m.equivalent) for m in MUTATIONS)} of them equivalent"))
    survived = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        copy_to(Path(name))
        if not arguments.trust:
            code, output = run_tests(
                Path(name), sorted({test for mutation in chosen for test in mutation.tests}), False
            )
            if code:
                sys.exit(f"the tests fail without any mutation:\n{output}")
        for mutation in chosen:
            began = time.monotonic()
            if mutation.equivalent:
                print(f"equivalent  {mutation.name}\n            {mutation.equivalent}", flush=True)
                continue
            who = noticed_by(mutation, Path(name))
            survived += [] if who else [mutation]
            took = f"{who or 'nobody'}, {time.monotonic() - began:.0f} s"
            print(f"{'killed' if who else 'SURVIVED':10}  {mutation.name}  ({took})", flush=True)
    tried = sum(not mutation.equivalent for mutation in chosen)
    print(f"\n{tried} mutations tried, {len(chosen) - tried} equivalent, {len(survived)} survived")
    sys.exit(1 if survived else 0)


if __name__ == "__main__":
    main()
