"""What people change on the screens, done to the words of a policy file: plain data in, plain data out.

A column has one role. What was said of it in that role (its hierarchy, its type, what is promised about it) is parked
when it gets another one, and comes back with the role.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.errors import PolicyError

if TYPE_CHECKING:
    from incrowd.policy.policy import Policy

Words = dict[str, Any]
QUASI, DROP, SENSITIVE, KEEP, TARGET, UNIT = (
    "quasi-identifier",
    "identifier",
    "sensitive",
    "insensitive",
    "target",
    "unit",
)
ROLES = {
    QUASI: ("Known to outsiders", "part of the quasi-identifier: made less exact until everyone stands in a crowd"),
    DROP: ("Drop", "an identifier, such as a name or a number: it is not released"),
    SENSITIVE: ("Protect", "sensitive: released as it is, and you can promise that a crowd does not give it away"),
    KEEP: ("Keep", "harmless: released as it is"),
    TARGET: ("Predict", "the target: models will predict it, so the release keeps what predicts it"),
    UNIT: ("Person ID", "the unit: says which person a record belongs to; k then counts people, and it is dropped"),
}
_LISTS = {DROP: "identifiers", KEEP: "insensitive"}
ON_PURPOSE = "keep"  # the word that lists columns that may stay though they look as if they named people
PASSING = (SENSITIVE, KEEP, TARGET)  # roles in which a column leaves as it is
_BY_COLUMN = ("taxonomies", "types", "ranges")


def policy_of(words: Mapping[str, Any], folder: Path) -> tuple[Policy, dict[str, Any]]:
    """The policy that some words make, and how CSV files are read.

    Raises:
        PolicyError: They make none.
    """
    from incrowd.policy.toml import words_of
    from incrowd.policy.words import make_policy

    made, dialect = words_of(words, folder / "release.toml")
    if not made.get("quasi_identifiers"):
        raise PolicyError("no column is known to outsiders; choose at least one on the screen Roles")
    return make_policy(**made), dialect


def quasi_sets(words: Mapping[str, Any]) -> list[dict[str, Any]]:
    given, k = words.get("quasi_identifiers", []), words.get("k")
    given = given if isinstance(given, list) else [given]
    if any(isinstance(item, str) for item in given):
        given = [[item for item in given if isinstance(item, str)]]
    sets = []
    for item in given:
        if isinstance(item, Mapping):
            sets.append({"attributes": list(item.get("attributes", ())), "k": item.get("k", k)})
        else:
            sets.append({"attributes": list(item), "k": k})
    return sets or [{"attributes": [], "k": k}]


def with_sets(words: Mapping[str, Any], sets: Sequence[Mapping[str, Any]]) -> Words:
    """The same with other quasi-identifiers; a single one is written in the short form."""
    found = copy.deepcopy(dict(words))
    sets = [each for each in sets if each["attributes"]] or list(sets[:1])
    if len(sets) == 1:
        found["quasi_identifiers"] = list(sets[0]["attributes"])
        _put(found, "k", sets[0]["k"])
    else:
        found.pop("k", None)
        found["quasi_identifiers"] = [{"attributes": list(each["attributes"]), "k": each["k"]} for each in sets]
    return found


def with_k(words: Mapping[str, Any], k: int) -> Words:
    """The same with one k for every quasi-identifier, and without what is about the steps of one search."""
    plain = {word: value for word, value in words.items() if word != "max_steps"}
    return with_sets(plain, [{**each, "k": k} for each in quasi_sets(plain)])


def quasi_columns(words: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys(name for each in quasi_sets(words) for name in each["attributes"]))


def sensitive_columns(words: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The sensitive columns, each with what is promised about it alone."""
    given = words.get("sensitive", [])
    if isinstance(given, Mapping):
        return {name: dict(promised) for name, promised in given.items()}
    return {name: {} for name in ([given] if isinstance(given, str) else given)}


def with_sensitive(words: Mapping[str, Any], columns: Mapping[str, Mapping[str, Any]]) -> Words:
    """The same with other sensitive columns; a list where nothing is promised of one alone."""
    found = copy.deepcopy(dict(words))
    promised = {name: {key: value for key, value in own.items() if value is not None} for name, own in columns.items()}
    _put(found, "sensitive", promised if any(promised.values()) else list(promised))
    return found


def roles(words: Mapping[str, Any], columns: Iterable[str]) -> dict[str, str]:
    """The role of every column; those that the policy does not name are kept as they are."""
    found = dict.fromkeys(columns, KEEP)
    for role, names in (
        (KEEP, _texts(words.get("insensitive"))),
        (DROP, _texts(words.get("identifiers"))),
        (SENSITIVE, list(sensitive_columns(words))),
        (QUASI, quasi_columns(words)),
        (UNIT, _texts(words.get("unit"))),
        (TARGET, _texts(words.get("target"))),
    ):
        found |= {name: role for name in names if name in found}
    return found


def named_columns(words: Mapping[str, Any]) -> set[str]:
    single = [name for word in (*_LISTS.values(), ON_PURPOSE, TARGET, UNIT) for name in _texts(words.get(word))]
    return {*quasi_columns(words), *sensitive_columns(words), *single}


def kept(words: Mapping[str, Any]) -> list[str]:
    return _texts(words.get(ON_PURPOSE))


def names_people(reasons: str) -> str:
    return (
        f"columns that may name people would be released as they are: {reasons}; drop them or keep them on purpose, on "
        "the screen Roles"
    )


def with_kept(words: Mapping[str, Any], column: str, *, keep: bool) -> Words:
    """The same with a column that is kept on purpose, or no longer; its role stays."""
    found = copy.deepcopy(dict(words))
    others = [name for name in kept(found) if name != column]
    _put(found, ON_PURPOSE, [*others, column] if keep else others)
    return found


def with_role(
    words: Mapping[str, Any], parked: Mapping[str, Mapping[str, Any]], column: str, role: str
) -> tuple[Words, dict[str, dict[str, Any]]]:
    """Give a column another role.

    Args:
        words: The words as they are.
        parked: What was said of columns in roles that they no longer have.
        column: The column.
        role: One of `ROLES`.

    Returns:
        The words, and what is parked then.
    """
    if role not in ROLES:
        raise PolicyError(f"no such role; choose one of {', '.join(ROLES)}")
    found, aside = _without(words, column)
    waiting = {name: dict(own) for name, own in parked.items()}
    if aside:
        waiting[column] = {**waiting.get(column, {}), **aside}
    back = waiting.get(column, {})
    if role == QUASI:
        sets = quasi_sets(found)
        sets[0]["attributes"].append(column)
        found = with_sets(found, sets)
        for word in _BY_COLUMN:
            if word in back and isinstance(found.get(word, {}), dict):
                found.setdefault(word, {})[column] = back[word]
    elif role == SENSITIVE:
        found = with_sensitive(found, {**sensitive_columns(found), column: back.get("promised", {})})
    elif role in (TARGET, UNIT):
        other = found.get(role)
        if other is not None and other != column:  # there is one of each
            found = with_role(found, {}, other, KEEP if role == TARGET else DROP)[0]
        found[role] = column
    else:
        found[_LISTS[role]] = [*_texts(found.get(_LISTS[role])), column]
    return found, waiting


def _without(words: Mapping[str, Any], column: str) -> tuple[Words, dict[str, Any]]:
    """The words without a column, and what they said of it."""
    found: Words = copy.deepcopy(dict(words))
    aside: dict[str, Any] = {}
    for word in (*_LISTS.values(), ON_PURPOSE):
        _put(found, word, [name for name in _texts(found.get(word)) if name != column])
    for word in (TARGET, UNIT):
        if found.get(word) == column:
            del found[word]
    own = sensitive_columns(found)
    if column in own:
        promised = own.pop(column)
        aside |= {"promised": promised} if promised else {}
        found = with_sensitive(found, own)
    if column in quasi_columns(found):
        sets = quasi_sets(found)
        for each in sets:
            each["attributes"] = [name for name in each["attributes"] if name != column]
        found = with_sets(found, sets)
        for word in _BY_COLUMN:
            if isinstance(found.get(word), dict) and column in found[word]:
                aside[word] = found[word].pop(column)
        priorities = found.get("priorities")
        if isinstance(priorities, dict):
            priorities.pop(column, None)
            _put(found, "priorities", priorities)
    return found, aside


def _texts(value: Any) -> list[str]:
    if value is None:
        return []
    return [value] if isinstance(value, str) else [each for each in value if isinstance(each, str)]


def _put(words: Words, word: str, value: Any) -> None:
    """Set a word, or take it away where it would say nothing."""
    if value in (None, [], {}, ""):
        words.pop(word, None)
    else:
        words[word] = value
