"""The process of a job: one request in on stdin, events and the result out on stdout, a line of JSON each.

It is started before it is needed, loads what every task needs, and waits for its request. It ends with its parent: when
stdin is closed, it goes, and takes with it whatever it has started.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
from importlib import import_module
from typing import IO, Any

from incrowd.errors import NO_MEMORY, CancelledError, IncrowdError, lacks_memory
from incrowd.run import Amount, Best, Event, Note, Run, Stage, StepTaken

OFTEN = 0.1  # seconds between two reports of progress


def main() -> None:
    answers, sys.stdout = sys.stdout, sys.stderr  # what a library prints is no answer
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server says when to end
    os.umask(0o077)  # what it writes is its owner's alone
    _first_to_go()
    _load()
    line = sys.stdin.buffer.readline()
    if not line:
        return
    request = json.loads(line)
    reporter = _Reporter(answers)
    reporter.run = run = Run(reporter, time_limit=None)
    threading.Thread(target=_listen, args=(run,), daemon=True).start()
    _send(answers, _done(request, run))
    answers.flush()
    os._exit(0)  # whatever threads still work


def _load() -> None:
    """What every task needs, loaded while nobody waits."""
    for name in ("numpy", "pyarrow.compute", "incrowd.pipeline", "incrowd.inspection.inspection"):
        import_module(name)


def _done(request: Mapping[str, Any], run: Run) -> dict[str, Any]:
    try:
        task = import_module(f"incrowd.studio.tasks.{request['task']}")
        return {"event": "done", "data": task.work(request["request"], run)}
    except CancelledError:
        return {"event": "cancelled"}
    except IncrowdError as error:
        return {"event": "failed", "text": " ".join(str(error).splitlines())}
    except Exception as error:
        if lacks_memory(error):
            return {"event": "failed", "text": NO_MEMORY}
        place = place_of(error)
        return {
            "event": "failed",
            "text": f"something went wrong ({type(error).__name__} at {place}); please report it",
        }


def place_of(error: BaseException) -> str:
    """Where an error was raised; its own text may hold values of people."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "?" if trace is None else f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"


class _Reporter:
    """Turns the events of a run into lines, not too many of them."""

    def __init__(self, answers: IO[str]) -> None:
        from incrowd.report.progress import Lines

        self._answers, self._lines, self._last = answers, Lines(), 0.0
        self._message: dict[str, Any] = {}  # the last one
        self._could_stop = False
        self.run: Run | None = None

    def __call__(self, event: Event) -> None:
        line = self._lines.line(event)
        if isinstance(event, Note):
            _send(self._answers, {"event": "note", "text": event.text})
            return
        message: dict[str, Any] = {"event": "progress", "stage": self._lines.stage, "line": line}
        if isinstance(event, Amount) and event.total:
            message |= {"done": event.done, "total": event.total}
        if isinstance(event, StepTaken):
            message |= {"step": event.step.number, "anonymity": min(event.step.anonymity, default=None)}
        if isinstance(event, Best):
            message |= {"cost": event.cost if event.cost < float("inf") else None, "bound": event.bound}
        self._message = message
        if isinstance(event, Stage) or time.monotonic() - self._last >= OFTEN:
            self._report()

    def tick(self) -> None:
        """Say when a search can stop early, though it says nothing."""
        if self._message and self.run is not None and self.run.can_stop != self._could_stop:
            self._report()

    def _report(self) -> None:
        self._last, self._could_stop = time.monotonic(), self.run is not None and self.run.can_stop
        _send(self._answers, {**self._message, "can_stop": self._could_stop})


def _send(answers: IO[str], message: Mapping[str, Any]) -> None:
    answers.write(json.dumps(message, separators=(",", ":")) + "\n")
    answers.flush()


def _listen(run: Run) -> None:
    """Heed what the server says while the task is done: stop or cancel it, or, when the server is gone, end it all."""
    for line in sys.stdin.buffer:
        if line.strip() == b"cancel":
            run.cancel()
        elif line.strip() == b"stop" and run.can_stop:
            run.stop()
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)  # the group of this process: it was started with one of its own
    os._exit(1)


def _first_to_go() -> None:
    """Where memory runs out, the system should end this process and not the server."""
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write("500")
    except OSError:
        pass
