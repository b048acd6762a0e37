"""A real terminal: what is shown of a long search, and what the first and the second Ctrl-C do."""

import os
import re
import select
import sys
import time

import pytest

pty = pytest.importorskip("pty")

HINT = "Ctrl-C: stop and use the best so far; twice: cancel"
PATIENCE = 90  # seconds; a busy machine is slow


def table(folder):
    rows = [f"{n * 7919 % 97},{n * 104729 % 89},{n * 1299709 % 83},{'abc'[n % 3]}" for n in range(20_000)]
    (folder / "people.csv").write_text("\n".join(["a,b,c,d", *rows]))


def pressed(folder, times):
    """What a terminal shows, and the exit code, if Ctrl-C is pressed when the hint appears."""
    command = [sys.executable, "-m", "incrowd", "anonymize", "people.csv", "-o", "out.csv", "--qi", "a,b,c", "--k", "5"]
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.environ["COLUMNS"] = "200"
        os.execv(sys.executable, [*command, "--method", "optimal"])
    shown, until = b"", time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if not select.select([terminal], [], [], 0.2)[0]:
            continue
        try:
            shown += os.read(terminal, 65536)
        except OSError:  # the other side is gone
            break
        if times and HINT.encode() in shown:
            for _ in range(times):
                os.write(terminal, b"\x03")
                time.sleep(0.1)
            times = 0
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode(errors="replace")), os.waitstatus_to_exitcode(status)


def test_the_first_one_stops_and_releases(tmp_path):
    table(tmp_path)
    shown, code = pressed(tmp_path, 1)
    assert code == 0, shown
    assert re.search(r"searching.* s so far", shown)
    assert "the search was stopped early (interrupted)" in " ".join(shown.split())
    assert (tmp_path / "out.csv").exists()


def test_the_second_one_cancels(tmp_path):
    table(tmp_path)
    shown, code = pressed(tmp_path, 2)
    assert code == 130, shown
    assert "interrupted; no file was written" in " ".join(shown.split())
    assert not (tmp_path / "out.csv").exists()
