"""How long `incrowd -h` takes, in CPU seconds, and `import incrowd`; fails above the limit.

    python -m benchmarks.start_up

Beside them stands Python alone. The fastest of several runs counts, since other load only ever adds to it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

RUNS = 9
LIMIT = 0.25  # CPU seconds of `incrowd -h`
COMMANDS: dict[str, Sequence[str]] = {
    "python alone": ("-c", "pass"),
    "import incrowd": ("-c", "import incrowd"),
    "incrowd -h": ("-m", "incrowd", "-h"),
    "incrowd anonymize -h": ("-m", "incrowd", "anonymize", "-h"),
}


def cpu_seconds(arguments: Sequence[str]) -> float:
    """The CPU seconds of one process, its own and those of the system for it."""
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_utime + usage.ru_stime


def main() -> int:
    """Print the figures; 1 if the limit is passed."""
    fastest = {name: min(cpu_seconds(arguments) for _ in range(RUNS)) for name, arguments in COMMANDS.items()}
    for name, seconds in fastest.items():
        print(f"{name:<22}{seconds:.3f} CPU s")
    return int(fastest["incrowd -h"] > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
