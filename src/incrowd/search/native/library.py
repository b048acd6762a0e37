"""The compiled kernels: found where the wheel has them, or made by a C compiler, once.

Their file name has a digest of the sources, so what was made of other sources is never loaded. It needs nothing but
Python, since it also makes the kernels of a wheel, in an environment that has nothing else (`hatch_build.py`).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

SOURCES = Path(__file__).parent
OPTIONS = ("-std=c11", "-O3", "-fwrapv", "-ffp-contract=off", "-fvisibility=hidden", "-shared", "-g0", "-s")
COMPILERS = ("cc", "gcc", "clang")
ENDINGS = {"win": ".dll", "macosx": ".dylib"}


class NoCompilerError(Exception):
    """There is no C compiler, or it failed."""


def digest() -> str:
    """What tells these sources apart from all others."""
    found = hashlib.sha256()
    for path in sorted((*SOURCES.glob("*.c"), *SOURCES.glob("*.h"))):
        found.update(path.name.encode() + b"\0" + path.read_bytes().replace(b"\r\n", b"\n"))
    return found.hexdigest()[:16]


def file_name(system: str = sysconfig.get_platform().partition("-")[0]) -> str:
    """What the compiled kernels of these sources are called on a system."""
    return f"kernels-{digest()}{ENDINGS.get(system, '.so')}"


def library() -> Path:
    """The compiled kernels, made if there are none yet.

    Raises:
        NoCompilerError: There are none, and they cannot be made.
    """
    path = SOURCES / file_name()
    if not path.exists():
        with contextlib.suppress(OSError):  # it is no folder to write to
            return made(path)
        return made(Path(tempfile.mkdtemp(prefix="incrowd-")) / path.name)
    return path


def compiler() -> list[str]:
    """The command of a C compiler: that of the environment, one on the path, or Zig from the package registry.

    Raises:
        NoCompilerError: There is none.
    """
    if named := os.environ.get("CC"):
        return shlex.split(named)
    for name in COMPILERS:
        if (found := shutil.which(name)) is not None:
            return [found]
    if find_spec("ziglang") is not None:
        return zig()
    raise NoCompilerError(
        "this installation has no compiled kernels, and there is no C compiler to make them; "
        "install a wheel for this platform, a C compiler, or ziglang (pip install ziglang)"
    )


def zig(target: str = "native") -> list[str]:
    """The command of Zig's C compiler, for this machine or another."""
    return [sys.executable, "-m", "ziglang", "cc", "-target", target]


def made(path: Path, command: Sequence[str] | None = None) -> Path:
    """Compile the kernels into a file, which appears when it is whole; what was made of older sources goes.

    Raises:
        NoCompilerError: There is no compiler, or it failed.
        OSError: The file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    place = ["-fPIC"] if path.suffix != ".dll" else []
    with tempfile.TemporaryDirectory(prefix="making-", dir=path.parent) as folder:
        made_here = Path(folder) / path.name
        words = [*(command or compiler()), *OPTIONS, *place, "-o", str(made_here), "kernels.c"]
        done = subprocess.run(words, cwd=SOURCES, capture_output=True, text=True, check=False)
        if done.returncode != 0 or not made_here.exists():
            lines = [line for line in done.stderr.splitlines() if line.strip()] or ["it says nothing"]
            raise NoCompilerError(f"the C compiler {words[0]} failed: {lines[0].strip()}")
        os.replace(made_here, path)
    for old in path.parent.glob("kernels-*"):
        if old.suffix == path.suffix and old != path:
            with contextlib.suppress(OSError):
                old.unlink()
    return path
