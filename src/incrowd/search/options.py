"""Options of methods: what each may be, checked and read from text in one place, with one form of sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from incrowd.errors import PolicyError, shown
from incrowd.schemas.shapes import MOST, is_number


class Kind(Protocol):
    """What an option may be."""

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that it may be, none if it is not a word."""

    @property
    def form(self) -> str:
        """What it must be, as in "must be an integer of at least 2"."""

    def allows(self, value: Any) -> bool:
        """Whether a value is allowed."""

    def parse(self, text: str) -> Any:
        """The value that a text stands for; the text itself where it stands for none, which `allows` then refuses."""


@dataclass(frozen=True)
class Choice:
    """One of some words."""

    words: tuple[str, ...]

    @property
    def choices(self) -> tuple[str, ...]:
        """The words."""
        return self.words

    @property
    def form(self) -> str:
        """What it must be."""
        return f"one of {', '.join(self.words)}"

    def allows(self, value: Any) -> bool:
        """One of the words."""
        return isinstance(value, str) and value in self.words

    def parse(self, text: str) -> Any:
        """The word."""
        return text.strip()


@dataclass(frozen=True)
class Whole:
    """A whole number.

    Args:
        least: The smallest that it may be.
    """

    least: int

    choices = ()

    @property
    def form(self) -> str:
        """What it must be."""
        return f"an integer of at least {self.least}"

    def allows(self, value: Any) -> bool:
        """Whole, and large enough."""
        return isinstance(value, int) and not isinstance(value, bool) and self.least <= value <= MOST

    def parse(self, text: str) -> Any:
        """The number."""
        return _number(text, int)


@dataclass(frozen=True)
class Number:
    """A finite number.

    Args:
        low: The lowest that it may be.
        high: The highest that it may be, None for any.
        below: Whether it must lie below the highest.
        above: Whether it must lie above the lowest.
    """

    low: float
    high: float | None = None
    below: bool = False
    above: bool = False

    choices = ()

    @property
    def form(self) -> str:
        """What it must be."""
        start = f"a number {'above' if self.above else 'of at least'} {self.low:g}"
        if self.high is None:
            return start
        if not self.above and not self.below:
            return f"a number from {self.low:g} to {self.high:g}"
        return f"{start} and {'below' if self.below else 'at most'} {self.high:g}"

    def allows(self, value: Any) -> bool:
        """Finite, and within the limits."""
        if not is_number(value):
            return False
        if value < self.low or (self.above and value == self.low):
            return False
        return self.high is None or value < self.high or (value == self.high and not self.below)

    def parse(self, text: str) -> Any:
        """The number."""
        return _number(text, int, float)


@dataclass(frozen=True)
class Flag:
    """True or False."""

    choices = ()
    form = "True or False"

    def allows(self, value: Any) -> bool:
        """A truth value."""
        return isinstance(value, bool)

    def parse(self, text: str) -> Any:
        """Yes or no, in the usual words."""
        return {"true": True, "yes": True, "false": False, "no": False}.get(text.strip().lower(), text)


@dataclass(frozen=True)
class Words:
    """One or several of some words.

    Args:
        words: The words; "all" stands for all of them.
    """

    words: tuple[str, ...]

    @property
    def choices(self) -> tuple[str, ...]:
        """The words, and one for all of them."""
        return ("all", *self.words)

    @property
    def form(self) -> str:
        """What it must be."""
        return f"all, or some of {', '.join(self.words)}"

    def allows(self, value: Any) -> bool:
        """Words that are known."""
        if isinstance(value, str):
            return value == "all" or value in self.words
        return isinstance(value, list | tuple) and all(isinstance(word, str) and word in self.words for word in value)

    def parse(self, text: str) -> Any:
        """Words separated by commas."""
        words = [word.strip() for word in text.split(",")]
        return words[0] if len(words) == 1 else words


@dataclass(frozen=True)
class Texts:
    """A list of texts."""

    choices = ()
    form = "a list of values"

    def allows(self, value: Any) -> bool:
        """Texts, at least one."""
        several = isinstance(value, list | tuple) and len(value) > 0
        return several and all(isinstance(text, str) for text in value)

    def parse(self, text: str) -> Any:
        """Texts separated by commas; none if there is nothing but spaces."""
        return [word.strip() for word in text.split(",")] if text.strip() else []


@dataclass(frozen=True)
class Numbers:
    """A list of numbers above one and at most another."""

    above: float
    high: float

    choices = ()

    @property
    def form(self) -> str:
        """What it must be."""
        return f"a list of numbers above {self.above:g} and at most {self.high:g}"

    def allows(self, value: Any) -> bool:
        """Numbers, at least one."""
        kind = Number(self.above, self.high, above=True)
        return isinstance(value, list | tuple) and len(value) > 0 and all(map(kind.allows, value))

    def parse(self, text: str) -> Any:
        """Numbers separated by colons."""
        return [_number(part, int, float) for part in text.split(":")]


@dataclass(frozen=True)
class ByColumn:
    """Something for each of some columns.

    Args:
        kind: What it may be for one column.
        example: How it is typed.
        for_all: Whether one for all columns will do too.
    """

    kind: Kind
    example: str
    for_all: bool = False

    @property
    def choices(self) -> tuple[str, ...]:
        """The words for one column."""
        return self.kind.choices

    @property
    def form(self) -> str:
        """What it must be."""
        columns = ", for all columns or per column" if self.for_all else " per column"
        return f"{self.kind.form}{columns}, such as {self.example}"

    def allows(self, value: Any) -> bool:
        """A mapping from columns, or one for all of them."""
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


@dataclass(frozen=True)
class Option:
    """An option of a method.

    Args:
        about: One line for people.
        kind: What it may be.
    """

    about: str
    kind: Kind

    def check(self, name: str, value: Any) -> None:
        """Raise PolicyError unless the value is allowed."""
        if not self.kind.allows(value):
            raise PolicyError(f"The '{name}' parameter must be {self.kind.form}. Got {shown(value)}.")

    def typed(self, text: Any) -> Any:
        """The value that was typed for it; what was not typed stays as it is."""
        return self.kind.parse(text) if isinstance(text, str) else text


SHARE = Number(0, 1, below=True)
SUPPRESS = Option("share of the records that may be left out", SHARE)
BOUNDS = Option(
    "bounds of ranges: 'round' numbers of a public grid, or 'exact' values, which are those of the outermost people",
    Choice(("round", "exact")),
)


def _number(text: str, *kinds: Callable[[str], Any]) -> Any:
    for kind in kinds:
        try:
            return kind(text) if text.isascii() and "_" not in text else text
        except ValueError:
            continue
    return text
