"""What people change on the screens, done to the settings of a policy file: plain data in, plain data out.

A column has one role. What was said about it in that role (its hierarchy, its type, what is promised about it) is
parked when it gets another one, and comes back with the role.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.errors import PolicyError

if TYPE_CHECKING:
    from incrowd.policy.policy import Policy

Settings = dict[str, Any]
QUASI, DROP, SENSITIVE, KEEP = "quasi-identifier", "identifier", "sensitive", "insensitive"
TARGET, UNIT = "target", "unit"
ROLES = {
    QUASI: ("Known to outsiders", "part of the quasi-identifier: generalized until everyone is in a crowd"),
    DROP: ("Drop", "an identifier, such as a name or a number: not released"),
    SENSITIVE: ("Protect", "sensitive: released unchanged, and you can promise that no crowd reveals it"),
    KEEP: ("Keep", "harmless: released unchanged"),
    TARGET: ("Predict", "the target: models will predict it, so the release keeps what predicts it"),
    UNIT: ("Person ID", "the unit: which person a record belongs to; k counts people, and the column is dropped"),
}
PASSING = (SENSITIVE, KEEP, TARGET)  # roles in which a column leaves as it is
_ON_PURPOSE = "keep"  # the option that lists columns that may stay though they look as if they named people
_OPTIONS = {DROP: "identifiers", KEEP: "insensitive", TARGET: "target", UNIT: "unit"}  # that name columns of a role
_BY_COLUMN = ("taxonomies", "types", "ranges", "levels", "form")


def policy_of(settings: Mapping[str, Any], folder: Path) -> tuple[Policy, dict[str, Any]]:
    """The policy of a file with these settings in a folder, and how CSV files are read."""
    from incrowd.policy.making import make_policy
    from incrowd.policy.toml import settings_in

    made, dialect = settings_in(settings, folder / "release.toml")
    if not made.get("quasi_identifiers"):
        raise PolicyError("no column is known to outsiders; choose at least one on the screen Roles")
    return make_policy(**made), dialect


def quasi_sets(settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    given, k = settings.get("quasi_identifiers", []), settings.get("k")
    given = given if isinstance(given, list) else [given]
    if not given or any(isinstance(item, str) for item in given):
        given = [[item for item in given if isinstance(item, str)]]
    sets = [item if isinstance(item, Mapping) else {"attributes": item} for item in given]
    return [{"attributes": list(each.get("attributes", ())), "k": each.get("k", k)} for each in sets]


def with_sets(settings: Mapping[str, Any], sets: Sequence[Mapping[str, Any]]) -> Settings:
    """The same with other quasi-identifiers; a single one is written in the short form."""
    sets = [each for each in sets if each["attributes"]] or list(sets[:1])
    if len(sets) == 1:
        return _with(settings, quasi_identifiers=list(sets[0]["attributes"]), k=sets[0]["k"])
    return _with(settings, k=None, quasi_identifiers=[dict(each) for each in sets])


def with_k(settings: Mapping[str, Any], k: int) -> Settings:
    """The same with one k for every quasi-identifier, and without what is about the steps of one search."""
    return with_sets(_with(settings, max_steps=None), [{**each, "k": k} for each in quasi_sets(settings)])


def quasi_columns(settings: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys(name for each in quasi_sets(settings) for name in each["attributes"]))


def sensitive_columns(settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The sensitive columns, each with what is promised about it alone."""
    given = settings.get("sensitive", [])
    if isinstance(given, Mapping):
        return {name: dict(promised) for name, promised in given.items()}
    return {name: {} for name in _texts(given)}


def with_sensitive(settings: Mapping[str, Any], columns: Mapping[str, Mapping[str, Any]]) -> Settings:
    """The same with other sensitive columns; a list if nothing is promised about a single one."""
    promised = {name: {key: value for key, value in own.items() if value is not None} for name, own in columns.items()}
    return _with(settings, sensitive=promised if any(promised.values()) else list(promised))


def roles(settings: Mapping[str, Any], columns: Iterable[str]) -> dict[str, str]:
    """The role of every column; those that the policy does not name are kept as they are."""
    named = {role: _texts(settings.get(option)) for role, option in _OPTIONS.items()}
    named |= {SENSITIVE: list(sensitive_columns(settings)), QUASI: quasi_columns(settings)}
    found = dict.fromkeys(columns, KEEP)
    for role in (KEEP, DROP, SENSITIVE, QUASI, UNIT, TARGET):
        found |= {name: role for name in named[role] if name in found}
    return found


def named_columns(settings: Mapping[str, Any]) -> set[str]:
    listed = {name for option in (*_OPTIONS.values(), _ON_PURPOSE) for name in _texts(settings.get(option))}
    return {*quasi_columns(settings), *sensitive_columns(settings), *listed}


def kept(settings: Mapping[str, Any]) -> list[str]:
    return _texts(settings.get(_ON_PURPOSE))


def names_people(reasons: str) -> str:
    return (
        f"columns that may name people would be released unchanged: {reasons}; drop them or keep them on purpose, on "
        "the screen Roles"
    )


def with_kept(settings: Mapping[str, Any], column: str, *, keep: bool) -> Settings:
    """The same with a column that is kept on purpose, or no longer; its role stays."""
    others = [name for name in kept(settings) if name != column]
    return _with(settings, keep=[*others, column] if keep else others)


def with_role(
    settings: Mapping[str, Any], parked: Mapping[str, Mapping[str, Any]], column: str, role: str
) -> tuple[Settings, dict[str, dict[str, Any]]]:
    """Give a column another role; also returns what is parked then: what was said of columns in earlier roles."""
    if role not in ROLES:
        raise PolicyError(f"no such role; choose one of {', '.join(ROLES)}")
    found, aside = _without(settings, column)
    waiting = {name: dict(own) for name, own in parked.items()}
    if aside:
        waiting[column] = {**waiting.get(column, {}), **aside}
    back = waiting.get(column, {})
    if role == QUASI:
        sets = quasi_sets(found)
        sets[0]["attributes"].append(column)
        found = with_sets(found, sets)
        for option in _BY_COLUMN:
            if option in back and isinstance(found.get(option, {}), dict):
                found.setdefault(option, {})[column] = back[option]
    elif role == SENSITIVE:
        found = with_sensitive(found, {**sensitive_columns(found), column: back.get("promised", {})})
    elif role in (TARGET, UNIT):
        if other := found.get(role):  # there is one of each
            found = with_role(found, {}, other, KEEP if role == TARGET else DROP)[0]
        found[role] = column
    else:
        found[_OPTIONS[role]] = [*_texts(found.get(_OPTIONS[role])), column]
    return found, waiting


def _without(settings: Mapping[str, Any], column: str) -> tuple[Settings, dict[str, Any]]:
    """The settings without a column, and what they said about it."""
    found, aside = _with(settings), dict[str, Any]()
    for option in ("identifiers", "insensitive", _ON_PURPOSE):
        found = _with(found, **{option: [name for name in _texts(found.get(option)) if name != column]})
    found = {option: value for option, value in found.items() if option not in (TARGET, UNIT) or value != column}
    own = sensitive_columns(found)
    if column in own:
        if promised := own.pop(column):
            aside["promised"] = promised
        found = with_sensitive(found, own)
    if column in quasi_columns(found):
        sets = quasi_sets(found)
        for each in sets:
            each["attributes"] = [name for name in each["attributes"] if name != column]
        found = with_sets(found, sets)
        for option in (*_BY_COLUMN, "priorities"):
            if isinstance(found.get(option), dict) and column in found[option]:
                value = found[option].pop(column)
                aside |= {option: value} if option in _BY_COLUMN else {}
        found = _with(found, priorities=found.get("priorities"))
    return found, aside


def _texts(value: Any) -> list[str]:
    return [each for each in ([value] if isinstance(value, str) else value or ()) if isinstance(each, str)]


def _with(settings: Mapping[str, Any], **changes: Any) -> Settings:
    """A copy with other settings; one that would say nothing is left out."""
    found = copy.deepcopy({**settings, **changes})
    return {name: value for name, value in found.items() if name not in changes or value not in (None, [], {}, "")}
