"""A few rows before and after: every column, no word broken. What is too wide for the screen goes on below."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from incrowd.report.text import plain_table

if TYPE_CHECKING:
    from incrowd.release.release import Release

Preview = tuple[dict[str, list[Any]], dict[str, list[Any]]]
ROWS = 5
LONGEST = 28  # characters of a cell; longer ones are shortened
_GAP = 2  # blanks between two columns


def print_preview(console: Console, release: Release, seen: Preview | None = None) -> None:
    """Print the first few rows before and after, in as many blocks of columns as the width needs.

    Args:
        console: Where to print.
        release: The release.
        seen: Its rows before and after, where they were taken earlier.
    """
    before, after = seen or release.preview(ROWS)
    number = len(next(iter(before.values()), []))
    cells = {name: (list(map(shown, before[name])), list(map(shown, values))) for name, values in after.items()}
    for names in _blocks({name: _width(name, *both) for name, both in cells.items()}, console.width):
        table = plain_table()
        for name in ("", *names):
            table.add_column(Text(_short(name)), no_wrap=True)
        for side, title in enumerate(("before", "after")):
            for row in range(number):
                end = side == 0 and row == number - 1
                marks = [Text(_short(cells[name][side][row])) for name in names]
                table.add_row(title if row == 0 else "", *marks, end_section=end)
            if side == 0:
                table.add_row("")
        console.print(table)
        console.print()
    if dropped := [name for name in before if name not in after]:
        console.print(Text(f"dropped: {', '.join(dropped)}"))


def _blocks(widths: Mapping[str, int], room: int) -> Iterator[list[str]]:
    """The columns in blocks that fit beside the words that say what is before and after."""
    block: list[str] = []
    used = margin = len("before")
    for name, width in widths.items():
        if block and used + _GAP + width > room:
            yield block
            block, used = [], margin
        block.append(name)
        used += _GAP + width
    if block:
        yield block


def _width(name: str, *columns: Sequence[str]) -> int:
    return max(cell_len(_short(text)) for text in (name, *(text for column in columns for text in column)))


def _short(text: str) -> str:
    """A text on one line that is not too long."""
    line = " ".join(text.splitlines())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def shown(value: Any) -> str:
    """A cell for people."""
    return "(missing)" if value is None or value == "" else str(value)
