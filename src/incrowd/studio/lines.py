"""The same release without the studio: the command, and the lines of Python."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any


def command(table: str, policy: str, output: str, key: str) -> str:
    """The command that makes the same release, in the folder of the studio."""
    parts = ["incrowd", "anonymize", _path(table), "-o", output, "--policy", policy, "--key", key]
    return " ".join(shlex.quote(part) for part in parts)


def _path(text: str) -> str:
    """A path that no program takes for an option."""
    return f"./{text}" if text.startswith("-") else text


def python(table: str, words: Mapping[str, Any], home: str, output: str, key: str) -> str:
    """The lines of Python that make the same release, in the folder of the studio.

    Args:
        table: The table, relative to that folder.
        words: What the policy file says.
        home: The folder of the policy file, relative to that of the studio.
        output: Where the release goes.
        key: The file of the key of the release.
    """
    given = {word: value for word, value in words.items() if word != "csv" and value not in (None, [], {})}
    if "population_table" in given:
        given["population_table"] = str(PurePosixPath(home) / given["population_table"])
    if "taxonomies" in given:
        given["taxonomies"] = _taxonomies(given["taxonomies"], home)
    given |= {**words.get("csv", {}), "key": key}
    lines = ["import incrowd", "", "release = incrowd.anonymize(", f"    {_path(table)!r},"]
    for word, value in given.items():
        lines += _entry(word, value)
    return "\n".join([*lines, ")", f"release.write({output!r})"]) + "\n"


def _taxonomies(given: Any, home: str) -> Any:
    if isinstance(given, str):
        return str(PurePosixPath(home) / given)
    return {
        column: str(PurePosixPath(home) / item) if isinstance(item, str) else item for column, item in given.items()
    }


def _entry(word: str, value: Any) -> list[str]:
    line = f"    {word}={value!r},"
    if len(line) <= 100 or not isinstance(value, dict | list):
        return [line]
    if isinstance(value, dict):
        return [f"    {word}={{", *(f"        {key!r}: {each!r}," for key, each in value.items()), "    },"]
    return [f"    {word}=[", *(f"        {each!r}," for each in value), "    ],"]


def relative(path: Path, folder: Path) -> str:
    """A path as it is typed in a folder."""
    return path.relative_to(folder).as_posix()
