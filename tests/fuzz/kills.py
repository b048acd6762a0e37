"""Commands killed at random moments: the files of a release belong together afterwards, and nothing else is left."""

import functools
import os
import random
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from tests.command_line import command
from tests.faults.processes import anonymize, is_complete, names, people, run

from incrowd.formats.staging import heal

SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
LATER = 30  # seconds that a stopped command may take to tidy up


@functools.cache
def takes():
    """How long the command takes when nobody stops it."""
    with tempfile.TemporaryDirectory() as name:
        folder = people(Path(name), rows=500)
        began = time.monotonic()
        assert run(*anonymize(folder)).returncode == 0
        return time.monotonic() - began  # measured once: on a busy machine later commands may be quicker


def trial(seed):
    """One kill: how it went ("killed", or "done" if it came too late), and what is wrong with what is left."""
    draw = random.Random(seed)
    suffix, before = draw.choice(["csv", "parquet"]), draw.random() < 0.5
    seconds = takes() * draw.uniform(0.2, 0.8)
    with tempfile.TemporaryDirectory() as name:
        folder = people(Path(name), rows=500)
        if before:
            assert run(*anonymize(folder, output=f"r.{suffix}")).returncode == 0
        old = names(folder)
        method = ("--method", draw.choice(["tdr", "mondrian"]))  # of which one has a codebook
        arguments = anonymize(folder, "--overwrite", *method, output=f"r.{suffix}")
        process = subprocess.Popen(command(*arguments), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        time.sleep(seconds)
        process.send_signal(draw.choice(SIGNALS))
        _, message = process.communicate(timeout=LATER)
        for left in folder.glob(".incrowd-*"):
            os.utime(left, (0, 0))  # some time later
        heal(folder)
        return "done" if process.returncode == 0 else "killed", _problems(folder, old, suffix, message)


def _problems(folder, old, suffix, message):
    found = []
    if "Traceback" in message:
        found.append(f"traceback: {message[-300:]}")
    if left := [name for name in names(folder) if name.startswith(".")]:
        found.append(f"left behind: {left}")
    if (folder / f"r.{suffix}").exists():
        if not is_complete(folder, suffix=suffix):
            found.append("the certificate is not that of the rows, or the codebook is older")
    elif names(folder) != ["people.csv"]:
        found.append(f"a part of a release: {names(folder)}")
    if f"r.{suffix}" in old and f"r.{suffix}" not in names(folder):
        found.append("the old release is gone")
    return found
