"""Tries what nobody thought of, for a number of minutes, and says per family how many trials there were and failures.

    make fuzz MINUTES=30
    python -m tests.fuzz --minutes 30 --only releases
    python -m tests.fuzz --only properties tests/property/test_top_down.py

The families: random releases against an independent recount, sequences of releases with a ledger against somebody who
has all of them, malformed files, commands killed at random moments, and the property tests with fresh seeds and ten
times the examples. Every failure is printed with its seed:
`python -m tests.fuzz --only releases --seed 193` tries that one again.
"""

import argparse
import random
import sys

from tests.fuzz import properties
from tests.fuzz.trials import attempt, try_out

SHARES = {"releases": 0.4, "ledgers": 0.1, "malformed": 0.15, "kills": 0.15, "properties": 0.2}  # of the time


def main():
    """Fuzz until the time is over; exit code 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("places", nargs="*", help="of property tests")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", choices=list(SHARES), action="append")
    parser.add_argument("--seed", type=int, help="of one trial")
    arguments = parser.parse_args()
    families = arguments.only or list(SHARES)
    if arguments.seed is not None:
        went, failures = attempt(families[0], [arguments.seed])
        sys.exit(print(dict(went), failures) or bool(failures))
    table, shares = (
        ["", "| family | trials | how they went | failures |", "| --- | --- | --- | --- |"],
        sum(map(SHARES.get, families)),
    )
    failed = 0
    for family in families:
        minutes = arguments.minutes * SHARES[family] / shares
        if family == "properties":
            went, failures = properties.try_out(arguments.places, minutes, arguments.workers)
        else:
            went, failures = try_out(family, minutes, arguments.workers, random.SystemRandom().randrange(2**40))
        failed += failures
        told = ", ".join(f"{number:,} {word}" for word, number in sorted(went.items()))
        table.append(f"| {family} | {went.total():,} | {told} | {failures:,} |")
    print("\n".join(table))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
