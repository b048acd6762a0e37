"""Places that cannot be written to: one line, an exit code, old files untouched, nothing left behind."""

import os
import shutil
import subprocess

import pytest
from tests.command_line import command
from tests.faults.processes import MORE, anonymize, is_complete, names, one_line, people, run, script

RACE = """
import sys
from pathlib import Path
from incrowd.errors import OutputError
from incrowd.formats.atomic_files import AtomicFiles
folder, me = Path(sys.argv[1]), sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
try:
    with AtomicFiles(overwrite=False) as files:
        for name in ("x.csv", "x.recoding.json", "x.certificate.json"):
            files.open(folder / name).write_text(me)
except OutputError as error:
    sys.exit(str(error))
"""


def test_of_many_runs_on_one_output_exactly_one_wins(tmp_path):
    for number in range(4 * MORE):
        folder = tmp_path / str(number)
        folder.mkdir()
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        runs = [subprocess.Popen([*command()[:2], RACE, str(folder), f"{me}"], **pipes) for me in range(3)]
        for process in runs:
            process.stdout.readline()
        for process in runs:
            process.stdin.write("\n")
            process.stdin.flush()
        messages = [process.communicate(timeout=60)[1] for process in runs]
        assert sorted(process.returncode for process in runs) == [0, 1, 1]
        assert sum("already exists" in message for message in messages) == 2
        assert len({path.read_text() for path in folder.iterdir()}) == 1
        assert len(names(folder)) == 3


@pytest.mark.parametrize(
    "arguments",
    [
        ("verify", "r.csv", "--qi", "age,sex,job", "--k", "5", "--json"),
        ("verify", "r.csv", "--qi", "age,sex,job", "--k", "5"),
        ("codebook", "r.recoding.json"),
        ("methods",),
    ],
    ids=lambda arguments: " ".join(arguments[::5]),
)
def test_standard_output_on_a_full_disk(released, arguments):
    with open("/dev/full", "w") as full:
        found = run(*arguments, stdout=full, stderr=subprocess.PIPE, capture_output=False, cwd=released)
    one_line(found, 1, "cannot write to standard output: No space left on device")


def test_json_on_a_full_disk_says_that_the_release_was_written(tmp_path):
    people(tmp_path)
    with open("/dev/full", "w") as full:
        found = run(*anonymize(tmp_path, "--json"), stdout=full, stderr=subprocess.PIPE, capture_output=False)
    one_line(found, 1, "No space left on device; written and complete: r.csv")
    assert is_complete(tmp_path)


@pytest.mark.parametrize("option", ["--json", ""])
def test_a_reader_that_is_gone(released, option):
    reader, writer = os.pipe()
    os.close(reader)
    arguments = ("verify", "r.csv", "--qi", "age,sex,job", "--k", "5", *option.split())
    found = run(*arguments, stdout=writer, stderr=subprocess.PIPE, capture_output=False, cwd=released)
    os.close(writer)
    assert found.returncode == 1
    assert "Traceback" not in found.stderr
    assert found.stderr.count("\n") <= 1


def test_nobody_reads_messages(tmp_path):
    people(tmp_path)
    with open("/dev/full", "w") as full:
        found = run(*anonymize(tmp_path, "--k", "1000"), stderr=full, stdout=subprocess.PIPE, capture_output=False)
    assert found.returncode == 4
    assert names(tmp_path) == ["people.csv"]


def mounted(options, code):
    """Shell code with a file system of its own on its first argument; skips where that is not allowed."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("only root may mount")
    whole = f"mount -t tmpfs -o {options} none $1 || exit 99; {code}"
    return ["unshare", "-m", "sh", "-c", whole, "sh"]


@pytest.mark.parametrize("fault", ["full", "read-only"])
def test_a_file_system_that_takes_nothing(tmp_path, fault):
    people(tmp_path, rows=200)
    out = tmp_path / "out"
    out.mkdir()
    code = 'ro=$1; shift; "$@"; code=$?; ls -A $ro >&2; exit $code'
    if fault == "read-only":
        code = "mount -o remount,ro $1; " + code
    shell = mounted("size=32k", code)
    found = subprocess.run(
        [*shell, out, *command(*anonymize(tmp_path, output="out/r.csv"))], capture_output=True, text=True, check=False
    )
    if found.returncode == 99:
        pytest.skip("mounting is not allowed")
    reason = {"full": "No space left on device", "read-only": "ermission denied|Read-only file system"}[fault]
    assert any(words in found.stderr for words in reason.split("|")), found.stderr
    assert (found.returncode, found.stderr.count("\n")) == (1, 1)  # nothing was listed


def test_a_folder_that_is_gone_when_the_rows_are_complete(tmp_path):
    people(tmp_path)
    (tmp_path / "out").mkdir()
    gone = (
        "import incrowd.verification.witness as w, shutil\nverdict = w.Witness.verdict\n"
        f"def then(self):\n    shutil.rmtree({str(tmp_path / 'out')!r})\n    return verdict(self)\n"
        "w.Witness.verdict = then\n"
    )
    found = run(*anonymize(tmp_path, output="out/r.csv"), before=gone)
    one_line(found, 1, "nothing was written")
    assert names(tmp_path) == ["people.csv"]


@pytest.mark.parametrize("word", ["recoding", "steps", "certificate"])
def test_a_side_file_that_is_a_link_is_not_written_through(tmp_path, word):
    people(tmp_path)
    (tmp_path / "precious").write_text("old")
    side = tmp_path / f"r.{word}.json"
    side.symlink_to(tmp_path / "precious")
    found = run(*anonymize(tmp_path, "--overwrite"))
    if found.returncode:  # where side files go elsewhere, a link of that name is not in the way
        one_line(found, 1, f"{side.name} is a link")
        assert names(tmp_path) == sorted(["people.csv", "precious", side.name])
    assert (tmp_path / "precious").read_text() == "old"


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """A folder with a release."""
    folder = people(tmp_path_factory.mktemp("released"))
    assert run(*anonymize(folder, "--method", "tdr")).returncode == 0
    return folder


def test_a_script_is_cut_off_after_a_lock_is_held_for_long(tmp_path):
    hold = (
        "import fcntl, os, sys\nfrom incrowd.errors import OutputError\n"
        "from incrowd.formats import staging\nfrom incrowd.formats.atomic_files import AtomicFiles\n"
        "staging._PATIENCE = 0.2\nhandle = os.open(sys.argv[1], os.O_RDONLY)\nfcntl.flock(handle, fcntl.LOCK_EX)\n"
        "try:\n    with AtomicFiles() as files:\n        files.open(sys.argv[1] + '/x.csv').write_text('new')\n"
        "except OutputError as error:\n    sys.exit(str(error))\n"
    )
    found = script(hold, tmp_path)
    one_line(found, 1, "another run is writing to")
    assert names(tmp_path) == []
