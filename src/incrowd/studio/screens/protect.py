"""Protect: what is promised, and at what cost; the policy file is shown as it grows."""

from __future__ import annotations

from functools import partial
from typing import Any

from incrowd import methods
from incrowd.errors import PolicyError
from incrowd.options import Option, columns_of
from incrowd.policy.options import OPTIONS
from incrowd.privacy.registry import COLUMN_OPTIONS, OF_COLUMNS
from incrowd.studio import policy_words
from incrowd.studio.screens.screen import Form, Screen
from incrowd.studio.studio import Studio

PROMISES = {word: (model.option.title, model.option.example) for word, model in OF_COLUMNS.items()}
FIRST = ("l", "t")  # that are shown at once
MISSING = {"category": "count as a value of their own", "drop": "leave their records out", "error": "are a mistake"}
DISTANCES = {"": "detected", "equal": "all values equally far", "ordered": "along their order"}


def show(studio: Studio) -> dict[str, Any]:
    words = studio.project.words()
    known = {column["name"]: column for column in studio.known_columns()}
    given = studio.roles()
    priorities = words.get("priorities", {})
    return {
        "words": words,
        "sets": policy_words.quasi_sets(words),
        "quasi": policy_words.quasi_columns(words),
        "names": list(known),
        "sensitive": {name: _own(words, name, own) for name, own in policy_words.sensitive_columns(words).items()},
        "untouched": [name for name, role in given.items() if role == policy_words.KEEP],
        "promises": PROMISES,
        "first": FIRST,
        "methods": methods(),
        "priorities": priorities if isinstance(priorities, dict) else {},
        "missing_words": MISSING,
        "distances": DISTANCES,
        "records": (studio.inspection() or {})["records"],
        "policy_problem": studio.policy_problem(words),
        "policy_text": studio.project.policy_path.read_text(encoding="utf-8"),
    }


def _own(words: dict[str, Any], name: str, own: dict[str, Any]) -> dict[str, Any]:
    """What is promised of a column, alone or with all others."""
    common = {word: words[word] for word in (*PROMISES, "t_distance") if word in words}
    by_column = {word: given.get(name) if isinstance(given, dict) else given for word, given in common.items()}
    return {**{word: value for word, value in by_column.items() if value is not None}, **own}


def _typed(option: Option, word: str, text: str) -> Any:
    """What was typed for an option; a number may have a decimal comma.

    Raises:
        PolicyError: It cannot be that.
    """
    value = option.typed(text)
    if isinstance(value, str) and text.count(",") == 1:
        value = option.typed(text.replace(",", "."))
    option.check(word, value)
    return value


def number(text: str, what: str) -> int | float:
    """A number as people type it.

    Raises:
        PolicyError: It is none.
    """
    text = text.strip().replace(",", ".") if text.count(",") == 1 and "." not in text else text.strip()
    for kind in (int, float):
        try:
            if text.isascii() and "_" not in text and len(text) < 40:
                return kind(text)
        except ValueError:
            continue
    raise PolicyError(f"{what} must be a number; got {text[:40] or 'nothing'}")


def crowd(studio: Studio, form: Form) -> str:
    words = studio.project.words()
    sets = policy_words.quasi_sets(words)
    place = form.place("set", len(sets))
    value = number(form.one("k"), "k")
    sets[place]["k"] = value
    studio.change(policy_words.with_sets(words, sets))
    return f"k is {value:,}."


def add_set(studio: Studio, form: Form) -> str:
    """Another quasi-identifier, with all columns of the first to begin with but the last one."""
    words = studio.project.words()
    sets = policy_words.quasi_sets(words)
    columns = sets[0]["attributes"]
    if len(columns) < 2:
        raise PolicyError("a second quasi-identifier needs at least two columns that are known to outsiders")
    studio.change(policy_words.with_sets(words, [*sets, {"attributes": columns[:-1], "k": sets[0]["k"]}]))
    return "There is another quasi-identifier."


def remove_set(studio: Studio, form: Form) -> str:
    """One quasi-identifier less; its columns stay in the first one."""
    words = studio.project.words()
    sets = policy_words.quasi_sets(words)
    gone = sets.pop(form.place("set", len(sets)))
    if not sets:
        raise PolicyError("a release needs at least one quasi-identifier")
    everything = {name for each in sets for name in each["attributes"]}
    sets[0]["attributes"] += [name for name in gone["attributes"] if name not in everything]
    studio.change(policy_words.with_sets(words, sets))
    return "The quasi-identifier is gone; its columns are in the first one."


def member(studio: Studio, form: Form) -> str:
    words = studio.project.words()
    sets, quasi = policy_words.quasi_sets(words), policy_words.quasi_columns(words)
    own = sets[form.place("set", len(sets))]["attributes"]
    column = quasi[form.place("column", len(quasi))]
    own.remove(column) if column in own else own.append(column)
    if column not in {name for each in sets for name in each["attributes"]}:
        raise PolicyError(f"'{column}' would be in no quasi-identifier; change its role on the screen Roles instead")
    if not own:
        raise PolicyError("a quasi-identifier needs a column; remove it instead")
    studio.change(policy_words.with_sets(words, sets))
    return f"{column} is {'in' if column in own else 'out'}."


def promise(studio: Studio, form: Form) -> str:
    words = studio.project.words()
    own = policy_words.sensitive_columns(words)
    names = list(own)
    column = names[form.place("column", len(names))]
    word, text = form.one("word"), form.one("value").strip()
    if word not in (*PROMISES, "t_distance"):
        raise PolicyError("this page is out of date; reload it")
    for each in PROMISES:  # what was said for all is said by column from now on
        if each in words:
            common = words.pop(each)
            for name in names:
                single = common.get(name) if isinstance(common, dict) else common
                if single is not None:
                    own[name].setdefault(each, single)
    if not text:
        own[column].pop(word, None)
    else:
        own[column][word] = _typed(COLUMN_OPTIONS[word], word, text)
    studio.change(policy_words.with_sensitive(words, own))
    return f"{column}: {'promised' if text else 'no longer promised'}."


def unit(studio: Studio, form: Form) -> str:
    project = studio.project
    words, text = project.words(), form.one("value")
    if not text:
        if "unit" in words:
            words, parked = policy_words.with_role(words, project.parked, words["unit"], policy_words.DROP)
            studio.change(words, parked)
        return "k counts records."
    names = studio.names()
    column = names[form.place("value", len(names))]
    studio.change(*policy_words.with_role(words, project.parked, column, policy_words.UNIT))
    return f"k counts people, by {column}."


def word(studio: Studio, form: Form) -> str:
    words, name, text = studio.project.words(), form.one("word"), form.one("value").strip()
    if name not in _READ:
        raise PolicyError("this page is out of date; reload it")
    value = _READ[name](text) if text else None
    words.pop(name, None)
    if name == "method":
        words.pop("max_steps", None)  # it was about the steps of another search
    if value is not None and value != _USUAL.get(name):
        words[name] = value
    studio.change(words)
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
        for name in ("method", "missing", "time_limit", "strict", "keep_order")
    },
}
_USUAL = {"suppress": 0.0, "method": "auto", "missing": "category", "strict": False, "keep_order": False}


def priority(studio: Studio, form: Form) -> str:
    words = studio.project.words()
    quasi = policy_words.quasi_columns(words)
    column = quasi[form.place("column", len(quasi))]
    given = words.get("priorities", {})
    given = dict(given) if isinstance(given, dict) else {}
    given.pop(column, None)
    text = form.one("value").strip()
    if text and (value := number(text, "a priority")) != 1:
        given[column] = value
    words.pop("priorities", None)
    studio.change({**words, "priorities": given} if given else words)
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
        "word": word,
        "priority": priority,
    },
    needs="table",
    done=lambda studio: not studio.policy_problem(),
)
