"""A process that dies at any moment: the files of a release appear together, or the next command sees to it."""

import os
import signal
import subprocess

import pytest
from tests.command_line import command
from tests.faults.processes import (
    MORE,
    SLOWLY,
    anonymize,
    is_complete,
    names,
    people,
    run,
    script,
    started,
    wait_for_writing,
)

from incrowd.formats.staging import recover_commits

WRITE = """
import os, signal, sys
from pathlib import Path
from incrowd.formats import atomic_files, staging
from incrowd.formats.atomic_files import AtomicFiles
folder, at, number, overwrite, named = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *map(eval, sys.argv[4:6])
if named:
    atomic_files.unnamed = lambda *_: None
calls = 0
def counted(function):
    def call(*arguments, **words):
        global calls
        if calls == at:
            os.kill(os.getpid(), number)
        calls += 1
        return function(*arguments, **words)
    return call
for name in ("replace", "link", "fsync", "mkdir", "rmdir", "unlink", "chmod"):
    setattr(os, name, counted(getattr(os, name)))
try:
    with AtomicFiles(overwrite=overwrite) as files:
        for name in ("x.csv", "y.json", "z.json"):
            files.open(Path(folder) / name).write_text("new")
        files.open(Path(folder) / "private" / "s.json", mode=0o600, folder=0o700).write_text("new")
        files.remove(Path(folder) / "w.json")
finally:
    print(calls)
"""
POINTS = 60
STRIDE = 3 if MORE == 1 else 1  # every third call, where there is no time for all


def contents(folder):
    return {path.name: path.read_text() if path.is_file() else names(path) for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("named", [False, True], ids=["unnamed", "hidden"])
@pytest.mark.parametrize("overwrite", [False, True], ids=["new", "overwrite"])
def test_a_kill_at_any_call_leaves_all_files_old_or_all_new(tmp_path, overwrite, named):
    old = {"w.json": "old", "x.csv": "old", "y.json": "old"} if overwrite else {}
    new = {"private": ["s.json"], **dict.fromkeys(("x.csv", "y.json", "z.json"), "new")}
    seen = set()
    for point in range(named and STRIDE - 1, POINTS, STRIDE):
        folder = tmp_path / str(point)
        folder.mkdir()
        for name, text in old.items():
            (folder / name).write_text(text)
        done = script(WRITE, folder, point, int(signal.SIGKILL), overwrite, named)
        for left in folder.glob(".incrowd-*"):
            assert left.stat().st_mode & 0o777 == 0o700
            os.utime(left, (0, 0))  # some time later
        recover_commits(folder)
        assert contents(folder) in (old, new), point
        seen.add(contents(folder) == new)
        if done.returncode == 0:
            break
    assert done.returncode == 0
    assert point > 5
    assert seen == {False, True}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_between_two_moves_is_answered_when_all_are_made(tmp_path, number):
    new = {"private": ["s.json"], **dict.fromkeys(("x.csv", "y.json", "z.json"), "new")}
    heed = "import signal, sys; signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))\n"
    for point in range(0, POINTS, STRIDE):
        folder = tmp_path / str(point)
        folder.mkdir()
        (folder / "x.csv").write_text("old")
        done = script(heed + WRITE, folder, point, int(number), True, False)
        assert contents(folder) in ({"x.csv": "old"}, new), point
        if done.returncode == 0:
            return
    raise AssertionError("it never came to an end")


@pytest.mark.parametrize("stage", ["before", "after"])
def test_an_interrupt_says_which_files_were_written(tmp_path, stage):
    people(tmp_path)
    send = "import os, signal\n"
    if stage == "before":
        send += "from incrowd.verification.witness import Witness\n"
        send += "Witness.verdict = lambda self: os.kill(os.getpid(), signal.SIGINT)\n"
    else:
        send += (
            "replace = os.replace\n"
            "def then(a, b):\n    replace(a, b)\n    os.kill(os.getpid(), signal.SIGINT)\n"
            "os.replace = then\n"
        )
    (tmp_path / "r.certificate.json").write_text("old")
    found = run(*anonymize(tmp_path, "--overwrite"), before=send)
    assert found.returncode == 130
    assert found.stderr.count("\n") == 1
    if stage == "before":
        assert found.stderr == "error: interrupted; no file was written\n"
        assert names(tmp_path) == ["people.csv", "r.certificate.json"]
    else:
        assert "interrupted; written and complete: r.csv" in found.stderr
        assert is_complete(tmp_path)


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_signal_while_rows_are_written_leaves_nothing(tmp_path, number):
    people(tmp_path, rows=20_000)
    process = started(command(*anonymize(tmp_path), before=SLOWLY), stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    wait_for_writing(process, tmp_path)
    process.send_signal(number)
    _, message = process.communicate(timeout=60)
    assert process.returncode == {signal.SIGKILL: -9, signal.SIGINT: 130}.get(number, 128 + number)
    assert "Traceback" not in message
    assert names(tmp_path) == ["people.csv"]


def test_the_next_command_that_reads_a_release_completes_it(tmp_path):
    people(tmp_path)
    assert run(*anonymize(tmp_path)).returncode == 0
    die = (
        "import os, signal\nreplace = os.replace\n"
        "def once(a, b):\n    replace(a, b)\n    str(b).endswith('r.csv') and os.kill(os.getpid(), signal.SIGKILL)\n"
        "os.replace = once\n"
    )
    arguments = (
        "anonymize",
        tmp_path / "people.csv",
        "-o",
        tmp_path / "r.csv",
        "--qi",
        "age,sex",
        "--k",
        9,
        "--keep",
        "name",
    )
    assert run(*arguments, "--overwrite", before=die).returncode == -9
    assert not is_complete(tmp_path)
    assert run("verify", tmp_path / "r.csv", "--qi", "age,sex", "--k", 9).returncode == 0
    assert is_complete(tmp_path)
    assert not list(tmp_path.glob(".*"))


LOST = """
import sys
import time
import incrowd.formats.registry as registry
class Lost:
    def __del__(self):
        raise {ending}
def open_source(*_, **__):
    Lost()
    time.sleep(60)
registry.open_source = open_source
"""


@pytest.mark.parametrize(("ending", "code", "said"), [("KeyboardInterrupt", 130, 1), ("SystemExit(143)", 143, 0)])
def test_an_ending_that_python_can_only_report_is_heeded(tmp_path, ending, code, said):
    found = run(*anonymize(people(tmp_path)), before=LOST.format(ending=ending))
    assert (found.returncode, found.stderr) == (code, "error: interrupted; no file was written\n" * said)


UNLOADED = """
import os, signal, sys
class Numpy:  # loses a signal that comes while its compiled parts are loaded
    def find_spec(name, path, target=None):
        if name == "numpy":
            try:
                os.kill(os.getpid(), signal.{name})
            except BaseException:
                pass
            raise ImportError("numpy._core.umath failed to import")
sys.meta_path.insert(0, Numpy)
"""


@pytest.mark.parametrize(("name", "code", "said"), [("SIGINT", 130, 1), ("SIGTERM", 143, 0)])
def test_a_signal_that_a_library_loses_while_it_is_loaded_ends_the_command(tmp_path, name, code, said):
    found = run(*anonymize(people(tmp_path)), before=UNLOADED.format(name=name))
    assert (found.returncode, found.stderr) == (code, "error: interrupted; no file was written\n" * said)
    assert names(tmp_path) == ["people.csv"]
