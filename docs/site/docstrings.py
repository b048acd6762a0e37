"""Docstrings in Google style as Markdown."""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import Any

_SECTION = re.compile(r"^(Args|Returns|Raises|Yields|Attributes|Examples?):$")
_ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*): (.*)$", re.DOTALL)
_SPECIAL = re.compile(r"([*_<\[\]{|])")


def escaped(text: str) -> str:
    """A text in which only `code` means something to Markdown."""
    parts = text.split("`")
    return "`".join(part if number % 2 else _SPECIAL.sub(r"\\\1", part) for number, part in enumerate(parts))


def markdown_of(thing: Any) -> str:
    """The docstring of a thing."""
    lines = (inspect.getdoc(thing) or "").split("\n")
    made: list[str] = []
    while lines:
        line = lines.pop(0)
        if found := _SECTION.match(line):
            inside = []
            while lines and (not lines[0].strip() or lines[0].startswith("    ")):
                inside.append(lines.pop(0))
            text = textwrap.dedent("\n".join(inside)).strip("\n")
            told = ["```python", text, "```"] if found[1].startswith("Example") else _entries(text)
            made += ["", f"**{found[1]}**", "", *told, ""]
        else:
            made.append(line if line.startswith("    ") else escaped(line))
    return "\n".join(made).strip()


def summary_of(thing: Any) -> str:
    """The first sentence or paragraph of a docstring, on one line."""
    return escaped(" ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split()))


def _entries(text: str) -> list[str]:
    """The entries of a section, each a point of a list; what has no name is a paragraph."""
    found: list[str] = []
    for line in text.split("\n"):
        if found and (line.startswith("    ") or not line):
            found[-1] += " " + line.strip()
        else:
            found.append(line)
    points = []
    for entry in found:
        named = _ENTRY.match(entry)
        points.append(f"- `{named[1]}`: {escaped(named[2].strip())}" if named else f"- {escaped(entry.strip())}")
    return points
