"""Which role and which hierarchy to propose for a column, and why.

If nothing says otherwise, a column is part of the quasi-identifier. A hierarchy was tried on the values at hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from incrowd.errors import TaxonomyError
from incrowd.inspection import findings as kinds
from incrowd.inspection.counting import Counts
from incrowd.inspection.detectors import date_order, date_parts
from incrowd.inspection.findings import DIRECT, NOTHING, STRUCTURE, TEXT, Facts, Finding
from incrowd.table.exact_numbers import Numbers
from incrowd.table.scales import text_of
from incrowd.taxonomies.automatic import bounds_of, calendar_of, frequent_of, prefix_of
from incrowd.taxonomies.rules import Domain, Intervals, Rule

IDENTIFIER, QUASI_IDENTIFIER, SENSITIVE, INSENSITIVE = "identifier", "quasi-identifier", "sensitive", "insensitive"
ROLES = (QUASI_IDENTIFIER, IDENTIFIER, SENSITIVE, INSENSITIVE)
_KNOWN_OUTSIDE = ("date of birth", "exact date", "month", "zip code", "country", "age", "year", "code")


@dataclass(frozen=True)
class ProposedRole:
    """A role and why, without any value; `may_be_target` says that models could predict it."""

    name: str
    reason: str
    may_be_target: bool = False


OWNER = ProposedRole(IDENTIFIER, "it says whose record it is")


def role_of(facts: Facts, findings: Sequence[Finding]) -> ProposedRole:
    """The role of a column. Values decide, unless it is called after what names people, such as a surname."""
    reasons = {finding.kind: finding.reason for finding in findings}
    target = 2 <= facts.distinct <= 20 and facts.suggests("target")
    if facts.kind == STRUCTURE:
        return ProposedRole(IDENTIFIER, "it contains lists, structures or bytes, which cannot be generalized")
    if facts.kind == NOTHING or facts.is_constant:
        return ProposedRole(INSENSITIVE, "it has no value" if facts.distinct == 0 else "all its values are the same")
    if direct := next((kind for kind in DIRECT if kind in reasons), None):
        return ProposedRole(IDENTIFIER, reasons[direct])
    if known := next((kind for kind in _KNOWN_OUTSIDE if kind in reasons), None):
        return ProposedRole(QUASI_IDENTIFIER, f"known to outsiders: {reasons[known]}")
    if "near-unique" in reasons:
        if facts.kind == TEXT and 2 * facts.once >= facts.present:
            return ProposedRole(IDENTIFIER, reasons["near-unique"])
        return ProposedRole(QUASI_IDENTIFIER, reasons["near-unique"])
    if "diagnosis" in reasons:
        return ProposedRole(SENSITIVE, reasons["diagnosis"])
    if facts.suggests("person") and not target:
        return ProposedRole(QUASI_IDENTIFIER, "its name suggests something that others know of a person")
    if facts.suggests("sensitive") or target:
        called = "sensitive" if facts.suggests("sensitive") else "predicted"
        return ProposedRole(SENSITIVE, f"its name suggests something {called}", target)
    return ProposedRole(QUASI_IDENTIFIER, "others could know it")


MOST_LEAVES = 50_000  # distinct values of which a tree is built here; more numbers are left to the search


@dataclass(frozen=True)
class Hierarchy:
    rule: Rule | None = None
    reason: str = ""

    @property
    def words(self) -> dict[str, Any] | None:
        if self.rule is None:
            return None
        words = self.rule.words()
        usual = {"origin": 0, "other": "other", "order": "ymd"}
        return {word: value for word, value in words.items() if word not in usual or usual[word] != value}


def hierarchy_of(
    facts: Facts,
    findings: Sequence[Finding],
    values: pa.Array,
    counts: Counts,
    numbers: Numbers | None,
    weights: Counts,
    least: int,
) -> Hierarchy:
    """The hierarchy of a column, from its distinct values and how many records or people have each.

    Args:
        facts: What is known of it.
        findings: What it looks like.
        values: Its distinct values.
        counts: How many records, or people, have each.
        numbers: Of numbers and dates: the distinct ones, ascending.
        weights: How many records have each of those.
        least: How many of them a value must have to be named.
    """
    if facts.distinct <= 2:
        return Hierarchy(None, "two values need no groups")
    texts = text_of(values).to_pylist()
    looks = {finding.kind for finding in findings}
    for rule, reason in _candidates(facts, looks, texts, counts, numbers, weights, least):
        if rule is not None and _fits(rule, texts):
            return Hierarchy(rule, reason)
    without = "the search finds intervals itself" if numbers is not None else "a value is shown or suppressed"
    return Hierarchy(None, without)


def _candidates(
    facts: Facts,
    looks: set[str],
    texts: list[str],
    counts: Counts,
    numbers: Numbers | None,
    weights: Counts,
    least: int,
) -> Iterator[tuple[Rule | None, str]]:
    """What could be proposed, the best first."""
    if looks & {"date of birth", "exact date", "month"}:
        years = sorted(parts[0] for value in facts.sample if (parts := date_parts(value)))
        order = date_order(facts.sample) or "ymd"
        if years:
            times = facts.kind == kinds.TIMESTAMP
            yield calendar_of((years[0], years[-1]), order, times=times), "dates by month, quarter and year"
    if "zip code" in looks:
        yield prefix_of(texts), "areas: the first characters of the code"
    if "code" in looks:
        yield prefix_of(texts), "groups of codes: their first digits"
    if "country" in looks:
        yield Domain("country"), "parts of the world"
    if "diagnosis" in looks:
        yield Domain("icd10"), "categories and chapters of ICD-10"
    if "age" in looks or "year" in looks:
        yield Intervals((5, 10, 20)), "5, 10 and 20 years"
    if numbers is not None and facts.kind in (kinds.WHOLE, kinds.NUMBER) and len(numbers) <= MOST_LEAVES:
        yield bounds_of(numbers, weights), "round bounds, with about as many records in each interval"
    if numbers is None:
        yield frequent_of(texts, counts.tolist(), least), "rare values together"


def _fits(rule: Rule, texts: list[str]) -> bool:
    """Whether a rule makes a tree of the values; of many, whether it knows the groups of each."""
    try:
        if len(texts) <= MOST_LEAVES:
            rule.build(texts)
        else:
            for text in texts:
                rule.ancestors(text)
    except TaxonomyError:
        return False
    return True
