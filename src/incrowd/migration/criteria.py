"""What ARX asks for, as its projects write it, and what a policy says instead: one line for each model and measure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import floor, log
from typing import Any

from incrowd.migration.imported import CHANGED, IMPORTED, MISSING, Imported

_NUMBER = r"([0-9]+(?:\.[0-9]+)?(?:E-?[0-9]+)?)"
_COLUMN = r" for attribute '(?P<column>.*)'"
_POPULATION = (
    "in ARX the whole table is the population, and which records are released stands in a part of the project that is "
    "never opened; make a table of each, then give --population-table"
)


@dataclass(frozen=True)
class Rule:
    """How one model of ARX is written, and what it becomes.

    Attributes:
        form: Its text, with # for a number.
        options: The options of the policy, each as a value or made of the numbers; none if there is no counterpart.
        note: What differs, or what to do instead.
        of_column: Whether it is about a sensitive column.
        kind: What becomes of it.
    """

    form: str
    options: Mapping[str, Any]
    note: str = ""
    of_column: bool = False
    kind: str = ""

    def match(self, text: str) -> re.Match[str] | None:
        form = re.escape(self.form).replace(r"\#", _NUMBER) + (_COLUMN if self.of_column else "")
        return re.fullmatch(form, text.strip(), re.IGNORECASE | re.DOTALL)


def _at(place: int, made: Callable[[float], float] | None = None) -> Callable[[list[float]], float]:
    return lambda numbers: made(numbers[place]) if made else numbers[place]


_FIRST, _SECOND = _at(0), _at(1)


def _sensitive(form: str, options: Mapping[str, Any], note: str = "", kind: str = "") -> Rule:
    return Rule(form, options, note, of_column=True, kind=kind)


RULES = (
    Rule("#-anonymity", {"k": _FIRST}),
    _sensitive("distinct-#-diversity", {"l": _FIRST}),
    _sensitive("shannon-entropy-#-diversity", {"entropy_l": _FIRST}),
    _sensitive("entropy-#-diversity", {"entropy_l": _FIRST}),
    _sensitive("grassberger-entropy-#-diversity", {}, "entropy is counted plainly here; ask for entropy_l"),
    _sensitive("recursive-(#,#)-diversity", {"recursive_l": list}),
    _sensitive("#-closeness with equal distance", {"t": _FIRST, "t_distance": "equal"}),
    _sensitive("#-closeness with ordered distance", {"t": _FIRST, "t_distance": "ordered"}),
    _sensitive("#-closeness with hierarchical distance", {"t": _FIRST, "t_distance": "hierarchical"}),
    _sensitive("basic-#-likeness", {"beta_likeness": _FIRST}),
    _sensitive("enhanced-#-likeness", {"enhanced_beta_likeness": _FIRST}),
    _sensitive(
        "#-disclosure privacy",
        {"delta_disclosure": _at(0, lambda delta: floor(delta * log(2) * 1e6) / 1e6)},
        "times ln 2, since ARX takes log2; and here every crowd must have every value, which is stricter",
        CHANGED,
    ),
    Rule("(#)-avg-reidentification-risk", {"average_risk": _FIRST}),
    Rule(
        "(#, #, #)-avg-reidentification-risk",
        {"average_risk": _FIRST},
        "the highest risk and the share of records above it have no counterpart; a k limits everyone's risk",
        kind=CHANGED,
    ),
    Rule("(#)-sample-uniqueness", {"sample_uniqueness": _FIRST}),
    *(
        Rule(f"(#)-population-uniqueness ({name})", {"population_uniqueness": _FIRST, "estimator": name})
        for name in ("dankar", "zayatz", "pitman", "snb")
    ),
    Rule("(#)-map", {}, f"{_POPULATION} and --k-map"),
    *(
        Rule(
            f"(#)-map estimated as (#)-anonymity ({estimator})",
            {"k": _SECOND},
            "as the k that ARX derived from the size of the population",
            kind=CHANGED,
        )
        for estimator in ("poisson", "zero_truncated_poisson")
    ),
    *(
        Rule(
            f"(#)-map estimated as (unknown)-anonymity ({estimator})",
            {"k_map": _FIRST},
            "as estimated here",
            kind=CHANGED,
        )
        for estimator in ("poisson", "zero_truncated_poisson")
    ),
    Rule("(#,#)-presence", {}, f"{_POPULATION} and --delta-presence; a lowest share above 0 is refused"),
    Rule("Inclusion", {}, f"{_POPULATION} and --delta-presence 1"),
)
_STRICTER = {"k": max, "l": max, "entropy_l": max}  # of two; of others the smaller
# Quality models by what their names begin with, and the cost that a full-domain search minimizes instead.
COSTS = {
    "loss": ("ncp", IMPORTED),
    "discernability": ("dm", IMPORTED),
    "monotonic discernability": ("dm", IMPORTED),
    "non-monotonic discernability": ("dm", IMPORTED),
    "classification": ("cm", CHANGED),
}


def take_criterion(text: str, imported: Imported, sampling_fraction: float | None) -> None:
    """Add what a model of ARX asks for to a policy, or name it among what is left out."""
    for rule in RULES:
        if found := rule.match(text):
            break
    else:
        imported.add(text, MISSING, "there is no such promise; see docs/protection.md for those there are")
        return
    if not rule.options:
        imported.add(text, MISSING, rule.note)
        return
    needs_fraction = "population_uniqueness" in rule.options or "k_map" in rule.options
    if needs_fraction and sampling_fraction is None:
        imported.add(text, MISSING, "the size of the population is never read; import again with --sampling-fraction")
        return
    numbers = [
        _plain(float(each)) for each in found.groups() if each is not None and each != found.groupdict().get("column")
    ]
    options = {name: value(numbers) if callable(value) else value for name, value in rule.options.items()}
    if needs_fraction:
        options["sampling_fraction"] = sampling_fraction
    settings = imported.settings
    if rule.of_column:
        column = found["column"]
        if column not in settings.get("sensitive", {}):
            imported.add(text, MISSING, "its column is not sensitive in the project")
            return
        settings = settings["sensitive"][column]
    for name, value in options.items():
        stricter = _STRICTER.get(name, min)
        settings[name] = stricter(settings[name], value) if _are_numbers(settings.get(name), value) else value
    said = ", ".join(f"{name} = {value}" for name, value in options.items())
    imported.add(text, rule.kind or IMPORTED, f"{said}; {rule.note}" if rule.note else said)


def _are_numbers(*values: object) -> bool:
    return all(isinstance(value, int | float) for value in values)


def _plain(number: float) -> float:
    return int(number) if number == int(number) else number
