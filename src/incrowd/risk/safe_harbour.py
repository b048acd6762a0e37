"""The safe-harbour list of the HIPAA privacy rule (45 CFR 164.514 (b) (2)) as a check of columns.

The rule names 18 kinds of identifiers that must be gone. Columns are found by the words in their names, and by what
their values look like. A finding means "look at this column"; no finding is no proof, least of all for free text.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import many
from incrowd.inspection.words import points_at
from incrowd.table.missing import encoded
from incrowd.table.scales import text_of

_YEARS = r"^\[?[0-9]{4}(-[0-9]{4}[)\]]?)?$"
_LEAST_ROWS = 20  # fewer rows of distinct values mean nothing


@dataclass(frozen=True)
class Identifier:
    """One of the 18 kinds of identifiers.

    Args:
        number: Its place in the list of the rule.
        title: What it is, in short.
        looks_like: What its values look like, if that can be told.
        only_named: Whether values are looked at only if the name points at it, too.
        harmless: Values of that form may stay, whatever the name is.
    """

    number: int
    title: str
    looks_like: str = ""
    only_named: bool = False
    harmless: str = ""


# by the key that the words of `incrowd.inspection.words` point with
IDENTIFIERS = {
    "names": Identifier(1, "names of people"),
    "places": Identifier(
        2,
        "places smaller than a state (the first three digits of a zip code may stay where over 20,000 people live)",
        harmless=r"^[0-9]{0,3}[*xX]*$",
    ),
    "dates": Identifier(
        3,
        "dates about a person, except the year",
        looks_like=r"^([0-9]{4}-[0-9]{1,2}-[0-9]{1,2}|[0-9]{1,2}[./-][0-9]{1,2}[./-]([0-9]{4}|[0-9]{2}))\b",
        harmless=_YEARS,
    ),
    "ages": Identifier(3, "ages over 89 (90 or older may be one group)", r"^(9[0-9]|1[0-9]{2})(\.[0-9]+)?$", True),
    "phones": Identifier(4, "telephone numbers", r"^(\+[0-9]|\(?[0-9]{3}\)?[ -])[0-9() -]{6,16}$"),
    "faxes": Identifier(5, "fax numbers"),
    "e-mails": Identifier(6, "e-mail addresses", r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+\.[A-Za-z]{2,}"),
    "social security": Identifier(7, "social security numbers", r"\b[0-9]{3}-[0-9]{2}-[0-9]{4}\b"),
    "medical records": Identifier(8, "medical record numbers"),
    "health plans": Identifier(9, "numbers of health plan members"),
    "accounts": Identifier(10, "account numbers", r"^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$"),
    "licences": Identifier(11, "numbers of certificates and licences"),
    "vehicles": Identifier(12, "vehicles and their plates", r"^[A-HJ-NPR-Z0-9]{8}[0-9X][A-HJ-NPR-Z0-9]{8}$"),
    "devices": Identifier(13, "devices and their serial numbers"),
    "web": Identifier(14, "web addresses", r"\b(https?://|www\.)[^ ]"),
    "internet": Identifier(15, "internet protocol addresses", r"^([0-9]{1,3}\.){3}[0-9]{1,3}$"),
    "biometrics": Identifier(16, "fingerprints, voices and other biometrics"),
    "pictures": Identifier(17, "full-face pictures"),
    "codes": Identifier(18, "any other number or code of one person"),
}
_SUPPRESSED = r"^\**$"


@dataclass(frozen=True)
class Suspicion:
    """A column that may hold an identifier: its number in the rule, its title, and what points at it."""

    column: str
    number: int
    title: str
    why: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass
class SafeHarbour:
    """Looks at the columns of a table, batch by batch."""

    _columns: dict[str, _Column] = field(default_factory=dict)

    def see(self, batch: pa.RecordBatch) -> None:
        for name in batch.schema.names:
            if not pa.types.is_nested(batch.column(name).type):
                self._columns.setdefault(name, _Column(name)).see(batch.column(name))

    def findings(self) -> tuple[Suspicion, ...]:
        """The columns to look at, in the order of the table, then of the rule."""
        return tuple(found for column in self._columns.values() for found in column.findings())


class _Column:
    """One column: which identifiers its name points at, and how many values look like one."""

    def __init__(self, name: str) -> None:
        self.name = name
        pointed = points_at(name)
        self.named = [each for key, each in IDENTIFIERS.items() if key in pointed]
        self.looked = [
            each for each in IDENTIFIERS.values() if each.looks_like and (not each.only_named or each in self.named)
        ]
        self.alike = dict.fromkeys(self.looked, 0)
        self.harmful = dict.fromkeys(self.named, 0)
        self.rows = 0
        self.all_distinct = True

    def see(self, column: pa.Array) -> None:
        """Look at the distinct values of some rows."""
        is_number = pa.types.is_floating(column.type) or pa.types.is_decimal(column.type)
        column = encoded(column, self.name)
        indices = column.indices.drop_null().to_numpy(zero_copy_only=False)
        records = np.bincount(indices, minlength=len(column.dictionary))
        values = text_of(column.dictionary).filter(pa.array(records > 0))
        records = records[records > 0]
        self.rows += len(indices)
        self.all_distinct &= (
            len(records) == len(column) and not is_number and not _all(values, r"^[+-]?[0-9]*\.[0-9]+$")
        )
        for each in self.looked:
            self.alike[each] += int(records[_matching(values, each.looks_like)].sum())
        for each in self.named:
            harmless = _matching(values, _SUPPRESSED)
            if each.harmless:
                harmless |= _matching(values, each.harmless)
            self.harmful[each] += int(records[~harmless].sum())

    def findings(self) -> list[Suspicion]:
        found = {}
        for each in IDENTIFIERS.values():
            if self.alike.get(each):
                found[each] = f"{many(self.alike[each], 'value looks', 'values look')} like it"
            elif self.harmful.get(each) and not each.only_named:
                found[each] = "the name of the column"
        if not found and self.all_distinct and self.rows >= _LEAST_ROWS:
            found[IDENTIFIERS["codes"]] = "no value occurs twice"
        return [Suspicion(self.name, each.number, each.title, why) for each, why in found.items()]


def _matching(values: pa.Array, pattern: str) -> Any:
    return pc.match_substring_regex(values, pattern).fill_null(False).to_numpy(zero_copy_only=False)


def _all(values: pa.Array, pattern: str) -> bool:
    return len(values) > 0 and bool(_matching(values, pattern).all())
