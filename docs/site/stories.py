"""Example scripts as pages and as notebooks: what stands in comments that begin a cell is prose, the rest is code."""

from __future__ import annotations

import ast
import json
from pathlib import Path


def story(path: Path) -> str:
    """A script as Markdown."""
    title, prose, cells = _read(path)
    ways = f'The script: `examples/{path.name}`; <a href="{path.stem}.ipynb" download>the same as a notebook</a>'
    lines = [f"# {title}", prose, ways]
    for told, code in cells:
        lines += [told, f"```python\n{code}\n```"]
    return "\n\n".join(lines) + "\n"


def notebook(path: Path) -> str:
    """A script as a notebook that nobody has run yet."""
    title, prose, cells = _read(path)
    parts = [("markdown", f"# {title}\n\n{prose}")]
    for told, code in cells:
        parts += [("markdown", told), ("code", code)]
    made = [
        {"cell_type": kind, "id": f"cell-{place}", "metadata": {}, "source": source}
        | ({"execution_count": None, "outputs": []} if kind == "code" else {})
        for place, (kind, source) in enumerate(parts)
    ]
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    document = {"cells": made, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _read(path: Path) -> tuple[str, str, list[tuple[str, str]]]:
    """The title of a script, what it says about itself, and its cells."""
    source = path.read_text(encoding="utf-8")
    about = ast.get_docstring(ast.parse(source)) or path.stem
    title, _, prose = about.partition("\n")
    cells = [_parted(cell.split("\n")) for cell in source.split("\n# %% ")[1:]]
    return title.rstrip("."), prose.strip(), cells


def _parted(lines: list[str]) -> tuple[str, str]:
    """The prose that begins a cell, and its code."""
    end = next((place for place, line in enumerate(lines) if place and not line.startswith("#")), len(lines))
    prose = [lines[0], *(line.removeprefix("#").strip() for line in lines[1:end])]
    return " ".join(prose), "\n".join(lines[end:]).strip("\n")
