"""The settings of a policy as the text of a policy file, which `policy.toml` reads back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from typing import Any

from incrowd.policy.options import OPTIONS

_TABLES = {  # with what is said above those that no option is about
    **dict.fromkeys(("types", "ranges", "levels", "form", "taxonomies"), ""),
    "csv": "How the file is read.",
    "context": "Who gets the release, and why that is acceptable; for the packs of boards.",
}
_LINE = 100  # characters of a list on one line


def policy_text(settings: Mapping[str, Any]) -> str:
    """The text of a policy file.

    Args:
        settings: Its keys and values as TOML has them; what is None, an empty list or an empty table is left out.
    """
    given = {key: value for key, value in settings.items() if value is not None and value not in ([], {})}
    lines: list[str] = []
    tables = {key: value for key, value in given.items() if isinstance(value, Mapping) and key in _TABLES}
    by_column = given.get("sensitive") if isinstance(given.get("sensitive"), Mapping) else None
    for key in _ordered([key for key in given if key not in tables]):
        if key == "sensitive" and by_column is not None:
            continue
        if key in OPTIONS and OPTIONS[key].comment:
            lines += ["", f"# {OPTIONS[key].comment}"]
        lines += _entry(key, given[key])
    for column, promised in (by_column or {}).items():
        lines += ["", f"[sensitive.{toml_key(column)}]", *_pairs(promised)]
    for key in _TABLES:
        if key in tables:
            about = _TABLES[key] or OPTIONS[key].comment
            lines += ["", f"# {about}", f"[{key}]", *_pairs(tables[key])]
    return "\n".join(lines).lstrip("\n") + "\n"


def _ordered(keys: list[str]) -> list[str]:
    """In the order of the declarations; options of the method come after it."""
    names = [name for name in OPTIONS if name in keys]
    after = (
        names.index("method") + 1
        if "method" in names
        else next((place for place, name in enumerate(names) if name == "time_limit"), len(names))
    )
    return [*names[:after], *(key for key in keys if key not in OPTIONS), *names[after:]]


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
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def toml_comment(text: str) -> str:
    """A text that may stand in a comment: on one line, without control characters."""
    return re.sub(r"[\x00-\x1f\x7f\u0085\u2028\u2029]", " ", text)


def _text(text: str) -> str:
    """A text in TOML, which is what JSON makes of it, but for one sign."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
