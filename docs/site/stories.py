"""Example scripts as pages: what stands in comments that begin a cell is prose, the rest is code."""

from __future__ import annotations

import ast
from pathlib import Path


def story(path: Path) -> str:
    """A script as Markdown."""
    source = path.read_text(encoding="utf-8")
    about = ast.get_docstring(ast.parse(source)) or path.stem
    title, _, prose = about.partition("\n")
    lines = [f"# {title.rstrip('.')}", prose.strip(), f"The script: `examples/{path.name}`"]
    for cell in source.split("\n# %% ")[1:]:
        told, code = _parted(cell.split("\n"))
        lines += [told, f"```python\n{code}\n```"]
    return "\n\n".join(lines) + "\n"


def _parted(lines: list[str]) -> tuple[str, str]:
    """The prose that begins a cell, and its code."""
    end = next((place for place, line in enumerate(lines) if place and not line.startswith("#")), len(lines))
    prose = [lines[0], *(line.removeprefix("#").strip() for line in lines[1:end])]
    return " ".join(prose), "\n".join(lines[end:]).strip("\n")
