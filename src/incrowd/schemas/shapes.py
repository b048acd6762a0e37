"""Shapes: what a value read from outside must be, declared field by field and checked in one place.

A schema is built out of the small shapes below. `check` raises a `Misfit` that names the first field that is wrong,
what it must be and what it is; a field that nobody declared is wrong as well. What is checked has been parsed already,
so that lists, tables, texts, numbers, truth values and null are all that can come.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from sys import float_info
from typing import Any, Protocol

from incrowd.errors import did_you_mean, shorten, shown

MOST = 2**63 - 1  # the largest whole number that anything here can count with


class Misfit(ValueError):
    """A value that is not what its schema says.

    Args:
        place: The field, such as "attributes[0].bounds"; empty for the whole.
        must: What it must be, as in "must be a list of texts".
        got: What it is.
    """

    def __init__(self, place: str, must: str, got: str = "") -> None:
        self.place = place
        subject = f"The '{place}' field" if place else "It"
        super().__init__(f"{subject} must {must}" + (f". Got {got}" if got else ""))


class Shape(Protocol):
    """What a value may be."""

    @property
    def form(self) -> str:
        """What it must be, as in "must be a list of texts"."""

    def check(self, value: Any, place: str) -> None:
        """Raise Misfit unless the value has this shape.

        Args:
            value: The value.
            place: What messages call it.
        """


def _refuse(shape: Shape, value: Any, place: str) -> None:
    raise Misfit(place, f"be {shape.form}", described(value))


def described(value: Any) -> str:
    """A wrong value in a message: single values as they are if they are short, anything larger by its kind."""
    if isinstance(value, Mapping):
        return f"a table with {len(value)} keys"
    if isinstance(value, list | tuple | set | frozenset):
        return f"a list of {len(value)}"
    return "nothing" if value is None else shown(value)


def _inside(place: str, key: str | int) -> str:
    """The name of a field within another."""
    if isinstance(key, int):
        return f"{place}[{key}]"
    return f"{place}.{key}" if place else key


@dataclass(frozen=True)
class Anything:
    """Whatever it is: somebody else checks it."""

    form = "anything"

    def check(self, value: Any, place: str) -> None:
        """Nothing to check."""


@dataclass(frozen=True)
class Text:
    """A text that can be written as UTF-8.

    Args:
        blank: Whether it may be empty.
        pattern: What all of it must match.
        called: What a text of that pattern is called.
    """

    blank: bool = True
    pattern: str = ""
    called: str = "text"

    @property
    def form(self) -> str:
        """What it must be."""
        return self.called if self.blank or self.pattern else "text that is not empty"

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    def check(self, value: Any, place: str) -> None:
        """Text, without halves of characters."""
        fits = isinstance(value, str) and (self.blank or value) and (value.isascii() or _is_unicode(value))
        if not fits or (self.pattern and not self._compiled.fullmatch(value)):
            _refuse(self, value, place)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@dataclass(frozen=True)
class Whole:
    """A whole number.

    Args:
        least: The smallest that it may be.
        most: The largest that it may be.
    """

    least: int = -MOST - 1
    most: int = MOST

    @property
    def form(self) -> str:
        """What it must be."""
        if self.most < MOST:
            return f"an integer from {self.least} to {self.most}"
        return f"an integer of at least {self.least}" if self.least > -MOST else "an integer"

    def check(self, value: Any, place: str) -> None:
        """Whole, and within the limits."""
        if isinstance(value, bool) or not isinstance(value, int) or not self.least <= value <= self.most:
            _refuse(self, value, place)


@dataclass(frozen=True)
class Number:
    """A finite number."""

    form = "a finite number"

    def check(self, value: Any, place: str) -> None:
        """Finite, and no larger than a float can be."""
        if not is_number(value):
            _refuse(self, value, place)


def is_number(value: Any) -> bool:
    """Whether a value is a finite number that fits into a float."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isfinite(value) if isinstance(value, float) else abs(value) <= float_info.max


@dataclass(frozen=True)
class Flag:
    """True or false."""

    form = "true or false"

    def check(self, value: Any, place: str) -> None:
        """A truth value."""
        if not isinstance(value, bool):
            _refuse(self, value, place)


@dataclass(frozen=True)
class Nothing:
    """Null."""

    form = "null"

    def check(self, value: Any, place: str) -> None:
        """Null."""
        if value is not None:
            _refuse(self, value, place)


@dataclass(frozen=True)
class Word:
    """One of some words."""

    words: tuple[str, ...]

    @property
    def form(self) -> str:
        """What it must be."""
        return f"'{self.words[0]}'" if len(self.words) == 1 else f"one of {', '.join(self.words)}"

    def check(self, value: Any, place: str) -> None:
        """One of the words."""
        if not isinstance(value, str) or value not in self.words:
            _refuse(self, value, place)


@dataclass(frozen=True)
class Either:
    """One of several shapes."""

    shapes: tuple[Shape, ...]

    @property
    def form(self) -> str:
        """What it must be."""
        return " or ".join(shape.form for shape in self.shapes)

    def check(self, value: Any, place: str) -> None:
        """Whatever fits one of them."""
        if not any(_fits(shape, value) for shape in self.shapes):
            _refuse(self, value, place)


def _fits(shape: Shape, value: Any) -> bool:
    try:
        shape.check(value, "")
    except Misfit:
        return False
    return True


@dataclass(frozen=True)
class Maybe:
    """Something, or nothing; messages speak of the something."""

    shape: Shape

    @property
    def form(self) -> str:
        """What it must be."""
        return self.shape.form

    def check(self, value: Any, place: str) -> None:
        """Nothing, or what fits."""
        if value is not None:
            self.shape.check(value, place)


@dataclass(frozen=True)
class ListOf:
    """A list.

    Args:
        item: What each of its items is.
        least: How many there must be.
        most: How many there may be.
        distinct: Whether no item may come twice.
    """

    item: Shape
    least: int = 0
    most: int = MOST
    distinct: bool = False

    @property
    def form(self) -> str:
        """What it must be."""
        size = f"{self.least}" if self.least == self.most else f"at least {self.least}"
        some = f" of {size}" if self.least else ""
        return f"a list{some}{', each once' if self.distinct else ''} ({self.item.form})"

    def check(self, value: Any, place: str) -> None:
        """Every item."""
        if not isinstance(value, list | tuple) or not self.least <= len(value) <= self.most:
            _refuse(self, value, place)
        for index, item in enumerate(value):
            self.item.check(item, _inside(place, index))
        if self.distinct and len(set(value)) < len(value):
            raise Misfit(place, "name nothing twice")


@dataclass(frozen=True)
class TableOf:
    """A table from texts to something."""

    item: Shape

    @property
    def form(self) -> str:
        """What it must be."""
        return f"a table ({self.item.form} by name)"

    def check(self, value: Any, place: str) -> None:
        """Every key and what is there."""
        if not isinstance(value, Mapping):
            _refuse(self, value, place)
        for key, item in value.items():
            Text(blank=False).check(key, f"{place} (a key)")
            self.item.check(item, _inside(place, key))


@dataclass(frozen=True)
class Fields:
    """A table with known fields.

    Args:
        required: The fields that it must have.
        optional: Those that it may have.
        law: What else must hold, once every field fits: raises Misfit with a place within.
    """

    required: Mapping[str, Shape]
    optional: Mapping[str, Shape] = field(default_factory=dict)
    law: Callable[[Mapping[str, Any], str], None] | None = None

    form = "a table"

    @cached_property
    def _known(self) -> Mapping[str, Shape]:
        return {**self.required, **self.optional}

    def check(self, value: Any, place: str) -> None:
        """Every field, and that there are no others."""
        if not isinstance(value, Mapping):
            _refuse(self, value, place)
        for key in value:
            if key not in self._known:
                hint = did_you_mean(str(key), self._known)
                raise Misfit(place, f"have no field {shown(key)}{hint or f' (but {shorten(list(self._known), 12)})'}")
        for key in self.required:
            if key not in value:
                raise Misfit(_inside(place, key), "be there")
        for key, item in value.items():
            self._known[key].check(item, _inside(place, key))
        if self.law is not None:
            self.law(value, place)


@dataclass(frozen=True)
class Kinds:
    """A table whose fields depend on its kind.

    Args:
        tag: The field that says which kind it is.
        kinds: The other fields of each kind.
    """

    tag: str
    kinds: Mapping[str, Fields]

    form = "a table"

    def check(self, value: Any, place: str) -> None:
        """The kind, and then its fields."""
        if not isinstance(value, Mapping):
            _refuse(self, value, place)
        word = value.get(self.tag)
        Word(tuple(self.kinds)).check(word, _inside(place, self.tag))
        self.kinds[str(word)].check({key: item for key, item in value.items() if key != self.tag}, place)
