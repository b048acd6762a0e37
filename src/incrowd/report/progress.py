"""Progress for people: a line on stderr, or a bar in a notebook, once a job has taken two seconds; notes at once."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from incrowd.errors import many
from incrowd.run import Amount, Event, Note, Rows, Stage

if TYPE_CHECKING:
    from rich.status import Status

    from incrowd.run import Watch

PATIENCE = 2.0  # seconds before anything is shown
OFTEN = 0.1  # seconds between two changes of what is shown


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


class Telling:
    """Turns events into one line of text: what is being done, and how far it is."""

    def __init__(self) -> None:
        self.stage, self._rows = "working", 0

    def line(self, event: Event) -> str:
        if isinstance(event, Stage):
            self.stage, self._rows = event.name, 0
            return self.stage
        if isinstance(event, Rows):
            self._rows += event.number
            return f"{self.stage}: {many(self._rows, 'row')}"
        return f"{self.stage}: {event.text if isinstance(event, Note) else event}"


class ProgressLine:
    """A line on stderr, on a terminal only; notes are printed wherever stderr goes."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._shown = sys.stderr.isatty() and not quiet
        self._began = self._changed = time.monotonic()
        self._telling = Telling()
        self._status: Status | None = None
        self.hint = ""  # what stands behind the line, such as what an interrupt would do

    def __call__(self, event: Event) -> None:
        if isinstance(event, Note):
            self._note(event.text)
            self._began -= PATIENCE  # what follows may take long before it can say anything, the first time above all
            self._show(self._telling.stage, at_once=True)
        else:
            self._show(self._telling.line(event), at_once=isinstance(event, Stage))

    @property
    def is_shown(self) -> bool:
        return self._status is not None

    def say(self, text: str) -> None:
        self._show(text, at_once=True)

    def _note(self, text: str) -> None:
        if self._status is None:
            print(text, file=sys.stderr)
        else:
            self._status.console.print(text, markup=False, highlight=False)

    def _show(self, text: str, *, at_once: bool) -> None:
        now = time.monotonic()
        if not self._shown or now - self._began < PATIENCE or not (at_once or now - self._changed > OFTEN):
            return
        self._changed = now
        from rich.text import Text

        line = Text(f"{text}  {self.hint}" if self.hint else text)  # brackets in names are no markup
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


class NotebookBar:
    """A bar in a notebook, made of HTML that every notebook shows; gone when the job is done."""

    def __init__(self) -> None:
        self._began = self._changed = time.monotonic()
        self._telling = Telling()
        self._handle: Any = None

    def __call__(self, event: Event) -> None:
        now, text = time.monotonic(), self._telling.line(event)
        if isinstance(event, Note):
            self._began -= PATIENCE  # what follows may take long before it can say anything
        if now - self._began < PATIENCE or (now - self._changed < OFTEN and not isinstance(event, Stage | Note)):
            return
        self._changed = now
        from IPython.display import HTML, display

        shown = HTML(self.html(event, text))
        if self._handle is None:
            self._handle = display(shown, display_id=True)
        else:
            self._handle.update(shown)

    @staticmethod
    def html(event: Event, text: str) -> str:
        """The bar: as long as is known, else moving."""
        from html import escape

        share = ""
        if isinstance(event, Amount) and event.total:
            share = f' max="{event.total}" value="{event.done}"'
        return f'<progress{share} aria-label="incrowd"></progress> {escape(text)}'

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handle is not None:
            from IPython.display import HTML

            self._handle.update(HTML(""))
