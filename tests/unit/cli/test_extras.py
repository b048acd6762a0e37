"""Where only the package itself is installed, and none of its extras: one line says what to install."""

import json
import subprocess
import sys

import pytest
from tests.command_line import GOOD

EXTRAS = (
    "duckdb adbc_driver_postgresql adbc_driver_manager sklearn fastexcel xlsxwriter pyreadstat polars scipy matplotlib "
    "pyspark starlette uvicorn pandas cryptography"
)
POLICY = "--qi age,sex --k 5 --keep name"
CASES = {  # and the extra that is named
    f"anonymize people.csv -o out.csv {POLICY} --engine spark": "spark",
    f"anonymize people.csv -o out.csv {POLICY} --engine spark --dry-run": "spark",
    f"anonymize hdfs://home/people.csv -o out.csv {POLICY} --engine spark": "spark",
    f"anonymize people.csv -o out.csv {POLICY} --engine duckdb": "duckdb",
    f"anonymize people.duckdb -o out.csv {POLICY}": "duckdb",
    f"anonymize people.csv -o out.duckdb#people {POLICY}": "duckdb",
    f"anonymize postgresql://host/base#people -o out.csv {POLICY}": "postgres",
    f"anonymize people.csv -o out.xlsx {POLICY}": "formats",
    f"anonymize people.csv -o out.dta {POLICY}": "formats",
    f"anonymize people.csv -o out.csv {POLICY} --method cover --proof optimum": "optimum",
    "inspect people.xlsx": "formats",
    "inspect people.dta": "formats",
    "inspect people.sav": "formats",
    "inspect people.sas7bdat": "formats",
    "verify people.xlsx --qi age,sex --k 5": "formats",
    f"evaluate people.csv {POLICY} --target income": "eval",
    "sign people.csv --key key.pem": "signing",
    "studio people.csv": "studio",
}
_RUN = """
import contextlib, io, json, sys
from importlib.machinery import PathFinder

hidden, find = set(sys.argv[1].split()), PathFinder.find_spec
PathFinder.find_spec = classmethod(
    lambda _, name, *where: None if name.partition(".")[0] in hidden else find(name, *where)
)
from incrowd.cli import main

told = {}
for words in json.load(sys.stdin):
    sys.argv = ["incrowd", *words.split()]
    code, error = 0, io.StringIO()
    with contextlib.redirect_stderr(error):
        try:
            main()
        except SystemExit as end:
            code = end.code
    told[words] = (code, error.getvalue())
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What each command ends with, and what it says."""
    folder = tmp_path_factory.mktemp("extras")
    for ending in ("csv", "xlsx", "dta", "sav", "sas7bdat", "duckdb"):
        (folder / f"people.{ending}").write_text(GOOD)
    command = [sys.executable, "-c", _RUN, EXTRAS]
    done = subprocess.run(
        command, input=json.dumps([*CASES]), cwd=folder, capture_output=True, text=True, timeout=300, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize(("words", "extra"), CASES.items())
def test_what_is_missing_is_named_in_one_line(told, words, extra):
    code, said = told[words]
    assert code == 1
    assert len(said.splitlines()) == 1
    assert said.startswith("error: ")
    assert f"incrowd[{extra}]" in said
