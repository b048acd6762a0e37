"""Runs a few tests in a process that was forked from one that has the libraries loaded, but nothing of incrowd."""

import os
import sys
from pathlib import Path

LIBRARIES = ["numpy", "pyarrow.parquet", "narwhals", "pandas", "polars", "typer"]  # pytest wants to load its plugins


def attempt(folder: Path, tests: list[str], root: Path, effort: str) -> None:
    """Run tests in a copy of the tree; what they print is in `output`, their exit code is that of the process."""
    os.setsid()  # a hang is ended with all its children
    with open(folder / "output", "w", encoding="utf-8") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    paths = [str(folder / "src"), str(folder)]
    sys.path[:] = paths + [path for path in sys.path if path not in ("", str(root), str(root / "src"))]
    sys.dont_write_bytecode = True  # what was compiled of the mutation must not stay
    os.environ.update(PYTHONPATH=":".join(paths), PYTHONDONTWRITEBYTECODE="1")
    os.environ["INCROWD_HYPOTHESIS"] = effort
    os.chdir(folder)

    import pytest

    own = f"--basetemp={folder / 'temporary'}"  # others may be at work in the common one
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", own]
    code = pytest.main([*options, *(f"tests/{test}" for test in tests)])
    sys.stdout.flush()
    os._exit(int(code))
