"""Compiled code in slices: short enough to answer an interrupt, a cancellation or a time limit in between.

`Run.in_slices` is for work that must be done; here the work is given up when the time of an anytime search is over.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from incrowd.run import Run

DONE, MORE, FULL, WIDE = 0, 1, 2, 3  # what a slice says of itself
AMOUNT = 10_000_000  # steps of a slice, each a few nanoseconds
ROWS = 500_000  # of a slice over the rows of a table


class RunOver(Exception):
    """The run was over in the middle of a node; no error, the search gives the best that it has."""


def in_slices(run: Run, kernel: Callable[..., int], *arguments: Any) -> int:
    """Call a kernel again and again with an amount of work, until it says something other than MORE.

    The kernel keeps where it is in its arguments. How the work is cut must not change what comes out.

    Raises:
        RunOver: The run is over, and the kernel is not done.
        CancelledError: The run was cancelled.
    """
    while (said := kernel(*arguments, AMOUNT)) == MORE:
        if not run.should_continue():
            raise RunOver
    return said
