"""What a declaration is: an option is declared once, and every face is made from that.

An option of the policy, a privacy model, a method or an engine is a name and an `Option`. Python checks values by it,
the shell and the studio read with it what people type, help and the reference describe it, policy files name it.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from incrowd.errors import PolicyError, shown
from incrowd.schemas.shapes import Number, SchemaError, Shape, Text, parsed_number


@dataclass(frozen=True)
class Option:
    """An option.

    Args:
        about: One line for people.
        kind: What it may be.
        title: What people call it, if not by its name.
        more: What it means, for who meets it for the first time.
        example: How it is typed.
        noun: What it takes, in the help of the shell.
        section: Where the help of the shell lists it.
        names: How the shell spells it, if not like its name.
    """

    about: str
    kind: Shape
    title: str = ""
    more: str = ""
    example: str = ""
    noun: str | None = None
    section: str = "Columns"
    names: tuple[str, ...] = ()

    def check(self, name: str, value: Any) -> None:
        """Raise PolicyError unless the value is allowed."""
        try:
            self.kind.check(value, name)
        except SchemaError as wrong:
            got = wrong.got if wrong.place != name or "; " in wrong.got else shown(value)
            raise PolicyError(f"The '{wrong.place}' parameter must {wrong.must}. Got {got}.") from None

    def typed(self, text: Any) -> Any:
        """The value that was typed for it, once or several times; what was not typed stays as it is."""
        if isinstance(text, list) and isinstance(self.kind, ByColumn):
            return self.kind.parse_each(text)
        return self.kind.parse(text) if isinstance(text, str) else text


@dataclass(frozen=True)
class Words(Shape):
    """One or several of some words.

    Args:
        words: The words; "all" stands for all of them.
    """

    words: tuple[str, ...]

    @property
    def choices(self) -> tuple[str, ...]:
        return ("all", *self.words)

    @property
    def form(self) -> str:
        return f"all, or some of {', '.join(self.words)}"

    def allows(self, value: Any) -> bool:
        if isinstance(value, str):
            return value == "all" or value in self.words
        return isinstance(value, list | tuple) and all(isinstance(word, str) and word in self.words for word in value)

    def parse(self, text: str) -> Any:
        words = [word.strip() for word in text.split(",")]
        return words[0] if len(words) == 1 else words


@dataclass(frozen=True)
class Texts(Shape):
    """A list of texts; typed, they are separated by commas, and one that has a comma itself is in double quotes.

    Args:
        least: How many there must be.
        blank: Whether a text may be empty.
    """

    least: int = 0
    blank: bool = False

    form = "a list of texts"

    def check(self, value: Any, place: str) -> None:
        if not isinstance(value, list | tuple) or not all(isinstance(text, str) for text in value):
            raise SchemaError(place, f"be {self.form}", f"{shown(value)}; put quotes around each")
        if len(value) < self.least:
            self.refuse(value, place)
        for text in value:
            Text(blank=self.blank).check(text, place)

    def parse(self, text: str) -> Any:
        return columns_of(text)


def columns_of(text: str) -> list[str]:
    """Names separated by commas; one that has a comma itself is in double quotes, as in a CSV file."""
    names = next(csv.reader([text], skipinitialspace=True), []) if '"' in text else text.split(",")
    return [name.strip() for name in names if name.strip()]


@dataclass(frozen=True)
class Numbers(Shape):
    """A list of numbers above one and at most another, at least one of them; typed, they are separated by colons."""

    above: float
    high: float

    @property
    def form(self) -> str:
        return f"a list of numbers above {self.above:g} and at most {self.high:g}"

    def allows(self, value: Any) -> bool:
        kind = Number(self.above, self.high, above=True)
        return isinstance(value, list | tuple) and len(value) > 0 and all(map(kind.allows, value))

    def parse(self, text: str) -> Any:
        return [parsed_number(part, int, float) for part in text.split(":")]


@dataclass(frozen=True)
class ByColumn(Shape):
    """Something for each of some columns.

    Args:
        kind: What it may be for one column.
        example: How it is typed.
        for_all: Whether one for all columns will do too.
    """

    kind: Shape
    example: str
    for_all: bool = False

    @property
    def choices(self) -> tuple[str, ...]:
        return self.kind.choices

    @property
    def form(self) -> str:
        columns = ", for all columns or per column" if self.for_all else " per column"
        return f"{self.kind.form}{columns}, such as {self.example}"

    def allows(self, value: Any) -> bool:
        if isinstance(value, Mapping):
            return all(isinstance(name, str) and self.kind.allows(item) for name, item in value.items())
        return self.for_all and self.kind.allows(value)

    def parse(self, text: str) -> Any:
        """Columns and what is theirs: `a=x,b=y`; a part without `=` belongs to the column before it."""
        if "=" not in text:
            return self.kind.parse(text) if self.for_all else text
        parts: list[str] = []
        for part in text.split(","):
            if "=" in part or not parts:
                parts.append(part)
            else:
                parts[-1] += f",{part}"
        pairs = [(name.strip(), equals, value) for name, equals, value in (part.partition("=") for part in parts)]
        names = {name for name, equals, _ in pairs if name and equals}
        if len(names) < len(pairs):  # a part without a column, or two for the same
            return text
        return {name: self.kind.parse(value) for name, _, value in pairs}

    def parse_each(self, texts: Sequence[str]) -> Any:
        """What was typed column by column; the first `=` of each ends the name of the column."""
        if self.for_all and len(texts) == 1 and "=" not in texts[0]:
            return self.kind.parse(texts[0])
        found: dict[str, Any] = {}
        for text in texts:
            column, equals, value = text.partition("=")
            if not equals or not column or not value:
                raise PolicyError(f"must look like {self.example}. Got {shown(text)}.")
            found[column] = self.kind.parse(value)
        return found
