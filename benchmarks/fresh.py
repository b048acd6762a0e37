"""Runs a measured job in a process of its own, so that its peak memory and its first-call costs are its own."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Cost:
    """What a run took: seconds on the clock, CPU seconds over all threads, peak memory of the process in MB."""

    wall: float
    cpu: float
    peak: float


def measured(job: Callable[[], Any]) -> tuple[Cost, Any]:
    """Run a job in this process; gives its cost and its result."""
    cpu, wall = cpu_seconds(), time.perf_counter()
    result = job()
    return Cost(time.perf_counter() - wall, cpu_seconds() - cpu, peak_megabytes()), result


def cpu_seconds() -> float:
    """User and system time of this process so far."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def peak_megabytes() -> float:
    """Peak resident memory of this process.

    Linux carries ru_maxrss over from the process that started this one, so the kernel's own high-water mark of this
    address space is asked first.
    """
    status = Path("/proc/self/status")
    if status.exists() and (found := re.search(r"VmHWM:\s+(\d+) kB", status.read_text())):
        return int(found[1]) / 1024
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def run(module: str, *arguments: str) -> dict[str, Any]:
    """Run `python -m module arguments` and read the JSON that it prints."""
    root = Path(__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(root)])}
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments], env=environment, check=True, capture_output=True, text=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found
