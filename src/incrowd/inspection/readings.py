"""How values of quasi-identifiers are read where the user says nothing of them: as codes, dates, countries, diagnoses.

What is read follows from the kind of the column, not from how many have which value, so that it reveals nothing: the
same rule for every column of postal codes. Numbers and ISO dates stay what they are, and are joined in intervals.
"""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from incrowd.inspection.columns import SAMPLE, sample_of
from incrowd.inspection.detectors import date_order
from incrowd.inspection.findings import TEXT, WHOLE, Facts, findings_of
from incrowd.taxonomies.rules import Calendar, Domain, Prefix, Rule

CODES = Prefix((5, 4, 3, 2, 1))
_RULES: dict[str, Rule] = {
    "zip code": CODES,
    "code": CODES,
    "country": Domain("country"),
    "diagnosis": Domain("icd10"),
}
_DATES = ("date of birth", "exact date", "month")
_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([ T].*)?")


def rule_for(name: str, values: pa.Array) -> Rule | None:
    """The rule by which the distinct values of a column are grouped, None where they are plain numbers or texts."""
    whole = pa.types.is_integer(values.type)
    if len(values) < 3 or not (whole or pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return None
    many = len(values) > SAMPLE
    texts = sample_of(values.take(pc.array_sort_indices(values)) if many else values)  # whatever the order of rows
    whole = whole or all(text.isdecimal() for text in texts)
    low, high = (float(min(map(int, texts))), float(max(map(int, texts)))) if whole else (0, 0)
    facts = Facts(name, WHOLE if whole else TEXT, len(values), len(values), 0, 1, texts, low, high)
    kind = next((finding.kind for finding in findings_of(facts)), "")
    if kind not in _DATES:
        return _RULES.get(kind)
    order = date_order(texts)
    if order is None or all(map(_ISO.fullmatch, texts)):
        return None
    day = ("day",) if any(":" in text for text in texts) else ()
    return Calendar((*day, "month", "quarter", "year", "decade"), order)
