"""Progress for people: a line on stderr, or a bar in a notebook, once a job has taken two seconds; notes at once."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from incrowd.errors import many
from incrowd.run import Amount, Event, Note, Rows, Stage

if TYPE_CHECKING:
    from rich.status import Status

    from incrowd.run import Run, Watch

PATIENCE = 2.0  # seconds before anything is shown
OFTEN = 0.1  # seconds between two changes of what is shown
SURE = 1.0  # seconds of work after which an estimate of the rest says something
STOPS = "(Ctrl-C: stop and use the best so far; twice: cancel)"


@contextmanager
def watching(progress: Watch | bool | None) -> Iterator[Watch | None]:
    """Whoever watches a run: what the caller gave, a line where that is True, by default a bar in notebooks only."""
    if callable(progress):
        yield progress
    elif progress is False or (progress is None and not in_notebook()):
        yield None
    else:
        with NotebookBar() if in_notebook() else ProgressLine() as shown:
            yield shown


def in_notebook() -> bool:
    """Whether this runs in a notebook, which can show and update a bar."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and "IPKernelApp" in getattr(shell, "config", {})


@contextmanager
def stopping(run: Run, shown: object) -> Iterator[None]:
    """The first interrupt of a search that can stop early, and that shows so, stops it there; any other is passed on.

    Args:
        run: What is interrupted.
        shown: The line or bar that shows it; whatever else a caller may have given shows nothing.
    """
    if not isinstance(shown, ProgressLine | NotebookBar) or threading.current_thread() is not threading.main_thread():
        yield
        return
    shown.run, before = run, signal.getsignal(signal.SIGINT)

    def interrupt(number: int, frame: FrameType | None) -> None:
        if run.can_stop and shown.is_shown:
            run.stop("interrupted")
        elif callable(before):
            before(number, frame)

    if not callable(before):  # ignored, as in the background
        yield
        return
    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class Lines:
    """Turns events into one line of text: what is being done, how far it is, and how long the rest will take."""

    def __init__(self) -> None:
        self.stage, self._rows = "working", 0
        self._first: tuple[int, int, float] | None = None  # total, done and time when an amount was first heard of

    def line(self, event: Event) -> str:
        if isinstance(event, Stage):
            self.stage, self._rows, self._first = event.name, 0, None
            return self.stage
        if isinstance(event, Amount) and event.total:
            return f"{self.stage}: {event}{self._rest(event.done, event.total)}"
        if isinstance(event, Rows):
            self._rows += event.number
            return f"{self.stage}: {many(self._rows, 'row')}"
        return f"{self.stage}: {event.text if isinstance(event, Note) else event}"

    def _rest(self, done: int, total: int) -> str:
        """How long the rest will take if it goes on like this."""
        now = time.monotonic()
        if self._first is None or self._first[0] != total or done < self._first[1]:
            self._first = total, done, now
        _, before, began = self._first
        if now - began < SURE or done <= before or done >= total:
            return ""
        seconds = (now - began) * (total - done) / (done - before)
        return f", about {seconds:,.0f} s left" if seconds < 100 else f", about {seconds / 60:,.0f} min left"


class ProgressLine:
    """A line on stderr, on a terminal only; notes are printed wherever stderr goes."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._shown = sys.stderr.isatty() and not quiet
        self._started = self._began = self._changed = time.monotonic()
        self._lines = Lines()
        self._status: Status | None = None
        self._text = self._lines.stage
        self.run: Run | None = None  # what it shows

    @property
    def hint(self) -> str:
        """What stands behind the line: what an interrupt would do."""
        return STOPS if self.run is not None and self.run.can_stop else ""

    def __call__(self, event: Event) -> None:
        if isinstance(event, Note):
            self._note(event.text)
            self._began -= PATIENCE  # what follows may take long before it can say anything, the first time above all
            self._show(self._lines.stage, at_once=True)
        else:
            self._show(self._lines.line(event), at_once=isinstance(event, Stage))

    @property
    def is_shown(self) -> bool:
        return self._status is not None

    def say(self, text: str) -> None:
        self._show(text, at_once=True)

    def tick(self) -> None:
        """Show what goes on, though it says nothing."""
        self._show(self._text, at_once=False)

    def _note(self, text: str) -> None:
        if self._quiet:
            return
        if self._status is None:
            print(text, file=sys.stderr)
        else:
            self._status.console.print(text, markup=False, highlight=False)

    def _show(self, text: str, *, at_once: bool) -> None:
        now, self._text = time.monotonic(), text
        if not self._shown or now - self._began < PATIENCE or not (at_once or now - self._changed > OFTEN):
            return
        self._changed = now
        from rich.text import Text

        left = None if self.run is None else self.run.seconds_left
        limit = "" if left is None or not self.hint else f" (time limit: {left:,.0f} s left)"
        line = Text(" ".join(filter(None, [f"{text}{limit}, {now - self._started:,.0f} s so far", self.hint])))
        if self._status is None:
            from rich.console import Console

            self._status = Console(stderr=True).status(line)
            self._status.start()
        self._status.update(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()


class LogLines(ProgressLine):
    """Every stage, step and note in a line of its own on stderr, with the seconds since the start."""

    def __init__(self) -> None:
        super().__init__(quiet=True)
        self._last = ""

    def __call__(self, event: Event) -> None:
        if isinstance(event, Rows):
            return
        now, text = time.monotonic(), self._lines.line(event)
        if text != self._last and (not isinstance(event, Amount) or now - self._changed > SURE):
            self._last, self._changed = text, now
            print(f"{now - self._started:8.2f} s  {text}", file=sys.stderr)


class NotebookBar:
    """A bar in a notebook, made of HTML that every notebook shows; gone when the job is done."""

    def __init__(self) -> None:
        self._began = self._changed = time.monotonic()
        self._lines = Lines()
        self._handle: Any = None
        self._last: tuple[Event, str] = Stage(self._lines.stage), self._lines.stage
        self.run: Run | None = None  # what it shows

    @property
    def is_shown(self) -> bool:
        return self._handle is not None

    def __call__(self, event: Event) -> None:
        self._last = event, self._lines.line(event)
        if isinstance(event, Note):
            self._began -= PATIENCE  # what follows may take long before it can say anything
        self._show(at_once=isinstance(event, Stage | Note))

    def tick(self) -> None:
        """Show what goes on, though it says nothing."""
        self._show(at_once=False)

    def _show(self, *, at_once: bool) -> None:
        now = time.monotonic()
        if now - self._began < PATIENCE or (now - self._changed < OFTEN and not at_once):
            return
        self._changed = now
        from IPython.display import display

        event, text = self._last
        drawn = self.html(event, text, stops=self.run is not None and self.run.can_stop)
        shown = {"text/html": drawn, "text/plain": text}
        if self._handle is None:
            self._handle = display(shown, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._handle.update(shown, raw=True)

    @staticmethod
    def html(event: Event, text: str, *, stops: bool = False) -> str:
        from html import escape

        share = ""
        if isinstance(event, Amount) and event.total:
            share = f' max="{event.total}" value="{event.done}"'
        hint = " (interrupt the kernel: stop and use the best so far; twice: cancel)" if stops else ""
        return f'<progress{share} aria-label="incrowd"></progress> {escape(text)}{hint}'

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handle is not None:
            self._handle.update({"text/html": "", "text/plain": ""}, raw=True)
