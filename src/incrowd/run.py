"""One run, one voice: what happens in it, whether it should go on, until when, and its key.

A `Run` goes through everything that may take long. Whoever watches it gets its events: the progress line, the notebook,
a test. Whoever works asks it in between: an anytime search whether to go on (`should_continue`), everything else just
checks (`check`), which raises where the run is to end without a result. Searches work in a thread of their own
(`in_thread`), and kernels in slices (`in_slices`), so that an interrupt is answered within a second, whatever is
going on.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from incrowd.errors import CancelledError, PolicyError, TimeLimitError, shown
from incrowd.key import Key

if TYPE_CHECKING:
    from incrowd.recodings.steps import Step

LONGEST = 1e9  # seconds of a time limit
SLICE = 0.1  # seconds that compiled code may work before it is asked whether it should go on
BESIDE = "incrowd, beside"  # the name of threads that work beside the one that answers interrupts
_FIRST_WORK = 1_000
_OFTEN = 0.05  # seconds between two questions whether to go on
_GRACE = 0.3  # seconds that a cancelled thread has to end by itself

T = TypeVar("T")


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True)
class Stage:
    """Another part of the job begins, such as "reading"."""

    name: str


@dataclass(frozen=True)
class Rows:
    """So many rows more."""

    number: int


@dataclass(frozen=True)
class StepTaken:
    """A greedy search took a step."""

    step: Step

    def __str__(self) -> str:
        anonymity = f", smallest class {min(self.step.anonymity):,}" if self.step.anonymity else ""
        return f"step {self.step.number}{anonymity}"


@dataclass(frozen=True)
class Best:
    """How far a search for the lowest cost is."""

    cost: float
    bound: float
    seen: int
    waiting: int

    def __str__(self) -> str:
        return f"best {self.cost:,.6g}, bound {self.bound:,.6g}, {self.seen:,} nodes seen, {self.waiting:,} waiting"


@dataclass(frozen=True)
class Amount:
    """How much of a known amount of work is done."""

    done: int
    total: int | None
    unit: str

    def __str__(self) -> str:
        return f"{self.done:,} {self.unit}" if self.total is None else f"{self.done:,} of {self.total:,} {self.unit}"


@dataclass(frozen=True)
class Note:
    """Something that people should read."""

    text: str


Event = Stage | Rows | StepTaken | Best | Amount | Note
Watch = Callable[[Event], object]


class Run:
    """Events, cancellation, deadline and key of one job.

    Args:
        watch: Called with every event; must be quick.
        key: What everything drawn at random comes from; a new one if None.
        time_limit: Seconds after which an anytime search gives the best that it has, and everything else ends.
        threads: How many cores to use, all if None; the result does not depend on it.
    """

    def __init__(
        self,
        watch: Watch | None = None,
        *,
        key: Key | None = None,
        time_limit: float | None = None,
        threads: int | None = None,
    ) -> None:
        if time_limit is not None and (
            isinstance(time_limit, bool) or not isinstance(time_limit, int | float) or not 0 < time_limit <= LONGEST
        ):
            must = f"a number of seconds above 0 and at most {LONGEST:g}"
            raise PolicyError(f"The 'time_limit' parameter must be {must}. Got {shown(time_limit)}.")
        self.key = key or Key.drawn()
        self.threads = threads or cores()
        self.time_limit = time_limit
        self.anytime = False  # whether what is running now could stop and release what it has
        self.searching = False  # whether a search is running
        self.ended_early = ""  # why an anytime search did not go on
        self._watch = watch
        self._until = None if time_limit is None else time.monotonic() + time_limit
        self._asked = ""
        self._cancelled = threading.Event()
        self._whole: Run | None = None  # of which this run is a part

    # Reporting

    def tell(self, event: Event) -> None:
        """Report an event to the watcher."""
        if self._watch is not None:
            self._watch(event)

    def stage(self, name: str) -> None:
        """Begin another part of the job."""
        self.check()
        self.tell(Stage(name))

    def rows(self, number: int) -> None:
        """So many rows more were read, recoded or counted."""
        self.check()
        self.tell(Rows(number))

    def step(self, step: Step) -> None:
        """A greedy search took a step."""
        self.tell(StepTaken(step))

    def amount(self, done: int, total: int | None, unit: str) -> None:
        """So much work is done."""
        self.tell(Amount(done, total, unit))

    def note(self, text: str) -> None:
        """Something that people should read."""
        self.tell(Note(text))

    def tick(self) -> None:
        """Let a watcher that wants it show that time goes by, while whatever works says nothing."""
        if (tick := getattr(self._watch, "tick", None)) is not None:
            tick()

    # Asking

    @property
    def can_stop(self) -> bool:
        """Whether a search is running that could stop now and give the best that it has, and was not asked to yet."""
        return self.anytime and self.searching and not self.over

    @property
    def over(self) -> str:
        """Why an anytime search should stop now: "time limit", what was asked for, or nothing."""
        if self._asked:
            return self._asked
        if self._whole is not None and (over := self._whole.over):
            return over
        return "time limit" if self._until is not None and time.monotonic() > self._until else ""

    @property
    def _is_cancelled(self) -> bool:
        """Whether this run was cancelled, or the one that it is a part of."""
        return self._cancelled.is_set() or (self._whole is not None and self._whole._is_cancelled)

    def should_continue(self) -> bool:
        """Whether an anytime search should go on; it gives the best that it has if not.

        Raises:
            CancelledError: The run is to end without a result.
        """
        if self._is_cancelled:
            raise CancelledError
        over = self.over
        if over and self.anytime:
            self.ended_early = over
        return not over

    def check(self) -> None:
        """Return if the work should go on.

        Raises:
            CancelledError: The run is to end without a result.
            TimeLimitError: The time is over, and what is running has nothing to give.
        """
        if not self.should_continue() and not self.anytime:
            raise TimeLimitError(self.over, self._limit)

    def in_slices(self, work: Callable[[int], bool]) -> None:
        """Call compiled code again and again with an amount of work, until it says that all is done.

        How the work is cut must not change what comes out: only the clock decides how large slices are.
        """
        amount = _FIRST_WORK
        while True:
            began = time.monotonic()
            done = work(amount)
            self.check()
            if done:
                return
            took = time.monotonic() - began
            amount = max(1, int(amount * min(4.0, max(0.25, SLICE / max(took, 1e-6)))))

    @property
    def _limit(self) -> float | None:
        """The time limit that was set, here or for the whole."""
        return self.time_limit if self.time_limit is not None or self._whole is None else self._whole._limit

    def in_thread(self, work: Callable[[], T]) -> T:
        """Do work in a thread of its own, while this one keeps answering interrupts and asking whether to go on.

        Kernels cannot be interrupted. If this thread has to end first, the run is cancelled
        and the other one ends as soon as it asks.
        """
        return self.submit(work)()

    def submit(self, work: Callable[[], T]) -> Callable[[], T]:
        """Begin work in a thread of its own, and give what waits for its result, as `beside` does.

        Who never asks for the result does not wait for the thread, which does not keep the process from ending.
        """
        outcome: list[tuple[bool, Any]] = []

        def do() -> None:
            try:
                outcome.append((True, work()))
            except BaseException as error:  # raised again by whoever waits
                outcome.append((False, error))

        thread = threading.Thread(target=do, name=BESIDE, daemon=True)

        def wait() -> T:
            try:
                while thread.is_alive():
                    thread.join(_OFTEN)
                    if thread.is_alive():
                        self.check()
                        self.tick()
            except BaseException:
                self.cancel()
                thread.join(_GRACE)
                raise
            well, found = outcome[0]
            if well:
                return found  # type: ignore[no-any-return]
            raise found

        thread.start()
        return wait

    def in_threads(self, works: Sequence[Callable[[], T]], report: Callable[[], object]) -> list[T]:
        """Do several works at once, on as many cores as there are, and give their results in their order.

        Works must not depend on one another, so that the results are the same on one core. They ask whether to go on;
        `report` is called now and then, in this thread.
        """
        with ThreadPoolExecutor(max(1, min(self.threads, len(works))), BESIDE) as threads, self.cancelling():
            waiting = [threads.submit(work) for work in works]
            while wait(waiting, _OFTEN).not_done:
                report()
            return [work.result() for work in waiting]

    # Ending

    def stop(self, reason: str = "stopped") -> None:
        """Ask an anytime search to stop and to give the best that it has; anything else ends."""
        self._asked = self._asked or reason

    def cancel(self) -> None:
        """End the run without a result as soon as possible; may be called from any thread."""
        self._cancelled.set()

    @contextmanager
    def cancelling(self) -> Iterator[None]:
        """Cancel the run if anything ends what is inside, so that other threads of it end as well."""
        try:
            yield
        except BaseException:
            self.cancel()
            raise

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the time limit, of this run or of the whole that it is part of; None without one."""
        own = None if self._until is None else max(self._until - time.monotonic(), 0.0)
        whole = None if self._whole is None else self._whole.seconds_left
        return own if whole is None else whole if own is None else min(own, whole)

    @contextmanager
    def at_most(self, seconds: float) -> Iterator[None]:
        """A time limit for what is inside, unless there is one anyway."""
        if self.seconds_left is not None:
            yield
            return
        self._until = time.monotonic() + seconds
        try:
            yield
        finally:
            self._until = None

    # Parts of a run

    def part(self, *, key: Key | None = None, time_limit: float | None = None) -> Run:
        """A run for a part of the work, reported to nobody, with a key and a time limit of its own if need be.

        It ends no later than this one, and is cancelled with it; where it ends alone, this one goes on.
        """
        part = Run(key=key or self.key, time_limit=time_limit, threads=self.threads)
        part._whole = self
        return part

    def quietly(self, seconds: float | None = None) -> Run:
        """A part that can stop at any moment, after so many seconds at the latest."""
        part = self.part(time_limit=seconds)
        part.anytime = True
        return part
