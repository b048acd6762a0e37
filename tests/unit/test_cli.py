"""The command line: what it prints where, how it ends, and that nothing is left behind when it fails."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from incrowd.cli import app

GOOD = "name,age,sex,job,income\n" + "".join(
    f"p{i},{20 + i % 10},{'fm'[i % 2]},{['clerk', 'nurse'][i % 3 == 0]},{['low', 'high'][i % 4 > 1]}\n"
    for i in range(60)
)
POLICY = ("--qi", "age,sex,job", "--k", "5", "--target", "income", "--identifiers", "name")
COMMAND = "from incrowd.cli import main; main()"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "people.csv").write_text(GOOD)
    monkeypatch.chdir(tmp_path)
    before = signal.getsignal(signal.SIGTERM)
    yield tmp_path
    signal.signal(signal.SIGTERM, before)


def run(*arguments):
    """Run the command in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def command(*arguments, before=""):
    """The command line of a process of its own."""
    return [sys.executable, "-c", before + COMMAND, *map(str, arguments)]


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def only_line(text):
    lines = text.splitlines()
    assert len(lines) == 1, text
    assert lines[0].startswith("error: ")
    return lines[0]


def write(text, name="people.csv"):
    data = text if isinstance(text, bytes) else text.encode()

    def prepare(folder):
        (folder / name).write_bytes(data)

    return prepare


def remove(folder):
    (folder / "people.csv").unlink()


def as_folder(folder):
    remove(folder)
    (folder / "people.csv").mkdir()


def no_rows(folder):
    pq.write_table(pa.table({"age": pa.array([], pa.int64())}), folder / "none.parquet")


def nothing(folder):
    pass


def anonymize(*arguments, table="people.csv", output="out.csv"):
    return ("anonymize", table, "-o", output, *arguments)


ROWS = "age,sex,job,income,name\n"
TREE = "clerk;office;*\n"
BAD = {
    "no file": (remove, anonymize(*POLICY), 1, "no file people.csv"),
    "a directory": (as_folder, anonymize(*POLICY), 1, "people.csv is a directory"),
    "no format": (write("x", "people.xlsx"), anonymize(*POLICY, table="people.xlsx"), 1, "cannot tell the format"),
    "damaged gzip": (write("x", "x.csv.gz"), anonymize(*POLICY, table="x.csv.gz"), 1, "cannot read x.csv.gz"),
    "damaged Parquet": (write("x", "x.parquet"), anonymize(*POLICY, table="x.parquet"), 1, "not a Parquet file"),
    "empty": (write(""), anonymize(*POLICY), 1, "people.csv is empty"),
    "header only": (write(ROWS), anonymize(*POLICY), 1, "has a header but no rows"),
    "no rows": (no_rows, anonymize("--qi", "age", "--k", 2, table="none.parquet"), 1, "none.parquet has no rows"),
    "ragged": (write(GOOD + "x,1\n"), anonymize(*POLICY), 1, "line 62 of people.csv has 2 columns instead of 5"),
    "same name twice": (write("age,age\n1,2\n"), anonymize(*POLICY), 1, "several columns of the same name: 'age'"),
    "not UTF-8": (write(GOOD.encode() + b"\xe9,1,f,x,low\n"), anonymize(*POLICY), 1, "byte 0xE9 at offset"),
    "no such encoding": (nothing, anonymize(*POLICY, "--encoding", "utf-9"), 2, "no encoding 'utf-9'"),
    "unknown column": (
        nothing,
        anonymize("--qi", "agee", "--k", 5),
        2,
        "no column 'agee' in people.csv; did you mean 'age'",
    ),
    "unknown target": (nothing, anonymize("--qi", "age", "--k", 5, "--target", "incme"), 2, "did you mean 'income'"),
    "two roles": (nothing, anonymize(*POLICY, "--sensitive", "age"), 2, "column 'age' has two roles"),
    "k of 1": (nothing, anonymize("--qi", "age", "--k", 1), 2, "int of at least 2. Got 1"),
    "no k": (nothing, anonymize("--qi", "age"), 2, "must have a k"),
    "no quasi-identifier": (nothing, anonymize("--k", 5), 2, "give --qi"),
    "k over the rows": (nothing, anonymize("--qi", "age", "--k", 61), 4, "the largest k that works is 60"),
    "text among numbers": (
        write(GOOD.replace(",25,", ",old,")),
        anonymize(*POLICY),
        1,
        "column 'age' holds 'old', which is no number",
    ),
    "not in the taxonomy": (
        write(TREE, "job.csv"),
        anonymize(*POLICY, "--taxonomy", "job=job.csv"),
        1,
        "1 value(s) of column 'job' are no leaves of its taxonomy: nurse",
    ),
    "many not in the taxonomy": (
        write(TREE, "name.csv"),
        anonymize("--qi", "name", "--k", 5, "--taxonomies", "."),
        1,
        "60 value(s) of column 'name' are no leaves of its taxonomy: p0, p1, p10, p11, p12 and 55 more",
    ),
    "no tree": (
        write("a;b;c\na;d;c\n", "job.csv"),
        anonymize(*POLICY, "--taxonomy", "job=job.csv"),
        1,
        "job.csv line 2",
    ),
    "no taxonomy": (nothing, anonymize(*POLICY, "--taxonomy", "job=no.csv"), 1, "no.csv"),
    "no folder of taxonomies": (nothing, anonymize(*POLICY, "--taxonomies", "trees"), 2, "no folder trees"),
    "output is the input": (nothing, anonymize(*POLICY, "--overwrite", output="./people.csv"), 1, "is the input"),
    "output is a directory": (nothing, anonymize(*POLICY, output="."), 1, ". is a directory"),
    "output in no directory": (nothing, anonymize(*POLICY, output="no/out.csv"), 1, "no directory no"),
    "output in a strange place": (nothing, anonymize(*POLICY, output="/proc/out.csv"), 1, "cannot write in /proc"),
    "output of no format": (nothing, anonymize(*POLICY, output="out.xlsx"), 1, "cannot tell the format of out.xlsx"),
    "output exists": (write("old", "out.csv"), anonymize(*POLICY), 1, "out.csv exists"),
    "recoding exists": (write("old", "out.recoding.json"), anonymize(*POLICY), 1, "out.recoding.json exists"),
    "unknown method": (nothing, anonymize(*POLICY, "--method", "tdd"), 2, "no method 'tdd'; did you mean 'tds'"),
    "unknown criterion": (
        nothing,
        anonymize(*POLICY, "--criterion", "luck"),
        2,
        "'criterion' parameter must be one of",
    ),
    "steps below zero": (nothing, anonymize(*POLICY, "--max-steps", "-1"), 2, "'max_steps' parameter"),
    "unknown policy for missing values": (nothing, anonymize(*POLICY, "--missing", "keep"), 2, "'missing' parameter"),
    "missing values": (write(GOOD + "x,,f,x,low\n"), anonymize(*POLICY, "--missing", "error"), 1, "allows none"),
    "range": (nothing, anonymize(*POLICY, "--range", "age=25:99"), 1, "values outside its public range, 25 to 99"),
    "no policy file": (nothing, anonymize("--policy", "no.toml"), 2, "cannot read the policy no.toml"),
    "no TOML": (write("k = x", "p.toml"), anonymize("--policy", "p.toml"), 2, "p.toml is no valid TOML"),
    "unknown key": (write("kk = 5", "p.toml"), anonymize("--policy", "p.toml"), 2, "no key 'kk' in p.toml"),
    "unknown option": (write("max_step = 5", "p.toml"), anonymize("--policy", "p.toml"), 2, "did you mean 'max_steps'"),
    "columns as a number": (
        write("quasi_identifiers = 5", "p.toml"),
        anonymize("--policy", "p.toml", "--k", 5),
        2,
        "'quasi_identifiers' parameter",
    ),
    "a line end in a name": (
        write('"a\nb",age\n' + "1,1\n" * 9),
        anonymize("--qi", "agee", "--k", 2),
        2,
        "no column 'agee'",
    ),
    "verify: unknown column": (nothing, ("verify", "people.csv", "--qi", "agee", "--k", 2), 2, "did you mean 'age'"),
    "verify: nothing to verify": (nothing, ("verify", "people.csv"), 2, "say what to verify"),
    "apply: no recoding": (nothing, ("apply", "no.json", "people.csv", "-o", "out.csv"), 1, "cannot read the recoding"),
    "apply: not a recoding": (nothing, ("apply", "people.csv", "people.csv", "-o", "out.csv"), 1, "is no recoding"),
    "codebook: no recoding": (nothing, ("codebook", "people.csv"), 1, "is no recoding"),
    "taxonomy: no file": (nothing, ("taxonomy", "no.csv"), 1, "no.csv"),
    "usage: unknown command": (nothing, ("anonymise",), 2, "no such command 'anonymise'"),
    "usage: unknown option": (nothing, anonymize("--qii", "age"), 2, "no such option: --qii"),
    "usage: no table": (nothing, ("anonymize",), 2, "missing argument"),
    "usage: no output": (
        nothing,
        ("anonymize", "people.csv", *POLICY),
        2,
        "missing option '-o' / '--output'; see 'incrowd anonymize --help'",
    ),
    "usage: too many tables": (nothing, ("verify", "people.csv", "b.csv"), 2, "unexpected extra argument"),
    "usage: no value": (nothing, anonymize("--qi"), 2, "option '--qi' requires an argument; see 'incrowd"),
    "usage: no number": (nothing, anonymize("--qi", "age", "--k", "ten"), 2, "invalid value for '--k'"),
    "demo: in a file": (nothing, ("demo", "people.csv"), 1, "people.csv/taxonomies: Not a directory"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gives_one_line_the_exit_code_and_no_file(folder, case):
    prepare, arguments, code, message = BAD[case]
    prepare(folder)
    before = contents(folder)
    result = run(*arguments)
    assert message in only_line(result.stderr)
    assert result.exit_code == code
    assert result.stdout == ""
    assert contents(folder) == before


def test_an_output_that_is_not_writable(folder, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    before = contents(folder)
    result = run(*anonymize(*POLICY))
    assert "permission denied" in only_line(result.stderr)
    assert result.exit_code == 1
    assert contents(folder) == before


def test_files_that_are_not_readable(folder, monkeypatch):
    (folder / "p.toml").write_text("k = 5")

    def refuse(path, *_, **__):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr(Path, "open", refuse)
    result = run(*anonymize(*POLICY))
    assert only_line(result.stderr) == "error: cannot read people.csv: Permission denied"
    assert result.exit_code == 1
    result = run(*anonymize("--policy", "p.toml"))
    assert only_line(result.stderr) == "error: cannot read the policy p.toml: Permission denied"
    assert result.exit_code == 2


class TestAnonymize:
    def test_writes_and_says_so_on_stderr(self, folder):
        result = run(*anonymize(*POLICY, "--preview"))
        assert result.exit_code == 0
        assert result.stdout == ""
        assert "60 records released, every one in a crowd of at least" in result.stderr
        written = ["out.certificate.json", "out.csv", "out.recoding.json", "out.steps.json", "people.csv"]
        assert sorted(contents(folder)) == written
        assert (folder / "out.csv").read_text().splitlines()[0] == "age,sex,job,income"
        assert (folder / "people.csv").read_text() == GOOD

    def test_json_is_all_that_is_on_stdout(self, folder):
        result = run(*anonymize(*POLICY, "--json"))
        assert result.exit_code == 0
        assert result.stderr == ""
        found = json.loads(result.stdout)
        assert found["certificate"] == json.loads((folder / "out.certificate.json").read_text())
        total = found["measures"]["total"]
        assert {"discernibility", "average_class_size", "ncp", "classification_metric"} <= set(total)
        assert [part["attributes"] for part in found["measures"]["attributes"]] == [["age"], ["sex"], ["job"]]

    def test_overwrite(self, folder):
        (folder / "out.csv").write_text("old")
        assert run(*anonymize(*POLICY, "--overwrite")).exit_code == 0
        assert (folder / "out.csv").read_text() != "old"

    def test_max_steps(self, folder):
        result = run(*anonymize(*POLICY, "--max-steps", 1, "--json"))
        assert json.loads(result.stdout)["steps"] == 1

    def test_brackets_are_no_markup(self, folder):
        (folder / "odd.csv").write_text("age,[/b]\n" + "1,[/x]\n" * 5)
        result = run(*anonymize("--qi", "age,[/b]", "--k", 2, "--preview", table="odd.csv"))
        assert result.exit_code == 0
        assert "[/b]" in result.stderr
        assert "[/x]" in result.stderr

    def test_the_dialect_can_be_said(self, folder):
        (folder / "odd.csv").write_bytes("1|Ä\n".encode("cp1252") * 5)
        words = ("--separator", "|", "--encoding", "cp1252", "--no-header")
        result = run(*anonymize("--qi", "column1", "--k", 2, *words, table="odd.csv"))
        assert result.exit_code == 0
        assert (folder / "out.csv").read_bytes() == "*|Ä\n".encode("cp1252") * 5


class TestPolicyFile:
    TOML = 'quasi_identifiers = ["age", "sex"]\nk = 5\ntarget = "income"\nmethod = "tds"\nmax_steps = 3\n'

    def policy(self, folder, *arguments):
        (folder / "release.toml").write_text(self.TOML)
        result = run(*anonymize("--policy", "release.toml", "--json", *arguments))
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)["policy"]

    def test_says_everything(self, folder):
        found = self.policy(folder)
        assert found["quasi_identifiers"] == [{"attributes": ["age", "sex"], "k": 5}]
        assert (found["method"], found["max_steps"], found["target"]) == ("tds", 3, "income")

    def test_options_win(self, folder):
        found = self.policy(folder, "--qi", "age,job", "--k", 7, "--method", "tdr", "--max-steps", 2)
        assert found["quasi_identifiers"] == [{"attributes": ["age", "job"], "k": 7}]
        assert (found["method"], found["max_steps"], found["target"]) == ("tdr", 2, "income")

    def test_a_k_that_no_quasi_identifier_would_heed(self, folder):
        (folder / "own.toml").write_text("quasi_identifiers = [{attributes = ['age'], k = 5}]")
        result = run(*anonymize("--policy", "own.toml", "--k", 10))
        assert "has a k of its own" in only_line(result.stderr)
        assert result.exit_code == 2

    def test_taxonomies_of_the_command_line_with_its_quasi_identifiers(self, folder):
        (folder / "trees").mkdir()
        (folder / "trees" / "sex.csv").write_text("f;*\nm;*\n")
        found = self.policy(folder, "--taxonomies", "trees", "--taxonomy", "age=widths:5")
        assert found["taxonomies"] == ["age", "sex"]

    def test_what_is_said_by_column_is_joined_by_column(self, folder):
        self.TOML += "[taxonomies]\nage = {widths = [5]}\nsex = {flat = true}\n[types]\nage = 'number'\n"
        found = self.policy(folder, "--taxonomy", "age=widths:2,4", "--type", "sex=text")
        assert found["taxonomies"] == ["age", "sex"]
        assert found["types"] == {"age": "number", "sex": "text"}
        assert "[24-28)" in run("codebook", "out.recoding.json").stdout

    def test_what_it_says_of_columns_that_are_not_asked_for_is_left_out(self, folder):
        self.TOML += "[taxonomies]\nage = {widths = [5]}\n[types]\nage = 'number'\n"
        found = self.policy(folder, "--qi", "sex,job", "--taxonomy", "job=flat")
        assert (found["taxonomies"], found["types"]) == (["job"], {})

    def test_a_range_of_a_column_with_a_taxonomy(self, folder):
        (folder / "release.toml").write_text(self.TOML + "[taxonomies]\nage = {widths = [5]}\n")
        result = run(*anonymize("--policy", "release.toml", "--range", "age=0:99"))
        assert "column 'age' has a taxonomy, which its range would not change" in only_line(result.stderr)
        assert result.exit_code == 2

    def test_of_the_csv_dialect_too(self, folder):
        (folder / "people.csv").write_text(GOOD.replace(",", "|"))
        (folder / "release.toml").write_text(self.TOML + '[csv]\nseparator = ";"\n')
        assert run(*anonymize("--policy", "release.toml", "--separator", "|")).exit_code == 0

    def test_serves_verify(self, folder):
        (folder / "release.toml").write_text(self.TOML)
        assert run(*anonymize("--policy", "release.toml")).exit_code == 0
        assert run("verify", "out.csv", "--policy", "release.toml").exit_code == 0
        assert run("verify", "people.csv", "--policy", "release.toml", "--k", 7).exit_code == 3


class TestVerify:
    def test_holds(self, folder):
        result = run("verify", "people.csv", "--qi", "sex", "--k", 30)
        assert result.exit_code == 0
        assert "holds" in result.stdout
        assert result.stderr == ""

    def test_does_not_hold(self, folder):
        result = run("verify", "people.csv", "--qi", "sex:30", "--qi", "name:2", "--json")
        assert result.exit_code == 3
        assert "not 2-anonymous for name: 60 of 60 records" in only_line(result.stderr)
        assert [qid["holds"] for qid in json.loads(result.stdout)["quasi_identifiers"]] == [True, False]


class TestApply:
    @pytest.fixture
    def released(self, folder):
        assert run(*anonymize(*POLICY)).exit_code == 0
        return folder

    def test_new_rows(self, released):
        result = run("apply", "out.recoding.json", "people.csv", "-o", "new.csv")
        assert result.exit_code == 0
        assert "not verified" in result.stderr
        assert (released / "new.csv").read_bytes() == (released / "out.csv").read_bytes()

    def test_verified_on_request(self, released):
        (released / "few.csv").write_text(ROWS + "1,f,x,low,y\n")
        before = contents(released)
        result = run("apply", "out.recoding.json", "few.csv", "-o", "new.csv", "--qi", "age,sex,job", "--k", 5)
        assert result.exit_code == 3
        assert "1 of 1 records" in only_line(result.stderr)
        assert contents(released) == before

    def test_codebook(self, released):
        result = run("codebook", "out.recoding.json")
        assert result.exit_code == 0
        assert {"age", "sex", "job"} <= set(result.stdout.splitlines())


def test_taxonomy_prints_the_tree(folder):
    (folder / "job.csv").write_text("clerk;office;*\nnurse;ward;*\n")
    result = run("taxonomy", "job.csv")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[:2] == ["* (2)", "├─ office (1)"]


def test_methods_lists_what_can_be_searched_with(folder):
    result = run("methods")
    assert result.exit_code == 0
    assert {line.split()[0] for line in result.stdout.splitlines()} >= {"tds", "tdr", "criterion:", "max_steps:"}


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    block = "".join(f"{20 + i % 50},{'fm'[i % 2]},{'x' * 80}{i}\n" for i in range(10_000))
    path = tmp_path_factory.mktemp("large") / "large.csv"
    path.write_text("age,sex,note\n" + block * 60)
    return path


class TestProcess:
    """As a process of its own, since signals, limits and imports belong to a process."""

    def test_the_installed_command(self, folder):
        program = shutil.which("incrowd", path=os.path.dirname(sys.executable))
        good = subprocess.run([program, *anonymize(*POLICY)], capture_output=True, text=True)
        assert (good.returncode, good.stdout) == (0, "")
        again = subprocess.run([program, *anonymize(*POLICY)], capture_output=True, text=True)
        assert again.returncode == 1
        assert "exists" in only_line(again.stderr)
        wrong = subprocess.run(
            [program, "verify", "out.csv", "--qi", "age", "--k", "61"], capture_output=True, text=True
        )
        assert wrong.returncode == 3
        usage = subprocess.run([program, "anonymize"], capture_output=True, text=True)
        assert usage.returncode == 2
        assert "missing argument" in only_line(usage.stderr)
        assert subprocess.run([program], capture_output=True, text=True).stdout.count("anonymize") == 1

    def test_help_waits_for_no_heavy_module(self):
        script = (
            "import sys; sys.argv = ['incrowd', '--help']\n"
            "from incrowd.cli import main\n"
            "try: main()\n"
            "except SystemExit: pass\n"
            "heavy = {'numpy', 'pyarrow', 'narwhals', 'pandas', 'polars'}\n"
            "print(*heavy.intersection(sys.modules), file=sys.stderr)"
        )
        found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        assert "anonymize" in found.stdout
        assert found.stderr.split() == []

    @pytest.mark.parametrize(
        ("number", "code", "suffix"),
        [(signal.SIGINT, 130, "csv"), (signal.SIGINT, 130, "parquet"), (signal.SIGTERM, 143, "csv")],
    )
    def test_a_signal_while_writing_leaves_nothing_behind(self, large, tmp_path, number, code, suffix):
        out = tmp_path
        old = out / f"r.{suffix}"
        old.write_text("old")
        heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # though a shell ignores it
        arguments = anonymize("--qi", "age,sex", "--k", 5, "--overwrite", table=large, output=old)
        process = subprocess.Popen(command(*arguments, before=heed), stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + 60
        while (
            process.poll() is None
            and time.monotonic() < until
            and not any(path.stat().st_size for path in out.glob(".incrowd-*"))
        ):
            time.sleep(0.002)
        assert process.poll() is None, "it was done before the signal came"
        process.send_signal(number)
        _, message = process.communicate(timeout=60)
        assert process.returncode == code
        assert contents(out) == {old.name: b"old"}
        if number == signal.SIGINT:
            assert "interrupted; no file was written" in only_line(message)
        else:
            assert "Traceback" not in message

    @pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet"])
    def test_a_file_that_may_not_grow_as_on_a_full_disk(self, folder, suffix):
        limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))\n"
        arguments = anonymize(*POLICY, output=f"out.{suffix}")
        found = subprocess.run(command(*arguments, before=limit), capture_output=True, text=True)
        assert "File too large; nothing was written" in only_line(found.stderr)
        assert found.returncode == 1
        assert list(contents(folder)) == ["people.csv"]
