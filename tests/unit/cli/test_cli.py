"""The command line: what it prints where, how it ends, and that nothing is left behind when it fails."""

import json
import os
import shutil
import signal
import subprocess
import sys

import pytest
import xlsxwriter
from tests.command_line import GOOD, POLICY, anonymize, command, contents, only_line, run
from tests.faults.processes import SLOWLY, started, wait_for_writing

from incrowd.cli.options import _method_options
from incrowd.measures.registry import OF_CLASSES
from incrowd.search.registry import METHODS


@pytest.fixture
def folder(workplace):
    (workplace / "people.csv").write_text(GOOD)
    return workplace


class TestAnonymize:
    def test_writes_and_says_so_on_stderr(self, folder):
        result = run(*anonymize(*POLICY, "--method", "tdr", "--preview"))
        assert result.exit_code == 0
        assert result.stdout == ""
        assert "60 records released, each in a crowd of at least" in result.stderr
        beside = ["out.certificate.json", "out.csv", "out.recoding.json", "people.csv"]
        secret = ["commitment.json", "key.json", "steps.json", "taxonomies.toml"]
        assert sorted(contents(folder)) == sorted([*beside, *secret])
        assert (folder / "out.confidential" / "steps.json").exists()
        assert (folder / "out.csv").read_text().splitlines()[0] == "age,sex,job,income"
        assert (folder / "people.csv").read_text() == GOOD

    def test_json_is_all_that_is_on_stdout(self, folder):
        result = run(*anonymize(*POLICY, "--json"))
        assert result.exit_code == 0
        assert result.stderr == ""
        found = json.loads(result.stdout)["result"]
        assert found["certificate"] == json.loads((folder / "out.certificate.json").read_text())
        total = found["measures"]["total"]
        assert set(total) == {"attributes", "k", *OF_CLASSES}
        assert {"dm", "c_avg", "ncp", "cm", "median_class", "largest_class"} <= set(total)
        assert [part["attributes"] for part in found["measures"]["attributes"]] == [["age"], ["sex"], ["job"]]

    def test_overwrite(self, folder):
        (folder / "out.csv").write_text("old")
        assert run(*anonymize(*POLICY, "--overwrite")).exit_code == 0
        assert (folder / "out.csv").read_text() != "old"

    def test_max_steps(self, folder):
        result = run(*anonymize(*POLICY, "--method", "tdr", "--max-steps", 1, "--json"))
        assert json.loads(result.stdout)["result"]["steps"] == 1

    def test_brackets_are_no_markup(self, folder):
        (folder / "odd.csv").write_text("age,[/b]\n" + "1,[/x]\n" * 5)
        result = run(*anonymize("--qi", "age,[/b]", "--k", 2, "--preview", table="odd.csv"))
        assert result.exit_code == 0
        assert "[/b]" in result.stderr
        assert "[/x]" in result.stderr

    def test_the_dialect_can_be_said(self, folder):
        (folder / "odd.csv").write_bytes("1|Ä\n2|Ä\n3|Ä\n".encode("cp1252"))
        words = ("--separator", "|", "--encoding", "cp1252", "--no-header", "--method", "tdr")
        result = run(*anonymize("--qi", "column1", "--k", 2, *words, table="odd.csv"))
        assert result.exit_code == 0
        assert (folder / "out.csv").read_bytes() == "*|Ä\n".encode("cp1252") * 3


class TestPolicyFile:
    TOML = (
        'quasi_identifiers = ["age", "sex"]\nk = 5\ntarget = "income"\nmethod = "tds"\nmax_steps = 3\nkeep = ["name"]\n'
    )

    def policy(self, folder, *arguments):
        (folder / "release.toml").write_text(self.TOML)
        result = run(*anonymize("--policy", "release.toml", "--json", *arguments))
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)["result"]["policy"]

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
        assert "has its own k" in only_line(result.stderr)
        assert result.exit_code == 2

    def test_a_k_is_for_the_quasi_identifiers_that_have_none(self, folder):
        (folder / "one.toml").write_text("quasi_identifiers = [{attributes = ['age'], k = 5}, {attributes = ['sex']}]")
        result = run(*anonymize("--policy", "one.toml", "--k", 10, "--keep", "name", "--json"))
        found = json.loads(result.stdout)["result"]["policy"]["quasi_identifiers"]
        assert found == [{"attributes": ["age"], "k": 5}, {"attributes": ["sex"], "k": 10}]

    def test_a_taxonomy_takes_the_place_of_a_range(self, folder):
        self.TOML += "[ranges]\nage = [0, 120]\n"
        assert self.policy(folder, "--taxonomy", "age=widths:5,10")["taxonomies"] == ["age"]

    def test_a_range_takes_the_place_of_a_taxonomy(self, folder):
        self.TOML += "[taxonomies]\nage = {widths = [5]}\n"
        assert self.policy(folder, "--range", "age=0:120")["taxonomies"] == []

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
        both = "[taxonomies]\nage = {widths = [5]}\n[ranges]\nage = [0, 99]\n"
        (folder / "release.toml").write_text(self.TOML + both)
        result = run(*anonymize("--policy", "release.toml"))
        assert "column 'age' has a taxonomy, so its range would have no effect" in only_line(result.stderr)
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

    def test_serves_verify_with_people_or_says_that_records_are_counted(self, folder):
        (folder / "release.toml").write_text('quasi_identifiers = ["sex"]\nk = 5\nunit = "name"\n')
        assert run(*anonymize("--policy", "release.toml")).exit_code == 0
        released = run("verify", "out.csv", "--policy", "release.toml")
        assert released.exit_code == 0
        note, summary = released.stderr.splitlines()
        assert note == "note: out.csv has no column 'name': k counts records here"
        assert summary == "60 records; 2 crowds on sex: k=5 holds"
        original = run("verify", "people.csv", "--policy", "release.toml")
        assert original.stderr == "60 records; 2 crowds on sex: k=5 people (name) holds\n"
        assert "people (name)" in original.stdout
        assert run("verify", "out.csv", "--qi", "sex", "--k", 5, "--unit", "name").exit_code == 2

    def test_serves_verify_of_a_release_in_another_file(self, folder):
        """What it says of the original, such as a sheet, is not what holds for the release."""
        (folder / "people.csv").write_text(GOOD.replace(",", "|"))
        (folder / "release.toml").write_text(self.TOML + '[csv]\nseparator = "|"\n')
        for name in ("a.csv", "b.tsv", "c.parquet", "d.xlsx"):
            assert run("anonymize", "people.csv", "-o", name, "--policy", "release.toml").exit_code == 0
            assert run("verify", name, "--policy", "release.toml").exit_code == 0
        with xlsxwriter.Workbook("people.xlsx") as book:
            for name in ("Notes", "People"):
                sheet = book.add_worksheet(name)
                for place, line in enumerate(GOOD.splitlines()):
                    sheet.write_row(place, 0, line.split(",") if name == "People" else ["nothing"])
        (folder / "release.toml").write_text(self.TOML + '[file]\nsheet = "People"\n')
        for name in ("again.xlsx", "other.csv"):
            assert run("anonymize", "people.xlsx", "-o", name, "--policy", "release.toml").exit_code == 0
            assert run("verify", name, "--policy", "release.toml").exit_code == 0
            words = ("--qi", "age,sex", "--sheet", "People", "--released", name)
            assert run("risk", "people.xlsx", *words).exit_code == 0
        assert run("verify", "people.xlsx", "--policy", "release.toml", "--k", 7).exit_code == 3
        told = run("verify", "again.xlsx", "--policy", "release.toml", "--sheet", "People")
        assert "no sheet 'People' in again.xlsx" in only_line(told.stderr)


class TestVerify:
    def test_holds(self, folder):
        result = run("verify", "people.csv", "--qi", "sex", "--k", 30)
        assert result.exit_code == 0
        assert "holds" in result.stdout
        assert result.stderr == "60 records; 2 crowds on sex: k=30 holds\n"

    def test_does_not_hold(self, folder):
        result = run("verify", "people.csv", "--qi", "sex:30", "--qi", "name:2", "--json")
        assert result.exit_code == 3
        assert "k=2 does not hold for name: 60 of 60 records are in 60 classes" in only_line(result.stderr)
        assert [qid["holds"] for qid in json.loads(result.stdout)["result"]["quasi_identifiers"]] == [True, False]


class TestApply:
    @pytest.fixture
    def released(self, folder):
        assert run(*anonymize(*POLICY, "--method", "tdr")).exit_code == 0
        return folder

    def test_new_rows(self, released):
        result = run("apply", "out.recoding.json", "people.csv", "-o", "new.csv")
        assert result.exit_code == 0
        assert "not verified" in result.stderr
        assert (released / "new.csv").read_bytes() == (released / "out.csv").read_bytes()

    def test_verified_on_request(self, released):
        (released / "few.csv").write_text("age,sex,job,income,name\n1,f,x,low,y\n")
        before = contents(released)
        result = run("apply", "out.recoding.json", "few.csv", "-o", "new.csv", "--qi", "age,sex,job", "--k", 5)
        assert result.exit_code == 3
        assert "1 of 1 record is in 1 class that falls short" in only_line(result.stderr)
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
    assert {line.split()[0] for line in result.stdout.splitlines() if line} >= set(METHODS)


@pytest.mark.parametrize("name", METHODS)
def test_methods_explains_each(name):
    result = run("methods", name)
    assert result.exit_code == 0
    assert f"{name}: " in result.stdout
    assert "several quasi-identifiers" in result.stdout
    for option in METHODS[name].options:
        assert f"--{option.replace('_', '-')} " in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 100


def test_methods_tells_defaults():
    told = " ".join(run("methods", "tds").stdout.split())
    assert "how the next refinement is chosen: tds, tdr, gain (default: tds)" in told
    assert "(default: 100)" in run("methods", "genetic").stdout
    assert "with --suppress" in run("methods", "bug").stdout


def test_methods_tells_what_a_time_limit_does():
    told = {name: run("methods", name).stdout for name in ("cover", "tdr", "datafly")}
    assert "releases the best so far; fails before every class" in told["cover"]
    assert "releases the best that it has by then\n" in told["tdr"]
    assert "fails when it is over" in told["datafly"]


def test_methods_that_do_not_exist():
    result = run("methods", "covr")
    assert result.exit_code == 2
    assert "did you mean 'cover'" in only_line(result.stderr)


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

    def test_every_option_of_every_method_can_be_typed(self):
        assert set(_method_options()) == {option for method in METHODS.values() for option in method.options}

    def test_help_waits_for_no_heavy_module(self):
        script = (
            "import sys; sys.argv = ['incrowd', '--help']\n"
            "from incrowd.cli import main\n"
            "try: main()\n"
            "except SystemExit: pass\n"
            "heavy = {'numpy', 'pyarrow', 'narwhals', 'pandas', 'polars', 'numba', 'rich', 'jinja2', 'duckdb'}\n"
            "print(*heavy.intersection(sys.modules), file=sys.stderr)"
        )
        found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        assert "anonymize" in found.stdout
        assert found.stderr.split() == []

    def test_the_package_waits_for_no_compiler_and_no_frames(self):
        script = (
            "import sys, incrowd\n"
            "assert not {'numpy', 'pyarrow', 'narwhals'}.intersection(sys.modules), 'import incrowd is not cheap'\n"
            "[getattr(incrowd, name) for name in incrowd.__all__]\n"
            "print(*{'numba', 'pandas', 'polars', 'sklearn', 'rich', 'typer'}.intersection(sys.modules))"
        )
        found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        assert found.returncode == 0, found.stderr
        assert found.stdout.split() == []

    @pytest.mark.parametrize(
        ("number", "code", "suffix"),
        [(signal.SIGINT, 130, "csv"), (signal.SIGINT, 130, "parquet"), (signal.SIGTERM, 143, "csv")],
    )
    def test_a_signal_while_writing_leaves_nothing_behind(self, large, tmp_path, number, code, suffix):
        out = tmp_path
        old = out / f"r.{suffix}"
        old.write_text("old")
        arguments = anonymize("--qi", "age,sex", "--k", 5, "--overwrite", table=large, output=old)
        process = started(command(*arguments, before=SLOWLY), stderr=subprocess.PIPE)
        wait_for_writing(process, out)
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
