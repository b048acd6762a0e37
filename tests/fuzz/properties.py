"""Runs the property tests with fresh seeds and ten times the examples, for a number of minutes.

Every failure is printed with its seed and the falsifying example, ready to be pasted into a regression test.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import time
from collections import Counter

PLACES = ["tests/property", "tests/conformance", "tests/unit"]
EXAMPLE = re.compile(r"((?:Falsifying example|Failing test case):.*?)^E?\s*$", re.MULTILINE | re.DOTALL)


def round_of(places: list[str], seed: int, seconds: float, more: list[str]) -> tuple[int, str]:
    """One run of the tests that draw examples: exit code and output; -1 where the time was over first."""
    command = [sys.executable, "-m", "pytest", "-q", "-m", "hypothesis", "-p", "no:cacheprovider", *more]
    command += [f"--hypothesis-seed={seed}", *places]
    environment = {**os.environ, "INCROWD_HYPOTHESIS": "fuzz"}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=max(1.0, seconds))
    except subprocess.TimeoutExpired:
        return -1, ""
    return done.returncode, done.stdout + done.stderr


def report(seed: int, output: str) -> None:
    """Print what failed, and the example."""
    failed = re.findall(r"^FAILED (\S+)", output, re.MULTILINE)
    print(f"\nseed {seed}: {', '.join(failed) or 'failed'}")
    examples = EXAMPLE.findall(output)
    print("\n".join(re.sub("^E", " ", example, flags=re.MULTILINE) for example in examples) or output[-6000:])
    for blob in re.findall(r"@reproduce_failure\(.*\)", output):
        print(blob)


def try_out(places: list[str], minutes: float, workers: int) -> tuple[Counter[str], int]:
    """Fuzz until the time is over: how the rounds went, and how many failed."""
    until, went, failures = time.monotonic() + 60 * minutes, Counter[str](), 0
    places = list(places) or PLACES[:]
    while time.monotonic() < until:
        seed = random.SystemRandom().randrange(2**32)
        random.shuffle(places)
        for place in places:
            code, output = round_of([place], seed, until - time.monotonic(), ["-n", str(workers)])
            went["rounds of tests" if code >= 0 else "cut short"] += 1
            if code not in (0, 5, -1):
                failures += 1
                report(seed, output)
            if time.monotonic() >= until:
                break
    return went, failures
