"""The tables of options and promises in the docs name what is declared, all of it and nothing else."""

import itertools
import re
import shlex
import tomllib
from pathlib import Path

from incrowd.policy.options import OPTIONS, PROMISED, TYPED
from incrowd.privacy.registry import MODELS
from incrowd.search.registry import METHODS

DOCS = Path(__file__).parents[3] / "docs"
CODE = re.compile(r"`([^`]*)`")


def rows(page, head):
    table = (DOCS / page).read_text(encoding="utf-8").partition(head)[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in table.splitlines()[2:]]


OF_POLICY = rows("policy.md", "| name | what it says | on the command line |")
OF_PROMISES = rows("protection.md", "| You are afraid that someone learns |")


def test_every_option_of_a_policy_is_in_its_table_and_no_other():
    named = [name for first, *_ in OF_POLICY for name in CODE.findall(first)]
    assert sorted(named) == sorted({*OPTIONS, "query"} - {*PROMISED, "options"})


def test_options_have_their_flags_and_examples_that_can_be_typed():
    flags = {option.flag(name): (name, option) for name, option in TYPED.items()}
    of_methods = {option.flag(name) for method in METHODS.values() for name, option in method.options.items()}
    for first, _, typed in OF_POLICY:
        name = CODE.findall(first)[0]
        assert name == "query" or OPTIONS[name].flag(name) in typed
        for example in CODE.findall(typed):
            words = shlex.split(example)
            assert {word for word in words if word.startswith("--")} <= {*flags, *of_methods, "--query"}
            for flag, value in itertools.pairwise(words):
                if flag in flags and not value.startswith("--"):
                    option = flags[flag][1]
                    option.typed([value] if option.repeated else value)  # raises where it does not fit


def test_what_an_option_may_be_is_said():
    for first, says, typed in OF_POLICY:
        for name in CODE.findall(first):
            choices = OPTIONS[name].kind.choices if name in OPTIONS else ()
            assert {*choices} <= {*CODE.findall(says), *CODE.findall(typed)}, name


def test_every_promise_is_in_its_table_with_a_value_that_it_takes():
    named = set()
    for _, asked, *more in OF_PROMISES:
        for name, value in re.findall(r"`(\w+)` = (\[.*?\]|[\d.]+)", asked):
            model = next(model for model in MODELS.values() if model.option_name == name)
            model.option.checked(name, tomllib.loads(f"value = {value}")["value"])
            named.add(name)
        named |= {name for cell in more for name in CODE.findall(cell)}
    assert named == {model.option_name for model in MODELS.values()}
