"""An inspection as a commented policy file that runs as it is."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from incrowd.errors import many
from incrowd.inspection.concepts import IDENTIFIER, INSENSITIVE, QUASI_IDENTIFIER, SENSITIVE
from incrowd.inspection.findings import stopping
from incrowd.policy.toml import FILES, QUERY
from incrowd.policy.toml_text import toml_comment, toml_key, toml_value

if TYPE_CHECKING:
    from incrowd.inspection.columns import Column
    from incrowd.inspection.inspection import Inspection

MANY = 15  # quasi-identifiers that cost much of what the table is for
_WORDS = {
    QUASI_IDENTIFIER: ("quasi_identifiers", "Together these could point at a person; they are generalized."),
    IDENTIFIER: ("identifiers", "These are dropped."),
    SENSITIVE: ("sensitive", "These stay as they are, and are worth protecting."),
    INSENSITIVE: ("insensitive", "These stay as they are."),
}


def policy_file(inspection: Inspection, k: int, table: str, policy: str) -> str:
    lines = [
        *_head(inspection, table, policy),
        f"k = {k}  # everyone is in a crowd of at least this many",
        *_roles(inspection),
        *_missing(inspection),
        *_query(inspection),
        *_types(inspection),
        *_taxonomies(inspection),
        *_file(inspection),
    ]
    return "\n".join(lines) + "\n"


def _head(inspection: Inspection, table: str, policy: str) -> Iterator[str]:
    name = toml_comment(inspection.name)
    size = f"{many(inspection.records, 'record')}, {many(len(inspection.columns), 'column')}"
    yield f"# Proposed by 'incrowd inspect' for {name}: {size}."
    yield "# Read it, change what you know better, then run:"
    typed = [shlex.quote(toml_comment(text)) for text in ("people.csv" if table == "the table" else table, policy)]
    yield f"#   incrowd anonymize {typed[0]} -o release.csv --policy {typed[1]}"
    yield "# Bounds are rounded, and values are named only where several records share them."
    if warnings := inspection.warnings:
        yield "#"
        yield from (f"# warning: {toml_comment(text)}" for text in warnings)
    yield ""


def _roles(inspection: Inspection) -> Iterator[str]:
    for role, (word, about) in _WORDS.items():
        columns = inspection.with_role(role)
        yield ""
        yield f"# {about}"
        if role == QUASI_IDENTIFIER and len(columns) > MANY:
            yield f"# {len(columns)} are many: move those that nobody outside could know to insensitive."
        if role == QUASI_IDENTIFIER and not columns:
            yield "# No column looks like one. A release needs at least one: name it here."
        yield from _list(word, columns)
        if role == SENSITIVE and columns:
            yield "# l = 2    # at least this many different values of each in every crowd; the default, 1 for none"
            yield "# t = 0.3  # their distribution in every crowd is within this distance of that in the whole table"
    if unique := [column for column in inspection.columns if column.leaves and stopping(column.findings)]:
        yield ""
        yield "# Nearly unique, but nobody outside should have these numbers: they leave as they are, on purpose."
        yield "# Take out what somebody else may hold: the run then stops until it has another role."
        yield from _list("keep", unique)
    for column in inspection.columns:
        if column.role.may_be_target:
            yield ""
            yield "# If models will predict it, take it out of the list above and say so here:"
            yield f"# target = {toml_value(column.name)}"
    found = [] if inspection.unit_given else [column.name for column in inspection.columns if column.repeats_people]
    verb = "may have" if inspection.unit_given else "seems to have"
    for place, unit in enumerate(dict.fromkeys([*([inspection.unit] if inspection.unit else []), *found])):
        yield ""
        yield f"# One person {verb} several rows: k counts people, by this column, which is dropped."
        yield f"{'' if place == 0 else '# '}unit = {toml_value(unit)}"


def _list(word: str, columns: Sequence[Column]) -> Iterator[str]:
    if not columns:
        yield f"{word} = []"
        return
    yield f"{word} = ["
    names = [f"{toml_value(column.name)}," for column in columns]
    width = min(32, max(map(len, names)))
    for name, column in zip(names, columns, strict=True):
        yield f"    {name:<{width}}  # {column.role.certainty}: {toml_comment(column.role.reason)}"
    yield "]"


def _missing(inspection: Inspection) -> Iterator[str]:
    if inspection.missing_values:
        yield ""
        yield "# These texts seem to mean a missing value."
        yield f"missing_values = {toml_value(list(inspection.missing_values))}"
    yield from (f"# {toml_comment(note)}" for note in inspection.notes)


def _query(inspection: Inspection) -> Iterator[str]:
    if QUERY in inspection.dialect:
        yield ""
        yield "# What was read of the database."
        yield f"{QUERY} = {toml_value(inspection.dialect[QUERY])}"


def _types(inspection: Inspection) -> Iterator[str]:
    declared = [column for column in inspection.with_role(QUASI_IDENTIFIER) if column.declared is not None]
    if declared:
        yield ""
        yield "# Numbers with other values among them: as numbers they could be joined in intervals."
        yield "[types]"
        for column in declared:
            yield f"{toml_key(column.name)} = {toml_value(str(column.declared))}"


def _taxonomies(inspection: Inspection) -> Iterator[str]:
    quasi = inspection.with_role(QUASI_IDENTIFIER)
    if not quasi:
        return
    yield ""
    yield "# How values are generalized: a rule as here, or a file with one line per value: value;group;...;*"
    yield "# Numbers without a rule are joined in intervals that the search finds: narrower, but less round."
    yield "[taxonomies]"
    for column in quasi:
        words, reason = column.hierarchy.words, toml_comment(column.hierarchy.reason)
        if words is None:
            yield f"# {toml_comment(toml_key(column.name))}: {reason}"
            continue
        rule = ", ".join(f"{word} = {toml_value(value)}" for word, value in words.items())
        yield f"{toml_key(column.name)} = {{ {rule} }}  # {reason}"


def _file(inspection: Inspection) -> Iterator[str]:
    for table, words in FILES.items():
        if told := [word for word in words if word in inspection.dialect]:
            yield ""
            yield "# How the file was read."
            yield f"[{table}]"
            yield from (f"{word} = {toml_value(inspection.dialect[word])}" for word in told)
