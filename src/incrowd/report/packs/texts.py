"""A pack as a page, which prints on paper or as PDF, and as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from incrowd.report.markdown import escaped, table_lines
from incrowd.report.packs.pack import BLANK, Answer, Case, Grid, Item, Pack, Paragraph
from incrowd.report.page import environment, style

CONFIDENTIAL = "Confidential: for the board and the steward of the data. It shows figures of the original table."
NO_CLAIM = "This document holds figures and answers. It does not say that a law or a standard is met."


def page_text(pack: Pack, case: Case) -> str:
    filled = pack.filled(case)
    told = {"confidential": CONFIDENTIAL, "no_claim": NO_CLAIM, "blank": BLANK, "style": style()}
    return environment().get_template("pack.html").render(**filled, **told)


def markdown_text(pack: Pack, case: Case) -> str:
    return "\n".join(_lines(pack.filled(case))).rstrip() + "\n"


def _lines(filled: Mapping[str, Any]) -> Iterator[str]:
    pack: Pack = filled["pack"]
    yield from (f"# {escaped(pack.title)}", "", f"**{CONFIDENTIAL}**", "")
    yield from (f"Template {pack.name}, version {pack.version}. {escaped(pack.about)} It follows:", "")
    yield from (*(f"- {escaped(source)}" for source in pack.sources), "")
    yield from (f"{NO_CLAIM} Blanks that are {BLANK}: {filled['blanks']}.", "")
    for section in filled["sections"]:
        yield from (f"## {escaped(section['title'])}", "")
        for item in section["items"]:
            yield from _item(item)


def _item(item: Item) -> Iterator[str]:
    if isinstance(item, Paragraph):
        yield from (escaped(item.text), "")
    elif isinstance(item, Answer):
        text = f"\\[{BLANK}\\] {escaped(item.about)}" if item.text is None else escaped(" ".join(item.text.split()))
        yield from (f"**{escaped(item.title)}**: {text}", "")
    else:
        assert isinstance(item, Grid)
        rows = [[f"[{BLANK}]" if cell is None else cell for cell in row] for row in item.rows]
        yield from table_lines([title or " " for title in item.titles], rows)


WRITERS: Mapping[str, Callable[[Pack, Case], str]] = {".html": page_text, ".md": markdown_text}
