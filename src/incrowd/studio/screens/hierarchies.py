"""Hierarchies: how values become less exact, column by column; numbers as intervals, all else as trees.

A tree that was edited is a file of its own in the project folder, which the policy names; intervals stand in the policy
itself. So every change is one change of the policy, and undo brings back what was before, also after a reload.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from incrowd.errors import DataError, IncrowdError, PolicyError
from incrowd.policy.toml_text import toml_value
from incrowd.studio import cuts, policy_settings
from incrowd.studio.histogram import picture
from incrowd.studio.screens.hierarchy_files import item_of, routes, taxonomies_of, tree_of, with_item
from incrowd.studio.screens.hierarchy_trees import Shown, shown_tree
from incrowd.studio.screens.protect import number
from incrowd.studio.screens.screen import OUT_OF_DATE, Form, PlacedError, Screen
from incrowd.studio.studio import Studio
from incrowd.studio.trees import Tree
from incrowd.studio.values import Values, count, values_of
from incrowd.taxonomies.calendar import LEVELS

NUMBERS, DATES = ("whole number", "number"), ("date", "timestamp")
MOST_CHARACTERS = 12  # of a code
_FEW_RECORDS = 10  # a value that is named in a hierarchy has at least so many
BEGINNINGS = {  # with what to begin anew, by the kind of the column
    "numbers": {
        "proposed": "the proposal",
        "even": "round bounds, about equally many records in each",
        "widths": "equal widths:",
        "none": "no hierarchy: the search chooses intervals",
    },
    "tree": {
        "proposed": "the proposal",
        "prefix": "first characters, as for zip codes",
        "frequent": "rare values in one group",
        "country": "countries by region",
        "icd10": "diagnoses by ICD-10 chapter",
        "none": "no groups: a value is shown or hidden (*)",
    },
    "dates": {
        "proposed": "the proposal",
        "calendar": "months, quarters and years",
        "none": "no hierarchy: the search chooses spans",
    },
}


def columns_of(studio: Studio) -> list[dict[str, Any]]:
    """The columns that others may know, in order, each with a few words on its hierarchy."""
    settings = studio.project.settings()
    given, known = taxonomies_of(studio, settings), {column["name"]: column for column in studio.known_columns()}
    return [
        {**known[name], "item": given.get(name), "in_words": _in_words(given.get(name), known[name]["type"])}
        for name in policy_settings.quasi_columns(settings)
        if name in known
    ]


def _in_words(item: Any, kind: str) -> str:
    if item is None:
        return "chosen by the search" if kind in (*NUMBERS, *DATES) else "no groups"
    if isinstance(item, str):
        return "edited" if item.startswith("hierarchies/") else "from a file"
    rule = next(iter(item), "")
    said = {"prefix": "by first characters", "widths": "equal widths", "bounds": "intervals", "calendar": "by date"}
    said |= {"frequent": "rare values in one group", "domain": "well-known groups", "flat": "no groups"}
    said |= dict.fromkeys(("bottom", "top"), "top and bottom coding")
    return said.get(rule, "a rule")


def kind_of(column: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    """How a hierarchy is edited: "numbers", "dates" or "tree"."""
    item, types = column["item"], settings.get("types", {})
    as_text = isinstance(types, Mapping) and types.get(column["name"]) == "text"
    own = set(item) if isinstance(item, Mapping) else set()
    rule = item is None or bool({"bounds", "widths"} & own and not {"bottom", "top"} & own)
    if column["type"] in NUMBERS and rule and not as_text:
        return "numbers"
    return "dates" if column["type"] in DATES and item is None and not as_text else "tree"


def show_at(studio: Studio, place: int) -> dict[str, Any]:
    columns, settings = columns_of(studio), studio.project.settings()
    if not columns:
        return {"columns": [], "column": None, "job": None}
    if place >= len(columns):
        raise PolicyError(OUT_OF_DATE)
    count(studio)
    column, job = columns[place], studio.jobs.latest("values")
    values = values_of(studio, column["name"])
    kind = kind_of(column, settings)
    found: dict[str, Any] = {
        "columns": columns,
        "column": column,
        "here": place,
        "kind": kind,
        "rule": "" if column["item"] is None or isinstance(column["item"], str) else toml_value(column["item"]),
        "beginnings": BEGINNINGS["dates" if column["type"] in DATES else kind],
        "values": values,
        "job": job if job is not None and values is None else None,
        "levels": [] if values is None else rule_levels(column["item"], values.values),
        "numbers": None,
        "tree": None,
        "tree_problem": "",
    }
    if values is None:
        return found
    if kind == "numbers":
        return {**found, "numbers": shown_numbers(column["item"], values)}
    if kind == "dates":
        return found
    try:
        return {**found, "tree": shown_tree(column["name"], tree_of(studio, column, values), values)}
    except IncrowdError as error:
        return {**found, "tree_problem": " ".join(str(error).split())}


def shown_numbers(item: Mapping[str, Any] | None, values: Values) -> dict[str, Any] | None:
    """The histogram and its intervals; None where there is no number."""
    numbers, counts = values.numbers
    if not len(numbers):
        return None
    levels = cuts.levels_of(item, numbers[0], numbers[-1])
    shown = picture(numbers, counts, levels or [])
    return {**shown, "editable": levels is not None, "low": f"{numbers[0]:g}", "high": f"{numbers[-1]:g}"}


# Levels of a rule that can be switched on and off: spans of a calendar, and how many characters of a code stay


def rule_levels(item: Any, values: Sequence[str]) -> list[dict[str, Any]]:
    """The levels that a rule could have, from fine to coarse, and whether it has each; none for other hierarchies."""
    if not isinstance(item, Mapping):
        return []
    if "calendar" in item:
        return [{"value": name, "name": name, "on": name in item["calendar"]} for name in LEVELS]
    if "prefix" not in item:
        return []
    longest = min(max(map(len, values), default=0) - 1, MOST_CHARACTERS)
    known = sorted({*range(1, longest + 1), *item["prefix"]}, reverse=True)
    return [
        {"value": str(size), "name": f"{size} character{'s' if size > 1 else ''}", "on": size in item["prefix"]}
        for size in known
    ]


def with_level(item: Any, values: Sequence[str], name: str) -> dict[str, Any]:
    """The rule with a level more, or less if it has it."""
    levels = rule_levels(item, values)
    if name not in {level["value"] for level in levels}:
        raise PolicyError(OUT_OF_DATE)
    kept = [level["value"] for level in levels if level["on"] != (level["value"] == name)]
    if not kept:
        raise PolicyError("a hierarchy needs at least one level; start over from no hierarchy to remove it")
    option = "calendar" if "calendar" in item else "prefix"
    return {**item, option: kept if option == "calendar" else [int(size) for size in kept]}


# What is done to a column


def _at(studio: Studio, form: Form) -> tuple[dict[str, Any], Values]:
    columns = columns_of(studio)
    column = columns[form.place("place", len(columns))]
    values = values_of(studio, column["name"])
    if values is None:
        raise DataError("the values of this column are being counted; try again in a moment")
    return column, values


def again(studio: Studio, form: Form) -> str:
    count(studio, again=True)
    return "The values are being counted."


def edit(studio: Studio, form: Form) -> str:
    """Change a tree: group, rename, move, dissolve, or forget values that the table does not have."""
    column, values = _at(studio, form)
    shown = Shown(tree_of(studio, column, values), values)
    if form.one("version") != shown.version:
        raise PolicyError(OUT_OF_DATE)
    nodes = form.all("nodes")
    labels = [shown.label(node) for node in nodes]
    at = shown.place(labels[0]) if labels else "tree"
    tree, act, name = Tree.of(shown.taxonomy, values.values), form.one("act"), form.one("name").strip()
    try:
        said = _changed(tree, act, labels, name, shown.label(form.one("target")) if act == "move" else "", shown)
        tree.taxonomy()
    except IncrowdError as error:
        raise PlacedError(str(error), at) from None
    studio.change(with_item(studio, column["name"], studio.project.keep_hierarchy(column["name"], tree.text())))
    return said


def _changed(tree: Tree, act: str, labels: list[str], name: str, target: str, shown: Shown) -> str:
    if act == "group":
        tree.group(labels, name)
        return f"Grouped as {name}."
    if act == "move":
        tree.move(labels, target)
        return f"Moved to {target}."
    if act == "forget":
        tree.forget(shown.absent)
        return "Removed values that are not in the table."
    if act not in ("rename", "dissolve"):
        raise PolicyError(OUT_OF_DATE)
    if len(labels) != 1:
        raise PolicyError("choose exactly one group")
    if act == "rename":
        tree.rename(labels[0], name)
        return f"Renamed to {name}."
    tree.dissolve(labels[0])
    return f"Dissolved {labels[0]}."


def cut(studio: Studio, form: Form) -> str:
    column, values = _at(studio, form)
    numbers, _ = values.numbers
    if kind_of(column, studio.project.settings()) != "numbers" or not len(numbers):
        raise PolicyError(OUT_OF_DATE)
    levels = cuts.levels_of(column["item"], numbers[0], numbers[-1])
    if levels is None:
        raise PolicyError(f"there are more than {cuts.MOST_BOUNDS} intervals; start over from wider ones to edit them")
    try:
        changed, said = _cut(levels, form.one("act"), form, float(numbers[0]), float(numbers[-1]))
    except IncrowdError as error:
        raise PlacedError(str(error), "intervals") from None
    studio.change(with_item(studio, column["name"], cuts.rule_of(changed)))
    return said


def _cut(levels: cuts.Levels, act: str, form: Form, low: float, high: float) -> tuple[cuts.Levels, str]:
    if act == "coarser":
        return cuts.coarser(levels), "Added a coarser level."
    level = form.place("level", max(1, len(levels)))
    if act == "without" and levels:
        return cuts.without(levels, level), "Removed the level."
    if act == "split":
        bound = number(form.one("value"), "the bound")
        if not low < bound <= high:
            raise PolicyError(f"a bound must be above {low:g} and at most {high:g}, where the numbers are")
        return cuts.split(levels, level, bound), f"Split at {bound:g}."
    if act in ("next", "previous") and levels:
        place = form.place("interval", len(levels[level]) + 1) - (act == "previous")
        if not 0 <= place < len(levels[level]):
            raise PolicyError("there is no interval on that side; choose another one")
        return cuts.join(levels, level, levels[level][place]), "Joined."
    raise PolicyError(OUT_OF_DATE)


def level(studio: Studio, form: Form) -> str:
    column, values = _at(studio, form)
    studio.change(with_item(studio, column["name"], with_level(column["item"], values.values, form.one("level"))))
    return f"{column['name']}: changed."


def begin(studio: Studio, form: Form) -> str:
    column, values = _at(studio, form)
    item = _beginning(studio, column, values, form)
    if isinstance(item, Mapping):
        from incrowd.taxonomies.rules import rule_of

        rule = rule_of(column["name"], item)
        if values.is_whole:
            values.tree(rule)
    studio.change(with_item(studio, column["name"], item))
    return f"{column['name']}: {_in_words(item, column['type'])}."


def _beginning(studio: Studio, column: Mapping[str, Any], values: Values, form: Form) -> Any:
    """The rule to start from, as a policy file has it."""
    from incrowd.taxonomies import automatic

    with_what = form.one("with")
    if with_what == "proposed":
        return item_of((studio.inspection() or {}).get("proposal", {}), column["name"])
    if with_what == "none":
        return None
    if with_what == "widths":
        return {"widths": [number(text, "each width") for text in form.one("widths").split(",")]}
    if with_what in ("country", "icd10"):
        return {"domain": with_what}
    rule: Any = None
    if with_what == "even":
        rule = automatic.bounds_of(*values.numbers) if len(values.numbers[0]) else None
    elif with_what == "prefix":
        rule = automatic.prefix_of(values.values)
    elif with_what == "frequent":
        rule = automatic.frequent_of(values.values, values.counts, _FEW_RECORDS)
    elif with_what == "calendar":
        proposed = item_of((studio.inspection() or {}).get("proposal", {}), column["name"])
        return proposed if isinstance(proposed, Mapping) else {"calendar": ["month", "quarter", "year"]}
    else:
        raise PolicyError(OUT_OF_DATE)
    if rule is None:
        raise PolicyError("this makes no groups: there are too few different values")
    return rule.options()


SCREEN = Screen(
    "hierarchies",
    "Hierarchies",
    "See and edit how values are generalized, step by step.",
    None,
    actions={"count": again, "edit": edit, "cut": cut, "level": level, "begin": begin},
    needs="table",
    follows=("values",),
    routes=routes,
    done=lambda studio: studio.project.result("values") is not None,
    show_at=show_at,
)
