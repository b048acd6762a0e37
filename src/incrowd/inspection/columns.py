"""From the counted values of a column to what people want to know of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import DataError
from incrowd.formats.sources import is_text
from incrowd.inspection import findings as kinds
from incrowd.inspection.concepts import INSENSITIVE, QUASI_IDENTIFIER, SENSITIVE
from incrowd.inspection.counting import CountedColumn, Counts
from incrowd.inspection.detectors import country_share
from incrowd.inspection.findings import Facts, Finding, findings_of, warning_of
from incrowd.inspection.proposals import Hierarchy, ProposedRole, hierarchy_of
from incrowd.inspection.relations import Ordered, may_be_person
from incrowd.table.arrays import text_array, to_arrow, to_numpy
from incrowd.table.exact_numbers import Numbers
from incrowd.table.missing import is_missing
from incrowd.table.scales import Scale, scale_of, text_of, with_points

SAMPLE = 2_000  # distinct values that detectors look at
MOST_WORDS = 3  # that may stand for a missing value among numbers
SEVERAL = 5  # records, or people, that have such a word or number
TOP = 5  # values that are listed
QUANTILES = (0, 5, 25, 50, 75, 95, 100)  # percent
_TOKENS = frozenset(("", "?", "na", "n/a", "#n/a", "<na>", "nan", "null", "(null)", "nil", ".", "-", "--", "*"))
_KINDS = {"integer": kinds.WHOLE, "number": kinds.NUMBER, "date": kinds.DATE, "timestamp": kinds.TIMESTAMP}


@dataclass(frozen=True)
class Column:
    """A column, what its values look like, and what is proposed for it.

    Args:
        name: Of the column.
        kind: Whole number, number, date, timestamp, text, boolean, nothing or structure.
        records: Records that were counted; all of the table, unless it has too many distinct values.
        missing: Those without a value.
        distinct: Distinct values.
        once: Values that only one record has, or only one person where those are known.
        single: Records with such a value.
        quantiles: Of numbers and dates: percent and value.
        top: Of all others: the most frequent values and their counts.
        findings: What it looks like.
        role: The proposed role.
        hierarchy: The proposed hierarchy, of a quasi-identifier.
        declared: The type that a policy has to declare, where the table alone does not say it.
        far: A number such as 999 that is far from all others, if several have it: it may stand for a missing one.
        padded: Whether some of its values differ only in blanks around them.
    """

    name: str
    kind: str
    records: int
    missing: int
    distinct: int
    once: int
    single: int
    quantiles: tuple[tuple[int, str], ...]
    top: tuple[tuple[str, int], ...]
    findings: tuple[Finding, ...]
    role: ProposedRole
    hierarchy: Hierarchy
    declared: str | None = None
    far: str | None = None
    padded: bool = False

    @property
    def share_once(self) -> float:
        """The share of its values that only one record, or person, has."""
        return self.once / max(1, self.distinct)

    @property
    def alone(self) -> float:
        """The share of records that are unique on this column."""
        return self.single / max(1, self.records)

    @property
    def warning(self) -> str | None:
        """What a steward should know of it before anything is released, None if nothing."""
        return warning_of(self.name, self.findings)

    @property
    def repeats_people(self) -> bool:
        """Whether it seems to say whose record it is, of people with several."""
        return any(finding.kind == "repeats" for finding in self.findings)

    @property
    def leaves(self) -> bool:
        """Whether it leaves as it is in the proposed role."""
        return self.role.name in (SENSITIVE, INSENSITIVE)

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "type": self.kind,
            "records": self.records,
            "missing": self.missing,
            "distinct": self.distinct,
            "values_that_occur_once": self.share_once,
            "unique_records": self.alone,
            "quantiles": {str(percent): value for percent, value in self.quantiles},
            "top_values": [{"value": value, "records": count} for value, count in self.top],
            "more_values": self.distinct - len(self.top) if self.top else 0,
            "findings": [{"kind": finding.kind, "reason": finding.reason} for finding in self.findings],
            "role": self.role.name,
            "reason": self.role.reason,
            "certainty": self.role.certainty,
            "may_be_target": self.role.may_be_target,
            "hierarchy": self.hierarchy.words,
            "hierarchy_reason": self.hierarchy.reason,
            "may_be_missing": self.far,
        }


def missing_tokens(columns: Sequence[CountedColumn], known: Sequence[str]) -> tuple[str, ...]:
    """The texts in a table that mean a missing value, as they are written there, the plainest first."""
    found: set[str] = set()
    for column in columns:
        if not is_text(column.values.type):
            continue
        lengths = to_numpy(pc.utf8_length(pc.utf8_trim_whitespace(column.values)))
        short = column.values.filter(to_arrow(lengths <= 6))
        lowered = pc.utf8_lower(pc.utf8_trim_whitespace(short))
        tokens = short.filter(pc.is_in(lowered, text_array(sorted(_TOKENS)))).to_pylist()
        if len(tokens) == len(column.values):  # then it says something: a column of stars, or of Namibians
            tokens = [token for token in tokens if not token.strip()]
        found.update(tokens)
        found.update(_among_numbers(column))
        if _holds_namibia(column.values):
            found.discard("NA")
            known = (*known, "NA")
    plainest = sorted(found - set(known), key=lambda token: (not token.strip(), token != token.strip(), token))
    return tuple(plainest)


def _among_numbers(column: CountedColumn) -> list[str]:
    """Words in a column that holds nothing but numbers otherwise, such as "unknown"; several records have each."""
    if len(column.values) <= MOST_WORDS or _is_plain_text(column.values):
        return []
    numbers = to_numpy(pc.match_substring_regex(column.values, r"^\s*[+-]?[0-9.]+\s*$"))
    if numbers.sum() < kinds.NEARLY_ALL * len(numbers) or len(numbers) - numbers.sum() > MOST_WORDS:
        return []
    words = column.values.filter(to_arrow(~numbers & (column.counts >= SEVERAL)))
    return [word for word in words.to_pylist() if not any(map(str.isdigit, word))]


def _holds_namibia(values: pa.Array) -> bool:
    """Whether NA is a country here."""
    if not 3 <= len(values) <= 300 or "NA" not in values.to_pylist():
        return False
    return country_share([value for value in values.to_pylist() if value != "NA"]) >= kinds.NEARLY_ALL


@dataclass(frozen=True)
class Seen:
    """The values of a column without missing ones, and what they look like."""

    values: pa.Array
    counts: Counts
    people: Counts  # who have each; records where people are not known
    scale: Scale | None
    numbers: Numbers | None  # ascending, of numbers and dates
    weights: Counts  # records that have each of those
    declared: str | None
    facts: Facts
    findings: tuple[Finding, ...]
    far: str | None
    ordered: Ordered


def see(column: CountedColumn, tokens: Sequence[str], label: str = "") -> Seen:
    """Look at the values of a column, and at what its file says of it."""
    gone = is_missing(column.values, tokens) if len(column.values) else np.zeros(0, bool)
    values, counts = column.values.filter(to_arrow(~gone)), column.counts[~gone]
    people = counts if column.people is None else column.people[~gone]
    kind, scale, unsorted, declared = _kind(column, values)
    numbers, weights = (None, counts) if unsorted is None else _ascending(unsorted, counts)
    holders = weights if unsorted is None or people is counts else _ascending(unsorted, people)[1]
    far = _far_place(kind, numbers, holders)
    plain = numbers if far is None or numbers is None else np.delete(numbers, far)
    low, high = (0, 0) if plain is None else (plain.item(0), plain.item(-1))
    facts = Facts(
        column.name,
        kind,
        int(counts.sum()),
        len(values),
        int(counts[people == 1].sum()),
        int(counts.max(initial=0)),
        sample_of(values) if kind != kinds.STRUCTURE else (),
        low,
        high,
        column.records - int(counts.sum()),
        by_people=column.people is not None,
        first=_first(column, gone),
        label=label,
    )
    found = findings_of(facts)
    told = None if far is None or numbers is None else str(int(numbers.item(far)))
    number_of = np.full(len(gone) + 1, -1, np.int32)  # the last one for null
    number_of[:-1][~gone] = np.arange(len(values)) if unsorted is None else np.unique(unsorted, return_inverse=True)[1]
    person = kind in (kinds.TEXT, kinds.WHOLE) and may_be_person(len(values), facts.present)
    floats = None if numbers is None else numbers.astype(np.float64)
    ordered = Ordered(number_of[column.codes], len(values), floats, person)
    return Seen(values, counts, people, scale, numbers, weights, declared, facts, found, told, ordered)


def _first(column: CountedColumn, gone: npt.NDArray[np.bool_]) -> tuple[int, int] | None:
    """How many of the first records of a long table have a value, and a value of their own; None of a short one."""
    if column.people is not None or not len(column.values) or len(column.codes) >= column.records:
        return None
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.values))[~gone]
    return int(counts.sum()), int((counts == 1).sum())


def findings_in(column: CountedColumn, tokens: Sequence[str]) -> tuple[Finding, ...]:
    return see(column, tokens).findings


def reading_of(seen: Seen, least: int) -> Hierarchy:
    """How values are best read and generalized: a rule, if one fits, and why.

    Args:
        seen: The values of a column.
        least: How many records, or people, must have a value that the rule names.
    """
    comma = seen.scale is not None and seen.scale.comma
    values = with_points(seen.values) if comma else seen.values  # as rules read them
    return hierarchy_of(seen.facts, seen.findings, values, seen.people, seen.numbers, seen.weights, least)


def describe(column: CountedColumn, seen: Seen, role: ProposedRole, least: int) -> Column:
    """Describe a column; a hierarchy names only values that at least this many records, or people, have."""
    facts = seen.facts
    hierarchy = reading_of(seen, least) if role.name == QUASI_IDENTIFIER else Hierarchy()
    ordered = seen.scale is not None and seen.numbers is not None
    return Column(
        name=column.name,
        kind=facts.kind,
        records=column.records,
        missing=column.records - facts.present,
        distinct=facts.distinct,
        once=int((seen.people == 1).sum()),
        single=facts.once,
        quantiles=_quantiles(seen.scale, seen.numbers, seen.weights) if seen.scale and seen.numbers is not None else (),
        top=() if ordered or facts.kind == kinds.STRUCTURE else _top(seen.values, seen.counts),
        findings=seen.findings,
        role=role,
        hierarchy=hierarchy,
        declared=seen.declared,
        far=seen.far,
        padded=_is_padded(seen.values) if facts.kind == kinds.TEXT else False,
    )


def _is_padded(values: pa.Array) -> bool:
    texts = text_of(values)
    return int(pc.count_distinct(pc.utf8_trim_whitespace(texts)).as_py()) < len(texts)


def _far_place(kind: str, numbers: Numbers | None, holders: Counts) -> int | None:
    """The place of 999, or of -9 below zero, among the numbers: all nines, far from all others, and several have it."""
    if kind not in (kinds.WHOLE, kinds.NUMBER) or numbers is None or len(numbers) < SEVERAL:
        return None
    low, second, last, high = (numbers.item(place) for place in (0, 1, -2, -1))
    if holders[-1] >= SEVERAL and high - last > last - low and high >= 99 and _is_nines(high):
        return len(numbers) - 1
    return 0 if holders[0] >= SEVERAL and low < 0 <= second and _is_nines(-low) else None


def _is_nines(number: float) -> bool:
    return number == int(number) and set(str(int(number))) == {"9"}


def _kind(column: CountedColumn, values: pa.Array) -> tuple[str, Scale | None, Numbers | None, str | None]:
    """The type of a column, its scale and the numbers of its values if it has one, and what a policy must declare."""
    if not column.readable and not pa.types.is_null(column.kind):
        return kinds.STRUCTURE, None, None, None
    if not len(values):
        return kinds.NOTHING, None, None, None
    if pa.types.is_boolean(values.type):
        return kinds.BOOLEAN, None, None, None
    try:
        if _is_plain_text(values):
            return kinds.TEXT, None, None, None
        scale = scale_of(values, column.name, commas=column.commas)
        if scale is not None:
            return _KINDS[scale.kind], scale, scale.numbers(values, column.name), None
    except DataError:
        return kinds.TEXT, None, None, "text"  # numbers with something else among them, or a number that is not finite
    return kinds.TEXT, None, None, None


def _is_plain_text(values: pa.Array) -> bool:
    """Whether a part of the values shows that a long column is text, so that the rest need not be looked at."""
    if len(values) <= SAMPLE or not pa.types.is_string(values.type):
        return False
    few = sample_of(values)
    numbers = sum(value[-1:].isdigit() and value.lstrip("+-")[:1] in "0123456789." for value in few)
    return numbers < 0.2 * len(few)


def sample_of(values: pa.Array) -> tuple[str, ...]:
    """Some of the distinct values, from all parts of the table."""
    if len(values) > SAMPLE:
        values = values.take(to_arrow(np.linspace(0, len(values) - 1, SAMPLE).astype(np.int64)))
    return tuple(text_of(values).to_pylist())


def _ascending(numbers: Numbers, counts: Counts) -> tuple[Numbers, Counts]:
    """The distinct numbers, ascending, and how many records have each: 1 and 1.0 are one number."""
    numbers, place = np.unique(numbers, return_inverse=True)
    return numbers, np.bincount(place, counts).astype(np.int64)


def _quantiles(scale: Scale, numbers: Numbers, counts: Counts) -> tuple[tuple[int, str], ...]:
    upto = counts.cumsum()
    last = int(upto[-1]) - 1
    ranks = [int(np.searchsorted(upto, last * percent // 100, side="right")) for percent in QUANTILES]
    return tuple((percent, scale.text(numbers[rank])) for percent, rank in zip(QUANTILES, ranks, strict=True))


def _top(values: pa.Array, counts: Counts) -> tuple[tuple[str, int], ...]:
    """The most frequent values; of equally frequent ones the first in the alphabet."""
    if not len(values) or counts.max() == 1:  # single people
        return ()
    least = np.partition(counts, max(0, len(counts) - TOP))[max(0, len(counts) - TOP)]
    places = np.flatnonzero(counts >= least)
    texts = text_of(values.take(to_arrow(places)))
    if len(places) > SAMPLE:  # most of them equally rare
        best = texts.take(pc.array_sort_indices(texts)[:SAMPLE])
        places, texts = places[to_numpy(pc.index_in(best, texts))], best
    ranked = sorted(zip((-counts[places]).tolist(), texts.to_pylist(), strict=True))[:TOP]
    return tuple((text, -count) for count, text in ranked)
