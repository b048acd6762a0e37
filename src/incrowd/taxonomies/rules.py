"""Rules that build a taxonomy when the values of a column are known.

A rule is a frozen part of the policy: `build` makes the taxonomy of the values at hand, `ancestors` names the groups
of any single value, also of one that was not at hand. Those that group numbers are in `number_rules`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

from incrowd.errors import PolicyError, TaxonomyError, UnknownNameError
from incrowd.taxonomies.calendar import LEVELS, ORDERS, parts_of
from incrowd.taxonomies.domains import DOMAINS, UNKNOWN
from incrowd.taxonomies.labels import ANY
from incrowd.taxonomies.number_rules import Bounds, BuiltIntervals, Coding, Intervals
from incrowd.taxonomies.rule import Rule, as_tuple, ascending, refuse

__all__ = [
    "KINDS",
    "MASK",
    "Bounds",
    "BuiltIntervals",
    "Calendar",
    "Coding",
    "Domain",
    "Flat",
    "Frequent",
    "Intervals",
    "Prefix",
    "Rule",
    "rule_of",
]

MASK = "*"  # takes the place of a character


@dataclass(frozen=True)
class Prefix(Rule):
    """Groups values by their first characters: with lengths (3, 2), 12345 -> 123** -> 12*** -> *.

    Attributes:
        lengths: How many characters each level keeps, strictly decreasing, the last at least 1.
    """

    lengths: tuple[int, ...]

    def __post_init__(self) -> None:
        lengths = as_tuple(self, "lengths")
        whole = all(isinstance(length, int) and not isinstance(length, bool) and length > 0 for length in lengths)
        if not whole or not ascending(lengths[::-1]):
            refuse(self, "lengths", "be strictly decreasing whole numbers of at least 1", lengths)

    def ancestors(self, value: str) -> tuple[str, ...]:
        masked = [value[:length].ljust(len(value), MASK) for length in self.lengths]
        return tuple(dict.fromkeys(label for label in (*masked, ANY) if label != value))

    def options(self) -> dict[str, Any]:
        return {"prefix": list(self.lengths)}

    @classmethod
    def of_options(cls, options: Mapping[str, Any]) -> Self:
        return cls(tuple(options["prefix"]))


@dataclass(frozen=True)
class Frequent(Rule):
    """Keeps frequent values right below the root, and groups all others: Malta -> other -> *, but France -> *.

    Attributes:
        values: The frequent values.
        other: The label of all others.
    """

    values: tuple[str, ...]
    other: str = "other"

    def __post_init__(self) -> None:
        if not isinstance(self.values, list | tuple) or not all(isinstance(value, str) for value in self.values):
            refuse(self, "values", "be a list of texts", self.values)
        object.__setattr__(self, "values", tuple(self.values))
        if not isinstance(self.other, str) or not self.other.strip() or self.other in (*self.values, ANY):
            refuse(self, "other", "be a label of its own", self.other)

    def ancestors(self, value: str) -> tuple[str, ...]:
        return (ANY,) if value in self._frequent else (self.other, ANY)

    @cached_property
    def _frequent(self) -> frozenset[str]:
        return frozenset(self.values)

    def options(self) -> dict[str, Any]:
        return {"frequent": list(self.values), "other": self.other}

    @classmethod
    def of_options(cls, options: Mapping[str, Any]) -> Self:
        return cls(options["frequent"], options.get("other", "other"))


@dataclass(frozen=True)
class Flat(Rule):
    """Puts every value right below the root.

    Attributes:
        root: The label of the root, which must be none of the values.
    """

    root: str = ANY

    def ancestors(self, value: str) -> tuple[str, ...]:
        return (self.root,)

    def options(self) -> dict[str, Any]:
        return {"flat": True}

    @classmethod
    def of_options(cls, options: Mapping[str, Any]) -> Self | None:
        return cls() if options["flat"] is True else None


@dataclass(frozen=True)
class Calendar(Rule):
    """Groups dates: with levels (month, quarter, year), 1984-05-17 -> 1984-05 -> 1984-Q2 -> 1984 -> *.

    Times of day are grouped by their day first, if that is asked for.

    Attributes:
        levels: Some of day, month, quarter, year and decade, in this order.
        order: How dates are written: "ymd" (1984-05-17, 19840517), "dmy" (17.05.1984) or "mdy" (05/17/1984), years in
            four digits.
    """

    levels: tuple[str, ...]
    order: str = "ymd"

    def __post_init__(self) -> None:
        known = list(LEVELS)
        if (
            not isinstance(self.levels, list | tuple)
            or not self.levels
            or any(each not in known for each in self.levels)
        ):
            refuse(self, "levels", f"be some of {', '.join(known)}", self.levels)
        object.__setattr__(self, "levels", tuple(self.levels))
        if any(known.index(fine) >= known.index(coarse) for fine, coarse in pairwise(self.levels)):
            refuse(self, "levels", f"go from fine to coarse: {', '.join(known)}", self.levels)
        if self.order not in ORDERS:
            refuse(self, "order", f"be one of {', '.join(ORDERS)}", self.order)

    def ancestors(self, value: str) -> tuple[str, ...]:
        parts = self._parts(value)
        spans = [LEVELS[level](*parts) for level in self.levels]
        return (*(span for span in spans if span != value), ANY)

    def _parts(self, value: str) -> tuple[int, int, int]:
        parts = parts_of(value, self.order)
        if parts is None:
            raise TaxonomyError(
                f"Calendar groups dates written {self.order}, got '{value}'; correct the value, change the order, or "
                "give the column a taxonomy file"
            )
        return parts

    def _place(self, value: str) -> Any:
        return self._parts(value), value

    def options(self) -> dict[str, Any]:
        return {"calendar": list(self.levels), "order": self.order}

    @classmethod
    def of_options(cls, options: Mapping[str, Any]) -> Self:
        return cls(options["calendar"], options.get("order", "ymd"))


@dataclass(frozen=True)
class Domain(Rule):
    """Groups values of a known domain: FR -> Western Europe -> Europe -> *, or E11.9 -> E11.- -> E00-E90 ... -> *.

    Attributes:
        name: "country" (codes of two or three letters, or English names) or "icd10" (diagnoses).
    """

    name: str

    def __post_init__(self) -> None:
        if self.name not in DOMAINS:
            refuse(self, "name", f"be one of {', '.join(DOMAINS)}", self.name)

    def ancestors(self, value: str) -> tuple[str, ...]:
        return (*(DOMAINS[self.name](value) or (UNKNOWN,)), ANY)

    def _place(self, value: str) -> Any:
        return *self.ancestors(value)[::-1], value

    def options(self) -> dict[str, Any]:
        return {"domain": self.name}

    @classmethod
    def of_options(cls, options: Mapping[str, Any]) -> Self:
        return cls(options["domain"])


_RULES: Mapping[str, tuple[type[Rule], tuple[str, ...]]] = {  # every kind of rule, and what may be said with it
    "prefix": (Prefix, ()),
    "widths": (Intervals, ("origin", "comma", "bottom", "top")),
    "bounds": (Bounds, ("comma",)),
    "top": (Coding, ("bottom", "comma")),
    "bottom": (Coding, ("top", "comma")),
    "frequent": (Frequent, ("other",)),
    "calendar": (Calendar, ("order",)),
    "domain": (Domain, ()),
    "flat": (Flat, ()),
}
KINDS = tuple(dict.fromkeys([*_RULES, *(name for _, options in _RULES.values() for name in options)]))


def rule_of(column: str, options: Mapping[str, Any]) -> Rule:
    """The rule of a column from what a policy file says."""
    options = options if isinstance(options, Mapping) else {}
    for key in options:
        if key not in KINDS:
            raise UnknownNameError("rule", key, KINDS, f"the taxonomy of '{column}'")
    known = [key for key in options if key in _RULES]
    kinds = [key for key in known if _RULES[key][0] is not Coding] or known[:1]
    if len(kinds) > 1:
        raise PolicyError(f"The taxonomy of '{column}' has two rules, {kinds[0]} and {kinds[1]}; choose one")
    for kind in kinds:
        rule, others = _RULES[kind]
        for key in options:
            if key not in (kind, *others):
                raise PolicyError(f"The taxonomy of '{column}' is by {kind}, where {key} says nothing; leave it out")
        with suppress(TypeError):
            if (made := rule.of_options(options)) is not None:
                return made
    raise PolicyError(
        f"The taxonomy of '{column}' must be a file, or one of prefix = [3, 2], widths = [5, 10], bounds = [18, 65], "
        'top = 90, frequent = ["a", "b"], calendar = ["month", "year"], domain = "country", flat = true.'
    )
