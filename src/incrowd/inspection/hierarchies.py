"""Which hierarchy to propose for a column of a quasi-identifier. What is proposed was tried on the values at hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from incrowd.errors import TaxonomyError
from incrowd.inspection import findings as kinds
from incrowd.inspection.counting import Counts
from incrowd.inspection.detectors import date_order, date_parts
from incrowd.inspection.findings import Facts, Finding
from incrowd.table.exact_numbers import Numbers
from incrowd.table.scales import text_of
from incrowd.taxonomies.automatic import bounds_of, calendar_of, frequent_of, prefix_of
from incrowd.taxonomies.rules import Domain, Intervals, Rule

MOST_LEAVES = 50_000  # distinct values of which a tree is built here; more numbers are left to the search


@dataclass(frozen=True)
class Hierarchy:
    """A proposed hierarchy.

    Args:
        rule: What builds it, None where the search does without.
        reason: Why this one.
    """

    rule: Rule | None = None
    reason: str = ""

    @property
    def words(self) -> dict[str, Any] | None:
        """The rule in the words of a policy file; None where there is none."""
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
    """The hierarchy of a column.

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
