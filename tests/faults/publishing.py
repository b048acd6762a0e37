"""Rows of a database and files beside them that are published, and ended at every call on the way; run by tests.

    python publishing.py ADDRESS SIGNAL old|new FIRST STRIDE

In each round a copy of this process publishes and is sent the signal at the next call; then another copy does what the
next command does, and says what it finds. A line each: how it ended, what it said to be written, and what there is
then, after the next command, and left over.
"""

import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa

from incrowd.errors import IncrowdError
from incrowd.formats import staging
from incrowd.formats.atomic_files import AtomicFiles, written
from incrowd.formats.databases import Address, DatabaseSource, TableOutput

CALLS = ("replace", "rename", "link", "fsync", "mkdir", "rmdir", "unlink", "chmod")


def side(address, word):
    """A file beside a table."""
    beside = Address.of(address).database().beside(Address.of(address).table)
    return beside.parent / f"{beside.name.removesuffix('table')}{word}"


def publish(address, text, output=None):
    """A release of three rows, whose files hold their digest; an old one has a file that the new one has not."""
    rows = pa.table({"a": [text] * 3})
    with AtomicFiles(overwrite=True) as files:
        with files.join(output or TableOutput(Address.of(address), overwrite=True)).writer(rows.schema, None) as writer:
            writer.write(rows.to_batches()[0])
        for word in ("certificate.json", "confidential/secret.json"):
            folder = 0o700 if "/" in word else None
            files.open(side(address, word), folder=folder).write_text(writer.fingerprint)
        if text == "old":
            files.open(side(address, "recoding.json")).write_text(writer.fingerprint)
        else:
            files.remove(side(address, "recoding.json"))


def found(address):
    """Which release there is, "none", or "mixed"."""
    try:
        source = DatabaseSource(Address.of(address))
    except IncrowdError:
        source = None
    words = ("certificate.json", "confidential/secret.json", "recoding.json")
    files = [path.read_text() for word in words if (path := side(address, word)).exists()]
    if source is None:
        return "mixed" if files or side(address, "confidential").exists() else "none"
    text = next(source.batches()).column(0)[0].as_py()
    whole = {"old": 3, "new": 2}[text]
    return text if files == [source.fingerprint()] * whole else "mixed"


def counting(at, number):
    """Send this process a signal at a call."""
    calls = 0

    def counted(function):
        def call(*arguments, **words):
            nonlocal calls
            calls += 1
            if calls - 1 == at:
                os.kill(os.getpid(), number)
            return function(*arguments, **words)

        return call

    for name in CALLS:
        setattr(os, name, counted(getattr(os, name)))
    for kind in ("incrowd.formats.duckdb_files", "incrowd.formats.sqlite_files", "incrowd.formats.postgres"):
        if (module := sys.modules.get(kind)) is not None:
            session = next(each for name, each in vars(module).items() if re.fullmatch(r"\w+Transaction", name))
            commit = counted(session.commit)
            session.commit = lambda self, commit=commit: (commit(self), counted(lambda: None)())


def copied(work):
    """Do something in a copy of this process; how it ended, and what it said."""
    reader, writer = os.pipe()
    if not (child := os.fork()):
        code = 1
        try:
            os.write(writer, json.dumps(work()).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        said = file.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code, json.loads(said) if said else None


def struck(address, at, number):
    """Publish, and be struck by a signal; what was said to be written, and whether that was all."""

    def ended(number, frame):
        raise KeyboardInterrupt

    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, ended)
    counting(at, number)
    try:
        publish(address, "new")
    except KeyboardInterrupt:
        return [*written()], False
    return [*written()], True


def next_command(address):
    """What there is, and what a command finds that comes later; it writes nothing yet."""
    folder, between = Path.cwd(), found(address) if not [*Path.cwd().glob(".incrowd-*")] else "waiting"
    for left in folder.glob(".incrowd-*"):
        os.utime(left, (0, 0))
    TableOutput(Address.of(address), overwrite=True)
    later = found(address)
    staging.recover_commits(folder)
    return between, later, [path.name for path in folder.glob(".incrowd-*")]


def again(address, old):
    """The state before: an old release, or nothing."""
    for path in Path.cwd().iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    if old is not None and not address.startswith("postgresql"):
        shutil.copytree(old, Path.cwd(), dirs_exist_ok=True)
    elif old is not None:
        copied(lambda: publish(address, "old"))


def main(address, number, before, first, stride):
    """Strike at one call after another, until it comes too late."""
    Address.of(address).database()  # what is loaded now need not be loaded in every copy
    old = None
    with tempfile.TemporaryDirectory() as name:
        if before == "old":
            copied(lambda: publish(address, "old"))
            old = shutil.copytree(Path.cwd(), name, dirs_exist_ok=True)
        for at in range(int(first), 200, int(stride)):
            again(address, old)
            code, said = copied(lambda at=at: struck(address, at, int(number)))
            code_later, later = copied(lambda: next_command(address))
            names = said and said[0]
            print(json.dumps({"at": at, "code": code, "said": names, "found": later, "later": code_later}), flush=True)
            if code == 0 and said[1]:
                return


def race(path, *tables):
    """Publish from many processes at once, into one new database; how they ended."""
    Address.of(path).database()
    begin = time.monotonic() + 1
    children = []
    for number, table in enumerate(tables):
        if child := os.fork():
            children.append(child)
            continue
        code = 1
        try:
            output = TableOutput(Address.of(f"{path}#{table}"), overwrite=True)
            time.sleep(max(0, begin - time.monotonic()))  # none of them is there yet
            publish(f"{path}#{table}", f"{number}", output)
            code = 0
        finally:
            os._exit(code)
    print(json.dumps([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]))


if __name__ == "__main__":
    race(*sys.argv[2:]) if sys.argv[1] == "race" else main(*sys.argv[1:])
