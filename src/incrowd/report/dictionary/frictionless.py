"""A data dictionary as a Table Schema of the Data Package standard (version 2.0), which Frictionless tools read."""

from __future__ import annotations

import json
from typing import Any

from incrowd.report.dictionary.described import DATETIME, INTEGER, STRING, Column, Dictionary

PROFILE = "https://datapackage.org/profiles/2.0/tableschema.json"


def schema_text(described: Dictionary) -> str:
    schema = {
        "$schema": PROFILE,
        "title": described.file,
        "description": described.promise,
        "fields": [_field(column) for column in described.columns],
        "missingValues": list(described.missing_values),
    }
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def _field(column: Column) -> dict[str, Any]:
    field: dict[str, Any] = {"name": column.name, "type": column.kind, "description": column.about}
    if column.kind == DATETIME:
        field["format"] = "any"  # with a blank or a T between day and time
    constraints: dict[str, Any] = {}
    if column.records and not column.missing:
        constraints["required"] = True
    if column.bounds is not None:
        low, high = (int(bound) if column.kind == INTEGER else bound for bound in column.bounds)
        constraints |= {"minimum": low, "maximum": high}
    if column.values:
        constraints["enum"] = [value.text for value in column.values]
    if column.kind == STRING and any(value.meaning for value in column.values):
        field["categories"] = [{"value": each.text, "label": each.meaning or each.text} for each in column.values]
    return {**field, **({"constraints": constraints} if constraints else {})}
