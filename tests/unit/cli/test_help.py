"""Help fits on one screen, every command has it, and a dry run says everything and writes nothing."""

import json
import shlex
import shutil
import subprocess
import sys

import pytest
from tests.command_line import GOOD, POLICY, anonymize, contents, only_line, run
from typer.testing import CliRunner

from incrowd.cli import app
from incrowd.cli.options import complete_method
from incrowd.search.registry import METHODS

COMMANDS = (
    "inspect",
    "import",
    "anonymize",
    "report",
    "evaluate",
    "compare",
    "verify",
    "risk",
    "apply",
    "taxonomy",
    "codebook",
    "numbers",
    "methods",
    "studio",
    "demo",
)
TEXT = {"capture_output": True, "text": True, "check": False}
COMPLETING = "from incrowd.cli import app; app(prog_name='incrowd')"


def helped(*arguments, columns=100):
    return CliRunner(env={"COLUMNS": str(columns)}).invoke(app, [*arguments, "-h"]).stdout


def test_anonymize_fits_on_one_screen():
    text = helped("anonymize")
    assert len(text.splitlines()) <= 42
    assert "incrowd methods" in text
    assert "--suppress" not in text


@pytest.mark.parametrize("columns", [40, 80, 100, 200])
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_short_help(command, columns):
    text = helped(command, columns=columns)
    assert text.startswith(("Usage: root", "Usage: incrowd"))
    assert "-h, --help" in text
    lines = [line for line in text.splitlines() if not line.startswith(("Usage", "    incrowd"))]
    assert max(map(len, lines)) <= max(min(columns, 100), 60)  # words are not broken
    assert text == CliRunner(env={"COLUMNS": str(columns)}).invoke(app, [command, "--help"]).stdout


@pytest.mark.parametrize(("command", "argument"), [("codebook", "RECODING"), ("methods", "NAME"), ("verify", "TABLE")])
def test_an_argument_is_explained_once(command, argument):
    assert len([line for line in helped(command).splitlines() if line.startswith(f"  {argument} ")]) == 1


def test_all_commands_are_listed():
    text = helped()
    for command in COMMANDS:
        assert f"\n  {command} " in text


def test_the_version():
    result = run("--version")
    assert result.exit_code == 0
    assert result.stdout.startswith("incrowd 0.")


def test_as_a_module():
    found = subprocess.run([sys.executable, "-m", "incrowd", "--version"], capture_output=True, text=True)
    assert found.stdout.startswith("incrowd 0.")
    assert found.returncode == 0


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_bash_completes_commands_options_and_words(tmp_path):
    asking = shlex.join([sys.executable, "-c", COMPLETING, "--show-completion"])
    shown = subprocess.run(["bash", "--norc", "-c", f"{asking}; exit"], **TEXT)  # the shell that asks is the one told
    assert "complete -o default -F" in shown.stdout, shown.stderr
    asked = {
        "anonymize": "an",
        "--method --memory-limit": "anonymize people.csv --me",
        "kaca kaca2": "anonymize people.csv --method ka",
        "debug": "anonymize people.csv --log-level d",
        "category": "anonymize people.csv --missing c",
        "show": "ledger sh",
    }
    program = tmp_path / "incrowd"
    program.write_text(f"#!{sys.executable}\n{COMPLETING}")
    program.chmod(0o755)
    lines = [
        f"COMP_WORDS=(incrowd {words}); COMP_CWORD={len(words.split())}; _incrowd_completion {program}; "
        'echo "${COMPREPLY[*]}"'
        for words in asked.values()
    ]
    done = subprocess.run(["bash", "--norc", "-c", "\n".join([shown.stdout, *lines])], **TEXT)
    assert done.stdout.splitlines() == [*asked], done.stderr


def test_shells_can_complete():
    assert "--show-completion" in helped()
    assert complete_method("ka") == ["kaca", "kaca2"]
    script = (
        "import os; os.environ.update(_INCROWD_COMPLETE='complete_bash', COMP_WORDS='incrowd anon', COMP_CWORD='1')"
    )
    script += "; from incrowd.cli import app; app(prog_name='incrowd')"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert found.stdout.split() == ["anonymize"]


@pytest.mark.parametrize("method", METHODS)
def test_every_option_of_a_method_has_a_default_or_depends_on_the_table(method):
    assert set(METHODS[method].defaults()) == set(METHODS[method].options)


class TestDryRun:
    @pytest.fixture
    def folder(self, workplace):
        (workplace / "people.csv").write_text(GOOD)
        return workplace

    def test_says_what_would_be_done_and_writes_nothing(self, folder):
        result = run(*anonymize(*POLICY, "--dry-run"))
        assert result.exit_code == 0
        assert list(contents(folder)) == ["people.csv"]
        lines = {line.split()[0]: " ".join(line.split()[1:]) for line in result.stdout.splitlines() if line.strip()}
        assert lines["age"] == "quasi-identifier 10 intervals of numbers"
        assert lines["name"] == "identifier dropped"
        assert lines["income"] == "target kept unchanged"
        assert "suppressed to *" in lines["sex"]
        assert lines["method:"].startswith("mondrian or cover (a table of 60 records is too small to try methods")

    def test_for_machines(self, folder):
        found = json.loads(run(*anonymize(*POLICY, "--dry-run", "--json")).stdout)["result"]
        assert [column["role"] for column in found["columns"]][:2] == ["identifier", "quasi-identifier"]
        assert found["records"] == 60
        assert found["files"]["release"] == "out.csv"

    @pytest.mark.parametrize(
        ("words", "code", "message"),
        [
            (("--qi", "agee", "--k", 5), 2, "no column 'agee'"),
            (("--qi", "age", "--k", 500, "--keep", "name"), 4, "no release can satisfy"),
            (("--qi", "age", "--k", 5, "--method", "no"), 2, "no method 'no'"),
            (("--qi", "age", "--k", 5, "--method", "tdr", "--rounds", "2"), 2, "it is an option of"),
        ],
    )
    def test_finds_what_is_wrong(self, folder, words, code, message):
        result = run(*anonymize(*words, "--dry-run"))
        assert result.exit_code == code
        assert message in only_line(result.stderr)
