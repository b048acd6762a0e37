"""What a pack is made of: sections with blocks, each of which becomes texts, tables, and answers or marked blanks.

A pack is written from a steward's summary, the policy that the certificate shows, and the answers of the steward. What
none of them says is a blank: nothing is ever filled in for the people who have to answer for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from incrowd.policy.context import PACKS

BLANK = "to be filled in"


@dataclass(frozen=True)
class Paragraph:
    text: str


@dataclass(frozen=True)
class Answer:
    """What the steward has said; None is a marked blank."""

    title: str
    about: str
    text: str | None


@dataclass(frozen=True)
class Grid:
    """A table; a cell that is None is a marked blank."""

    titles: Sequence[str]
    rows: Sequence[Sequence[str | None]]
    numbers: tuple[int, ...] = ()


Item = Paragraph | Answer | Grid


@dataclass(frozen=True)
class Case:
    """What is known of a release.

    Args:
        summary: The steward's summary of it.
        policy: As its certificate has it.
        context: The answers of the steward, by question.
    """

    summary: Mapping[str, Any]
    policy: Mapping[str, Any]
    context: Mapping[str, str]


Block = Callable[[Case], Sequence[Item]]


@dataclass(frozen=True)
class Section:
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Pack:
    """The template of a pack.

    Args:
        name: How it is asked for.
        version: Of the template; another one has other headings or says other things.
        sources: The texts whose headings it follows.
        about: How it follows them, in a sentence.
    """

    name: str
    version: int
    sources: tuple[str, ...]
    about: str
    sections: tuple[Section, ...]

    @property
    def title(self) -> str:
        return PACKS[self.name]

    def filled(self, case: Case) -> dict[str, Any]:
        """What a page or a text shows of it."""
        items = {section.title: [item for block in section.blocks for item in block(case)] for section in self.sections}
        sections = [{"title": title, "items": found} for title, found in items.items()]
        blanks = sum(_blanks(item) for found in items.values() for item in found)
        return {"pack": self, "sections": sections, "blanks": blanks, "check": case.summary["check"]}


def _blanks(item: Item) -> int:
    if isinstance(item, Answer):
        return int(item.text is None)
    return sum(row.count(None) for row in item.rows) if isinstance(item, Grid) else 0
