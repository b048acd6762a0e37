"""What the terminal shows, as plain text, for `print` and for notebooks."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.table import Table

WIDTH = 100  # characters, where there is no terminal


def as_text(show: Callable[..., object], *things: Any, width: int = WIDTH) -> str:
    """What a function prints on a console, as text without trailing blanks."""
    text = io.StringIO()
    show(Console(file=text, width=width, color_system=None, markup=False, emoji=False, highlight=False), *things)
    return "\n".join(line.rstrip() for line in text.getvalue().rstrip("\n").split("\n"))


def plain_table(title: str | None = None, **more: Any) -> Table:
    """A table without frames, so that more of it fits on a line."""
    return Table(
        title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="", **more
    )
