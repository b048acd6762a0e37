"""What a declaration is: an option is declared once, and every face is made from that.

An option of the policy, a privacy model, a method or an engine is a name and an `Option`. Python checks values by it,
the shell and the studio read with it what people type, help and the reference describe it, policy files name it. What a
value may be is its kind: one of the shapes in `schemas.shapes`, or one of those below, which people type in their own
way.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from incrowd.errors import PolicyError, shown
from incrowd.schemas.shapes import Number, SchemaError, Shape, Text, is_number, parsed_number

COLUMNS, VALUES, SEARCH, FILES = "Columns", "Values", "Search", "Files and output"  # sections of the shell's help
PROMISES, LARGE = "Promises about sensitive columns, N or COLUMN=N", "Databases and large data"
REPORTS = "Reports and more"
MESSAGES = "What is printed"
INPUT = "Input"
LEDGER = "Several releases about the same people"
RISKS = "Promises about risk and a population"


@dataclass(frozen=True)
class Option:
    """An option.

    Args:
        about: One line for people.
        kind: What it may be.
        title: What people call it, if not by its name.
        example: How it is typed.
        noun: What it takes, in the help of the shell.
        section: Where the help of the shell lists it; empty if the shell does not have it.
        names: How the shell spells it, if not like its name.
        repeated: Whether it may be typed several times.
        hidden: Whether help leaves it out.
        each: What is said of one column, such as "type", if it is said by column.
        comment: What a policy file says above it.
    """

    about: str
    kind: Shape
    title: str = ""
    example: str = ""
    noun: str | None = None
    section: str = COLUMNS
    names: tuple[str, ...] = ()
    repeated: bool = False
    hidden: bool = False
    each: str = ""
    comment: str = ""

    def check(self, name: str, value: Any) -> None:
        """Raise PolicyError unless the value is allowed."""
        try:
            if self.each and isinstance(self.kind, ByColumn) and isinstance(value, Mapping):
                for column, item in value.items():
                    Text(blank=False).check(column, f"{name} (a column)")
                    self._check_one(column, item, self.kind.kind)
            else:
                self.kind.check(value, name)
        except SchemaError as wrong:
            got = wrong.got if wrong.place != name or "; " in wrong.got else shown(value)
            raise PolicyError(f"The '{wrong.place}' parameter must {wrong.must}. Got {got}.") from None

    def _check_one(self, column: str, item: Any, kind: Shape) -> None:
        try:
            kind.check(item, column)
        except SchemaError as wrong:
            raise PolicyError(f"The {self.each} of '{column}' must {wrong.must}. Got {wrong.got}.") from None

    def checked(self, name: str, value: Any) -> Any:
        """The value in one form, whichever of the allowed ones it had.

        Raises:
            PolicyError: It is not allowed.
        """
        value = self.kind.plain(value)
        self.check(name, value)
        return value

    def typed(self, text: Any) -> Any:
        """The value that was typed for it, once or several times; what was not typed stays as it is.

        Raises:
            PolicyError: What was typed does not look like its example.
        """
        if isinstance(text, list):
            return self.kind.parse_each(text)
        return self.kind.parse(text) if isinstance(text, str) else text

    def flag(self, name: str) -> str:
        return next((flag for flag in self.names if flag.startswith("--")), "--" + name.replace("_", "-"))


@dataclass(frozen=True)
class SomeOf(Shape):
    """One or several of some names."""

    among: tuple[str, ...]

    @property
    def choices(self) -> tuple[str, ...]:
        return ("all", *self.among)

    @property
    def form(self) -> str:
        return f"all, or some of {', '.join(self.among)}"

    def allows(self, value: Any) -> bool:
        if isinstance(value, str):
            return value == "all" or value in self.among
        return isinstance(value, list | tuple) and all(isinstance(name, str) and name in self.among for name in value)

    def parse(self, text: str) -> Any:
        given = [name.strip() for name in text.split(",")]
        return given[0] if len(given) == 1 else given


@dataclass(frozen=True)
class Texts(Shape):
    """A list of texts; typed, they are separated by commas, and one that has a comma itself is in double quotes.

    Args:
        least: How many there must be.
        blank: Whether a text may be empty.
        single: Whether one text is a list of one.
        split: Whether what is typed may have several, separated by commas.
    """

    least: int = 0
    blank: bool = False
    single: bool = False
    split: bool = True

    form = "a list of texts"

    def check(self, value: Any, place: str) -> None:
        if not isinstance(value, list | tuple) or not all(isinstance(text, str) for text in value):
            raise SchemaError(place, f"be {self.form}", f"{shown(value)}; put quotes around each")
        if len(value) < self.least:
            self.refuse(value, place)
        for text in value:
            Text(blank=self.blank).check(text, place)

    def plain(self, value: Any) -> Any:
        if not self.single:
            return value
        if isinstance(value, str):
            return (value,)
        return tuple(value) if isinstance(value, Iterable) and not isinstance(value, Mapping) else value

    def parse(self, text: str) -> Any:
        return columns_of(text) if self.split else [text]

    def parse_each(self, texts: Sequence[str]) -> Any:
        return [part for text in texts for part in self.parse(text)]


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
class Ascending(Shape):
    """A list of numbers, each larger than the one before; typed, they are separated by colons."""

    form = "a list of numbers in ascending order"

    def allows(self, value: Any) -> bool:
        if not isinstance(value, list | tuple) or not all(map(is_number, value)):
            return False
        return all(low < high for low, high in pairwise(value))

    def plain(self, value: Any) -> Any:
        return tuple(value) if isinstance(value, Iterable) and not isinstance(value, str | Mapping) else value

    def parse(self, text: str) -> Any:
        return [parsed_number(part, int, float) for part in text.split(":")]


@dataclass(frozen=True)
class Groups(Shape):
    """Names of groups, each with its values; a value is in one group."""

    form = "a table that names the values of each group"

    def check(self, value: Any, place: str) -> None:
        if not isinstance(value, Mapping):
            self.refuse(value, place)
        group_of: dict[str, str] = {}
        for name, values in value.items():
            Texts(blank=True).check(values, place)
            for each in values:
                if group_of.setdefault(each, name) != name:
                    raise SchemaError(place, "have each value in one group", f"{shown(each)} in two; leave it in one")

    def plain(self, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        return {str(name): Texts(single=True).plain(values) for name, values in value.items()}


@dataclass(frozen=True)
class Pair(Shape):
    """Two values; typed, they are separated by a comma."""

    first: Shape
    second: Shape
    noun: str

    @property
    def form(self) -> str:
        return self.noun

    def allows(self, value: Any) -> bool:
        if not isinstance(value, list | tuple) or len(value) != 2:
            return False
        return self.first.allows(value[0]) and self.second.allows(value[1])

    def plain(self, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    def parse(self, text: str) -> Any:
        parts = text.split(",")
        return [self.first.parse(parts[0]), self.second.parse(parts[1])] if len(parts) == 2 else text


@dataclass(frozen=True)
class ByColumn(Shape):
    """Something for each of some columns."""

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

    def plain(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {column: self.kind.plain(item) for column, item in value.items()}
        return {} if value is None else value

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
        if self.for_all and not any("=" in text for text in texts):
            if len(texts) > 1 and not isinstance(self.kind, Texts):
                raise PolicyError(f"was given {len(texts)} times; give it once, or by column")
            return self.kind.parse_each(texts)
        found: dict[str, list[str]] = {}
        for text in texts:
            column, equals, value = text.partition("=")
            if not equals and self.for_all:
                raise PolicyError("must be given for all columns or by column; got both")
            if not equals or not column or not value:
                raise PolicyError(f"must look like {self.example}; got {shown(text)}")
            found[column] = [*found.get(column, ()), value] if isinstance(self.kind, Texts) else [value]
        return {column: self.kind.parse_each(values) for column, values in found.items()}
