"""The output in the tour is what its commands print today."""

import re

import pytest
from docs.tour import DOTS, PAGE, commands, outputs
from tests.examples import EFFORT

from incrowd.cli.commands import app  # noqa: F401  commands are registered by this import

TEXT = PAGE.read_text(encoding="utf-8")


def test_the_output_of_the_tour_is_real():
    """Run `python -m docs.tour --write` where it is not; what takes longest is checked by `make check` only."""
    without = ("why",) if EFFORT == "test" else ()
    for shown, output in outputs(TEXT, without=without):
        assert shown.output == output, f"{shown.command}\nrun python -m docs.tour --write"


def test_every_command_shows_its_output():
    typed = re.findall(r"^    (incrowd \w+)", TEXT, flags=re.MULTILINE)
    assert [shown.command.rsplit(" ", 100)[:2] for shown in commands(TEXT)] == [line.split() for line in typed]


def test_lines_that_are_not_asked_for_become_dots():
    (shown,) = commands("    incrowd inspect x\n\n<!-- lines: one | three -->\n```\n```")
    assert shown.shortened("one\ntwo\n2\nthree\n") == f"one\n{DOTS}\nthree\n"


@pytest.mark.parametrize("word", ["inspect", "anonymize", "why", "verify", "apply"])
def test_the_tour_shows_what_it_takes(word):
    assert word in [shown.name for shown in commands(TEXT)]
