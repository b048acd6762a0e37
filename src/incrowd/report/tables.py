"""The tables of a report as rows of text, and how numbers are written in it; HTML and Markdown show the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from incrowd.errors import many
from incrowd.measures.registry import MEASURES
from incrowd.report.labels import PEOPLE, shown
from incrowd.risk import wording

if TYPE_CHECKING:
    from incrowd.comparison.comparison import Comparison

Row = tuple[str, ...]
_COSTS = {"seconds": "s", "cpu_seconds": "CPU s", "megabytes": "MB"}
_COMPARED = (
    "suppressed",
    "dm",
    "c_avg",
    "ncp",
    "cm",
    "entropy",
    "sse_sst",
    "distortion",
    "inconsistency",
)  # shown of a comparison's runs
_RISKS = {
    "alone": ("{counted} that are unique in the table", "records"),
    "smallest_crowd": ("Smallest crowd{in_people}", "count"),
    "prosecutor_highest": ("Prosecutor, who knows that the target is in the table: highest risk", "share"),
    "prosecutor_average": ("Prosecutor: average risk", "share"),
    "above_threshold": ("{counted} with a risk above {above}", "records"),
    "journalist_highest": ("Journalist, who does not know who is in the table: highest risk", "share"),
    "marketer": ("Marketer, who links everyone: share of correct links", "share"),
}


TRIAL = ("candidate", "error %", "95 % interval", "loss of detail")


def trial_rows(outcomes: Sequence[Mapping[str, Any]]) -> list[Row]:
    """What came of the methods tried for a target; * errs hardly more than the best."""
    return [
        (
            each["candidate"] + (" *" if each["as_good"] else ""),
            f"{100 * each['error']:.1f}" + (" (1 - AUC)" if each["measure"] != "error" else ""),
            f"{100 * each['low']:.1f} to {100 * each['high']:.1f}",
            f"{each['loss']:.3f}",
        )
        for each in outcomes
    ]


def count(value: int) -> str:
    return f"{value:,}"


def percent(share: float | None) -> str:
    return "not known" if share is None else wording.percent(share)


def figure(value: float | int | None) -> str:
    """Any number, in about four digits."""
    if value is None:
        return "–"
    if isinstance(value, int) or value == int(value):
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def cell(value: Any) -> str:
    """Any value of a row of plain data."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(shown(each, 30) for each in value[:6]) + more(len(value) - 6)
    return figure(value) if isinstance(value, int | float) else shown(value, 200)


def more(number: int) -> str:
    return f" and {number:,} more" if number > 0 else ""


def short_figure(value: float | None) -> str:
    if value is None:
        return "-"
    for unit, size in ("G", 1e9), ("M", 1e6), ("k", 1e4):
        if value >= size:
            scaled = value / (1e3 if unit == "k" else size)
            return f"{scaled:.{2 if scaled < 10 else 1 if scaled < 100 else 0}f}{unit}"
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.3f}"


def compared(comparison: Comparison) -> dict[str, str]:
    titles = _COSTS | {name: MEASURES[name].title for name in _COMPARED}
    if "worst_excess" in comparison.losses:  # also where no attack succeeds
        titles |= {"worst_excess": "worst excess"}
    names = [name for name in (*titles, *comparison.errors) if _is_told(comparison, name)]
    return {name: titles.get(name, name.replace("_", " ")) for name in names}


def _is_told(comparison: Comparison, name: str) -> bool:
    return name == "worst_excess" or any(run.value(name) for run in comparison.runs)


def comparison_rows(comparison: Comparison) -> list[Row]:
    """The runs of a comparison; a star marks each loss that no other run beats."""
    names = compared(comparison)
    found: list[Row] = []
    for run in comparison.runs:
        cells = []
        for name in names:
            value = run.value(name)
            best = name in comparison.losses and value is not None and comparison.dominated_by(run, name) is None
            cells.append(short_figure(value) + ("*" if best else ""))
        found.append((run.method, f"{run.k:,}", *cells))
    return found


def risk_rows(after: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> list[Row]:
    in_people = ", in people" if after["counted"] == PEOPLE else ""
    above = wording.above_threshold(after["threshold"], after["threshold_crowd"])
    values = {"above": above, "counted": after["counted"].capitalize(), "in_people": in_people}
    found = []
    for key, (title, kind) in _RISKS.items():
        cells = [_risk(each, key, kind) for each in (before, after) if each is not None]
        if key == "journalist_highest" and after[key] is None:
            cells = ["≤ prosecutor’s" for _ in cells]  # the population is not known
        found.append((title.format(**values), *cells))
    return found


def _risk(risk: Mapping[str, Any], key: str, kind: str) -> str:
    value = risk[key]
    if kind == "share":
        return percent(value)
    return count(value) if kind == "count" else f"{value:,} ({percent(value / risk['records'])})"


ATTACK_TITLES = ("Attack", "Successes", "Control", "Excess", "95 % interval", "What it means")


def attack_rows(attacks: Sequence[Mapping[str, Any]]) -> list[Row]:
    return [
        (
            f"{each['attack']} ({each['group']})",
            *(f"{each[name]:.1%}" for name in ("successes", "control")),
            f"{each['excess']:+.1%}",
            f"{each['low']:.1%} to {each['high']:.1%}",
            f"{'Leak: ' if each['leak'] else ''}{each['meaning']}",
        )
        for each in attacks
    ]


def shared_titles(safe: Mapping[str, Any]) -> Row:
    counted = safe["risks"][0]["counted"].capitalize()
    if "homogeneity_before" not in safe:
        return "Sensitive column", "Crowds", counted
    return "Sensitive column", "Crowds before", f"{counted} before", "Crowds after", f"{counted} after"


def shared_rows(safe: Mapping[str, Any]) -> list[Row]:
    before = safe.get("homogeneity_before")
    found = []
    for place, row in enumerate(safe["homogeneity"]):
        after = (count(row["crowds"]), count(row["records"]))
        old = () if before is None else (count(before[place]["crowds"]), count(before[place]["records"]))
        found.append((row["column"], *old, *after))
    return found


def measure_rows(measures: list[Mapping[str, Any]]) -> list[Row]:
    return [(each["title"], figure(each["value"]), each["about"]) for each in measures]


def part_titles(cost: Mapping[str, Any]) -> list[str]:
    return ["Quasi-identifier", *(each["title"] for each in _of_parts(cost))]


def _of_parts(cost: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The measures that each quasi-identifier has by itself: those of classes."""
    return [each for each in cost["measures"] if each["name"] in cost["by_quasi_identifier"][0]["values"]]


def part_rows(cost: Mapping[str, Any]) -> list[Row]:
    names = [each["name"] for each in _of_parts(cost)]
    return [
        (", ".join(part["quasi_identifier"]), *(figure(part["values"][name]) for name in names))
        for part in cost["by_quasi_identifier"]
    ]


def interval(errors: Mapping[str, Any]) -> str:
    low, high = (percent(errors["released"][end]) for end in ("low", "high"))
    return f"95 % interval with the release: {low} to {high}"


def change_rows(changes: list[Mapping[str, Any]]) -> list[Row]:
    return [
        (f"{each['first']} and {each['second']}", f"{each['original']:.2f}", f"{each['released']:.2f}")
        for each in changes
    ]


def book_rows(book: Mapping[str, Any]) -> list[Row]:
    rows: list[Row] = [(each["value"], each["meaning"], count(each["records"])) for each in book["values"]]
    if book["more"]:
        rows.append((f"and {many(book['more'], 'more value')}", "", count(book["more_records"])))
    return rows


def plain_book_rows(book: Mapping[str, Any]) -> list[Row]:
    return [(row[0], row[2]) for row in book_rows(book)]


def explains(book: Mapping[str, Any]) -> bool:
    """Whether a value of a codebook says more than itself."""
    return any(each["meaning"] for each in book["values"])


def check_rows(check: Mapping[str, Any]) -> list[Row]:
    rows = [
        ("Digest of the release", check["release"]),
        ("Commitment to the original table", check["commitment"]),
    ]
    if "original" in check:
        rows.append(("Original table", check["original"]["name"]))
        rows.append(("Digest of the original table, confidential", check["original"]["digest"] or "not known"))
    return [*rows, *((f"Version of {name}", version) for name, version in check["versions"].items())]
