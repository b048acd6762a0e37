"""Progress for people: a line on stderr once a job has taken two seconds, and only on a terminal; notes at once."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.status import Status

    from incrowd.steps import Step

PATIENCE = 2.0  # seconds before anything is shown


class ProgressLine:
    """What is being done, and how far it is."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._shown = sys.stderr.isatty() and not quiet
        self._begin = time.monotonic()
        self._status: Status | None = None
        self._stage = ""
        self._rows = 0

    def stage(self, name: str) -> Self:
        """Begin another part of the job."""
        self._stage, self._rows = name, 0
        return self

    def rows(self, number: int) -> None:
        """So many rows more."""
        self._rows += number
        self._show(f"{self._stage}: {self._rows:,} rows")

    def step(self, step: Step) -> None:
        """One step of a search."""
        self._show(f"searching: step {step.number}, smallest class {min(step.anonymity):,}")

    def report(self, report: object) -> None:
        """How far a search without steps is, or in words what it is about to do, which stays on the screen."""
        if isinstance(report, str):
            self._note(report)
            self._begin -= PATIENCE  # what follows may take long before it can say anything, the first time above all
            self._show("searching")
        else:
            self._show(f"searching: {report}")

    def say(self, text: str) -> None:
        """What is being done now."""
        self._show(text)

    def _note(self, text: str) -> None:
        if self._status is None:
            print(text, file=sys.stderr)
        else:
            self._status.console.print(text, markup=False, highlight=False)

    def _show(self, text: str) -> None:
        if not self._shown or time.monotonic() - self._begin < PATIENCE:
            return
        if self._status is None:
            from rich.console import Console

            self._status = Console(stderr=True).status(text)
            self._status.start()
        self._status.update(text)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()
