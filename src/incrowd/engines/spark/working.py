"""Spark at work, while this process keeps answering interrupts."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from incrowd.errors import CancelledError, TimeLimitError
from incrowd.run import Run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")


def working(run: Run, session: SparkSession, work: Callable[[], T]) -> T:
    """Let Spark do something; if the run has to end first, Spark is told to stop as well.

    Args:
        run: Asked in between whether to go on.
        session: Where the work is done.
        work: Starts it, and waits for its end.
    """
    run.check()
    try:
        return run.in_thread(work)
    except (CancelledError, TimeLimitError, KeyboardInterrupt):
        with contextlib.suppress(Exception):  # it may be gone already
            session.interruptAll()
        raise
