"""The processes of a comparison, as their parent sees them: what they are given, how they end, what they answer."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from incrowd.comparison.runs import DONE, FAILED, TIME_LIMIT
from incrowd.comparison.worker import Job, TrialJob
from incrowd.engines.reading import compressed
from incrowd.engines.registry import engine_for
from incrowd.evaluation.trial import CLASSIFIERS, Trial
from incrowd.formats.sources import Source
from incrowd.inspection.first_look import with_comma_types
from incrowd.policy.policy import Policy
from incrowd.population.table import with_open_population
from incrowd.run import Run

_CHILD = "import sys; sys.path[:] = sys.argv[1:]; from incrowd.comparison.worker import main; main(warm={})"


@dataclass(frozen=True)
class TrialDesign:
    """How classifiers are tested, in the words of `evaluate`."""

    test: Source | None = None
    split: float | None = None
    folds: int | None = None
    protocol: str = "apply"
    classifiers: Sequence[Any] = CLASSIFIERS
    features: Sequence[str] | None = None
    intervals: str = "midpoints"
    seed: int = 0

    def facts(self) -> dict[str, Any]:
        return {**self.__dict__, "test": None if self.test is None else self.test.fingerprint()}

    def job(self, source: Source, policy: Policy, run: Run) -> TrialJob:
        """Read and split the rows, and test the classifiers on what is the same for every release."""
        words = {word: getattr(self, word) for word in ("test", "split", "folds", "classifiers", "features", "seed")}
        trial = Trial.of(source, policy, **words)
        trial.references(policy, run)
        return TrialJob(replace(trial, makers={}), self.classifiers, self.protocol, self.intervals)


@dataclass
class Jobs:
    """Makes the jobs of a comparison; what several of them share is made once, when it is first needed."""

    source: Source
    design: TrialDesign | None
    run: Run
    _tables: dict[tuple[str, ...], bytes] = field(default_factory=dict)
    _types: Mapping[str, str] | None = None  # what the table tells of its columns, the same for every job
    _rows: bytes | None = None
    _trial: bytes | None = None

    def of(self, policy: Policy) -> bytes:
        """What a process needs to know for that policy."""
        policy, _ = policy.without_redundant()
        if self._types is None:
            self._types = with_comma_types(policy, self.source).types
        policy = replace(policy, types=self._types)
        if policy.attributes not in self._tables:
            self.run.stage("reading")
            engine = engine_for(policy, self.source)
            opened = with_open_population(policy)
            self._tables[policy.attributes] = pickle.dumps(compressed(engine, self.source, opened, self.run))
        if self.design is not None and self._trial is None:
            self._trial = pickle.dumps(self.design.job(self.source, policy, self.run))
        rows = self._source()
        job = Job(policy, self.design is not None, bool(rows))
        return self._tables[policy.attributes] + pickle.dumps(job) + rows + (self._trial or b"")

    def _source(self) -> bytes:
        """The rows, of a file where they are; nothing if they are a frame that cannot travel."""
        if self._rows is None:
            try:
                self._rows = pickle.dumps(self.source)
            except (pickle.PicklingError, TypeError, AttributeError):
                self._rows = b""
        return self._rows


def answers(job: bytes, time_limit: float | None, *, warm: bool = False) -> dict[str, Any]:
    """Run a job in a fresh process, and in another one if the first had to compile its kernels.

    Args:
        job: What the process is given.
        time_limit: Seconds that it may take.
        warm: Whether the kernels were compiled before.

    Returns:
        Its status, the problem if there was one, and what it answered until then: values and errors.
    """
    words, pipe = [sys.executable, "-c", _CHILD.format(warm), *sys.path], subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe) as process:  # closed even if not all was read
        try:
            output, complaint = process.communicate(job, time_limit)
            ended = _ended(process.returncode, complaint.decode(errors="replace"))
        except subprocess.TimeoutExpired:
            process.kill()
            output, _ = process.communicate()
            ended = {"status": TIME_LIMIT, "problem": f"stopped after {time_limit:g} s"}
        finally:
            process.kill()  # if this process is being ended itself
    for line in output.decode().splitlines():
        answer = json.loads(line)
        ended |= {"status": FAILED, **answer} if "problem" in answer else answer
    return answers(job, time_limit, warm=True) if ended.pop("cold", False) else ended


def _ended(code: int, complaint: str) -> dict[str, Any]:
    if code == 0:
        return {"status": DONE}
    if code < 0:
        return {"status": FAILED, "problem": f"ended by signal {-code}; out of memory?"}
    lines = [line for line in complaint.splitlines() if line.strip()]
    return {"status": FAILED, "problem": lines[-1].strip() if lines else f"ended with code {code}"}
