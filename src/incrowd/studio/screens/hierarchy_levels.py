"""The levels of a rule that can be switched on and off: spans of a calendar, and how many characters of a code stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from incrowd.errors import PolicyError
from incrowd.studio.screens.screen import OUT_OF_DATE
from incrowd.taxonomies.calendar import LEVELS

MOST_CHARACTERS = 12


def rule_levels(item: Any, values: Sequence[str]) -> list[dict[str, Any]]:
    """The levels that a rule could have, from fine to coarse, and whether it has each; none for other hierarchies."""
    if not isinstance(item, Mapping):
        return []
    if "calendar" in item:
        return [{"value": name, "name": name, "on": name in item["calendar"]} for name in LEVELS]
    if "prefix" not in item:
        return []
    longest = min(max(map(len, values), default=0) - 1, MOST_CHARACTERS)
    known = sorted({*range(1, longest + 1), *item["prefix"]}, reverse=True)
    return [
        {"value": str(size), "name": f"{size} character{'s' if size > 1 else ''}", "on": size in item["prefix"]}
        for size in known
    ]


def with_level(item: Any, values: Sequence[str], name: str) -> dict[str, Any]:
    """The rule with a level more, or less if it has it."""
    levels = rule_levels(item, values)
    if name not in {level["value"] for level in levels}:
        raise PolicyError(OUT_OF_DATE)
    kept = [level["value"] for level in levels if level["on"] != (level["value"] == name)]
    if not kept:
        raise PolicyError("a hierarchy needs at least one level; start over from no hierarchy to remove it")
    word = "calendar" if "calendar" in item else "prefix"
    return {**item, word: kept if word == "calendar" else [int(size) for size in kept]}
