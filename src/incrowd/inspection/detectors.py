"""What values look like: pure functions of distinct values, each giving the share of them that fit.

A share near 1 is a hit. Detectors look at single values only; how many records and values there are is for `findings`
to weigh.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

from incrowd.inspection.words import FIRST_NAMES
from incrowd.taxonomies.calendar import ORDERS, parts_of
from incrowd.taxonomies.domains import icd10_chapter, is_code, regions_of

Values = Sequence[str]

_EMAIL = re.compile(r"[^@\s,;]+@[^@\s,;]+\.[^@\s.,;]{2,}")
_URL = re.compile(r"(https?|ftp)://[^\s]+|www\.[^\s.]+\.[^\s]{2,}", re.IGNORECASE)
_STREETS = re.compile(  # in capitals or not: a word, or the end of one
    r"\b(street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|way|square|sq|place|pl|terrace|close|"
    r"rue|chemin|via|viale|piazza|calle|avenida|avenue|plaza|rua|ulica|ul|laan)\b|"
    r"(stra(ss|ß)e|str|weg|gasse|allee|platz|ufer|damm|straat|gatan|vej|vagen|gata|gade)\b",
    re.IGNORECASE,
)
_HOUSE = re.compile(r"(^|[\s,])[0-9]{1,5}[a-zA-Z]?([\s,-]|$)")
_PHONES = tuple(
    map(
        re.compile,
        (
            r"(\+|00)[1-9][0-9 ()./-]{6,18}",  # +49 30 1234567
            r"\(0?[0-9]{2,5}\) ?[0-9][0-9 -]{4,11}",  # (030) 1234567
            r"0[1-9][0-9]{1,4}[ /-][0-9][0-9 -]{3,11}",  # 030-1234567
            r"(1[ .-])?[0-9]{3}[ .-][0-9]{3}[ .-][0-9]{4}",  # 212-555-0123
        ),
    )
)
_BARE_PHONE = re.compile(r"\+?[0-9]{9,13}|[0-9]{3}-[0-9]{4}")
_IDS = tuple(
    map(
        re.compile,
        (
            r"[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}",  # a UUID
            r"(?=.*[0-9])(?=.*[a-fA-F])[0-9a-fA-F]{16,64}",  # a digest
            r"[0-9]{3}-[0-9]{2}-[0-9]{4}",  # a social security number
            r"[0-9]{3}([ -])[0-9]{3}\1[0-9]{3,4}",
            r"[A-Z]{2}[0-9]{2}( ?[0-9A-Z]{4}){3,7}( ?[0-9A-Z]{1,3})?",  # an IBAN
            r"([0-9]{1,3}\.){3}[0-9]{1,3}",  # the address of a computer
            r"(?=.*[0-9].*[0-9])(?=.*[A-Za-z])[A-Za-z0-9][A-Za-z0-9_/#.-]{3,39}",  # P-004711
            r"[0-9]{2,}[-/][0-9]{2,}([-/][0-9]+)*",  # 2020/004711
        ),
    )
)
_DIGITS = re.compile(r"[0-9]+")
_POSTAL = tuple(
    map(
        re.compile,
        (
            r"[0-9]{5}(-[0-9]{4})?",
            r"[A-Z]{1,2}[0-9][A-Z0-9]? ?[0-9][A-Z]{2}",  # United Kingdom
            r"[ABCEGHJ-NPRSTVXY][0-9][A-Z] ?[0-9][A-Z][0-9]",  # Canada
            r"[0-9]{4} ?[A-Z]{2}",  # Netherlands
            r"[0-9]{4}|[0-9]{6}",
        ),
    )
)
_SECTORS = (11, 21, 22, 23, 31, 32, 33, 42, 44, 45, 48, 49, 51, 52, 53, 54, 55, 56, 61, 62, 71, 72, 81, 92, 99)
_WORD = re.compile(r"[^\W\d_]+(['’.-][^\W\d_]+)*\.?")
_WORDS_OF_TEXT = 5


def share(values: Values, fits: Callable[[str], Any]) -> float:
    return sum(bool(fits(value.strip())) for value in values) / max(1, len(values))


def email_share(values: Values) -> float:
    return share(values, _EMAIL.fullmatch)


def url_share(values: Values) -> float:
    return share(values, _URL.fullmatch)


def address_share(values: Values) -> float:
    return share(values, lambda value: _HOUSE.search(value) and _STREETS.search(value))


def phone_share(values: Values, *, named: bool = False) -> float:
    """How many look like a phone number; bare digits do only where the column is called so."""

    def fits(value: str) -> bool:
        if not 7 <= sum(map(str.isdigit, value)) <= 15 or date_parts(value):
            return False
        return any(p.fullmatch(value) for p in _PHONES) or (named and bool(_BARE_PHONE.fullmatch(value)))

    return share(values, fits)


def id_share(values: Values) -> float:
    """Numbers of cases, accounts and devices: letters and digits, or groups of digits."""
    return share(values, lambda value: not date_parts(value) and any(p.fullmatch(value) for p in _IDS))


def digits_share(values: Values) -> float:
    return share(values, _DIGITS.fullmatch)


def first_name_share(values: Values) -> float:
    """How many hold a common first name, among at most five words."""

    def fits(value: str) -> bool:
        words = _words(value)
        return (
            words is not None
            and len(words) <= 5
            and any(_plain(part) in FIRST_NAMES for word in words for part in word.split("-"))
        )

    return share(values, fits)


def full_name_share(values: Values) -> float:
    """How many are two to five words that start with a capital and hold nothing but letters."""

    def fits(value: str) -> bool:
        words = _words(value)
        return words is not None and 2 <= len(words) <= 5 and words[0][0].isupper() and words[-1][0].isupper()

    return share(values, fits)


def single_name_share(values: Values) -> float:
    """How many are one or two words that start with a capital: a first name or a surname."""

    def fits(value: str) -> bool:
        words = _words(value)
        return words is not None and len(words) <= 2 and all(len(word) > 1 and word[0].isupper() for word in words)

    return share(values, fits)


def _words(value: str) -> list[str] | None:
    words = value.replace(",", " ").split()
    return words if words and all(_WORD.fullmatch(word) for word in words) else None


def _plain(word: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", word.lower()) if c.isalpha())


def free_text_share(values: Values) -> float:
    """How many are sentences: five words or more."""
    return share(values, lambda value: len(value.split()) >= _WORDS_OF_TEXT)


def postal_share(values: Values, *, named: bool = False) -> float:
    """How many look like a postal code, all in the form that fits best.

    Digits alone could be any number: they count where one starts with a zero, or where the column is called so.
    """
    best = max((share(values, pattern.fullmatch) for pattern in _POSTAL), default=0.0)
    lengths = {len(value.strip()) for value in values}
    leading = any(value.strip().startswith("0") for value in values)
    letters = digits_share(values) < 0.5 and share(values, _POSTAL[0].fullmatch) < 0.5
    return best if named or letters or (leading and len(lengths) == 1) else 0.0


def sector_share(values: Values) -> float:
    """How many are codes of industries as NAICS has them: two to six digits that start with a sector."""
    return share(values, lambda value: 2 <= len(value) <= 6 and value.isdigit() and int(value[:2]) in _SECTORS)


def occupation_share(values: Values) -> float:
    """How many are codes of four digits, as ISCO and the census have for occupations."""
    return share(values, lambda value: len(value) == 4 and value.isdigit())


def country_share(values: Values) -> float:
    """How many are codes or English names of countries; codes and names do not mix."""
    codes = share(values, is_code)
    return max(codes, share(values, lambda value: len(value) > 3 and regions_of(value)))


def icd10_share(values: Values) -> float:
    return share(values, icd10_chapter)


def date_parts(value: str) -> tuple[int, int, int] | None:
    """Year, month and day, in whatever order they are written; a compact one needs a year of our time."""
    for order in ORDERS:
        parts = parts_of(value, order)
        if parts is not None and (1850 <= parts[0] <= 2100 or not value.isdigit()):
            return parts
    return None


def date_order(values: Values) -> str | None:
    """In which order dates are written, where all values are dates; of several possible ones the first."""
    for order in ORDERS:
        parts = [parts_of(value.strip(), order) for value in values]
        if parts and all(part is not None and 1850 <= part[0] <= 2100 for part in parts):
            return order
    return None
