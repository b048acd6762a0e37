"""A process that dies at any moment of a release with a ledger: no release is out that the ledger does not know."""

import pytest
from tests.faults.processes import MORE, script

KILLS = """
import json, os, random, shutil, signal, sys
from pathlib import Path
import incrowd, incrowd.pipeline, incrowd.search.top_down.top_down
from incrowd.errors import IncrowdError
from incrowd.ledger.store import Ledger
home, first, step = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
draw, calls = random.Random(1), 0
rows = [f"{person},{draw.randrange(20, 60)},{draw.choice('ab')},{draw.choice('xyz')}" for person in range(60)]

def child(job, *arguments):
    number = os.fork()
    if not number:
        try:
            os._exit(job(*arguments) or 0)
        except IncrowdError as error:
            print(error)
            os._exit(3)
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])

def release(folder, people, name):
    (folder / "people.csv").write_text("id,age,sex,illness\\n" + "\\n".join(rows[:people]) + "\\n")
    incrowd.anonymize(
        folder / "people.csv", quasi_identifiers=["age", "sex"], k=3, unit="id", keep=["illness"], method="tdr",
        ledger=folder / "ledger",
    ).write(folder / name)

def killed(folder, at):
    def counted(function):
        def call(*arguments, **words):
            global calls
            if calls == at:
                os.kill(os.getpid(), signal.SIGKILL)
            calls += 1
            return function(*arguments, **words)
        return call
    for name in ("replace", "link", "fsync", "mkdir", "rmdir", "unlink", "chmod"):
        setattr(os, name, counted(getattr(os, name)))
    release(folder, 60, "2.csv")

def checked(folder):
    ledger = Ledger.read(folder / "ledger")
    known = [entry.output for entry in ledger.releases]
    out = [json.loads((folder / f"{n}.certificate.json").read_text())["output"]
           for n in (1, 2) if (folder / f"{n}.csv").exists()]
    assert known == out, (known, out)
    assert ledger.rows(ledger.releases[-1].number).num_rows == (40, 60)[len(known) - 1]
    print("released" if len(known) == 2 else "nothing")

assert child(release, home, 40, "1.csv") == 0
for at in range(first, 400, step):
    folder = home / str(at)
    folder.mkdir()
    for name in ("1.csv", "1.certificate.json"):
        shutil.copy(home / name, folder)
    shutil.copytree(home / "ledger", folder / "ledger")
    ended = child(killed, folder, at)
    assert ended in (0, -signal.SIGKILL), ended
    assert child(checked, folder) == 0, at
    if len(Ledger.read(folder / "ledger").releases) == 1:
        assert child(release, folder, 60, "2.csv") == 0, at  # goes through the second time
        assert child(checked, folder) == 0, at
    shutil.rmtree(folder)
    if ended == 0:
        print("done", at)
        break
"""
STEPS = 4 if MORE == 1 else 1


@pytest.mark.parametrize("first", range(2 if STEPS > 1 else 1))
def test_a_kill_at_any_call_leaves_release_and_ledger_in_step(tmp_path, first):
    done = script(KILLS, tmp_path, first, STEPS, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout.split()
    assert "done" in said
    assert {"released", "nothing"} <= set(said)
