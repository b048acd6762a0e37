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
from incrowd.inspection.first_look import comma_types
from incrowd.pipeline import with_side_knowledge
from incrowd.policy.differential_privacy import check_differential
from incrowd.policy.policy import Policy
from incrowd.population.table import open_population
from incrowd.run import Run
from incrowd.settled import Settled, unpromised

_CHILD = "import sys; sys.path[:] = sys.argv[1:]; from incrowd.comparison.worker import main; main()"


@dataclass(frozen=True)
class TrialDesign:
    """How classifiers are tested, as in `evaluate`."""

    test: Source | None = None
    split: float | None = None
    folds: int | None = None
    protocol: str = "original"
    classifiers: Sequence[Any] = CLASSIFIERS
    features: Sequence[str] | None = None
    intervals: str = "midpoints"
    seed: int = 0

    def facts(self) -> dict[str, Any]:
        return {**self.__dict__, "test": None if self.test is None else self.test.fingerprint()}

    def job(self, source: Source, policy: Policy, run: Run) -> TrialJob:
        """Read and split the rows, and test the classifiers on what is the same for every release."""
        settings = {name: getattr(self, name) for name in ("test", "split", "folds", "classifiers", "features", "seed")}
        trial = Trial.of(source, policy, **settings)
        trial.references(policy, run)
        return TrialJob(replace(trial, makers={}), self.classifiers, self.protocol, self.intervals)


@dataclass
class Jobs:
    """Makes the jobs of a comparison; what several of them share is made once, when it is first needed."""

    source: Source
    design: TrialDesign | None
    run: Run
    attacked: bool = False
    _tables: dict[tuple[tuple[str, ...], ...], tuple[bytes, Settled]] = field(default_factory=dict)
    _types: Mapping[str, str] | None = None  # what the table tells of its columns, the same for every job
    _rows: bytes | None = None
    _trial: bytes | None = None

    def of(self, policy: Policy) -> bytes:
        """What a process needs to know for that policy."""
        check_differential(policy, self.source.columns)
        if self._types is None:
            self._types = comma_types(policy, self.source)
        settled = Settled(policy, policy.redundant, self._types, promised=unpromised(policy))
        wanted = settled.policy.attributes, settled.policy.protected, tuple(settled.policy.taxonomies)
        if wanted not in self._tables:
            self.run.stage("reading")
            engine = engine_for(policy, self.source)
            known = replace(settled, population=open_population(policy))
            table = compressed(engine, self.source, known.policy, self.run)
            table, read = with_side_knowledge(engine, table, known, self.run)
            self._tables[wanted] = pickle.dumps(table), read
        data, read = self._tables[wanted]
        settled = replace(settled, readings=read.readings, promised=read.promised)  # populations may not travel
        if self.design is not None and self._trial is None:
            self._trial = pickle.dumps(self.design.job(self.source, settled.policy, self.run))
        rows = self._source()
        job = Job(settled, self.design is not None, bool(rows), self.attacked)
        return data + pickle.dumps(job) + rows + (self._trial or b"")

    def _source(self) -> bytes:
        """The rows, of a file where they are; nothing if they are a frame that cannot travel."""
        if self._rows is None:
            try:
                self._rows = pickle.dumps(self.source)
            except (pickle.PicklingError, TypeError, AttributeError):
                self._rows = b""
        return self._rows


def answers(job: bytes, time_limit: float | None) -> dict[str, Any]:
    """Run a job in a fresh process.

    Returns:
        Its status, the problem if there was one, and what it answered until then: values and errors.
    """
    command, pipe = [sys.executable, "-c", _CHILD, *sys.path], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:  # closed even if not all was read
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
    return ended


def _ended(code: int, complaint: str) -> dict[str, Any]:
    if code == 0:
        return {"status": DONE}
    if code < 0:
        return {"status": FAILED, "problem": f"ended by signal {-code}; out of memory?"}
    lines = [line for line in complaint.splitlines() if line.strip()]
    return {"status": FAILED, "problem": lines[-1].strip() if lines else f"ended with code {code}"}
