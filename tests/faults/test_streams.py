"""Where commands print: closed streams, encodings without most characters, and interrupts before anything was done.

Every command is tried with every stream; a process is started only where the process itself is what is tried.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.faults.processes import MORE

import incrowd

QI = ("--qi", "age,sex,job", "--k", "3")
TDR = ("--identifiers", "name", "--method", "tdr")
ROWS = "name,age,sex,job,income\n" + "".join(
    f"p{i},{20 + i % 10},{'fm'[i % 2]},{['clerké', 'nurse', '日本'][i % 3]},{['low', 'high'][i % 4 > 1]}\n"
    for i in range(60)
)
COMMANDS = {
    "help": ("--help",),
    "help of a command": ("anonymize", "--help"),
    "version": ("--version",),
    "unknown": ("nosuch",),
    "inspect": ("inspect", "people.csv"),
    "inspect json": ("inspect", "people.csv", "--json"),
    "anonymize": ("anonymize", "people.csv", "-o", "r.csv", *QI, *TDR, "--overwrite"),
    "anonymize json": ("anonymize", "people.csv", "-o", "r.csv", *QI, *TDR, "--overwrite", "--json"),
    "dry run": ("anonymize", "people.csv", "-o", "r.csv", *QI, *TDR, "--dry-run"),
    "verify": ("verify", "people.csv", *QI),
    "verify json": ("verify", "people.csv", *QI, "--json"),
    "risk": ("risk", "people.csv", *QI[:2]),
    "risk json": ("risk", "people.csv", *QI[:2], "--json"),
    "why": ("why", "people.csv", *QI, *TDR),
    "taxonomy": ("taxonomy", "job.csv"),
    "codebook": ("codebook", "made.recoding.json"),
    "methods": ("methods",),
    "a method": ("methods", "tdr"),
    "no such file": ("verify", "nö.csv", "--qi", "age"),
    "no such column": ("verify", "people.csv", "--qi", "日本"),
}
# All of them in one process: each begins as a process does, with streams of its own.
ONE_BY_ONE = """
import io, json, os, sys
from incrowd.cli import main
from incrowd.cli import messages
commands, encoding, closed = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3]
results = {}
for name, arguments in commands.items():
    held = [os.dup(number) for number in (1, 2)]
    out, err = open("out", "wb+"), open("err", "wb+")
    os.dup2(out.fileno(), 1), os.dup2(err.fileno(), 2)
    sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), encoding)
    sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), encoding, "backslashreplace", line_buffering=True)
    for number, stream in ((1, "stdout"), (2, "stderr")):
        if stream in closed:
            os.close(number)
            setattr(sys, stream, None)
    sys.argv = ["incrowd", *arguments]
    code = failure = None
    try:
        main()
    except SystemExit as ended:
        code = ended.code or 0
    except BaseException as error:
        failure = repr(error)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            pass
    for number, before in zip((1, 2), held):
        os.dup2(before, number), os.close(before)
    texts = []
    for file in (out, err):
        file.seek(0)
        texts.append(file.read().decode("latin-1"))
        file.close()
    results[name] = [code, failure, *texts]
sys.__stdout__.write(json.dumps(results))
sys.__stdout__.flush()
os._exit(0)
"""

# Interrupted at the n-th module that is imported once the program itself has begun.
INTERRUPTED = """
import os, runpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
at = int(sys.argv.pop(1))
class Finder:
    count = -1
    def find_spec(self, name, path=None, target=None):
        if name == "incrowd.cli.standard_streams" or self.count >= 0:
            self.count += 1
            if self.count == at:
                os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
sys.argv[0] = "incrowd"
runpy.run_module("incrowd", run_name="__main__", alter_sys=True)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("streams")
    (found / "people.csv").write_text(ROWS, encoding="utf-8")
    (found / "job.csv").write_text("clerké;office;*\nnurse;care;*\n日本;care;*\n", encoding="utf-8")
    made = one_by_one(found, {"made": ("anonymize", "people.csv", "-o", "made.csv", *QI, *TDR)})
    assert made["made"][:2] == [0, None], made
    return found


def one_by_one(folder, commands, encoding="utf-8", closed=""):
    """What became of each command: its exit code, the error that it did not answer, and what it printed."""
    arguments = [sys.executable, "-c", ONE_BY_ONE, json.dumps(commands), encoding, closed]
    found = subprocess.run(arguments, capture_output=True, text=True, cwd=folder, check=False, timeout=300)
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


@pytest.fixture(scope="module")
def usual(folder):
    return one_by_one(folder, COMMANDS)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_encodings_that_lack_characters(folder, usual, encoding):
    for name, (code, failure, out, err) in one_by_one(folder, COMMANDS, encoding).items():
        assert (name, code, failure) == (name, usual[name][0], None)
        assert "Traceback" not in out + err
        if name.endswith("json"):
            json.loads(out.encode("latin-1"))
            assert out.isascii()


@pytest.mark.parametrize("closed", ["stdout", "stderr", "stdout stderr"])
def test_closed_streams(folder, usual, closed):
    for name, (code, failure, out, err) in one_by_one(folder, COMMANDS, closed=closed).items():
        before = usual[name]
        prints = bool(before[2]) and "stdout" in closed
        assert (name, code, failure) == (name, 1 if prints else before[0], None)
        assert out == ("" if "stdout" in closed else before[2]) or name.startswith(("anonymize", "dry"))  # times
        assert "Traceback" not in err
        if prints and "stderr" not in closed:
            assert "cannot write to standard output" in err


def test_a_file_never_takes_the_place_of_a_closed_stream(folder):
    code = (
        "import os, sys\nfrom incrowd.cli.standard_streams import prepare_streams\nprepare_streams()\n"
        "assert os.open('x', os.O_WRONLY | os.O_CREAT) > 2\nassert sys.stdout is not None and sys.stderr is not None\n"
        "os.write(2, b'lost')\nassert not os.path.getsize('x')\n"
    )
    closing = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh"]
    assert subprocess.run([*closing, sys.executable, "-c", code], cwd=folder, check=False).returncode == 0


@pytest.mark.parametrize("at", [0, 1, 3, 10, 40, 100, 200, 300, 450] if MORE == 1 else range(0, 460, 7))
def test_an_interrupt_while_it_is_loaded(folder, at):
    arguments = [sys.executable, "-c", INTERRUPTED, str(at), "inspect", "people.csv"]
    found = subprocess.run(arguments, capture_output=True, text=True, cwd=folder, check=False, timeout=120)
    assert (found.returncode, found.stderr) == (130, "error: interrupted; no file was written\n")


def test_importing_the_package_imports_next_to_nothing():
    """So that hardly any time passes before an interrupt is heeded."""
    code = "import sys; import importlib; before = set(sys.modules); import incrowd; print(set(sys.modules) - before)"
    home = {**os.environ, "PYTHONPATH": str(Path(incrowd.__file__).parents[1])}  # without site, which an install needs
    found = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True, env=home)
    assert found.stdout.strip() in ("{'incrowd'}", "{'__future__', 'incrowd'}", "{'incrowd', '__future__'}")
