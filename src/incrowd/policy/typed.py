"""The words of a policy as they are typed on the command line, turned into the words of `make_policy`."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from incrowd.errors import PolicyError

_MOST_DIGITS = 18  # of a k; more people than that have never lived


def given_words(**typed: Any) -> dict[str, Any]:
    """The words of `make_policy` for the options that were given; those that were not are left out."""
    from incrowd.policy.protection import WORDS as PROTECTING  # needs numpy, which help should not wait for

    words = {key: value for key, value in typed.items() if value is not None and value != []}
    for key in ("identifiers", "sensitive", "insensitive", "keep"):
        if key in words:
            words[key] = columns_of(words[key])
    for key in PROTECTING:
        if key in words:
            words[key] = _protection(key, words[key])
    if "delta_presence" in words:
        words["delta_presence"] = [_number(part) for part in str(words["delta_presence"]).split(",")]
    if "quasi_identifiers" in words:
        words["quasi_identifiers"] = quasi_identifiers(words["quasi_identifiers"], words.get("k"))
    if "types" in words:
        words["types"] = dict(_pair(text, "--type", "age=number") for text in words["types"])
    if "ranges" in words:
        words["ranges"] = dict(_range(text) for text in words["ranges"])
    _add_taxonomies(words)
    return words


def quasi_identifiers(typed: Sequence[str], k: int | None) -> list[Any]:
    """Quasi-identifiers typed as 'education,sex:4'; without ':k' the common k holds, which must not be for nothing."""
    words = [_quasi_identifier(text) for text in typed]
    if k is not None and words and all(isinstance(word, dict) for word in words):
        raise PolicyError(f"every quasi-identifier has its own k, so --k {k} would be ignored; leave one out")
    return words


def _quasi_identifier(text: str) -> Any:
    columns, colon, k = text.rpartition(":")
    if not colon or not is_digits(k.strip()):
        return columns_of(text)  # a column may have a colon in its name
    return {"attributes": columns_of(columns), "k": _number(k)}


def is_digits(text: str) -> bool:
    """Whether a text is a whole number as people type it; to Python, raised and other digits are digits too."""
    return text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS


def columns_of(text: str) -> list[str]:
    """Names separated by commas; one that has a comma itself stands in double quotes, as in a CSV file."""
    names = next(csv.reader([text], skipinitialspace=True), []) if '"' in text else text.split(",")
    return [name.strip() for name in names if name.strip()]


def _protection(word: str, typed: Sequence[str]) -> Any:
    """A word for all sensitive columns, or by column: '3', or 'diagnosis=3' once or several times."""
    option = "--" + word.replace("_", "-")
    by_column = [text.partition("=") for text in typed if "=" in text]
    if by_column and len(by_column) < len(typed):
        raise PolicyError(f"The '{option}' option must be given for all columns or by column. Got both.")
    if not by_column and len(typed) > 1 and word != "harmless":
        raise PolicyError(f"The '{option}' option was given {len(typed)} times; give it once, or by column.")
    if not by_column:
        return _protecting(word, ",".join(typed))
    found: dict[str, Any] = {}
    for column, _, value in by_column:
        known = found.get(column)
        found[column] = (
            [*known, *_protecting(word, value)] if known and word == "harmless" else _protecting(word, value)
        )
    return found


def _protecting(word: str, text: str) -> Any:
    if word == "t_distance":
        return text
    if word == "harmless":
        return columns_of(text)
    if word == "recursive_l":
        return [_number(part) for part in text.split(",")]
    return _number(text)


def _pair(text: str, option: str, example: str) -> tuple[str, str]:
    column, equals, value = text.partition("=")
    if not equals or not column or not value:
        raise PolicyError(f"The '{option}' option must look like {example}. Got '{text}'.")
    return column, value


def _range(text: str) -> tuple[str, tuple[Any, Any]]:
    """A column and its bounds; a time of day has colons of its own, so it is the one in the middle that parts them."""
    column, value = _pair(text, "--range", "age=0:120")
    parts = value.split(":")
    if len(parts) % 2:
        raise PolicyError(
            "The '--range' option must look like age=0:120, or seen=2020-01-01 08:00:2020-12-31 20:00 with as many "
            f"parts on both sides. Got '{text}'."
        )
    middle = len(parts) // 2
    return column, (_number(":".join(parts[:middle])), _number(":".join(parts[middle:])))


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text) if text.isascii() and "_" not in text else text
        except ValueError:
            continue
    return text  # a date


def _add_taxonomies(words: dict[str, Any]) -> None:
    """Join the folder of --taxonomies with the single ones of --taxonomy; the single ones win."""
    single = dict(_taxonomy(text) for text in words.pop("taxonomy", ()))
    if single:
        words["taxonomies"] = (words["taxonomies"], single) if "taxonomies" in words else single


def _taxonomy(text: str) -> tuple[str, Any]:
    column, value = _pair(text, "--taxonomy", "education=education.csv or zip=prefix:3,2")
    kind, colon, numbers = value.partition(":")
    if value != "flat" and not (kind in ("prefix", "widths", "bounds") and colon):
        return column, Path(value)
    from incrowd.taxonomies.rules import rule_of

    return column, rule_of(column, {kind: [_number(number) for number in numbers.split(",")] if colon else True})
