"""The output in docs/tour.md, made by its own commands.

    python -m docs.tour --check    # is the page what the commands print today?
    python -m docs.tour --write    # bring it up to date

A command of the page is followed by a block with its output. A comment between them, `<!-- lines: START | START -->`,
says which lines are shown, by how they begin; runs of others become dots. Commands run one after another in one folder,
100 characters wide, with a fixed key, since a key is drawn at random otherwise and figures would differ a little.
"""

from __future__ import annotations

import gzip
import re
import shlex
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from typer.testing import CliRunner

from incrowd import datasets
from incrowd.cli import app
from incrowd.key import Key

PAGE = Path(__file__).with_name("tour.md")
WIDTH, LONGEST = 100, 120  # of a terminal, and of a line of the page
DOTS = "..."
_BLOCK = re.compile(
    r"^    (?P<command>incrowd (?:.*\\\n)*.*)\n\n(?:<!-- lines: (?P<lines>.*) -->\n)?```\n(?P<output>(?:.*\n)*?)```$",
    flags=re.MULTILINE,
)


@dataclass(frozen=True)
class Shown:
    """A command of the page, what the page shows of its output, and where that stands in the text."""

    command: str
    lines: tuple[str, ...]
    output: str
    span: tuple[int, int]

    @property
    def name(self) -> str:
        return self.command.split()[1]

    def shortened(self, printed: str) -> str:
        """What is to be shown of what was printed."""
        found: list[str] = []
        for line in (line.rstrip() for line in printed.strip("\n").split("\n")):
            if not self.lines or (line and line.startswith(self.lines)):
                found += textwrap.wrap(line, LONGEST) if len(line) > LONGEST else [line]
            elif found[-1:] != [DOTS]:
                found.append(DOTS)
        return "\n".join(found) + "\n"


def commands(page: str) -> list[Shown]:
    """The commands of a page that show their output."""
    return [
        Shown(
            match["command"].replace("\\\n", " "),
            tuple((match["lines"] or "").split(" | ")) if match["lines"] else (),
            match["output"],
            match.span("output"),
        )
        for match in _BLOCK.finditer(page)
    ]


def outputs(page: str, *, without: tuple[str, ...] = ()) -> Iterator[tuple[Shown, str]]:
    """Each command of a page, and what is to be shown of what it prints now."""
    with (
        tempfile.TemporaryDirectory() as folder,
        chdir(folder),
        patch.object(Key, "drawn", lambda: Key.for_experiments(1)),
    ):
        Path("people.csv").write_bytes(gzip.decompress(Path(datasets.german()).read_bytes()))
        for shown in commands(page):
            if shown.name not in without:
                done = CliRunner().invoke(app, shlex.split(shown.command)[1:], env={"COLUMNS": str(WIDTH)})
                yield shown, shown.shortened(done.output)


def written(page: str) -> str:
    """The page with the output that its commands have now."""
    for shown, output in reversed(list(outputs(page))):
        start, stop = shown.span
        page = page[:start] + output + page[stop:]
    return page


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(written(text), encoding="utf-8")
    elif sys.argv[1:] == ["--check"]:
        stale = [shown.command for shown, output in outputs(text) if output != shown.output]
        sys.exit("stale, run python -m docs.tour --write:\n" + "\n".join(stale) if stale else 0)
    else:
        sys.exit(__doc__)
