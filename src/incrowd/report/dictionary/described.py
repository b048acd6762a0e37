"""What a data dictionary says: the released columns, described from the released rows and the certificate alone.

So it says no more than they do. Values are listed in their own order, never in that of rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

from incrowd.report.columns import read_columns
from incrowd.report.labels import listed, meaning
from incrowd.report.public import Published, promise_of

if TYPE_CHECKING:
    import pyarrow as pa

MOST_LISTED = 100  # values of a column; of one with more, none is listed
LONGEST_LISTED = 200  # characters of a listed value
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,17})?([eE][+-]?[0-9]{1,2})?")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
STRING, INTEGER, NUMBER, DATE, DATETIME = "string", "integer", "number", "date", "datetime"
BOOLEAN, OTHER = "boolean", "any"
NUMERIC = (INTEGER, NUMBER)


@dataclass(frozen=True)
class Value:
    """A released value, what it stands for if that is not itself, and how many records have it."""

    text: str
    meaning: str
    records: int


@dataclass(frozen=True)
class Column:
    """A released column.

    Args:
        kind: What all its values are, such as "integer".
        about: Its role in a sentence.
        missing: Records without a value.
        bounds: The lowest and the highest released value, of numbers and dates.
        values: The released values, where there are few.
    """

    name: str
    kind: str
    about: str
    records: int
    missing: int
    bounds: tuple[str, str] | None
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Dictionary:
    """A release, described.

    Args:
        file: The name of its file, which says its format.
        digest: Of its rows, as in the certificate.
        promise: What everyone in it is promised.
        missing_values: Texts that mean a missing value.
    """

    file: str
    digest: str
    promise: str
    records: int
    missing_values: tuple[str, ...]
    columns: tuple[Column, ...]


def described(published: Published, file: str) -> Dictionary:
    policy, source = published.policy, published.rows
    missing = ("", *(text for text in policy.get("missing_values", ()) if text))
    names = tuple(source.columns)
    columns, types = read_columns(source, names), source.schema
    roles = _roles(published)
    found: list[Column] = []
    for name in names:
        counts = columns.counts(name).tolist()
        records = {label or "": count for label, count in zip(columns.labels[name], counts, strict=True)}
        there = {label: count for label, count in records.items() if label not in missing}
        kind = _kind(types.field(name).type, there)
        gone = sum(count for label, count in records.items() if label in missing)
        about = roles.get(name, "Released unchanged; it has no role in the policy.")
        found.append(Column(name, kind, about, sum(there.values()), gone, _bounds(kind, there), _values(kind, there)))
    digest = published.certificate.output
    return Dictionary(file, digest, promise_of(published), columns.records, missing, tuple(found))


def _roles(published: Published) -> Mapping[str, str]:
    """What the policy says of each column, as the certificate shows it; of several roles, the most telling one."""
    policy = published.policy
    roles = dict.fromkeys(policy.get("keep", ()), "Released unchanged, on purpose.")
    roles |= dict.fromkeys(policy.get("insensitive", ()), "Released unchanged.")
    roles |= dict.fromkeys(policy.get("sensitive", ()), "Sensitive; released unchanged.")
    if target := policy.get("target"):
        roles[target] = "What models are to predict; released unchanged."
    for names in published.quasi_identifiers:
        others = {name: listed([each for each in names if each != name], 8) for name in names}
        roles |= {
            name: "Quasi-identifier" + (f", together with {rest}" if rest else "") + ": values may be generalized."
            for name, rest in others.items()
        }
    for name, form in policy.get("form", {}).items():
        roles[name] = f"Quasi-identifier: each value is the {form.partition(':')[0]} of its crowd."
    return roles


def _kind(stored: pa.DataType, labels: Mapping[str, int]) -> str:
    """What all values of a column are; texts that look alike count as that, so that a CSV file has types too."""
    import pyarrow as pa

    stored = stored.value_type if pa.types.is_dictionary(stored) else stored
    if pa.types.is_boolean(stored):
        return BOOLEAN
    if pa.types.is_timestamp(stored):
        return DATETIME
    if pa.types.is_nested(stored) or pa.types.is_time(stored) or pa.types.is_duration(stored):
        return OTHER
    if pa.types.is_floating(stored) or pa.types.is_decimal(stored):
        return NUMBER if all(map(_NUMBER.fullmatch, labels)) else OTHER  # infinity, or more digits than most can read
    if not labels:
        return INTEGER if pa.types.is_integer(stored) else STRING
    if all(map(_INTEGER.fullmatch, labels)):
        return INTEGER
    if all(map(_NUMBER.fullmatch, labels)):
        return NUMBER
    return DATE if all(map(_is_day, labels)) else STRING


def _is_day(text: str) -> bool:
    try:
        return bool(_DAY.fullmatch(text)) and bool(date.fromisoformat(text))
    except ValueError:
        return False


def _bounds(kind: str, labels: Mapping[str, int]) -> tuple[str, str] | None:
    if kind not in (*NUMERIC, DATE) or not labels:
        return None
    ordered = _in_order(kind, labels)
    return ordered[0], ordered[-1]


def _values(kind: str, labels: Mapping[str, int]) -> tuple[Value, ...]:
    if kind not in (STRING, *NUMERIC, DATE) or len(labels) > MOST_LISTED:
        return ()
    if any(len(label) > LONGEST_LISTED for label in labels):
        return ()
    return tuple(Value(label, meaning(label), labels[label]) for label in _in_order(kind, labels))


def _in_order(kind: str, labels: Mapping[str, int]) -> list[str]:
    return sorted(labels, key=lambda label: (Decimal(label) if kind in NUMERIC else 0, label))
