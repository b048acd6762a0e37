"""Every word of a policy and every option of a method, given something malformed: one line, and no traceback.

In Python, in a policy file, and on the command line.
"""

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.command_line import GOOD, run
from tests.faults.processes import MORE

import incrowd
from incrowd.errors import IncrowdError
from incrowd.key import Key
from incrowd.policy.making import make_policy
from incrowd.policy.toml import DIALECT, KEYS, read_policy
from incrowd.recodings.reading import read_recoding
from incrowd.search.registry import METHODS, method_of
from incrowd.verification.certificate import Certificate

pytestmark = pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")  # risks are not the point here
TABLE = pa.table(
    {
        "name": [f"p{i}" for i in range(24)],
        "age": [20 + i % 4 for i in range(24)],
        "sex": ["fm"[i % 2] for i in range(24)],
        "ill": [["flu", "cold", "none"][i % 3] for i in range(24)],
    }
)
BASE = {"quasi_identifiers": ["age", "sex"], "k": 2, "method": "tdr", "identifiers": ["name"]}


class Strange:
    """What cannot even be shown."""

    def __repr__(self):
        raise RuntimeError("no")


SCALARS = [None, True, 0, -1, 3, 2**63, 10**5000, 0.5, float("nan"), float("inf"), 5e-324, 1j]
TEXTS = ["", " ", "age", "name", "³", "nan", "\ud800", "x" * 5000, b"age"]
LISTS = [[], [None], ["age", "age"], ["age", ["sex"]], [float("nan"), 1], (3, 1), {"age"}, range(3), iter([1])]
TABLES = [{}, {5: 5}, {None: None}, {("age",): 1}, {"nobody": 1}]
OF_AGE = [None, 5, "x", [1, 2], (2, 1), (0, float("nan")), (dt.time(1), dt.time(2)), ({"a": 1}, {"b": 2}), ("a", "b")]
OF_AGE += [(dt.date(2020, 1, 1), dt.date(2021, 1, 1)), (-(10**5000), 10**5000), {"prefix": [1]}, {"l": 2}]
OF_AGE += [{"widths": [float("nan")]}, {"widths": [10**400]}, {"bounds": 5}, {"frequent": 5}, {"domain": []}]
OBJECTS = [dt.date(2020, 1, 1), Decimal("NaN"), Fraction(1, 2), np.float64("nan"), np.int64(3), np.array([1, 2])]
OBJECTS += [Path("/nowhere"), object(), Strange(), lambda: None, int]
VALUES = [*SCALARS, *TEXTS, *LISTS, *TABLES, *({"age": value} for value in OF_AGE), *OBJECTS]
OPTIONS = sorted({(option, name) for name, method in METHODS.items() for option in method.options})
ONE_METHOD = sorted(dict(reversed(OPTIONS)).items())


def problem_of(action):
    """What is wrong with how something malformed was taken, None if nothing is."""
    try:
        action()
    except IncrowdError as error:
        text = str(error)
        return None if "\n" not in text and len(text) < 1200 else f"message: {text[:300]}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def all_problems(actions):
    return {name: problem for name, action in actions if (problem := problem_of(action)) is not None}


@pytest.mark.parametrize("word", [*KEYS, *DIALECT])
def test_a_word_in_python(word):
    more = {"sensitive": ["ill"]} if word not in BASE and word not in ("sensitive", "insensitive") else {}

    def trying(value):
        return lambda: incrowd.anonymize(TABLE, **{**BASE, **more, word: value})

    assert all_problems((place, trying(value)) for place, value in enumerate(VALUES)) == {}


@pytest.mark.parametrize(("option", "method"), ONE_METHOD)
def test_an_option_in_python(option, method):
    words = {**BASE, "method": method, "quasi_identifiers": ["age"], "time_limit": 5}

    def trying(value):
        return lambda: incrowd.anonymize(TABLE, **{**words, option: value})

    some = 1 if MORE > 1 else 2  # every second, another half for each option, where there is no time for all
    tried = list(enumerate(VALUES))[ONE_METHOD.index((option, method)) % some :: some]
    assert all_problems((place, trying(value)) for place, value in tried) == {}


SHORT_LITERALS = """true -1 nan inf 1e400 1.5 1979-05-27 07:32:00 1979-05-27T07:32:00Z "" "x" "³" "age" [] [[]] [1] {}
{age=1} {age=[07:32:00,08:00:00]} {age=[{},{}]} {age=[nan,5]} {age={widths=[nan]}} {age="nowhere.csv"} ["age",["sex"]]
[{attributes=["age"],k="x"}] [{attributes=5,k=2}] [{k=2}]"""
LONG_LITERALS = ["9" * 400, "[" * 150 + "]" * 150, "[" * 5000 + "]" * 5000, "{" + "a = {" * 90 + "}" * 90 + "}"]
LITERALS = [*SHORT_LITERALS.split(), *LONG_LITERALS]


@pytest.mark.parametrize("word", [*KEYS, "csv", "nobody", *(option for option, _ in ONE_METHOD)])
def test_a_word_in_a_policy_file(word, tmp_path):
    path = tmp_path / "release.toml"
    words = {"quasi_identifiers": '["age"]', "k": "2"}

    def trying(literal):
        def action():
            lines = {**words, word: literal}
            path.write_text("".join(f"{key} = {value}\n" for key, value in lines.items()), encoding="utf-8")
            made, dialect = read_policy(path)
            policy = make_policy(**made)
            method_of(policy.method, policy.options)
            incrowd.formats.registry.open_source(TABLE, **dialect)

        return action

    assert all_problems((literal[:40], trying(literal)) for literal in LITERALS) == {}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"k = ",
        b"\xff",
        b"[" * 100_000,
        b"a.b" * 5 + b" = 1",
        b".".join(b"a%d" % level for level in range(3000)) + b" = 1",
        b"k = 5\nk = 5\n",
        b"k = " + b"9" * 5000,
        b"[[quasi_identifiers]]\nattributes = ['age']\nk = 2\nl = 3\n",
        b"# x\n" * 6_000_000,
    ],
    ids=range(10),
)
def test_a_policy_file_that_is_none(content, tmp_path):
    path = tmp_path / "release.toml"
    path.write_bytes(content)

    def action():
        words, _ = read_policy(path)
        make_policy(**{"quasi_identifiers": ["age"], **words})
        raise AssertionError("it was taken")

    assert problem_of(action) is None


SHORT = """³ age:³ age:٣ age:0 age:-1 age:1e3 -1 nan inf 1e400 0x10 1_000 age= =5 age=nan age=nan:5 age=5:1 age=5
age=1:2:3 age=07:00:08:00 age=prefix: age=prefix:nan age=prefix:³ age=widths:nan age=widths:1e999 age=bounds:inf,1
age=bounds:1_0 age=nowhere.csv age=text,sex age=gops,age=ops a=b=c , age,,sex"""
LONG = ["age:" + "9" * 5000, "9" * 5000, "x" * 5000, f"age={'9' * 5000}:{'9' * 5001}"]
TYPED = [*SHORT.split(), *LONG, "", " ", "\ud800", "a\nb"]
COMMON_FLAGS = """--qi --k --target --identifiers --insensitive --keep --taxonomies --taxonomy --type --range --missing
--missing-value --method --key --time-limit --unit --sensitive --l --entropy-l --recursive-l --t --t-distance --alpha
--beta-likeness --harmless --separator --quote --encoding"""
FLAGS = [*COMMON_FLAGS.split(), *(f"--{option.replace('_', '-')}" for option, _ in ONE_METHOD)]


@pytest.mark.parametrize("flag", FLAGS)
def test_an_option_on_the_command_line(flag, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(GOOD)
    method = dict(ONE_METHOD).get(flag[2:].replace("-", "_"), "tdr")
    problems = {}
    some = 1 if MORE > 1 else 3  # every third, another third for each flag, where there is no time for all
    for typed in TYPED[FLAGS.index(flag) % some :: some]:
        words = {
            "--qi": "age,sex",
            "--k": "2",
            "--method": method,
            "--identifiers": "name",
            **({"--sensitive": "income"} if flag[2] in "ltabre" else {}),
        }
        arguments = [part for pair in {**words, flag: typed}.items() for part in pair]
        result = run("anonymize", "people.csv", "-o", "out.csv", "--overwrite", *arguments)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            problems[typed[:40]] = repr(result.exception)[:200]
        elif result.exit_code not in (0, 1, 2, 4) or (
            result.exit_code and len(result.stderr.strip().splitlines()) != 1
        ):
            problems[typed[:40]] = f"exit {result.exit_code}: {result.stderr[-300:]}"
    assert problems == {}


PATHS = {
    "a table": lambda path: incrowd.inspect(f"{path}.csv"),
    "a release": lambda path: incrowd.anonymize(TABLE, **{**BASE, "insensitive": ["ill"]}).write(f"{path}.csv"),
    "a policy": read_policy,
    "a taxonomy": lambda path: incrowd.Taxonomy.read(f"{path}.csv"),
    "a key": Key.read,
    "a certificate": Certificate.read,
    "a recoding": read_recoding,
}


@pytest.mark.parametrize("path", ["\ud800", "a\0b", "x" * 5000, "nowhere/\ud800"], ids=ascii)
@pytest.mark.parametrize("kind", PATHS)
def test_a_path_that_no_file_can_have(kind, path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(IncrowdError) as found:
        PATHS[kind](path)
    assert "\n" not in str(found.value)
    assert list(tmp_path.iterdir()) == []
