"""Values and names as a report shows them: short, on one line, and without signs that turn the text around them."""

from __future__ import annotations

import re
from typing import Any

from incrowd.taxonomies.labels import ANY, KNOWN, parse_interval

LONGEST = 80  # characters of a value; a longer one is cut
MOST_COLUMNS = 40  # that are shown one by one
EMPTY = "(empty)"
RECORDS, PEOPLE = "records", "people"  # what risks and the sizes of crowds count
# Control characters, and the marks that turn the direction of the text around them.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
_BOUND = re.compile(r"-?[0-9]")


def shown(value: Any, longest: int = LONGEST) -> str:
    """A value as text that can stand in any report."""
    if value is None or value == "":
        return EMPTY
    text = value if isinstance(value, str) else str(value)
    short = _UNSEEN.sub("\ufffd", text[:longest])
    return short if len(text) <= longest else f"{short}… ({len(text):,} characters)"


def meaning(label: str) -> str:
    """What a released value stands for, as its own text says; empty where it stands for itself."""
    if label == EMPTY:
        return "no value"
    if label == ANY:
        return "any value"
    if label == KNOWN:
        return "any value, but not a missing one"
    if label.startswith("{") and label.endswith("}"):
        return "one of these values"
    try:
        interval = parse_interval(label)
    except ValueError:
        return ""
    bounds = () if interval is None else tuple(b for b in (interval.low, interval.high) if b is not None)
    if interval is None or not bounds or not all(_BOUND.match(bound) for bound in bounds):
        return ""
    if interval.low is None:
        return f"at most {interval.high}" if interval.closed else f"less than {interval.high}"
    if interval.high is None:
        return f"{interval.low} or more"
    end = f"to {interval.high}" if interval.closed else f"up to, but not including, {interval.high}"
    return f"from {interval.low} {end}"


def listed(names: list[str] | tuple[str, ...], most: int = 12) -> str:
    """Some names in one phrase, the first of them if there are many."""
    short = [shown(name, 40) for name in names[:most]]
    return ", ".join(short) + (f" and {len(names) - most:,} more" if len(names) > most else "")
