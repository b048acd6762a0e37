"""Real processes that meet real faults, and what must be left of them."""

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.command_line import GOOD, command

MORE = 10 if os.environ.get("INCROWD_HYPOTHESIS") == "fuzz" else 1
POLICY = ("--qi", "age,sex,job", "--k", "5", "--keep", "name")
SIDES = ("recoding", "steps", "certificate")
SLOWLY = """
import time
from incrowd.formats.writers import FileWriter
write = FileWriter.write
FileWriter.write = lambda self, batch: (write(self, batch), time.sleep(1))
"""  # so that there is time to end a process that writes rows


def anonymize(folder, *arguments, output="r.csv", table="people.csv"):
    """The arguments that make a release in a folder."""
    method = () if "--method" in arguments else ("--method", "tdr")  # quick, and without compiled code
    return ("anonymize", folder / table, "-o", folder / output, *POLICY, *method, *arguments)


def people(folder, rows=1):
    """A table in a folder, so many times as long as the small one."""
    header, *lines = GOOD.splitlines(keepends=True)
    (folder / "people.csv").write_text(header + "".join(lines) * rows)
    return folder


def heeding():
    """What a child does first, so that signals end it though those who run the tests ignore them (`nohup`, `trap`)."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def started(arguments, **words):
    """A process of its own that signals are sent to; its command line is given."""
    return subprocess.Popen([*map(str, arguments)], **{"preexec_fn": heeding, "text": True, **words})


def run(*arguments, before="", **words):
    """A command in a process of its own, until it ends."""
    words = {"capture_output": True, "text": True, "timeout": 120, "preexec_fn": heeding, **words}
    return subprocess.run(command(*arguments, before=before), check=False, **words)


def script(code, *arguments, **words):
    """Python code in a process of its own, until it ends."""
    words = {"capture_output": True, "text": True, "timeout": 120, "preexec_fn": heeding, **words}
    return subprocess.run([sys.executable, "-c", code, *map(str, arguments)], check=False, **words)


def one_line(found, code, words):
    """Check that a process ended as it should: with a code and one line on stderr."""
    assert (found.returncode, found.stderr.count("\n")) == (code, 1), found.stderr
    assert words in found.stderr
    assert "Traceback" not in found.stderr


def names(folder):
    """All that is in a folder, what is hidden too."""
    return sorted(path.name for path in folder.iterdir())


def is_complete(folder, stem="r", suffix="csv"):
    """Whether the files of a release belong together: the certificate is that of the rows, the codebook not older."""
    digest = "sha256:" + hashlib.sha256((folder / f"{stem}.{suffix}").read_bytes()).hexdigest()
    found = [json.loads(path.read_text()) for path in folder.rglob(f"{stem}.certificate.json")]
    codebooks = [json.loads(path.read_text())["kind"] for path in folder.rglob(f"{stem}.recoding.json")]
    expected = [["by class", "by value"][entry["policy"]["method"] == "tdr"] for entry in found]
    return bool(found) and found[0]["output"] == digest and codebooks == expected


def writes_unseen(process, folder):
    """Whether a process has written to a file in a folder that has no name, or a hidden one."""
    with contextlib.suppress(OSError):
        for link in Path(f"/proc/{process.pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                there = os.readlink(link)
                unseen = there.startswith(f"{folder}/") and ("deleted" in there or "/.incrowd-" in there)
                if unseen and os.stat(link).st_size:
                    return True
    return False


def wait_for_writing(process, folder, seconds=60):
    """Wait until a process writes rows."""
    until = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < until and not writes_unseen(process, folder):
        time.sleep(0.002)
    assert process.poll() is None, "it was done before it could be stopped"
