"""How commands speak: one JSON document, one line at the end, quietly or in full, within eighty columns."""

import json
import re
from pathlib import Path

import jsonschema
import pytest
from tests.command_line import GOOD, POLICY, anonymize, only_line, run

import incrowd
from incrowd.cli import app
from incrowd.cli.voice import LEVELS

SCHEMA = json.loads((Path(incrowd.__file__).parent / "schemas" / "answer.schema.json").read_text())
TREE = "clerk,office,*\nnurse,care,*\n"
QI = ("--qi", "age,sex")
TDR = ("--method", "tdr", "--identifiers", "name")
COMMANDS = {  # of each command, how it is typed in a folder with a table and a release
    "anonymize": anonymize(*POLICY, "--method", "tdr", "--overwrite"),
    "apply": ("apply", "out.recoding.json", "people.csv", "-o", "again.csv", "--overwrite"),
    "attack": ("attack", "out.csv", "--original", "people.csv", *QI, "--identifiers", "name", "--trials", 20),
    "codebook": ("codebook", "out.recoding.json"),
    "compare": ("compare", "people.csv", *QI, "--identifiers", "name", "--methods", "tdr", "--ks", 5, "-o", "runs"),
    "dry run": anonymize(*POLICY, "--dry-run", "--overwrite"),
    "evaluate": ("evaluate", "people.csv", *QI, "--k", 5, "--target", "income", "--classifier", "tree", *TDR),
    "inspect": ("inspect", "people.csv"),
    "ledger": ("ledger", "list", "ledger"),
    "ledger show": ("ledger", "show", "ledger", 1),
    "methods": ("methods",),
    "method": ("methods", "cover"),
    "numbers": ("numbers", "out.csv", "-o", "numbers.csv", "--overwrite"),
    "report": ("report", "people.csv", *QI, "--k", 5, *TDR, "-o", "report.html", "--overwrite"),
    "risk": ("risk", "people.csv", *QI),
    "risk before and after": ("risk", "people.csv", *QI, "--released", "out.csv"),
    "taxonomy": ("taxonomy", "tree.csv"),
    "verify": ("verify", "out.csv", *QI, "--k", 2),
    "certificate": ("verify", "out.csv", "--certificate", "out.certificate.json"),
    "why": ("why", "people.csv", "age", *QI, "--k", 5, *TDR),
    "not private enough": ("verify", "people.csv", *QI, "--k", 50),
    "no release": anonymize(*QI, "--k", 500, *TDR, "--overwrite"),
    "wrong word": ("inspect", "people.csv", "--unitt", "name"),
    "wrong file": ("inspect", "no.csv"),
}
ENDINGS = {"not private enough": 3, "no release": 4, "wrong word": 2, "wrong file": 1}
WORDLESS = ("methods", "method", "codebook", "taxonomy")
SUMMARIES = {name: r".+" for name in COMMANDS if name not in (*ENDINGS, *WORDLESS)} | {
    "anonymize": r"people\.csv: 60 records released in crowds of at least \d+, NCP 0\.\d+, by tdr",
    "verify": r"60 records; \d+ crowds on age, sex: k=2 holds",
    "numbers": r"wrote numbers\.csv; converted .*",
    "ledger show": None,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("voice")
    (folder / "people.csv").write_text(GOOD)
    (folder / "tree.csv").write_text(TREE)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert run(*anonymize(*POLICY, "--method", "tdr")).exit_code == 0
        seen = ("--qi", "age,sex,job", "--k", 5, "--unit", "name", "--method", "tdr")
        assert run(*anonymize(*seen, "--ledger", "ledger", output="first.csv")).exit_code == 0
        yield folder


@pytest.mark.parametrize("name", COMMANDS)
def test_json_is_one_document_whatever_happens(folder, name):
    done = run(*COMMANDS[name], "--json")
    document = json.loads(done.stdout)
    jsonschema.validate(document, SCHEMA)
    assert document["exit_code"] == done.exit_code == ENDINGS.get(name, 0)
    assert document["command"] == COMMANDS[name][0]
    assert (document["error"] is None) == (done.exit_code == 0)
    if done.exit_code:
        assert only_line(done.stderr) == f"error: {document['error']['message']}"
    if SUMMARIES.get(name):
        assert re.fullmatch(SUMMARIES[name], document["summary"])


@pytest.mark.parametrize("name", [name for name in SUMMARIES if SUMMARIES[name]])
def test_a_command_ends_with_one_line_unless_it_is_quiet(folder, name):
    *_, last = run(*COMMANDS[name], *(("--again",) if name == "compare" else ())).stderr.splitlines()
    assert re.fullmatch(SUMMARIES[name], last)
    quiet = run(*COMMANDS[name], "--quiet")
    assert quiet.exit_code == 0
    assert [line for line in quiet.stderr.splitlines() if not line.startswith("warning: ")] == []


def test_files_and_notes_are_in_the_document(folder):
    document = json.loads(run(*COMMANDS["anonymize"], "--json").stdout)
    assert "out.csv" in document["files"]
    assert "out.certificate.json" in document["files"]
    assert document["result"]["certificate"]["incrowd"] == "certificate"


def test_quiet_says_warnings_and_errors(folder):
    table = "id,age,sex,note\n" + "".join(f"{i % 7},{20 + i % 5},{'fm'[i % 2]},x\n" for i in range(60))
    (folder / "some.csv").write_text(table)
    given = anonymize(*QI, "--k", 5, "--method", "tdr", "--keep", "id", "--overwrite", table="some.csv")
    loud, quiet = run(*given), run(*given, "-q")
    warned = [line for line in loud.stderr.splitlines() if line.startswith("warning: ")]
    assert quiet.stderr.splitlines() == warned
    assert "error: " in only_line(run("inspect", "no.csv", "-q").stderr)


def test_the_log_says_every_stage_with_seconds(folder):
    done = run(*COMMANDS["anonymize"], "--log-level", "debug")
    logged = [line for line in done.stderr.splitlines() if re.match(r" *\d+\.\d\d s  ", line)]
    assert {"reading", "searching"} <= {line.split()[2].rstrip(":") for line in logged}
    for level in LEVELS:
        assert run("inspect", "people.csv", "--log-level", level).exit_code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--log-level", "loud"), "no log level 'loud'; log levels: error, warning, info, debug"),
        (("--log-level", "Debug"), "did you mean 'debug'?"),
        (("--quiet", "--log-level", "debug"), "leave out one of --quiet and --log-level debug"),
    ],
)
def test_how_loud_it_cannot_be(folder, words, message):
    done = run("inspect", "people.csv", *words)
    assert message in only_line(done.stderr)
    assert done.exit_code == 2


def test_every_command_has_a_voice():
    for each in app.registered_commands:
        names = set(each.callback.__annotations__)
        wanted = {"quiet", "log_level", "as_json"} - ({"as_json"} if each.callback.__name__ == "studio" else set())
        assert wanted <= names, each.callback.__name__


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ENDINGS])
def test_tables_fit_eighty_columns(folder, name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    done = run(*COMMANDS[name])
    table = [line for line in done.stdout.splitlines() if re.search(r"\S {2,}\S", line)]
    assert max(map(len, table), default=0) <= 80
