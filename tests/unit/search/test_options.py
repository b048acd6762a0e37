"""Options of all methods: what is typed is read, what is wrong is refused in one sentence."""

import inspect
import math
import re
from fractions import Fraction
from importlib import import_module

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from typer.testing import CliRunner

import incrowd
from incrowd.cli import app
from incrowd.errors import PolicyError, UnknownNameError
from incrowd.options import ByColumn, Numbers, Option, SomeOf, Texts
from incrowd.schemas.shapes import Choice, Flag, Number, Whole
from incrowd.search.registry import METHODS, method_of

OPTIONS = [(method, name) for method, declared in METHODS.items() for name in declared.options]
every_option = pytest.mark.parametrize(("method", "name"), OPTIONS)


def examples(kind):
    """Texts that a user may type, and what they stand for."""
    match kind:
        case Choice(words):
            return {**{word: word for word in words}, f" {words[0]} ": words[0]}
        case Whole(least):
            return {str(least): least, f" {least + 7}": least + 7}
        case Number(low, high):
            inside = (low + (low + 1 if high is None else high)) / 2
            return {repr(inside): inside, f" {inside} ": inside}
        case Flag():
            return {"true": True, "Yes": True, "false": False, "no": False}
        case SomeOf(words):
            return {"all": "all", words[0]: words[0], ", ".join(words): list(words)}
        case Texts():
            return {"b, a": ["b", "a"], "a": ["a"]}
        case Numbers():
            return {"4:2:1": [4, 2, 1], " 0.5 ": [0.5]}
        case ByColumn(inner, _, for_all):
            columns = {f"zip={text}": {"zip": value} for text, value in examples(inner).items()}
            several = {f"zip={text}, age={text}": {"zip": v, "age": v} for text, v in examples(inner).items()}
            return columns | several | (examples(inner) if for_all else {})
    raise AssertionError(f"{kind} has no examples")


WRONG = [
    *[None, math.nan, math.inf, -math.inf, -1, -0.5, Fraction(1, 3), 1j, object(), b"all", b"", np.arange(3)],
    *["nonsense", "", " ", "x" * 1000, ["nonsense"], [1], {"nonsense"}],
    *[{3: 4}, {"zip": None}, {"zip": math.nan}, {"zip": {"b": "c"}}],
]
ALSO_WRONG = {
    Choice: [True, 1, ["dm"], "DM"],
    Whole: [True, 1.0, 2.5, "3", [3]],
    Number: [True, "0.5", [0.5], -(10**400)],
    Flag: [0, 1, "true"],
    SomeOf: [["all"], 5, {"bound": True}],
    ByColumn: [[], 5, {"zip": []}, {"zip": True}, {5: "ops"}],
}
WRONG_TEXTS = ["nonsense", "", " ", "nan", "inf", "1e999", "-1", "zip:5", "=5", "zip,age=5", "zip=5,zip=5"]
ALSO_WRONG_TEXTS = {
    Choice: ["dm,ncp", "DM"],
    Whole: ["2.5", "1e3", "3,4"],
    Number: ["0.5.1", "half", "0,5"],
    Flag: ["maybe", "1"],
    SomeOf: ["all,bound", "bound,", "bound;requeue"],
    ByColumn: ["zip", "ops=", ",zip=ops"],
}


@every_option
def test_what_is_typed_for_an_option_is_an_allowed_value(method, name):
    option = METHODS[method].options[name]
    for text, value in examples(option.kind).items():
        assert option.typed(text) == value
        option.check(name, option.typed(text))


def refused(method, name, value):
    with pytest.raises(PolicyError) as caught:
        method_of(method, {name: value})
    message = str(caught.value)
    assert re.fullmatch(rf"The '{name}' parameter must be [^\n]+\. Got [^\n]+\.", message), message
    assert len(message) < 500


@every_option
def test_a_wrong_value_is_refused_in_one_sentence(method, name):
    for wrong in (*WRONG, *ALSO_WRONG[type(METHODS[method].options[name].kind)]):
        refused(method, name, wrong)


@every_option
def test_a_wrong_text_is_refused_in_one_sentence(method, name):
    option = METHODS[method].options[name]
    for wrong in (*WRONG_TEXTS, *ALSO_WRONG_TEXTS[type(option.kind)]):
        refused(method, name, option.typed(wrong))


@every_option
def test_a_search_takes_its_options_and_their_defaults_are_allowed(method, name):
    module, function = METHODS[method].function.split(":")
    parameter = inspect.signature(getattr(import_module(module), function)).parameters[name]
    default = METHODS[method].fixed.get(name, parameter.default)
    assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
    assert default is None or METHODS[method].options[name].kind.allows(default)


@every_option
def test_help_names_the_words_of_an_option(method, name):
    option = METHODS[method].options[name]
    assert option.about
    assert all(word in option.kind.form or word == "all" for word in option.kind.choices)
    assert "\n" not in option.kind.form


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        (Number(0, 1), "a number from 0 to 1"),
        (Number(0, 1, below=True), "a number of at least 0 and below 1"),
        (Number(0, 1000, above=True), "a number above 0 and at most 1000"),
        (Number(1), "a number of at least 1"),
        (Whole(2), "an integer of at least 2"),
        (ByColumn(Number(0, 1), "zip=1"), "a number from 0 to 1 per column, such as zip=1"),
    ],
)
def test_forms_read_as_sentences(kind, form):
    assert kind.form == form


@pytest.mark.parametrize(
    ("kind", "inside", "outside"),
    [
        (Number(0, 1), [0, 1, 0.5], [-1e-9, 1.0000001, 2]),
        (Number(0, 1, below=True), [0, 0.999], [1, 1.0]),
        (Number(0, 1000, above=True), [1e-9, 1000], [0, 0.0, -0.0, 1001]),
        (Number(1), [1, 10**300, 1e300], [0.5, 0, 10**400]),
        (Whole(0), [0, 2**63 - 1], [-1, 2**63, 10**5000]),
    ],
    ids=range(5),
)
def test_limits_are_exact(kind, inside, outside):
    assert all(kind.allows(value) for value in inside)
    assert not any(kind.allows(value) for value in outside)


def test_an_order_is_typed_by_column():
    order = METHODS["optimal"].options["order"]
    assert order.typed("edu=b,a") == {"edu": ["b", "a"]}
    assert order.typed("edu=b, a,job=x") == {"edu": ["b", "a"], "job": ["x"]}


def test_a_long_value_is_shown_in_short():
    with pytest.raises(PolicyError) as caught:
        Option("", Whole(1)).check("rounds", np.arange(10_000).reshape(100, 100))
    assert len(str(caught.value)) < 250


def test_unknown_methods_and_options_are_named_with_what_there_is():
    with pytest.raises(UnknownNameError, match="no method 'optimel'; did you mean 'optimal'"):
        method_of("optimel", {})
    with pytest.raises(UnknownNameError, match="no method '5'"):
        method_of(5, {})
    with pytest.raises(UnknownNameError, match="no option 'gab' in method 'optimal'; did you mean 'gap'"):
        method_of("optimal", {"gab": 1})
    with pytest.raises(PolicyError, match="The method 'tdr' has no option 'gap'; it is an option of optimal"):
        method_of("tdr", {"gap": 1})


PEOPLE = pa.table({"edu": ["a", "b", "b", "a"] * 3, "zip": ["10", "11", "10", "12"] * 3})


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("optimal", {"order": {"zap": ["a", "b"]}}),
        ("optimal", {"scheme": {"zap": "ops", "edu": "ops"}}),
    ],
)
def test_an_option_by_column_names_columns_of_the_quasi_identifier(method, options):
    with pytest.raises(UnknownNameError, match=r"no quasi-identifier column 'zap' in the '.*' parameter; did you mean"):
        incrowd.anonymize(PEOPLE, quasi_identifiers=["edu", "zip"], k=2, method=method, **options)


def command(tmp_path, *words):
    pyarrow.csv.write_csv(PEOPLE, tmp_path / "people.csv")
    files = [str(tmp_path / "people.csv"), "-o", str(tmp_path / "release.csv")]
    words = ["--overwrite", *words]
    return CliRunner().invoke(app, ["anonymize", *files, "--qi", "edu,zip", "--k", "2", "--type", "zip=text", *words])


def test_the_command_line_takes_an_order(tmp_path):
    result = command(tmp_path, "--method", "optimal", "--scheme", "ops", "--order", "edu=b,a")
    assert result.exit_code == 0, result.output
    result = command(tmp_path, "--method", "optimal", "--scheme", "ops", "--order", "edu=b,c")
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1] == "error: the order of 'edu' must name every value; it leaves out a"


@pytest.mark.parametrize("typed", ["zip:5", "zip=0", "zip=nan", "zip=five", "5", "zip=1,zip=2", "zip="])
def test_a_wrong_priority_is_one_line_on_the_command_line(tmp_path, typed):
    result = command(tmp_path, "--method", "kaca", "--priorities", typed)
    assert result.exit_code == 2
    must = "must be a number above 0 and at most 1000 per column, such as zip=5,age=2"
    start = f"error: The 'priorities' parameter {must}. Got "
    (line,) = result.stderr.splitlines()
    assert line.startswith(start)
