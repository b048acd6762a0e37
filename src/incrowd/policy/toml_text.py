"""Words of a policy as the text of a policy file, which `policy.toml` reads back as the same words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from typing import Any

from incrowd.policy.population_options import WORDS as PRESENCE
from incrowd.policy.protection import WORDS as PROTECTING

_ABOUT = {
    "quasi_identifiers": "Together these could point at a person; they are generalized.",
    "k": "Everyone stands in a crowd of at least so many.",
    "unit": "Whose record it is: k counts people. The column is dropped.",
    "identifiers": "These are dropped.",
    "target": "What models will predict: the release keeps what predicts it.",
    "sensitive": "These stay as they are, and are worth protecting.",
    "insensitive": "These stay as they are.",
    "missing_values": "These texts stand for a missing value.",
    "method": "How the release is searched for, and options of the method.",
}
_FIRST = ("quasi_identifiers", "k", "unit", "identifiers", "sensitive", *PROTECTING, "insensitive", "target")
_THEN = (*PRESENCE, "missing", "missing_values", "strict", "keep_order", "method")  # then the options of the method
_LAST = ("time_limit",)
_TABLES = {
    "types": "What columns hold, where that is not found out.",
    "ranges": "The lowest and the highest value that anyone may know of.",
    "taxonomies": "How values are generalized: a rule, or a file with one line per value.",
    "csv": "How the file is read.",
}
_LINE = 100  # characters of a list on one line


def policy_text(words: Mapping[str, Any]) -> str:
    """The text of a policy file.

    Args:
        words: Its keys and values as TOML has them; what is None, an empty list or an empty table is left out.
    """
    given = {key: value for key, value in words.items() if value is not None and value not in ([], {})}
    lines: list[str] = []
    tables = {key: value for key, value in given.items() if isinstance(value, Mapping) and key in _TABLES}
    by_column = given.get("sensitive") if isinstance(given.get("sensitive"), Mapping) else None
    for key in _ordered([key for key in given if key not in tables]):
        if key == "sensitive" and by_column is not None:
            continue
        if key in _ABOUT:
            lines += ["", f"# {_ABOUT[key]}"]
        lines += _entry(key, given[key])
    for column, promised in (by_column or {}).items():
        lines += ["", f"[sensitive.{toml_key(column)}]", *_pairs(promised)]
    for key, about in _TABLES.items():
        if key in tables:
            lines += ["", f"# {about}", f"[{key}]", *_pairs(tables[key])]
    return "\n".join(lines).lstrip("\n") + "\n"


def _ordered(keys: list[str]) -> list[str]:
    known = [key for key in (*_FIRST, *_THEN) if key in keys]
    last = [key for key in _LAST if key in keys]
    return [*known, *(key for key in keys if key not in (*known, *last)), *last]


def _pairs(table: Mapping[str, Any]) -> Iterator[str]:
    for key, value in table.items():
        if value is not None:
            yield f"{toml_key(key)} = {toml_value(value)}"


def _entry(key: str, value: Any) -> Iterator[str]:
    line = f"{toml_key(key)} = {toml_value(value)}"
    several = isinstance(value, list | tuple) and (len(line) > _LINE or any(isinstance(v, Mapping) for v in value))
    if not several:
        yield line
        return
    yield f"{toml_key(key)} = ["
    yield from (f"    {toml_value(each)}," for each in value)
    yield "]"


def toml_value(value: Any) -> str:
    """A text, number, truth value, date, list or table in TOML."""
    if isinstance(value, Mapping):
        inside = ", ".join(f"{toml_key(key)} = {toml_value(each)}" for key, each in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    return _text(value) if isinstance(value, str) else repr(value)


def toml_key(name: str) -> str:
    """A name as a key in TOML."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def toml_comment(text: str) -> str:
    """A text that may stand in a comment: on one line, without control characters."""
    return re.sub(r"[\x00-\x1f\x7f\u0085\u2028\u2029]", " ", text)


def _text(text: str) -> str:
    """A text in TOML, which is what JSON makes of it, but for one sign."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
