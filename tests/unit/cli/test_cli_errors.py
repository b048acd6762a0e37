"""What a user can correct is reported in one line, with the exit code of its kind, and nothing is written."""

import errno
import os
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.command_line import GOOD, POLICY, anonymize, contents, only_line, run

from incrowd.cli.messages import _usage


@pytest.fixture
def folder(workplace):
    (workplace / "people.csv").write_text(GOOD)
    return workplace


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


ROWS = "age,sex,job,income,name\n"
TREE = "clerk;office;*\n"
BAD = {
    "no file": (remove, anonymize(*POLICY), 1, "no file people.csv"),
    "a directory": (as_folder, anonymize(*POLICY), 1, "people.csv is a directory"),
    "no format": (write("x", "people.docx"), anonymize(*POLICY, table="people.docx"), 1, "cannot tell the format"),
    "damaged gzip": (write("x", "x.csv.gz"), anonymize(*POLICY, table="x.csv.gz"), 1, "cannot read x.csv.gz"),
    "damaged Excel": (write("x", "x.xlsx"), anonymize(*POLICY, table="x.xlsx"), 1, "x.xlsx is not an Excel file"),
    "damaged Stata": (write("x", "x.dta"), anonymize(*POLICY, table="x.dta"), 1, "x.dta is not what its suffix says"),
    "no such sheet": (nothing, anonymize(*POLICY, "--sheet", "x"), 2, "sheet is for Excel files only"),
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
    "k of 1": (nothing, anonymize("--qi", "age", "--k", 1), 2, "an integer of at least 2. Got 1"),
    "no k": (nothing, anonymize("--qi", "age"), 2, "must have a k"),
    "no quasi-identifier": (nothing, anonymize("--k", 5), 2, "give --qi"),
    "k over the rows": (
        nothing,
        anonymize("--qi", "age", "--k", 61, "--keep", "name"),
        4,
        "the best possible level is 60",
    ),
    "an option typed wrongly": (
        nothing,
        anonymize(*POLICY, "--method", "kaca", "--priorities", "job:5"),
        2,
        "a number above 0 and at most 1000 per column, such as zip=5,age=2",
    ),
    "an option for a column that is not there": (
        nothing,
        anonymize(*POLICY, "--method", "optimal", "--order", "jobb=nurse,clerk"),
        2,
        "did you mean 'job'",
    ),
    "a choice of another method": (
        nothing,
        anonymize(*POLICY, "--method", "incognito", "--cost", "hdm"),
        2,
        "must be one of dm, ncp, cm",
    ),
    "an option of another method": (
        nothing,
        anonymize(*POLICY, "--cost", "dm"),
        2,
        "it is an option of optimal, incognito, samarati",
    ),
    "text among numbers": (
        write(GOOD.replace(",25,", ",old,")),
        anonymize(*POLICY),
        1,
        "column 'age' holds 'old', which is not a number",
    ),
    "not in the taxonomy": (
        write(TREE, "job.csv"),
        anonymize(*POLICY, "--taxonomy", "job=job.csv"),
        1,
        "a value of column 'job' is not a leaf of its taxonomy: 'nurse'",
    ),
    "many not in the taxonomy": (
        write(TREE, "name.csv"),
        anonymize("--qi", "name", "--k", 5, "--taxonomies", "."),
        1,
        "60 values of column 'name' are not leaves of its taxonomy, such as 'p0'",
    ),
    "no tree": (
        write("a;b;c\na;d;c\n", "job.csv"),
        anonymize(*POLICY, "--taxonomy", "job=job.csv"),
        1,
        "job.csv line 2",
    ),
    "no taxonomy": (nothing, anonymize(*POLICY, "--taxonomy", "job=no.csv"), 1, "no.csv"),
    "no folder of taxonomies": (nothing, anonymize(*POLICY, "--taxonomies", "trees"), 2, "no taxonomy folder trees"),
    "output is the input": (nothing, anonymize(*POLICY, "--overwrite", output="./people.csv"), 1, "is the input"),
    "output is a directory": (nothing, anonymize(*POLICY, output="."), 1, ". is a directory"),
    "output in no directory": (nothing, anonymize(*POLICY, output="no/out.csv"), 1, "no directory no"),
    "output in a strange place": (nothing, anonymize(*POLICY, output="/proc/out.csv"), 1, "cannot write to /proc"),
    "output of no format": (nothing, anonymize(*POLICY, output="out.docx"), 1, "cannot tell the format of out.docx"),
    "output exists": (write("old", "out.csv"), anonymize(*POLICY), 1, "out.csv already exists"),
    "recoding exists": (write("old", "out.recoding.json"), anonymize(*POLICY), 1, "out.recoding.json already exists"),
    "unknown method": (nothing, anonymize(*POLICY, "--method", "tdd"), 2, "no method 'tdd'; did you mean 'tds'"),
    "unknown criterion": (
        nothing,
        anonymize(*POLICY, "--method", "tdr", "--criterion", "luck"),
        2,
        "'criterion' parameter must be one of",
    ),
    "steps below zero": (
        nothing,
        anonymize(*POLICY, "--method", "tdr", "--max-steps", "-1"),
        2,
        "'max_steps' parameter",
    ),
    "unknown policy for missing values": (nothing, anonymize(*POLICY, "--missing", "keep"), 2, "'missing' parameter"),
    "missing values": (
        write(GOOD + "x,,f,x,low\n"),
        anonymize(*POLICY, "--missing", "error"),
        1,
        "which the policy does not allow",
    ),
    "range": (nothing, anonymize(*POLICY, "--range", "age=25:99"), 1, "values outside its public range, 25 to 99"),
    "no policy file": (nothing, anonymize("--policy", "no.toml"), 2, "cannot read the policy no.toml"),
    "no TOML": (write("k = x", "p.toml"), anonymize("--policy", "p.toml"), 2, "p.toml is not valid TOML"),
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
    "verify: nothing to verify": (nothing, ("verify", "people.csv"), 2, "nothing to verify"),
    "apply: no recoding": (
        nothing,
        ("apply", "no.json", "people.csv", "-o", "out.csv"),
        1,
        "give the .recoding.json of a release",
    ),
    "apply: not a recoding": (nothing, ("apply", "people.csv", "people.csv", "-o", "out.csv"), 1, "is not a recoding"),
    "codebook: no recoding": (nothing, ("codebook", "people.csv"), 1, "is not a recoding"),
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
    "usage: no number": (nothing, anonymize("--qi", "age", "--k", "ten"), 2, "'k' parameter must be an integer"),
    "a share in percent": (
        nothing,
        anonymize("--qi", "age", "--k", 5, "--identifiers", "name", "--method", "tdr", "--suppress", "5%"),
        2,
        "Got '5%'; write 0.05.",
    ),
    "a number in words": (nothing, anonymize("--qi", "age", "--k", "ten"), 2, "Got 'ten'; write it in digits."),
    "a number with commas": (nothing, anonymize("--qi", "age", "--k", "1,000"), 2, "Got '1,000'; write 1000."),
    "a number in words, of an option of a command": (
        nothing,
        ("evaluate", "people.csv", *POLICY, "--folds", "ten"),
        2,
        "The '--folds' option must be an integer. Got 'ten'; write it in digits; see 'incrowd evaluate --help'",
    ),
    "a fraction in percent, of an option of a command": (
        nothing,
        ("risk", "people.csv", "--qi", "age", "--sampling-fraction", "5%"),
        2,
        "The '--sampling-fraction' option must be a finite number. Got '5%'; write 0.05",
    ),
    "a k of the demo": (nothing, ("demo", "--k", "ten"), 2, "The '--k' option must be an integer. Got 'ten'"),
    "an action of the ledger": (nothing, ("ledger", "lst", "folder"), 2, "'lst' is not one of 'list', 'show'"),
    "a rule with other signs": (
        nothing,
        anonymize(*POLICY, "--taxonomy", "zip:prefix=3"),
        2,
        "The '--taxonomy' option must look like zip=prefix:3; got 'zip:prefix=3'.",
    ),
    "a rule without a colon": (
        nothing,
        anonymize(*POLICY, "--taxonomy", "zip=prefix=3"),
        2,
        "must look like zip=prefix:3; got 'zip=prefix=3'",
    ),
    "Latin-1": (
        write(GOOD.replace("clerk", "Z\xfcrich").encode("latin-1")),
        ("inspect", "people.csv"),
        1,
        "give its encoding, such as --encoding cp1252 (in Python encoding='cp1252')",
    ),
    "a letter": (
        write("Dear colleague,\nplease find it attached.\n\nBest, A, B and C\n"),
        ("inspect", "people.csv"),
        1,
        "or, if columns are separated by something else, give --separator",
    ),
    "more people than there are": (
        nothing,
        anonymize("--qi", "age", "--k", 61, "--identifiers", "name"),
        4,
        "k=61: the table has 60 records, and the best possible level is 60; ask for at most that",
    ),
    "an option in capitals": (
        nothing,
        anonymize("--qi", "age", "--K", 5),
        2,
        "no such option: --K; did you mean '--k'?",
    ),
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


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("No such command 'a'. Did you mean 'b'?", "no such command 'a'; did you mean 'b'? See 'incrowd --help'"),
        ("Missing option '-o'.", "missing option '-o'; see 'incrowd --help'"),
    ],
)
def test_what_was_typed_wrong_is_one_sentence(said, told):
    assert _usage(SimpleNamespace(format_message=lambda: said, ctx=None)) == told
