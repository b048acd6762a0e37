"""Protect: what is promised, and at what cost; the policy file is shown as it grows."""

from __future__ import annotations

import os
import re
from functools import partial
from typing import Any

from incrowd import methods
from incrowd.errors import PolicyError
from incrowd.options import Option, columns_of
from incrowd.policy.options import OPTIONS, SEVERAL
from incrowd.privacy.registry import COLUMN_OPTIONS, OF_COLUMNS
from incrowd.studio import policy_settings
from incrowd.studio.screens.screen import Form, Screen, said_at
from incrowd.studio.studio import Studio

PROMISES = {option: (model.option.title, model.option.example) for option, model in OF_COLUMNS.items()}
LEDGER = "ledger"  # the folder of the ledger
FIRST = ("l", "t")  # that are shown at once
MISSING = {"category": "count as a value", "drop": "leave out their records", "error": "stop the release"}
DICTIONARIES = {
    "": "none",
    "frictionless": "Frictionless table schema (JSON)",
    "ddi": "DDI-Codebook (XML)",
    "all": "both",
}
_THOUSANDS = re.compile(r"-?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
DISTANCES = {"": "detected", "equal": "all values equally far apart", "ordered": "by their order"}


def show(studio: Studio) -> dict[str, Any]:
    settings = studio.project.settings()
    known = {column["name"]: column for column in studio.known_columns()}
    given = studio.roles()
    priorities = settings.get("priorities", {})
    return {
        "settings": settings,
        "sets": policy_settings.quasi_sets(settings),
        "quasi": policy_settings.quasi_columns(settings),
        "names": list(known),
        "sensitive": {
            name: _own(settings, name, own) for name, own in policy_settings.sensitive_columns(settings).items()
        },
        "untouched": [name for name, role in given.items() if role == policy_settings.KEEP],
        "promises": PROMISES,
        "first": FIRST,
        "methods": methods(),
        "priorities": priorities if isinstance(priorities, dict) else {},
        "missing_choices": MISSING,
        "dictionaries": DICTIONARIES,
        "distances": DISTANCES,
        "records": (studio.inspection() or {})["records"],
        "policy_problem": studio.policy_problem(settings),
        "policy_text": studio.project.policy_path.read_text(encoding="utf-8"),
    }


def _own(settings: dict[str, Any], name: str, own: dict[str, Any]) -> dict[str, Any]:
    """What is promised of a column, alone or with all others."""
    common = {option: settings[option] for option in (*PROMISES, "t_distance") if option in settings}
    by_column = {option: given.get(name) if isinstance(given, dict) else given for option, given in common.items()}
    return {**{option: value for option, value in by_column.items() if value is not None}, **own}


def _with_point(text: str) -> str:
    """A number as Python writes it: 1,000 is a thousand, and 1,5 has a decimal comma."""
    if _THOUSANDS.fullmatch(text):
        return text.replace(",", "")
    return text.replace(",", ".") if text.count(",") == 1 and "." not in text else text


def _typed(option: Option, name: str, text: str) -> Any:
    """What was typed for an option; a number may have a decimal comma."""
    value = option.typed(text)
    if isinstance(value, str) and "," in text:
        value = option.typed(_with_point(text))
    option.check(name, value)
    return value


def number(text: str, what: str) -> int | float:
    """A number as people type it."""
    text = _with_point(text.strip())
    for kind in (int, float):
        try:
            if text.isascii() and "_" not in text and len(text) < 40:
                return kind(text)
        except ValueError:
            continue
    raise PolicyError(f"{what} must be a number; got {text[:40] or 'nothing'}")


def crowd(studio: Studio, form: Form) -> str:
    settings = studio.project.settings()
    sets = policy_settings.quasi_sets(settings)
    place = form.place("set", len(sets))
    with said_at(f"k-{place}"):
        value = number(form.one("k"), "k")
        sets[place]["k"] = value
        studio.change(policy_settings.with_sets(settings, sets))
    return f"k is {value:,}."


def add_set(studio: Studio, form: Form) -> str:
    """Another quasi-identifier, with all columns of the first to begin with but the last one."""
    settings = studio.project.settings()
    sets = policy_settings.quasi_sets(settings)
    columns = sets[0]["attributes"]
    if len(columns) < 2:
        raise PolicyError("a second quasi-identifier needs at least two columns that are known to outsiders")
    studio.change(policy_settings.with_sets(settings, [*sets, {"attributes": columns[:-1], "k": sets[0]["k"]}]))
    return "Added another set of columns."


def remove_set(studio: Studio, form: Form) -> str:
    """One quasi-identifier less; its columns stay in the first one."""
    settings = studio.project.settings()
    sets = policy_settings.quasi_sets(settings)
    gone = sets.pop(form.place("set", len(sets)))
    if not sets:
        raise PolicyError("a release needs at least one quasi-identifier")
    everything = {name for each in sets for name in each["attributes"]}
    sets[0]["attributes"] += [name for name in gone["attributes"] if name not in everything]
    studio.change(policy_settings.with_sets(settings, sets))
    return "Removed the set; its columns are now in the first one."


def member(studio: Studio, form: Form) -> str:
    settings = studio.project.settings()
    sets, quasi = policy_settings.quasi_sets(settings), policy_settings.quasi_columns(settings)
    own = sets[form.place("set", len(sets))]["attributes"]
    column = quasi[form.place("column", len(quasi))]
    own.remove(column) if column in own else own.append(column)
    if column not in {name for each in sets for name in each["attributes"]}:
        raise PolicyError(f"'{column}' would be in no quasi-identifier; change its role on the screen Roles instead")
    if not own:
        raise PolicyError("a quasi-identifier needs a column; remove it instead")
    studio.change(policy_settings.with_sets(settings, sets))
    return f"{'Added' if column in own else 'Removed'} {column}."


def promise(studio: Studio, form: Form) -> str:
    settings = studio.project.settings()
    own = policy_settings.sensitive_columns(settings)
    names = list(own)
    place = form.place("column", len(names))
    column, name, text = names[place], form.one("setting"), form.one("value").strip()
    if name not in (*PROMISES, "t_distance"):
        raise PolicyError("this page is out of date; reload it")
    for each in PROMISES:  # what was said for all is said by column from now on
        if each in settings:
            common = settings.pop(each)
            for other in names:
                single = common.get(other) if isinstance(common, dict) else common
                if single is not None:
                    own[other].setdefault(each, single)
    with said_at(f"p{place}-{name}"):
        if not text:
            own[column].pop(name, None)
        else:
            own[column][name] = _typed(COLUMN_OPTIONS[name], name, text)
        studio.change(policy_settings.with_sensitive(settings, own))
    return f"{column}: {'promised' if text else 'no longer promised'}."


def unit(studio: Studio, form: Form) -> str:
    project = studio.project
    settings, text = project.settings(), form.one("value")
    if not text:
        if "unit" in settings:
            settings, parked = policy_settings.with_role(
                settings, project.parked, settings["unit"], policy_settings.DROP
            )
            studio.change(settings, parked)
        return "k counts records."
    names = studio.names()
    column = names[form.place("value", len(names))]
    studio.change(*policy_settings.with_role(settings, project.parked, column, policy_settings.UNIT))
    return f"k counts people, by {column}."


def ledger(studio: Studio, form: Form) -> str:
    """Keep a ledger in the folder of the studio, which the tables there share, or none."""
    project, settings = studio.project, studio.project.settings()
    if form.one("value") == "yes":
        settings.setdefault("ledger", os.path.relpath(project.root / LEDGER, project.folder))
        studio.change(settings)
        return "Releases are kept in a ledger."
    studio.change({name: value for name, value in settings.items() if name not in SEVERAL})
    return "No ledger is kept."


def setting(studio: Studio, form: Form) -> str:
    settings, name, text = studio.project.settings(), form.one("setting"), form.one("value").strip()
    if name not in _READ:
        raise PolicyError("this page is out of date; reload it")
    with said_at(name.replace("_", "-") if name in _TYPED else ""):
        value = _READ[name](text) if text else None
        settings.pop(name, None)
        if name == "method":
            settings.pop("max_steps", None)  # it was about the steps of another search
        if value is not None and value != _USUAL.get(name):
            settings[name] = value
        studio.change(settings)
    return "Changed."


def _share(text: str) -> float:
    value = number(text.removesuffix("%"), "the share of records") / 100
    if not 0 <= value < 1:
        raise PolicyError("the share of records that may be left out must be at least 0 and below 100 %")
    return round(value, 6)


_READ: dict[str, Any] = {
    "suppress": _share,
    "missing_values": columns_of,
    **{
        name: partial(_typed, OPTIONS[name], name)
        for name in ("method", "missing", "time_limit", "strict", "keep_order", "dictionary", "recipient", "wait")
    },
}
_TYPED = ("suppress", "missing_values", "time_limit", "recipient", "wait")  # that have a field to type in
_USUAL = {"suppress": 0.0, "method": "auto", "missing": "category", "strict": False, "keep_order": False, "wait": 0}


def priority(studio: Studio, form: Form) -> str:
    settings = studio.project.settings()
    quasi = policy_settings.quasi_columns(settings)
    place = form.place("column", len(quasi))
    column, given = quasi[place], settings.get("priorities", {})
    given = dict(given) if isinstance(given, dict) else {}
    given.pop(column, None)
    text = form.one("value").strip()
    with said_at(f"w{place}"):
        if text and (value := number(text, "a priority")) != 1:
            given[column] = value
        settings.pop("priorities", None)
        studio.change({**settings, "priorities": given} if given else settings)
    return f"{column}: changed."


SCREEN = Screen(
    "protect",
    "Protect",
    "Choose what is promised: how large every crowd is, and what it must not reveal.",
    show,
    actions={
        "crowd": crowd,
        "add-set": add_set,
        "remove-set": remove_set,
        "member": member,
        "promise": promise,
        "unit": unit,
        "ledger": ledger,
        "setting": setting,
        "priority": priority,
    },
    needs="table",
    done=lambda studio: not studio.policy_problem(),
)
