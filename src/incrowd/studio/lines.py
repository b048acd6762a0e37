"""The same release without the studio: the command, and the lines of Python."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any


def command(table: str, policy: str, output: str, key: str) -> str:
    parts = ["incrowd", "anonymize", _path(table), "-o", output, "--policy", policy, "--key", key]
    return " ".join(shlex.quote(part) for part in parts)


def _path(text: str) -> str:
    """A path that no program takes for an option."""
    return f"./{text}" if text.startswith("-") else text


def python(table: str, settings: Mapping[str, Any], home: str, output: str, key: str) -> str:
    """The Python code that makes the same release in the folder of the studio; `home` has the policy file."""
    own = ("csv", "attack")  # tables of the file that are about other things
    given = {option: value for option, value in settings.items() if option not in own and value not in (None, [], {})}
    if "population_table" in given:
        given["population_table"] = str(PurePosixPath(home) / given["population_table"])
    if "taxonomies" in given:
        given["taxonomies"] = _taxonomies(given["taxonomies"], home)
    given |= {**settings.get("csv", {}), "key": key}
    lines = ["import incrowd", "", "release = incrowd.anonymize(", f"    {_path(table)!r},"]
    for option, value in given.items():
        lines += _entry(option, value)
    return "\n".join([*lines, ")", f"release.write({output!r})"]) + "\n"


def _taxonomies(given: Any, home: str) -> Any:
    if isinstance(given, str):
        return str(PurePosixPath(home) / given)
    return {
        column: str(PurePosixPath(home) / item) if isinstance(item, str) else item for column, item in given.items()
    }


def _entry(option: str, value: Any) -> list[str]:
    line = f"    {option}={value!r},"
    if len(line) <= 100 or not isinstance(value, dict | list):
        return [line]
    if isinstance(value, dict):
        return [f"    {option}={{", *(f"        {key!r}: {each!r}," for key, each in value.items()), "    },"]
    return [f"    {option}=[", *(f"        {each!r}," for each in value), "    ],"]


def relative(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()
