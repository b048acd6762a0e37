"""Runs the property tests with fresh seeds and ten times the examples, for a number of minutes.

    make fuzz MINUTES=30
    python -m tests.fuzz --minutes 30 tests/property/test_top_down.py

Every failure is printed with its seed and the falsifying example, ready to be pasted into a regression test.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
import time

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


def main() -> None:
    """Fuzz until the time is over; exit code 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("places", nargs="*", default=PLACES)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--workers", default="2")
    arguments = parser.parse_args()
    until, rounds, failures = time.monotonic() + 60 * arguments.minutes, 0, 0
    places = arguments.places[:]
    while time.monotonic() < until:
        seed = random.SystemRandom().randrange(2**32)
        random.shuffle(places)
        for place in places:
            code, output = round_of([place], seed, until - time.monotonic(), ["-n", arguments.workers])
            rounds += code >= 0
            if code not in (0, 5, -1):
                failures += 1
                report(seed, output)
            if time.monotonic() >= until:
                break
    print(f"{rounds} rounds, {failures} with a failure, in {arguments.minutes:g} minutes")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
