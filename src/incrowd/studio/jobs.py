"""Jobs: every search, inspection and comparison, each in a process of its own, with progress, cancelling and limits.

One process is always started ahead, so that a job begins at once. A job that is cancelled has a moment to end by
itself; then it is killed with all it has started. Of a kind of job there is one at a time: a new one takes its place.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from incrowd.studio.worker import place_of

MOST_RUNNING = 2
MOST_KEPT = 40  # jobs that have ended
MOST_NOTES = 20
MOST_WAITING = 200  # events that somebody has not read yet
MOST_LINE = 256 << 20  # bytes of a result
LONGEST = 6 * 3600.0  # seconds of a job
GRACE = 1.5  # seconds that a cancelled job has to end by itself
RUNNING, WAITING, DONE, FAILED, CANCELLED = "running", "waiting", "done", "failed", "cancelled"
_CHILD = "import sys; sys.path[:] = sys.argv[1:]; from incrowd.studio.worker import main; main()"
Finish = Callable[["Job", dict[str, Any]], None]


@dataclass
class Job:
    number: int
    task: str
    request: Mapping[str, Any]
    title: str
    state: str = WAITING
    progress: dict[str, Any] = field(default_factory=dict)
    notes: deque[str] = field(default_factory=lambda: deque(maxlen=MOST_NOTES))
    problem: str = ""
    began: float = field(default_factory=time.monotonic)
    seconds: float = 0.0
    made_from: str = ""  # digest of the table and the policy

    @property
    def is_over(self) -> bool:
        return self.state in (DONE, FAILED, CANCELLED)

    def to_json(self) -> dict[str, Any]:
        seconds = self.seconds if self.is_over else time.monotonic() - self.began
        return {
            "job": self.number,
            "task": self.task,
            "title": self.title,
            "state": self.state,
            "seconds": round(seconds, 1),
            "problem": self.problem,
            "notes": list(self.notes),
            **self.progress,
        }


class Jobs:
    def __init__(self) -> None:
        self.all: dict[int, Job] = {}
        self._next = 1
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._processes: dict[int, asyncio.subprocess.Process] = {}
        self._cancelled: set[int] = set()
        self._spare: list[asyncio.Task[asyncio.subprocess.Process]] = []
        self._room: asyncio.Semaphore = asyncio.Semaphore(MOST_RUNNING)
        self._watchers: set[asyncio.Queue[dict[str, Any]]] = set()
        self._ending = False

    # Starting and ending

    def start(
        self, task: str, request: Mapping[str, Any], finish: Finish, title: str, drop: Callable[[], None] | None = None
    ) -> Job:
        """Start a job instead of one of the same task; `finish` gets its result, `drop` is called if it has none."""
        for other in self.all.values():
            if other.task == task and not other.is_over:
                self.cancel(other.number)
        job = Job(self._next, task, request, title)
        self._next += 1
        self.all[job.number] = job
        over = [number for number, each in self.all.items() if each.is_over]
        for number in over[: max(0, len(over) - MOST_KEPT)]:
            del self.all[number]
        self._tasks[job.number] = asyncio.get_running_loop().create_task(self._work(job, finish))
        self._tasks[job.number].add_done_callback(lambda _: self._announce_end(job, drop))
        self._announce(job)
        return job

    def running(self, task: str) -> Job | None:
        """The job of a task that is running and was not cancelled."""
        going = (job for job in self.all.values() if not job.is_over and job.number not in self._cancelled)
        return next((job for job in going if job.task == task), None)

    def latest(self, task: str) -> Job | None:
        return next((job for job in reversed(self.all.values()) if job.task == task), None)

    def unfinished(self, task: str) -> Job | None:
        """The last job of a task, unless it is done: it is running, or was cancelled, or has failed."""
        job = self.latest(task)
        return None if job is None or job.state == DONE else job

    def stop(self, number: int) -> None:
        """Ask the search of a job to stop and to use the best that it has found; one that cannot goes on."""
        if (process := self._processes.get(number)) is not None and number not in self._cancelled:
            self._say(process, b"stop\n")

    def cancel(self, number: int) -> None:
        job = self.all.get(number)
        if job is None or job.is_over or number in self._cancelled:
            return
        self._cancelled.add(number)
        process = self._processes.get(number)
        if process is None:
            self._tasks[number].cancel()
            return
        self._say(process, b"cancel\n")
        asyncio.get_running_loop().call_later(GRACE, _kill, process)

    async def end(self) -> None:
        self._ending = True
        for process in self._processes.values():
            _kill(process)
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        while self._spare:
            spare = self._spare.pop()
            with contextlib.suppress(OSError):
                await _gone(await spare)
        for queue in list(self._watchers):
            queue.put_nowait({"kind": "end"})

    def warm(self) -> None:
        if not self._ending and not self._spare:
            self._spare.append(asyncio.get_running_loop().create_task(_started()))

    # Watching

    def watch(self) -> asyncio.Queue[dict[str, Any]]:
        queue: asyncio.Queue[dict[str, Any]] = asyncio.Queue(maxsize=MOST_WAITING)
        self._watchers.add(queue)
        return queue

    def unwatch(self, queue: asyncio.Queue[dict[str, Any]]) -> None:
        self._watchers.discard(queue)

    def tell(self, message: dict[str, Any]) -> None:
        """Tell everyone who watches; whoever does not keep up misses what is in between, not how it ends."""
        for queue in self._watchers:
            if queue.full():
                unread = [queue.get_nowait() for _ in range(MOST_WAITING)]
                ends = [each for each in unread if each.get("state") not in (WAITING, RUNNING)]
                for each in ends[1 - MOST_WAITING :]:
                    queue.put_nowait(each)
            queue.put_nowait(message)

    def _announce(self, job: Job) -> None:
        self.tell({"kind": "job", **job.to_json()})

    # Working

    async def _work(self, job: Job, finish: Finish) -> None:
        try:
            async with self._room:
                await asyncio.wait_for(self._run(job, finish), LONGEST)
        except TimeoutError:
            job.state, job.problem = FAILED, f"stopped after {LONGEST / 3600:g} hours"
        except asyncio.CancelledError:
            job.state = CANCELLED
        except Exception as error:
            what = f"{type(error).__name__} at {place_of(error)}"
            job.state, job.problem = FAILED, f"the studio could not run it ({what}); try again"
        finally:
            process = self._processes.pop(job.number, None)
            if process is not None:
                await _gone(process)

    def _announce_end(self, job: Job, drop: Callable[[], None] | None) -> None:
        """Tell that a job is over; one that was cancelled before its first step has not run at all."""
        if not job.is_over:
            job.state = CANCELLED
        if job.state != DONE and drop is not None:
            drop()
        job.seconds = time.monotonic() - job.began
        self._cancelled.discard(job.number)
        self._tasks.pop(job.number, None)
        self._announce(job)

    async def _run(self, job: Job, finish: Finish) -> None:
        process = await self._process()
        self._processes[job.number] = process
        assert process.stdin is not None
        assert process.stdout is not None
        job.state = RUNNING
        self._say(process, json.dumps({"task": job.task, "request": job.request}).encode() + b"\n")
        self._announce(job)
        last: dict[str, Any] = {}
        while line := await process.stdout.readline():
            last = json.loads(line)
            if last["event"] == "progress":
                job.progress = {key: value for key, value in last.items() if key != "event"}
                self._announce(job)
            elif last["event"] == "note":
                job.notes.append(last["text"])
                self._announce(job)
            else:
                break
        self._over(job, finish, last, await self._code(process, last))

    async def _code(self, process: asyncio.subprocess.Process, last: Mapping[str, Any]) -> int:
        """How the process ended; one that has answered may be ended."""
        if last.get("event") in ("done", "failed", "cancelled"):
            _kill(process)
        return await process.wait()

    def _over(self, job: Job, finish: Finish, last: dict[str, Any], code: int) -> None:
        if job.number in self._cancelled or last.get("event") == "cancelled":
            job.state = CANCELLED
        elif last.get("event") == "done":
            finish(job, last["data"])
            job.state = DONE
        elif last.get("event") == "failed":
            job.state, job.problem = FAILED, last["text"]
        else:
            job.state, job.problem = FAILED, _ended(code)

    async def _process(self) -> asyncio.subprocess.Process:
        """The process that was started ahead, or a new one if it has ended since; the next one is started then."""
        while True:
            self.warm()
            if not self._spare:  # the studio is ending
                raise asyncio.CancelledError
            spare = self._spare.pop()
            try:
                process = await asyncio.shield(spare)
            except asyncio.CancelledError:
                self._spare.append(spare)  # for another job, or to be ended
                raise
            if process.returncode is None:
                self.warm()
                return process

    def _say(self, process: asyncio.subprocess.Process, line: bytes) -> None:
        if process.stdin is not None and process.returncode is None:
            with contextlib.suppress(OSError, RuntimeError):
                process.stdin.write(line)


async def _started() -> asyncio.subprocess.Process:
    """A process that loads what tasks need and waits for its request, in a group of its own."""
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        _CHILD,
        *sys.path,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,  # what a library says may hold values of people
        limit=MOST_LINE,
        start_new_session=True,
    )


def _kill(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()


async def _gone(process: asyncio.subprocess.Process) -> None:
    _kill(process)
    with contextlib.suppress(asyncio.CancelledError, OSError):
        await process.communicate()


def _ended(code: int) -> str:
    """Why a process ended that has answered nothing."""
    if code == -signal.SIGKILL:
        return "the job was killed, by you or because memory ran out; run it again, with fewer columns if it was memory"
    if code < 0:
        return f"the job was ended by signal {-code}; run it again"
    return f"the job ended with code {code} and no answer; run it again"
