"""What a column looks like, with reasons: what its values are like, weighed with how many there are.

A finding never shows a value: it may be printed, logged, or written into a policy file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from incrowd.inspection import detectors
from incrowd.inspection.words import FLAGS, called, is_of_a_thing, suggests

MOST = 0.8  # a column is of a kind if this share of its distinct values is
NEARLY_ALL = 0.9
SEVERAL_RECORDS = 20  # fewer say little
RISKY = {  # and what is said of such a column
    "name": "looks like names of people",
    "e-mail": "looks like e-mail addresses",
    "phone": "looks like phone numbers",
    "id": "looks like ids or case numbers",
    "address": "looks like addresses",
    "URL": "looks like web addresses",
    "free text": "looks like free text",
    "near-unique": "is nearly unique",
    "repeats": "has several rows per person",
    "date of birth": "looks like dates of birth",
    "exact date": "contains exact dates",
    "structure": "contains lists, structures or bytes",
}
DIRECT = ("name", "e-mail", "phone", "id", "address", "URL", "free text")  # point at a person all alone
STOPPING = (*DIRECT, "near-unique", "date of birth", "structure")  # and may not leave as they are unless on purpose
NEAR_UNIQUE = 0.2  # of the records with a value are alone with it

WHOLE, NUMBER, DATE, TIMESTAMP, TEXT, BOOLEAN = "whole number", "number", "date", "timestamp", "text", "boolean"
NOTHING, STRUCTURE = "nothing", "structure"


@dataclass(frozen=True)
class Finding:
    """Something that a column looks like, and why; the reason holds no value."""

    kind: str
    reason: str

    @property
    def is_risky(self) -> bool:
        """Whether a steward should be warned of the column."""
        return self.kind in RISKY


@dataclass(frozen=True)
class Facts:
    """What is known of a column when its findings are looked for.

    Args:
        name: Of the column.
        kind: Its type: one of the constants of this module.
        present: Records that have a value.
        distinct: Distinct values.
        once: Records with a value that no other record has, or none of another person where those are known.
        largest: Records that have the most frequent value.
        sample: Some of the distinct values, as text.
        low: The lowest number, of numbers.
        high: The highest number, of numbers.
        missing: Records that have no value.
        by_people: Whether whose record it is is known.
        first: Of a long table, the records among its first million with a value, and those that are alone with it.
        label: What its file says of it.
    """

    name: str
    kind: str
    present: int
    distinct: int
    once: int
    largest: int
    sample: tuple[str, ...]
    low: float = 0
    high: float = 0
    missing: int = 0
    by_people: bool = False
    first: tuple[int, int] | None = None
    label: str = ""

    @property
    def is_constant(self) -> bool:
        """Whether all records are alike in it: not where some have no value, nor where there is only one record."""
        return self.distinct == 1 and self.missing == 0 and self.present > 1

    @property
    def are_many(self) -> bool:
        """Whether there are so many values that each stands for a few records only."""
        many = self.distinct >= 0.2 * self.present and self.distinct >= min(SEVERAL_RECORDS, self.present) > 1
        return many and self.largest <= max(SEVERAL_RECORDS, 0.1 * self.present)

    @property
    def is_near_unique(self) -> bool:
        """Whether many records have a value that no other record has: in a long table, among its first million.

        So a table of which only the beginning is looked at is judged as one of which all is.
        """
        present, once = self.first or (self.present, self.once)
        return present >= SEVERAL_RECORDS and once >= NEAR_UNIQUE * present

    @property
    def called(self) -> str | None:
        """What it is by its name, whatever its values; None where they only say whether there is one."""
        words = called(self.name)
        kind = None if words is None else words.kind
        flag = len(self.sample) <= 2 and {value.strip().lower() for value in self.sample} <= FLAGS
        flag = flag or (kind not in ("name", "id") and self.distinct <= 2)  # such as codes of a phone or none
        return None if flag or self.is_constant else kind

    def suggests(self, hint: str) -> bool:
        return suggests(self.name, hint)


def findings_of(facts: Facts) -> tuple[Finding, ...]:
    """Everything that a column looks like."""
    if facts.kind == STRUCTURE:
        return (Finding("structure", "what is inside was not looked at"),)
    if facts.kind in (NOTHING, BOOLEAN) or not facts.sample:
        return ()
    first = next((finding for find in _FINDERS if (finding := find(facts)) is not None), None)
    if (first is None or first.kind not in DIRECT) and (kind := facts.called) is not None:
        first = Finding(kind, f"it is called {_CALLED[kind]}")
    return (*([first] if first else []), *_of_counts(facts, first))


def warning_of(name: str, findings: Sequence[Finding]) -> str | None:
    """One line on a column for whoever releases it, None where nothing is risky."""
    risks = [f"{RISKY[finding.kind]} ({finding.reason})" for finding in findings if finding.is_risky]
    return f"column '{name}' " + "; ".join(risks) if risks else None


def stopping(findings: Sequence[Finding]) -> str | None:
    """Why a column may not leave as it is unless on purpose, None where it may."""
    first = next((finding for finding in findings if finding.kind in STOPPING), None)
    return None if first is None else f"{RISKY[first.kind]} ({first.reason})"


def _of_counts(facts: Facts, first: Finding | None) -> Iterator[Finding]:
    if facts.is_near_unique:
        records = "records with a value" if facts.missing else "records"
        alone = "have a value that no other person has" if facts.by_people else "have a unique value"
        present, once = facts.first or (facts.present, facts.once)
        yield Finding("near-unique", f"{_percent(once, present)} of the {records} {alone}")
    several = min(SEVERAL_RECORDS, facts.present) <= facts.distinct < facts.present
    if first is not None and first.kind == "id" and several and not is_of_a_thing(facts.name):
        yield Finding(
            "repeats",
            f"{facts.distinct:,} values in {facts.present:,} records, so k would count rows and not people",
        )


_CALLED = {
    "name": "a name of a person",
    "id": "a number or id of a person",
    "e-mail": "an e-mail address",
    "phone": "a phone number",
    "address": "an address",
    "URL": "a web address",
}


def _email(facts: Facts) -> Finding | None:
    return _hit("e-mail", "an e-mail address", detectors.email_share(facts.sample))


def _phone(facts: Facts) -> Finding | None:
    if facts.kind not in (TEXT, WHOLE):
        return None
    found = detectors.phone_share(facts.sample, named=facts.suggests("phone"))
    return _hit("phone", "a phone number", found) if facts.are_many else None


def _date(facts: Facts) -> Finding | None:
    written = facts.kind in (DATE, TIMESTAMP)
    if not written and (facts.kind not in (TEXT, WHOLE) or detectors.date_order(facts.sample) is None):
        return None
    days = [parts for value in facts.sample if (parts := detectors.date_parts(value)) is not None]
    if days and all(day == 1 for _, _, day in days) and len(days) > 1 and facts.kind != TIMESTAMP:
        return Finding("month", "its dates are all first days of a month")
    if facts.suggests("birth"):
        return Finding("date of birth", "it contains exact dates, and its name suggests a birth date")
    years = {year for year, _, _ in days}
    if days and max(years) - min(years) >= 50:
        return Finding("date of birth", "it contains exact dates that span 50 years or more, as dates of birth do")
    return Finding("exact date", "exact dates could reveal a known event")


def _country(facts: Facts) -> Finding | None:
    if facts.kind != TEXT or facts.distinct < 3 or facts.suggests("state"):
        return None
    found = detectors.country_share(facts.sample)
    enough = 0.75 if facts.suggests("country") else 0.95
    return Finding("country", f"{_rounded(found)} of its values are countries") if found >= enough else None


def _diagnosis(facts: Facts) -> Finding | None:
    if facts.kind != TEXT:
        return None
    found = detectors.icd10_share(facts.sample)
    letters, dots = {value[:1] for value in facts.sample}, sum("." in value for value in facts.sample)
    told = facts.suggests("diagnosis") or (len(letters) >= 3 and dots >= len(facts.sample) / 2)
    return (
        Finding("diagnosis", f"{_rounded(found)} of its values are ICD-10 codes")
        if told and found >= NEARLY_ALL
        else None
    )


def _postal(facts: Facts) -> Finding | None:
    if facts.kind not in (TEXT, WHOLE):
        return None
    found = detectors.postal_share(facts.sample, named=facts.suggests("zip"))
    return _hit("zip code", "a postal code", found) if found >= NEARLY_ALL and facts.distinct > 1 else None


def _code(facts: Facts) -> Finding | None:
    if facts.kind not in (TEXT, WHOLE) or not facts.suggests("code") or facts.distinct < 10:
        return None
    found = max(detectors.sector_share(facts.sample), detectors.occupation_share(facts.sample))
    return _hit("code", "a code of industries or occupations", found) if found >= NEARLY_ALL else None


def _age(facts: Facts) -> Finding | None:
    if facts.kind in (WHOLE, NUMBER) and facts.suggests("age") and facts.low >= 0 and facts.high <= 125:
        return Finding("age", "it is called age, and contains numbers from 0 to 125")
    return None


def _year(facts: Facts) -> Finding | None:
    called = facts.suggests("year") or facts.suggests("birth")
    if facts.kind == WHOLE and called and facts.low >= 1850 and facts.high <= 2100 and facts.distinct > 1:
        return Finding("year", "it contains years")
    return None


def _id(facts: Facts) -> Finding | None:
    if facts.kind not in (TEXT, WHOLE) or not facts.are_many:
        return None
    named, near_key = facts.suggests("id"), facts.distinct >= 0.5 * facts.present
    if detectors.id_share(facts.sample) >= MOST:
        return Finding("id", "its values are made of letters and digits, as numbers of cases and accounts are")
    if detectors.digits_share(facts.sample) < MOST:
        return None
    if named and (near_key or facts.kind == WHOLE):
        return Finding(
            "id", f"it is called a number or id, and has {facts.distinct:,} values in {facts.present:,} records"
        )
    dense = facts.kind == WHOLE and facts.distinct >= 0.95 * (facts.high - facts.low + 1)
    even = facts.distinct >= 0.9 * facts.present or facts.largest <= max(SEVERAL_RECORDS, 0.01 * facts.present)
    if dense and near_key and even and facts.distinct >= min(facts.present, 2 * SEVERAL_RECORDS):
        return Finding("id", "its values are running numbers")
    lengths = {len(value) for value in facts.sample}
    if near_key and len(lengths) == 1 and lengths.pop() >= 7:
        return Finding("id", "its values are numbers of the same length, and almost none occurs twice")
    return None


def _name(facts: Facts) -> Finding | None:
    if facts.kind != TEXT:
        return None
    known, full = detectors.first_name_share(facts.sample), detectors.full_name_share(facts.sample)
    reason = f"{_rounded(known)} of its values contain a common first name"
    if known >= 0.3 and (full >= 0.6 or detectors.single_name_share(facts.sample) >= MOST):
        return Finding("name", reason)
    if facts.suggests("name") and facts.are_many and max(full, detectors.single_name_share(facts.sample)) >= MOST:
        return Finding("name", "its values are words with capitals, and it is called a name")
    many = facts.distinct >= 0.9 * facts.present >= SEVERAL_RECORDS
    return Finding("name", reason) if many and full >= NEARLY_ALL and known >= 0.1 else None


def _url(facts: Facts) -> Finding | None:
    return _hit("URL", "a web address", detectors.url_share(facts.sample)) if facts.kind == TEXT else None


def _address(facts: Facts) -> Finding | None:
    if facts.kind != TEXT or not facts.are_many:
        return None
    return _hit("address", "a street and a number", detectors.address_share(facts.sample))


def _free_text(facts: Facts) -> Finding | None:
    if facts.kind != TEXT or not facts.are_many or detectors.free_text_share(facts.sample) < 0.5:
        return None
    return Finding("free text", "its values are sentences, which may say anything")


_FINDERS = (
    _email,
    _url,
    _phone,
    _date,
    _country,
    _diagnosis,
    _postal,
    _age,
    _year,
    _code,
    _id,
    _name,
    _address,
    _free_text,
)


def _hit(kind: str, noun: str, share: float) -> Finding | None:
    return Finding(kind, f"{_rounded(share)} of its values look like {noun}") if share >= MOST else None


def _rounded(share: float) -> str:
    return f"{100 * share:.0f} %"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part // max(1, whole)} %"
