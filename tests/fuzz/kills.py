"""Commands and jobs of the studio that are killed at random moments, whatever they write to.

The files of a release belong together afterwards, with its rows wherever these are; what was said is true; and after
the next command nothing else is left. Half of the signals come at any time, half while the release is published.
"""

import asyncio
import atexit
import contextlib
import functools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.databases import no_server, postgres_server
from tests.faults.processes import names, people, started

from incrowd.errors import IncrowdError
from incrowd.formats.databases import Address, TableOutput
from incrowd.formats.registry import open_source
from incrowd.formats.staging import recover_commits
from incrowd.release.files import ReleaseFiles
from incrowd.studio.jobs import DONE, Jobs
from incrowd.studio.project import Project
from incrowd.studio.studio import Studio
from incrowd.verification.certificate import Commitment

SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
FILES = ("csv", "csv.gz", "parquet", "arrow", "jsonl", "xlsx", "dta", "sav")
TABLES = ("sqlite#t", "duckdb#t", "sqlite#new", "duckdb#new", *(() if no_server() else ("postgresql",) * 2))
PUBLISHING = """
import os, threading
from incrowd.formats.atomic_files import AtomicFiles
commit = AtomicFiles._commit
def soon(self):
    threading.Timer({seconds}, os.kill, (os.getpid(), {number})).start()
    commit(self)
AtomicFiles._commit = soon
"""
SERVER = """
import json, os, sys
import importlib
for name in "cli cli.anonymize release pipeline formats.databases report.terminal search.top_down.top_down".split():
    importlib.import_module(f"incrowd.{name}")
import incrowd.cli, incrowd.search.mondrian.mondrian, rich.table, xlsxwriter
for line in sys.stdin:
    words, before, home, said = json.loads(line)
    child = os.fork()
    if not child:
        os.chdir(home)
        os.dup2(os.open(said, os.O_CREAT | os.O_WRONLY), 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.argv = ["incrowd", *words]
        exec(before)
        incrowd.cli.main()
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""  # commands that need not load everything first
OLD, NEW = ("--k", "5"), ("--k", "6", "--overwrite")


@functools.cache
def commands():
    """A process whose copies run commands."""
    process = started([sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    atexit.register(process.kill)
    return process


class Command:
    """A command that runs in a folder."""

    def __init__(self, folder, words, before=""):
        self._server, self._said = commands(), tempfile.mktemp()
        request = [[*map(str, words)], before, str(folder), self._said]
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        self.process = int(self._server.stdout.readline())

    def over(self):
        """How it ended, and what it said."""
        code = int(self._server.stdout.readline())
        said = Path(self._said).read_text()
        os.unlink(self._said)
        return code, said


@functools.cache
def server():
    """A database server for all trials of this process."""
    stack = contextlib.ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(postgres_server())


def where(folder, kind):
    """Where a release of some kind goes."""
    return f"{server()}#t" if kind == "postgresql" else folder / f"r.{kind}"


def releasing(folder, kind, *words):
    """The arguments that make a release of some kind."""
    words = words if "--method" in words else (*words, "--method", "tdr")
    return ("anonymize", folder / "people.csv", "-o", where(folder, kind), "--qi", "age,sex,job", *words)


@functools.cache
def home(kind):
    """A folder with a table and an old release of some kind, and how long it took to make that."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    people(folder, rows=30)
    began = time.monotonic()
    ended = Command(folder, releasing(folder, kind.replace("#new", "#t"), *OLD)).over()
    assert ended[0] == 0, ended
    return folder, time.monotonic() - began


def files_of(address):
    """The files of a release."""
    if (table := Address.of(address)) is None:
        return ReleaseFiles.of(address)
    return ReleaseFiles.of(Path.cwd() / TableOutput(table, overwrite=True).beside)


def state(address, files):
    """Which release there is: its k, 0 without any, None if rows and files do not belong together."""
    beside = [path for path in (files.certificate, files.recoding, files.confidential) if path.exists()]
    try:
        digest = open_source(address).fingerprint()
    except IncrowdError:
        return None if beside else 0
    if not files.certificate.exists():
        return None
    certificate = json.loads(files.certificate.read_text())
    codebook = certificate["policy"]["method"] == "tdr"
    if certificate["output"] != digest or files.recoding.exists() != codebook:
        return None
    if Commitment.read(files.commitment).public != certificate["commitment"]:
        return None
    return certificate["policy"]["quasi_identifiers"][0]["k"]


def trial(seed):
    """One kill: how it went (which kind, "killed", or "done" if it came too late), and what is wrong afterwards."""
    draw = random.Random(seed)
    if draw.random() < 0.1:
        return studio_trial(draw)
    kind = draw.choice(FILES if draw.random() < 0.5 else TABLES)
    before = kind == "postgresql" or draw.random() < 0.6
    old, takes = home(kind)
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        folder = Path(name)
        if before:
            shutil.copytree(old, folder, dirs_exist_ok=True)
            if kind == "postgresql":  # an earlier trial may have written there
                assert Command(folder, releasing(folder, kind, *OLD, "--overwrite")).over()[0] == 0
        else:
            people(folder, rows=30)
        address = where(folder, kind)
        went, code, said = struck(draw, folder, kind, takes)
        return went, checked(folder, address, 5 if before and not kind.endswith("#new") else 0, code, said)


def struck(draw, folder, kind, takes):
    """Make a new release and strike: when that came, how the command ended, and what it said."""
    number, aimed = draw.choice(SIGNALS), draw.random() < 0.5
    method = ("--method", draw.choice(["tdr", "mondrian"]))  # of which one has a codebook
    aim = PUBLISHING.format(seconds=draw.uniform(0, 0.05), number=int(number)) if aimed else ""
    command = Command(folder, releasing(folder, kind, *NEW, *method), aim)
    if not aimed:
        time.sleep(takes * draw.uniform(0.1, 0.9))
        with contextlib.suppress(ProcessLookupError):
            os.kill(command.process, number)
    code, said = command.over()
    moment = "too late" if code == 0 else "while it appears" if aimed else "at any time"
    return f"{kind.replace('#t', '').replace('#', ' ')}: {moment}", code, said


def checked(folder, address, before, code, said):
    """What is wrong with what is left after the next command; before, there was a release with that k, or none."""
    problems, waiting = [], [*folder.glob(".incrowd-*")]
    if waiting and code not in (-signal.SIGKILL, 0):
        problems.append(f"left by a command that could tidy up: {waiting}")
    for left in waiting:
        os.utime(left, (0, 0))  # some time later
    files = files_of(address)  # as the next command that writes there
    found = state(address, files)
    recover_commits(folder)
    if "Traceback" in said:
        problems.append(f"traceback: {said[-300:]}")
    if found is None:
        problems.append(f"rows and files do not belong together: {names(folder)}")
    elif found not in (6, before):
        problems.append(f"the old release is gone: {found}")
    if "no file was written" in said and found == 6:
        problems.append(f"said that nothing was written, and it was: {said}")
    if "written and complete" in said and found != 6:
        problems.append(f"said that it was written, and it was not: {said}")
    if code == 0 and found != 6:
        problems.append("ended well without a release")
    journals = [path.name for path in folder.glob("*-journal") if path.read_bytes()[:1].strip(b"\0")]  # not yet undone
    if left := [name for name in names(folder) if name.startswith(".") or name.endswith(".wal")] + journals:
        problems.append(f"left behind: {left}")
    return problems


def studio_trial(draw):
    """A job of the studio that is killed, or whose studio is; what is left then, and when it is opened again."""
    with tempfile.TemporaryDirectory() as name:
        folder = people(Path(name), rows=20)
        went, problems = asyncio.run(_studio(folder, draw))
        project = Project(folder, folder / "people.studio")  # the next day
        project.close()
        return f"studio: {went}", problems + _left(project, "later")


async def _studio(folder, draw):
    project, jobs = Project(folder, folder / "people.studio"), Jobs()
    studio, problems, takes = Studio(project, jobs), [], 0
    project.choose("people.csv")
    policy = {"quasi_identifiers": ["age", "sex", "job"], "k": 5, "method": "tdr"}
    words = {"policy": policy, "home": str(project.folder), "name": "release.csv"}
    try:
        for struck in (False, True):
            began = time.monotonic()
            job = studio.run("release", words, "release", "Making the release", fresh=True)
            while struck and job.number not in jobs._processes and not job.is_over:
                await asyncio.sleep(0.002)
            if struck:
                await asyncio.sleep(draw.uniform(0, 1.1) * takes)
                if job.number in jobs._processes:
                    jobs._processes[job.number].kill()
            while not job.is_over or job.number in jobs._tasks:
                await asyncio.sleep(0.002)
            takes = time.monotonic() - began
            problems += _left(project, job.state)
    finally:
        await jobs.end()
        project.close()
    return "done" if job.state == DONE else "killed", problems


def _left(project, when):
    made = project.made("release")
    left = [path.name for path in (project.folder / "results" / "release").iterdir() if path != made]
    if left or state(made / "release.csv", ReleaseFiles.of(made / "release.csv")) != 5:
        return [f"left by a job of the studio, {when}: {left}"]
    return []
