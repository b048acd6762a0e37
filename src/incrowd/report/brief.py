"""What a release knows of itself, without a row being read again: the part of the summary that the terminal shows.

It has the sections of a steward's summary (`steward`), which says the same in the same places, and much more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from incrowd.errors import many
from incrowd.measures.registry import MEASURES, OF_CLASSES, release_values
from incrowd.privacy.units import KUnits
from incrowd.report.labels import MOST_COLUMNS, PEOPLE, RECORDS, shown
from incrowd.table.grouping import group

if TYPE_CHECKING:
    from incrowd.privacy.model import Requirement
    from incrowd.release.release import Release

MOST_VALUES = 6  # that are named of a column
_ELSEWHERE = ("method", "options", "why", "trial")  # facts that have a place of their own


def brief(release: Release) -> dict[str, Any]:
    """The part of the summary that needs no rows; confidential."""
    return {"title": title_of(release), "safe": safe(release), "cost": cost(release), "done": done(release)}


def headline(release: Release) -> str:
    """What was released, in one line."""
    records = _records(release)
    crowds = {crowd_size(crowd): None for crowd in safe_crowds(release)}
    left_out = f", {records['left_out']:,} left out" if records["left_out"] else ""
    loss = f"{MEASURES['ncp'].title} {release.measures.total.ncp:.3f}"
    smallest = f"in crowds of at least {' and '.join(crowds)}"
    of, by = shown(release.source.name), release.policy.method
    return f"{of}: {released_records(records)} {smallest}{left_out}, {loss}, by {by}"


def title_of(release: Release) -> str:
    return f"Release of {shown(release.source.name)}"


def safe(release: Release) -> dict[str, Any]:
    return {
        "crowds": safe_crowds(release),
        "untouched": _names(release.untouched),
        "kept": _names(release.policy.keep),
        "warnings": [shown(warning, 400) for warning in release.warnings],
    }


def safe_crowds(release: Release) -> list[dict[str, Any]]:
    """What was promised of each quasi-identifier, and how large its smallest crowd is."""
    return [
        {
            "quasi_identifier": _names(qid.attributes),
            "asked": qid.k,
            **_smallest(release, requirement, qid.k if _left_before(release) else qid.anonymity),
            "promises": [shown(str(model)) for model in requirement.models],
        }
        for qid, requirement in zip(release.measures.quasi_identifiers, release.policy.requirements, strict=True)
    ]


def _smallest(release: Release, requirement: Requirement, records: int) -> dict[str, Any]:
    """The size of the smallest crowd: in people where they were promised, else in records."""
    table, promised = release.table, requirement.models[0]
    if not isinstance(promised, KUnits):
        return {"smallest": records, "counted": RECORDS}
    parts = release.recoding.parts(table)
    if parts.is_split or _left_before(release):  # which people of a tuple went where, only rows show
        return {"smallest": promised.k, "counted": PEOPLE}
    names = requirement.attributes
    groups, firsts = group([parts.cells[name] for name in names], [len(parts.losses[name]) for name in names])
    of_tuple = groups if parts.of_tuple is None else groups[parts.of_tuple]
    classes = table.class_counts(of_tuple, len(firsts), parts.kept)
    return {"smallest": int(promised.levels(classes)[classes.records > 0].min()), "counted": PEOPLE}


def _left_before(release: Release) -> int:
    """How many rows left before and leave again; the release itself measures the new ones alone."""
    earlier = release.settled.earlier
    return 0 if earlier is None or earlier.carried is None else earlier.carried.num_rows


def crowd_size(crowd: Mapping[str, Any]) -> str:
    """How large every crowd is at least, from an entry of `safe.crowds`."""
    return f"{crowd['smallest']:,}" + (" people" if crowd["counted"] == PEOPLE else "")


def released_records(records: Mapping[str, Any]) -> str:
    """How many records are in the file, from `cost.records`."""
    before = records["released_before"]
    new = f", {records['released'] - before:,} of them new" if before else ""
    return f"{many(records['released'], 'record')} released{new}"


def _records(release: Release) -> dict[str, int]:
    """How many records there were, are released, and are left out."""
    measures, before = release.measures, _left_before(release)
    left_out, incomplete = measures.total.suppressed, release.table.incomplete
    new = release.sent.new.num_rows if before and release.sent else measures.records - left_out
    return {
        "original": before + measures.records + incomplete,
        "released": before + new,
        "released_before": before,
        "left_out": left_out + incomplete,
    }


def cost(release: Release) -> dict[str, Any]:
    measures = release.measures
    rows = release.changes().to_rows()
    values = {
        **measures.total.values,
        **({} if release.policy.most_tuples else release_values(release.table, release.recoding)),
    }
    return {
        "records": _records(release),
        "measures": [
            {"name": name, "title": MEASURES[name].title, "about": MEASURES[name].about, "value": value}
            for name, value in values.items()
            if value is not None
        ],
        "by_quasi_identifier": [
            {"quasi_identifier": _names(part.attributes), "values": {name: part.values[name] for name in OF_CLASSES}}
            for part in measures.quasi_identifiers
        ],
        "columns": [
            {
                "name": shown(row["column"]),
                "original_values": row["values_before"],
                "released_values": row["values_after"],
                "first_values": [shown(label) for label in row["released_values"][:MOST_VALUES]],
                "loss": round(float(row["ncp"]), 6),
            }
            for row in rows[:MOST_COLUMNS]
        ],
        "more_columns": max(0, len(rows) - MOST_COLUMNS),
    }


def done(release: Release) -> dict[str, Any]:
    """The method, what it says of its result, and why columns are almost completely generalized."""
    facts = {key: value for key, value in release.found.facts.items() if key not in _ELSEWHERE}
    single = {key: value for key, value in facts.items() if not isinstance(value, list | dict)}
    return {
        "method": release.policy.method,
        "about_method": release.method_about,
        "facts": {shown(key.replace("_", " ")): _fact(key, value) for key, value in single.items()},
        "trial": list(release.found.facts.get("trial", ())),
        "notes": [shown(note, 600) for note in release.notes],
        "hints": [shown(hint, 600) for hint in release.hints],
    }


def _names(names: tuple[str, ...]) -> list[str]:
    return [shown(name) for name in names]


def _fact(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if key == "gap":
        value = round(float(value), 8)  # bounds are lower than they need be by a billionth, for what rounding loses
    if isinstance(value, int | float):
        return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"
    return shown(value, 200)
