"""Running the command line, and a small table to run it on."""

import sys

from typer.testing import CliRunner

from incrowd.cli import app

GOOD = "name,age,sex,job,income\n" + "".join(
    f"p{i},{20 + i % 10},{'fm'[i % 2]},{['clerk', 'nurse'][i % 3 == 0]},{['low', 'high'][i % 4 > 1]}\n"
    for i in range(60)
)
POLICY = ("--qi", "age,sex,job", "--k", "5", "--target", "income", "--identifiers", "name")
COMMAND = "from incrowd.cli import main; main()"


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


def anonymize(*arguments, table="people.csv", output="out.csv"):
    return ("anonymize", table, "-o", output, *arguments)
