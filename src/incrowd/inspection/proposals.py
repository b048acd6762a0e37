"""Which role and which hierarchy to propose for a column, and why.

Values decide where they can, then words. What nothing is known of is part of the quasi-identifier, unless it is a
number with decimals, or its table is about something that would hurt. A hierarchy was tried on the values at hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from incrowd.errors import TaxonomyError
from incrowd.inspection import findings as kinds
from incrowd.inspection.concepts import (
    BELIEFS,
    FEW,
    GUESS,
    HEALTH,
    IDENTIFIER,
    INSENSITIVE,
    LAW,
    LIKELY,
    QUASI_IDENTIFIER,
    SENSITIVE,
    SURE,
    TARGETS,
    concept_of,
)
from incrowd.inspection.counting import Counts
from incrowd.inspection.detectors import date_order, date_parts
from incrowd.inspection.findings import DIRECT, NOTHING, STRUCTURE, TEXT, Facts, Finding
from incrowd.inspection.words import words_of
from incrowd.table.exact_numbers import Numbers
from incrowd.table.scales import text_of
from incrowd.taxonomies.automatic import bounds_of, calendar_of, frequent_of, prefix_of
from incrowd.taxonomies.rules import Domain, Intervals, Rule

ROLES = (QUASI_IDENTIFIER, IDENTIFIER, SENSITIVE, INSENSITIVE)
SEVERAL_COLUMNS = 3  # that say what a table is about; those that are sure count twice
SEVERAL_ANSWERS = 5  # on the same scale
_KNOWN_OUTSIDE = ("date of birth", "exact date", "month", "zip code", "country", "age", "code")


@dataclass(frozen=True)
class ProposedRole:
    """A role, why and how sure that is, without any value; `may_be_target` says that models could predict it."""

    name: str
    reason: str
    certainty: str = SURE
    may_be_target: bool = False


OWNER = ProposedRole(IDENTIFIER, "it says whose record it is")


@dataclass(frozen=True)
class Setting:
    """What the other columns of a table say about one of which nothing is known.

    Args:
        field: What the table is about, if several of its columns say the same.
        scales: The lowest and highest numbers that several columns share, as answers to questions do.
    """

    field: str = ""
    scales: frozenset[tuple[float, float]] = frozenset()

    @classmethod
    def of(cls, columns: Sequence[Facts]) -> Setting:
        matches = [concept_of(facts) for facts in columns]
        fields: Counter[str] = Counter()
        for match in matches:
            if match is not None and match.concept.field:
                fields[match.concept.field] += 2 if match.certainty == SURE else 1
        field, weight = max(sorted(fields.items()), key=lambda item: item[1], default=("", 0))
        told = weight > SEVERAL_COLUMNS or weight >= max(2, len(columns) / 5)
        answers = [facts for facts, match in zip(columns, matches, strict=True) if match is None and _is_answer(facts)]
        scales = Counter((facts.low, facts.high) for facts in answers)
        return cls(field if told else "", frozenset(s for s, many in scales.items() if many >= SEVERAL_ANSWERS))


def _is_answer(facts: Facts) -> bool:
    """Whether it may be an answer on a scale, such as 1 to 5."""
    return facts.kind == kinds.WHOLE and facts.low in (0, 1) and 3 <= facts.high <= 11 and facts.distinct > 2


def role_of(facts: Facts, findings: Sequence[Finding], setting: Setting | None = None) -> ProposedRole:
    """The role of a column.

    Args:
        facts: What is known of it.
        findings: What it looks like; this goes before what it is called.
        setting: What the other columns say.
    """
    reasons = {finding.kind: finding.reason for finding in findings}
    if facts.kind == STRUCTURE:
        return ProposedRole(IDENTIFIER, "it contains lists, structures or bytes, which cannot be generalized")
    if facts.kind == NOTHING or facts.is_constant:
        return ProposedRole(INSENSITIVE, "it has no value" if facts.distinct == 0 else "all its values are the same")
    if direct := next((kind for kind in DIRECT if kind in reasons), None):
        return ProposedRole(IDENTIFIER, reasons[direct])
    if known := next((kind for kind in _KNOWN_OUTSIDE if kind in reasons), None):
        return ProposedRole(QUASI_IDENTIFIER, f"known to outsiders: {reasons[known]}")
    if "diagnosis" in reasons:
        return ProposedRole(SENSITIVE, reasons["diagnosis"], may_be_target=_may_be_target(facts))
    if "near-unique" in reasons and facts.kind == TEXT:
        often = 2 * facts.once < facts.present
        return ProposedRole(QUASI_IDENTIFIER if often else IDENTIFIER, reasons["near-unique"], LIKELY)
    target = _may_be_target(facts)
    match = concept_of(facts)
    if match is not None and (not target or match.by_values or match.concept.role == SENSITIVE):
        role = match.concept.role
        return ProposedRole(role, match.concept.reason, match.certainty, target and role == SENSITIVE)
    if target:
        return ProposedRole(SENSITIVE, "its name suggests an outcome that is predicted", LIKELY, target)
    return _guessed(facts, reasons, setting or Setting())


def _guessed(facts: Facts, reasons: dict[str, str], setting: Setting) -> ProposedRole:
    """The role of a column of which neither name nor values say what it is."""
    numbers, field = facts.kind in (kinds.WHOLE, kinds.NUMBER), setting.field
    if facts.kind == kinds.NUMBER and field == HEALTH:
        return ProposedRole(INSENSITIVE, "a measurement in a table about health", GUESS)
    if facts.kind == kinds.NUMBER:
        return ProposedRole(SENSITIVE, "its numbers have decimals, which outsiders hardly know", GUESS)
    if "near-unique" in reasons:
        return ProposedRole(QUASI_IDENTIFIER, reasons["near-unique"], GUESS)
    if _is_answer(facts) and (facts.low, facts.high) in setting.scales:
        return ProposedRole(SENSITIVE, "one of several answers on the same scale", GUESS)
    if field in (HEALTH, LAW, BELIEFS) and numbers and facts.distinct > FEW:
        return ProposedRole(INSENSITIVE, f"a count or a measurement in a table about {field}", GUESS)
    if field in (HEALTH, LAW, BELIEFS):
        return ProposedRole(SENSITIVE, f"its table is about {field}", GUESS)
    return ProposedRole(QUASI_IDENTIFIER, "nothing suggests that outsiders could not know it", GUESS)


def _may_be_target(facts: Facts) -> bool:
    """Whether models may predict it: credit is a target, credit history is none."""
    words = words_of(facts.name)
    named = "".join(words) in TARGETS or bool({"target", "label", "outcome"} & {*words[-1:]})
    return named and 2 <= facts.distinct <= FEW


MOST_LEAVES = 50_000  # distinct values of which a tree is built here; more numbers are left to the search


@dataclass(frozen=True)
class Hierarchy:
    rule: Rule | None = None
    reason: str = ""

    @property
    def words(self) -> dict[str, Any] | None:
        if self.rule is None:
            return None
        words = self.rule.options()
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
