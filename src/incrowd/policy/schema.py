"""The schema of policies: what every word may be, whether it comes from Python, the command line or a policy file.

Words are checked here once, before anything is made of them, so that what follows can rely on their types. What they
mean together (a column with two roles, a range that a taxonomy makes useless) is for `Policy` to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from incrowd.errors import PolicyError, shown
from incrowd.run import LONGEST
from incrowd.schemas.shapes import (
    Anything,
    Choice,
    Flag,
    Maybe,
    SchemaError,
    Shape,
    TableOf,
    Text,
    Whole,
    described,
    is_number,
)

MISSING = ("category", "drop", "error")
TYPES = ("number", "comma", "date", "text")


@dataclass(frozen=True)
class Texts(Shape):
    """One text, or several.

    Args:
        blank: Whether a text may be empty.
    """

    blank: bool = False

    form = "a list of texts"

    def check(self, value: Any, place: str) -> None:
        """Texts."""
        if not isinstance(value, str | tuple):
            raise SchemaError(place, f"be {self.form}", f"{shown(value)}; put quotes around each")
        for text in (value,) if isinstance(value, str) else value:
            if not isinstance(text, str):
                raise SchemaError(place, f"be {self.form}", f"{shown(value)}; put quotes around each")
            Text(blank=self.blank).check(text, place)


@dataclass(frozen=True)
class Range(Shape):
    """A lower and a higher number, date or text of one."""

    form = "a lower and a higher value"

    def check(self, value: Any, place: str) -> None:
        """Two that can be compared, and ascend."""
        if not isinstance(value, list | tuple) or len(value) != 2 or not all(map(_is_bound, value)):
            raise SchemaError(place, f"be {self.form}, each a number or a date", shown(value))
        try:
            ascends = bool(value[0] < value[1])
        except TypeError:  # a number and a date, or a date with a time zone and one without
            ascends = False
        if not ascends:
            raise SchemaError(place, f"be {self.form}", shown(value))


def _is_bound(value: Any) -> bool:
    if isinstance(value, Decimal):
        return value.is_finite()
    if isinstance(value, int) and not isinstance(value, bool):
        return abs(value) < 10**400
    return is_number(value) or isinstance(value, date) or (isinstance(value, str) and 0 < len(value) < 100)


@dataclass(frozen=True)
class Seconds(Shape):
    """A number of seconds."""

    form = f"a number of seconds above 0 and at most {LONGEST:g}"

    def check(self, value: Any, place: str) -> None:
        """Above 0, and not so many that no clock counts them."""
        if not is_number(value) or not 0 < value <= LONGEST:
            raise SchemaError(place, f"be {self.form}", shown(value))


@dataclass(frozen=True)
class Bytes(Shape):
    """An amount of memory."""

    form = "an amount of memory such as '2GB' or '500MB'"

    def check(self, value: Any, place: str) -> None:
        """A whole number and a unit."""
        if not isinstance(value, str) or not re.fullmatch(r"[1-9][0-9]{0,8} ?[KMGT]i?B", value):
            raise SchemaError(place, f"be {self.form}", shown(value))


@dataclass(frozen=True)
class Folder(Shape):
    """A folder that is there."""

    form = "an existing folder"

    def check(self, value: Any, place: str) -> None:
        """A folder."""
        if not isinstance(value, str | Path) or not _is_path(value) or not Path(value).is_dir():
            raise SchemaError(place, f"be {self.form}", shown(str(value) if isinstance(value, Path) else value))


@dataclass(frozen=True)
class Trees(Shape):
    """Taxonomies: a folder, or by column a file, a rule or a taxonomy; or several of these."""

    form = "a folder, or a table of files, rules or taxonomies by column"

    def check(self, value: Any, place: str) -> None:
        """What can be looked into."""
        if isinstance(value, tuple):
            for part in value:
                self.check(part, place)
            return
        if value is not None and not isinstance(value, str | Path | Mapping):
            raise SchemaError(place, f"be {self.form}", described(value))
        if isinstance(value, str | Path) and not _is_path(value):
            raise SchemaError(place, f"be {self.form}", shown(value))
        for column, item in value.items() if isinstance(value, Mapping) else ():
            Text(blank=False).check(column, f"{place} (a column)")
            is_file = isinstance(item, str | Path) and _is_path(item)
            if not is_file and not isinstance(item, Mapping) and not hasattr(item, "ancestors"):
                raise SchemaError(f"{place}.{column}", "be a file, a rule or a taxonomy", shown(item))


def _is_path(value: str | Path) -> bool:
    """Whether a file could be called so."""
    text = str(value)
    return 0 < len(text) < 4096 and "\0" not in text and all(len(part) < 256 for part in Path(text).parts)


_COLUMN = Maybe(Text(blank=False))
WORDS: Mapping[str, Shape] = {
    "target": _COLUMN,
    "identifiers": Texts(),
    "unit": _COLUMN,
    "insensitive": Texts(),
    "keep": Texts(),
    "taxonomies": Trees(),
    "types": TableOf(Choice(TYPES)),
    "ranges": TableOf(Range()),
    "missing": Choice(MISSING),
    "missing_values": Texts(blank=True),
    "method": Text(blank=False),
    "options": TableOf(Anything()),  # the method checks them
    "strict": Flag(),
    "keep_order": Flag(),
    "time_limit": Maybe(Seconds()),
    "engine": Text(blank=False),
    "memory_limit": Maybe(Bytes()),
    "spill_folder": Maybe(Folder()),
    "master": Maybe(Text(blank=False)),
    "most_tuples": Maybe(Whole(1)),
}


_SINGLE = {"types": "type", "ranges": "range", "taxonomies": "taxonomy"}  # what is said of one column


def checked(words: Mapping[str, Any]) -> dict[str, Any]:
    """The words of a policy, lists of texts as tuples, and tables that are None as empty ones.

    Raises:
        PolicyError: A word is not what it must be.
    """
    found = dict(words)
    for word, shape in WORDS.items():
        if word not in found:
            continue
        several = isinstance(found[word], Iterable) and not isinstance(found[word], str | Mapping)
        if isinstance(shape, Texts) and several:
            found[word] = tuple(found[word])
        if isinstance(shape, TableOf) and found[word] is None:
            found[word] = {}
        check_word(word, found[word], shape)
        if isinstance(shape, Texts) and isinstance(found[word], str):
            found[word] = (found[word],)
    return found


def check_word(word: str, value: Any, shape: Shape | None = None) -> None:
    """Raise PolicyError unless a word is what it must be."""
    try:
        (shape or WORDS[word]).check(value, word)
    except SchemaError as misfit:
        text = str(misfit)
        single, column = _SINGLE.get(word), misfit.place.removeprefix(f"{word}.")
        if single is not None and column != misfit.place:
            text = text.replace(f"The '{misfit.place}' field", f"The {single} of '{column}'", 1)
        raise PolicyError(f"{text.replace(' field must ', ' parameter must ', 1)}.") from None


def check_engine(engine: str, memory_limit: object, spill_folder: object, master: object) -> None:
    """Raise PolicyError for settings that the engine does not have: a limit that nobody keeps is worse than none."""
    if master is not None and engine != "spark":
        raise PolicyError(
            "The 'master' parameter is the cluster of the engine spark. Choose that engine, or leave it out."
        )
    for word, value in (("memory_limit", memory_limit), ("spill_folder", spill_folder)):
        if value is not None and engine == "arrow":
            raise PolicyError(
                f"The '{word}' parameter has no effect on the engine arrow. Choose duckdb, or leave it out."
            )
