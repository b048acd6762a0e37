"""Shapes: what a value must be, wherever it comes from, declared once and checked in one place.

A schema is built out of the small shapes below. `check` raises a `SchemaError` that names the first wrong field,
what it must be and what it is; a field that nobody declared is wrong as well. `parse` reads what a person typed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import cached_property
from math import isfinite
from sys import float_info
from typing import Any

from incrowd.errors import did_you_mean, shorten, shown

MOST = 2**63 - 1  # the largest whole number that anything here can count with


class SchemaError(ValueError):
    """A value that is not what its schema says.

    Args:
        place: The field, such as "attributes[0].bounds"; empty for the whole.
        must: What it must be, as in "must be a list of texts".
        got: What it is.
    """

    def __init__(self, place: str, must: str, got: str = "") -> None:
        self.place, self.must, self.got = place, must, got
        subject = f"The '{place}' field" if place else "It"
        super().__init__(f"{subject} must {must}" + (f". Got {got}" if got else ""))


class Shape:
    """What a value may be.

    A shape says `allows`, or, where it looks into parts of the value, has a `check` of its own.
    """

    @property
    def choices(self) -> tuple[str, ...]:
        """The texts that it may be; none if it may be others."""
        return ()

    @property
    def form(self) -> str:
        """What it must be, as in "must be a list of texts"."""
        raise NotImplementedError

    def allows(self, value: Any) -> bool:
        try:
            self.check(value, "")
        except SchemaError:
            return False
        return True

    def check(self, value: Any, place: str) -> None:
        """Raise SchemaError unless the value has this shape."""
        if not self.allows(value):
            self.refuse(value, place)

    def refuse(self, value: Any, place: str) -> None:
        raise SchemaError(place, f"be {self.form}", described(value))

    def plain(self, value: Any) -> Any:
        """The value in one form, if it may have several; anything that it cannot be stays, for `check` to refuse."""
        return value

    def parse(self, text: str) -> Any:
        """The value that was typed; the text itself where it is none, which `check` then refuses."""
        return text

    def parse_each(self, texts: Sequence[str]) -> Any:
        """The value that was typed in several parts; the last one, unless a shape is made of parts."""
        return self.parse(texts[-1])


def described(value: Any) -> str:
    """A wrong value in a message: single values as they are if they are short, anything larger by its kind."""
    if isinstance(value, Mapping):
        return f"a table with {len(value)} keys"
    if isinstance(value, list | tuple | set | frozenset):
        return f"a list of {len(value)}"
    return "nothing" if value is None else shown(value)


def plain_digits(value: Any) -> str | None:
    """How a number that was written in another way is written, such as 0.05 for '5%'; None if it is no number."""
    found = re.fullmatch(r"\s*([+-]?[0-9][0-9,.]*)\s*(%?)\s*", value) if isinstance(value, str) else None
    if found is None:
        return None
    digits, percent = found.groups()
    thousands = re.fullmatch(r"[+-]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?", digits) is not None
    try:
        number = Decimal(digits.replace(",", "" if thousands else "."))
    except InvalidOperation:
        return None
    return f"{(number / 100 if percent else number).normalize():f}"


def _inside(place: str, key: str | int) -> str:
    if isinstance(key, int):
        return f"{place}[{key}]"
    return f"{place}.{key}" if place else key


def parsed_number(text: str, *kinds: Callable[[str], Any]) -> Any:
    """The number that was typed, of the first of some kinds that fits; the text itself if it is none."""
    for kind in kinds:
        try:
            return kind(text) if text.isascii() and "_" not in text else text
        except ValueError:
            continue
    return text


@dataclass(frozen=True)
class Anything(Shape):
    """Whatever it is: somebody else checks it."""

    form = "anything"

    def allows(self, value: Any) -> bool:
        return True


@dataclass(frozen=True)
class Text(Shape):
    """A text that can be written as UTF-8, without halves of characters."""

    blank: bool = True
    pattern: str = ""
    called: str = "text"

    @property
    def form(self) -> str:
        return self.called if self.blank or self.pattern else "text that is not empty"

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    def allows(self, value: Any) -> bool:
        if not isinstance(value, str) or not (self.blank or value) or not (value.isascii() or _is_unicode(value)):
            return False
        return not self.pattern or self._compiled.fullmatch(value) is not None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class Numeric(Shape):
    """A number; one that was written in another way is shown as it should be."""

    def refuse(self, value: Any, place: str) -> None:
        advice, digits = "", plain_digits(value)
        if digits is not None and self.allows(self.parse(digits)):
            advice = f"; write {digits}"
        elif isinstance(value, str) and value.strip().isalpha():
            advice = "; write it in digits"
        raise SchemaError(place, f"be {self.form}", described(value) + advice)


@dataclass(frozen=True)
class Whole(Numeric):
    """A whole number."""

    least: int = -MOST - 1
    most: int = MOST

    @property
    def form(self) -> str:
        if self.most < MOST:
            return f"an integer from {self.least} to {self.most}"
        return f"an integer of at least {self.least}" if self.least > -MOST else "an integer"

    def allows(self, value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and self.least <= value <= self.most

    def parse(self, text: str) -> Any:
        return parsed_number(text, int)


@dataclass(frozen=True)
class Number(Numeric):
    """A finite number that is no larger than a float can be."""

    low: float | None = None
    high: float | None = None
    below: bool = False
    above: bool = False
    noun: str = "a number"

    @property
    def form(self) -> str:
        if self.low is None:
            return "a finite number"
        start = f"{self.noun} {'above' if self.above else 'of at least'} {self.low:g}"
        if self.high is None:
            return start
        if not self.above and not self.below:
            return f"{self.noun} from {self.low:g} to {self.high:g}"
        return f"{start} and {'below' if self.below else 'at most'} {self.high:g}"

    def allows(self, value: Any) -> bool:
        if not is_number(value):
            return False
        if self.low is not None and (value < self.low or (self.above and value == self.low)):
            return False
        return self.high is None or value < self.high or (value == self.high and not self.below)

    def parse(self, text: str) -> Any:
        return parsed_number(text, int, float)


def is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isfinite(value) if isinstance(value, float) else abs(value) <= float_info.max


@dataclass(frozen=True)
class Flag(Shape):
    """True or false."""

    form = "true or false"

    def allows(self, value: Any) -> bool:
        return isinstance(value, bool)

    def parse(self, text: str) -> Any:
        return {"true": True, "yes": True, "false": False, "no": False}.get(text.strip().lower(), text)


@dataclass(frozen=True)
class Nothing(Shape):
    """Null."""

    form = "null"

    def allows(self, value: Any) -> bool:
        return value is None


@dataclass(frozen=True)
class Choice(Shape):
    """One of some texts."""

    values: tuple[str, ...]

    @property
    def choices(self) -> tuple[str, ...]:
        return self.values

    @property
    def form(self) -> str:
        return f"'{self.values[0]}'" if len(self.values) == 1 else f"one of {', '.join(self.values)}"

    def allows(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.values

    def parse(self, text: str) -> Any:
        return text.strip()


@dataclass(frozen=True)
class Either(Shape):
    """One of several shapes."""

    shapes: tuple[Shape, ...]

    @property
    def form(self) -> str:
        return " or ".join(shape.form for shape in self.shapes)

    def allows(self, value: Any) -> bool:
        return any(shape.allows(value) for shape in self.shapes)


@dataclass(frozen=True)
class Maybe(Shape):
    """Something, or nothing; messages speak of the something."""

    shape: Shape

    @property
    def form(self) -> str:
        return self.shape.form

    def check(self, value: Any, place: str) -> None:
        if value is not None:
            self.shape.check(value, place)

    def plain(self, value: Any) -> Any:
        return None if value is None else self.shape.plain(value)

    def parse(self, text: str) -> Any:
        return self.shape.parse(text)


@dataclass(frozen=True)
class ListOf(Shape):
    """A list."""

    item: Shape
    least: int = 0
    most: int = MOST
    distinct: bool = False

    @property
    def form(self) -> str:
        size = f"{self.least}" if self.least == self.most else f"at least {self.least}"
        some = f" of {size}" if self.least else ""
        return f"a list{some}{', each once' if self.distinct else ''} ({self.item.form})"

    def check(self, value: Any, place: str) -> None:
        if not isinstance(value, list | tuple) or not self.least <= len(value) <= self.most:
            self.refuse(value, place)
        for index, item in enumerate(value):
            self.item.check(item, _inside(place, index))
        if self.distinct and len(set(value)) < len(value):
            raise SchemaError(place, "name nothing twice")


@dataclass(frozen=True)
class TableOf(Shape):
    """A table from texts to something."""

    item: Shape

    @property
    def form(self) -> str:
        return f"a table ({self.item.form} by name)"

    def check(self, value: Any, place: str) -> None:
        if not isinstance(value, Mapping):
            self.refuse(value, place)
        for key, item in value.items():
            Text(blank=False).check(key, f"{place} (a key)")
            self.item.check(item, _inside(place, key))


@dataclass(frozen=True)
class Fields(Shape):
    """A table with known fields.

    Args:
        required: The fields that it must have.
        optional: Those that it may have.
        law: What else must hold, once every field fits: raises SchemaError with a place within.
    """

    required: Mapping[str, Shape]
    optional: Mapping[str, Shape] = field(default_factory=dict)
    law: Callable[[Mapping[str, Any], str], None] | None = None

    form = "a table"

    @cached_property
    def _known(self) -> Mapping[str, Shape]:
        return {**self.required, **self.optional}

    def check(self, value: Any, place: str) -> None:
        if not isinstance(value, Mapping):
            self.refuse(value, place)
        for key in value:
            if key not in self._known:
                hint = did_you_mean(str(key), self._known)
                raise SchemaError(
                    place, f"have no field {shown(key)}{hint or f' (but {shorten(list(self._known), 12)})'}"
                )
        for key in self.required:
            if key not in value:
                raise SchemaError(_inside(place, key), "be there")
        for key, item in value.items():
            self._known[key].check(item, _inside(place, key))
        if self.law is not None:
            self.law(value, place)


@dataclass(frozen=True)
class Kinds(Shape):
    """A table whose fields depend on its kind."""

    tag: str
    kinds: Mapping[str, Fields]

    form = "a table"

    def check(self, value: Any, place: str) -> None:
        if not isinstance(value, Mapping):
            self.refuse(value, place)
        tag = value.get(self.tag)
        Choice(tuple(self.kinds)).check(tag, _inside(place, self.tag))
        self.kinds[str(tag)].check({key: item for key, item in value.items() if key != self.tag}, place)
