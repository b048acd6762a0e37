"""Rules for values that everybody knows: countries in regions, diagnoses in chapters."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from incrowd.taxonomies.countries import regions_of
from incrowd.taxonomies.labels import ANY
from incrowd.taxonomies.rules import build, refuse
from incrowd.taxonomies.taxonomy import Taxonomy

__all__ = ["DOMAINS", "Domain", "icd10_chapter"]

UNKNOWN = "elsewhere"  # what the domain does not know

_ICD10 = re.compile(r"([A-Za-z])([0-9])([0-9A-Za-z])(\.?[0-9A-Za-z]{1,4})?")
_CHAPTERS = (  # of the 10th revision of the International Classification of Diseases, by their first code
    ("A00", "A00-B99 infections"),
    ("C00", "C00-D49 neoplasms"),
    ("D50", "D50-D89 blood and immune system"),
    ("E00", "E00-E90 endocrine, nutritional, metabolic"),
    ("F00", "F00-F99 mental and behavioural"),
    ("G00", "G00-G99 nervous system"),
    ("H00", "H00-H59 eye"),
    ("H60", "H60-H95 ear"),
    ("I00", "I00-I99 circulatory system"),
    ("J00", "J00-J99 respiratory system"),
    ("K00", "K00-K95 digestive system"),
    ("L00", "L00-L99 skin"),
    ("M00", "M00-M99 musculoskeletal system"),
    ("N00", "N00-N99 genitourinary system"),
    ("O00", "O00-O99 pregnancy and childbirth"),
    ("P00", "P00-P96 perinatal period"),
    ("Q00", "Q00-Q99 congenital"),
    ("R00", "R00-R99 symptoms and findings"),
    ("S00", "S00-T98 injury and poisoning"),
    ("U00", "U00-U99 special purposes"),
    ("V00", "V00-Y99 external causes"),
    ("Z00", "Z00-Z99 contact with health services"),
)


def icd10_chapter(code: str) -> str | None:
    """The chapter of a diagnosis in ICD-10, None where the text is no such code."""
    if not _ICD10.fullmatch(code.strip()):
        return None
    place = bisect_right([first for first, _ in _CHAPTERS], code.strip()[:3].upper())
    return _CHAPTERS[place - 1][1]


def _of_country(value: str) -> tuple[str, ...] | None:
    return regions_of(value)


def _of_diagnosis(value: str) -> tuple[str, ...] | None:
    chapter = icd10_chapter(value)
    return None if chapter is None else (f"{value.strip()[:3].upper()}.-", chapter)


DOMAINS: dict[str, Callable[[str], tuple[str, ...] | None]] = {"country": _of_country, "icd10": _of_diagnosis}


@dataclass(frozen=True)
class Domain:
    """Groups values of a known domain: FR -> Western Europe -> Europe -> *, or E11.9 -> E11.- -> E00-E90 ... -> *.

    Attributes:
        name: "country" (codes of two or three letters, or English names) or "icd10" (diagnoses).
    """

    name: str

    def __post_init__(self) -> None:
        if self.name not in DOMAINS:
            refuse(self, "name", f"be one of {', '.join(DOMAINS)}", self.name)

    def ancestors(self, value: str) -> tuple[str, ...]:
        """The groups of a value from its parent to the root; values that the domain does not know are one group."""
        return (*(DOMAINS[self.name](value) or (UNKNOWN,)), ANY)

    def build(self, values: Sequence[str]) -> Taxonomy:
        """The taxonomy of the values, group by group in alphabetical order.

        Raises:
            TaxonomyError: There is no value, one is blank, or one is the label of a group.
        """
        return build(self, sorted(set(values), key=lambda value: (*self.ancestors(value)[::-1], value)))
