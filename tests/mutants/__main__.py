"""Tries every mutation in a copy of the tree, and reports those that no test noticed.

    make mutants
    python -m tests.mutants --only row_order --only witness
    python -m tests.mutants --check

Each mutation names the few tests that should notice, so that a run takes minutes and not days. A test that fails, or
hangs, has noticed. Equivalent mutations, which change nothing that can be seen, are listed with the reason.
"""

import argparse
import compileall
import multiprocessing
import os
import queue
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.mutants.attempt import LIBRARIES, attempt
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
FORKS = multiprocessing.get_context("forkserver")
HANGS = "it hangs"
QUICK = ("golden", "property", "unit", "conformance")  # the folders of make test
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


def run_tests(folder, tests, effort):
    """Run some tests in a copy; the exit code, and the last lines.

    Args:
        folder: The copy.
        tests: The tests.
        effort: How much they try, see `tests/examples.py`.
    """
    process = FORKS.Process(target=attempt, args=(folder, tests, ROOT, effort))
    process.start()
    process.join(SECONDS)
    if process.exitcode is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.join()
        return 1, HANGS
    return process.exitcode, (folder / "output").read_text(errors="replace")


def noticed_by(mutation, folder):
    """Make one mutation in a copy and run its tests; who noticed and with what effort, empty if nobody did.

    Tests of `make test` come first, with the examples that they have there.
    """
    quick = [test for test in mutation.tests if test.startswith(QUICK)]
    for effort, tests in (("test", quick), ("check", mutation.tests)):
        if tests and (who := noticed_with(mutation, folder, tests, effort)):
            return who, effort
    return "", ""


def noticed_with(mutation, folder, tests, effort):
    """Who of some tests noticed a mutation."""
    path = folder / "src/incrowd" / mutation.file
    text, stamps = path.read_text(encoding="utf-8"), path.stat()
    path.write_text(text.replace(mutation.before, mutation.after), encoding="utf-8")
    try:
        code, output = run_tests(folder, tests, effort)
    finally:
        path.write_text(text, encoding="utf-8")
        os.utime(path, ns=(stamps.st_atime_ns, stamps.st_mtime_ns))
    found = [line.split(" - ")[0] for line in output.splitlines() if line.startswith(("FAILED", "ERROR", HANGS))]
    if code and not found:
        raise SystemExit(f"the tests of {mutation.name} did not run:\n{output}")
    return found[0] if code else ""


def survivors(mutations, folders):
    """Try mutations, several at once, each in one of the copies; those that nobody noticed."""
    free, efforts = queue.SimpleQueue(), Counter()
    for folder in folders:
        free.put(folder)

    def survives(mutation):
        if mutation.equivalent:
            print(f"equivalent  {mutation.name}\n            {mutation.equivalent}", flush=True)
            return False
        folder, began = free.get(), time.monotonic()
        who, effort = noticed_by(mutation, folder)
        free.put(folder)
        took = f"{who or 'nobody'}, {time.monotonic() - began:.0f} s"
        print(f"{f'by {effort}' if who else 'SURVIVED':10}  {mutation.name}  ({took})", flush=True)
        efforts[effort] += 1
        return not who

    with ThreadPoolExecutor(len(folders)) as threads:
        left = [mutation for mutation, left in zip(mutations, threads.map(survives, mutations), strict=True) if left]
    print(f"\nnoticed by make test: {efforts['test']}, by make check: {efforts['test'] + efforts['check']}")
    return left


def main():
    """Try the mutations; exit code 1 if one survives."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", default=[], help="mutations whose name holds this text")
    parser.add_argument("--part", default="1/1", help="such as 1/2 for the first half")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="how many are tried at once")
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
    FORKS.set_forkserver_preload(LIBRARIES)
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        folders = [Path(name) / str(number) for number in range(arguments.workers)]
        for folder in folders:
            copy_to(folder)
            compileall.compile_dir(folder / "src", quiet=1)
        if not arguments.trust:
            code, output = run_tests(folders[0], sorted({test for each in chosen for test in each.tests}), "test")
            if code:
                sys.exit(f"the tests fail without any mutation:\n{output}")
        survived = survivors(chosen, folders)
    tried = sum(not mutation.equivalent for mutation in chosen)
    print(f"\n{tried} mutations tried, {len(chosen) - tried} equivalent, {len(survived)} survived")
    sys.exit(1 if survived else 0)


if __name__ == "__main__":
    main()
