"""A frozen corpus of what the product does, to compare before and after a change that should change nothing.

    python -m tests.corpus make FOLDER        every method with its options on small tables, and about 100 commands
    python -m tests.corpus compare A B        every difference between two such folders, grouped; exit code 1 if any

It uses only the public interface and the shell, so that it runs against older code too:

    PYTHONPATH=OLD/src python -m tests.corpus make before

One JSON file per release and per command; keys are fixed, and times, versions and commitments are left out.
"""

import argparse
import sys
from pathlib import Path

from tests.corpus.comparing import compare
from tests.corpus.releases import make_releases
from tests.corpus.shell import run_commands


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("make")
    make.add_argument("folder", type=Path)
    make.add_argument("--only", choices=["releases", "shell"])
    differences = commands.add_parser("compare")
    differences.add_argument("before", type=Path)
    differences.add_argument("after", type=Path)
    differences.add_argument("--full", action="store_true", help="list every place, not three per group")
    arguments = parser.parse_args()
    if arguments.command == "compare":
        sys.exit(compare(arguments.before, arguments.after, arguments.full))
    if arguments.only != "shell":
        make_releases(arguments.folder)
    if arguments.only != "releases":
        run_commands(arguments.folder)


if __name__ == "__main__":
    main()
