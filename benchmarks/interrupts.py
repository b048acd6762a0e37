"""How long an interrupt takes to be answered, by method: from SIGINT to the end of the process.

    python -m benchmarks.interrupts

Every method runs from the shell on a generated table that keeps it busy, and is interrupted at several moments. Printed
are at how many moments it was still at work, the slowest answer, the exit codes and the number of lines on stderr.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from incrowd.search.registry import METHODS

ROWS = 150_000
OPTIONS = {"optimal": ["--suppress", "1"], "genetic": ["--patience", "100000", "--evaluations", "1000000"]}


def table(path: Path, rows: int) -> None:
    """Rows of nearly distinct tuples."""
    draw = random.Random(1)
    with path.open("w", encoding="utf-8") as file:
        file.write("age,zip,job,wage,days,label\n")
        for _ in range(rows):
            file.write(
                f"{draw.randrange(90)},{draw.randrange(400)},job{draw.randrange(30)},{draw.randrange(200)},"
                f"{draw.randrange(60)},{draw.randrange(2)}\n"
            )


def answer(command: list[str], delay: float) -> tuple[float, int, int] | None:
    """Seconds until the end after SIGINT, exit code and lines on stderr; None where it was over before."""
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    time.sleep(delay)
    if process.poll() is not None:
        process.communicate()
        return None
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate()
    lines = [line for line in stderr.decode().splitlines() if line.startswith("error") or "Traceback" in line]
    return time.monotonic() - began, process.returncode, len(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--rows", type=int, default=ROWS)
    arguments = parser.parse_args()
    print("| method | moments | slowest answer, s | exit codes | lines |\n| --- | ---: | ---: | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.csv"
        table(path, arguments.rows)
        for method in arguments.methods.split(","):
            command = [
                sys.executable,
                "-m",
                "incrowd",
                "anonymize",
                str(path),
                "-o",
                f"{folder}/out.csv",
                "--overwrite",
            ]
            command += ["--qi", "age,zip,job,wage,days", "--k", "3", "--method", method, *OPTIONS.get(method, [])]
            found = []
            for delay in (1.0, 2.5, 5.0):
                if (one := answer(command, delay)) is None:
                    break
                found.append(one)
            slowest = max((seconds for seconds, _, _ in found), default=0.0)
            codes, lines = sorted({code for _, code, _ in found}), sorted({count for _, _, count in found})
            print(f"| {method} | {len(found)} | {slowest:.2f} | {codes} | {lines} |", flush=True)


if __name__ == "__main__":
    main()
