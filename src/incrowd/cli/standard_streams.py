"""Where a command reads and prints: streams that are closed, or that cannot write every character.

This is loaded before everything else, and loads nothing itself.
"""

from __future__ import annotations

import contextlib
import os
import sys


def prepare_streams() -> None:
    """Make standard streams fit to print to.

    A file that is opened while one of them is closed would take its place, and get what is printed. Where output is
    closed, printing to it is an error, as on a full disk; messages that nobody can read are left out.
    """
    for number, mode in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, mode)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            os.set_inheritable(number, True)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if getattr(sys.stdout, "errors", None) == "strict":
        with contextlib.suppress(AttributeError, ValueError):
            sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def prints_any_character() -> bool:
    return (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "").startswith("utf")
