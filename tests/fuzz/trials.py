"""Runs the trials of a family in several processes."""

import multiprocessing
import time
import traceback
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait

from tests.fuzz import kills, ledgers, malformed, releases

TRIALS = {
    "releases": releases.trial,
    "ledgers": ledgers.trial,
    "malformed": malformed.trial,
    "kills": kills.trial,
}
BATCH = {"releases": 50, "ledgers": 20, "malformed": 50, "kills": 2}  # trials at a time


def attempt(family, seeds):
    """Some trials in a row: how they went, and the failures by seed."""
    went, failures = Counter(), {}
    for seed in seeds:
        try:
            outcome, problems = TRIALS[family](seed)
        except Exception:
            outcome, problems = "failed", [traceback.format_exc(limit=-3)]
        went[outcome] += 1
        if problems:
            failures[seed] = problems
    return went, failures


def try_out(family, minutes, workers, first):
    """Try a family for some minutes in several processes; failures are printed as they come."""
    until, went, failed = time.monotonic() + 60 * minutes, Counter(), 0
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        running = set()
        while running or time.monotonic() < until:
            while len(running) < workers and time.monotonic() < until:
                running.add(pool.submit(attempt, family, range(first, first + BATCH[family])))
                first += BATCH[family]
            if not running:
                break
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                more, failures = future.result()
                went += more
                failed += len(failures)
                for seed, problems in failures.items():
                    print(f"\n{family}, seed {seed}: " + "\n".join(problems[:5]), flush=True)
    return went, failed
