"""One run of a comparison, in a process of its own, so that its time and its peak memory are its own.

A job comes in on stdin as pickles, one after the other; answers go out on stdout, a line of JSON each: first what the
search took and what its release lost, then the errors of classifiers, so that the first is known whatever becomes of
the second.
"""

from __future__ import annotations

import json
import pickle
import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from incrowd.attacks.registry import BY_SETTINGS
from incrowd.engines.reading import missing_values
from incrowd.errors import IncrowdError, NotAnonymousError
from incrowd.evaluation.trial import Trial
from incrowd.formats.sources import Source
from incrowd.inspection.first_look import Look
from incrowd.key import Key
from incrowd.measures.measures import measure
from incrowd.measures.registry import release_values
from incrowd.pipeline import searched_or_unpromised
from incrowd.policy.policy import Policy
from incrowd.release.release import Release
from incrowd.run import Run
from incrowd.search.registry import method_of
from incrowd.settled import Settled
from incrowd.table.compressed import CompressedTable

Values = dict[str, float | None]


@dataclass(frozen=True)
class Job:
    """What to search for; the compressed table comes before it, the rows and the trial, if any, after it."""

    settled: Settled
    evaluated: bool = False
    with_rows: bool = False
    attacked: bool = False


@dataclass(frozen=True)
class TrialJob:
    """How to test classifiers: a trial without classifiers, which do not travel, and what they are made from."""

    trial: Trial
    classifiers: Sequence[Any]
    protocol: str
    intervals: str


def searched(table: CompressedTable, job: Job, rows: Callable[[], Source | None]) -> Values:
    """Search, and measure what was found; all of it the pipeline's own work.

    `rows` is called when the search is over, so that its peak memory is its own.

    Raises:
        NotAnonymousError: The search gave classes that are too small.
    """
    policy = job.settled.policy
    method = method_of(policy.method, policy.options, len(policy.quasi_identifiers), policy.models_of_table)
    import_module(method.function.partition(":")[0])  # once per process, and no part of the search
    clock, cpu = time.perf_counter(), time.process_time()
    run = Run(key=Key.for_experiments(0), time_limit=policy.time_limit)
    found, settled = searched_or_unpromised(table, job.settled, None, run)
    costs = {"seconds": time.perf_counter() - clock, "cpu_seconds": time.process_time() - cpu}
    megabytes = peak_megabytes()
    if (source := rows()) is not None:
        recoding = replace(found.recoding, missing_values=missing_values(source, policy))
        release = Release(settled, source, table, replace(found, recoding=recoding), look=Look())
        measures = release.measures
    else:
        measures = measure(table, found.recoding, settled.policy.requirements)
    for part in measures.quasi_identifiers:
        if part.classes and part.anonymity < part.k:
            raise NotAnonymousError(f"the method made a class of {part.anonymity} with k={part.k}; please report it")
    worst = min(part.anonymity for part in measures.quasi_identifiers)
    values = {**measures.total.values, **release_values(table, found.recoding)}
    if job.attacked and source is not None:
        values["worst_excess"] = worst_excess(release)
    return {**costs, "megabytes": megabytes, **values, "anonymity": worst}


def worst_excess(release: Release) -> float:
    """By how much the worst attack exceeds its control that depends on how values are generalized; 0 if none leaks."""
    found = release.attack(only=BY_SETTINGS, again=None)
    return max((result.excess.value for result in found.leaks), default=0.0)


def evaluated(job: TrialJob, policy: Policy) -> list[dict[str, Any]]:
    from incrowd.evaluation.classifiers import classifiers_of

    trial = replace(
        job.trial, makers=classifiers_of(job.classifiers, job.trial.seed, numbers=job.trial.numbers is not None)
    )
    evaluation = trial.evaluate(policy, protocol=job.protocol, intervals=job.intervals)
    return [errors.to_json() for errors in evaluation.errors]


def peak_megabytes() -> float | None:
    """The most memory that this process has held, Python and the table included; None where the system does not tell.

    Linux carries the figure of getrusage over from the process that started this one, so the kernel's own high-water
    mark of this address space is asked first.
    """
    status = Path("/proc/self/status")
    if status.exists() and (found := re.search(r"VmHWM:\s+(\d+) kB", status.read_text())):
        return int(found[1]) / 1024
    if sys.platform == "win32":
        return None
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def main() -> None:
    """Do the job that comes in on stdin."""
    answers, sys.stdout = sys.stdout, sys.stderr  # what a library prints is no answer
    table: CompressedTable = pickle.load(sys.stdin.buffer)
    job: Job = pickle.load(sys.stdin.buffer)
    try:
        values = searched(table, job, lambda: pickle.load(sys.stdin.buffer) if job.with_rows else None)
        print(json.dumps({"values": values}), file=answers, flush=True)
        if job.evaluated:
            errors = evaluated(pickle.load(sys.stdin.buffer), job.settled.policy)
            print(json.dumps({"errors": errors}), file=answers, flush=True)
    except IncrowdError as error:
        print(json.dumps({"problem": " ".join(str(error).splitlines())}), file=answers, flush=True)
