"""From what users write to a policy: the same in Python, on the command line and in a policy file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from incrowd.errors import PolicyError, UnknownNameError, shown
from incrowd.policy.options import checked
from incrowd.policy.policy import Policy, QuasiIdentifier
from incrowd.policy.protection import protections_of
from incrowd.privacy.declared import Declared
from incrowd.privacy.registry import COLUMN_OPTIONS, OF_POPULATION, RISK_OPTIONS
from incrowd.taxonomies.rules import Flat, Rule, rule_of
from incrowd.taxonomies.taxonomy import Taxonomy


def make_policy(*, quasi_identifiers: Any, k: Any = None, taxonomies: Any = None, **settings: Any) -> Policy:
    """A policy from what users write, the same in Python, on the command line and in a policy file.

    `taxonomies` are a taxonomy, rule or file by column, or a folder with a file per column; `settings` the other
    options of a policy, promises for all sensitive columns or by column, and privacy models as `privacy`.
    """
    settings = _without_models({**settings, "k": k, "taxonomies": taxonomies})
    k, taxonomies = settings.pop("k"), settings["taxonomies"]
    protecting = {name: settings.pop(name) for name in COLUMN_OPTIONS if name in settings}
    sensitive, protections = protections_of(settings.pop("sensitive", ()), protecting)
    settings = checked({name: value for name, value in settings.items() if value is not None})
    settings.pop("taxonomies", None)
    population = {name: settings.pop(name) for name in OF_POPULATION if name in settings}
    risks = {name: settings.pop(name) for name in RISK_OPTIONS if name in settings}
    alone = k is None and (population or risks or any(protection.promises for protection in protections))
    qids = quasi_identifiers_of(quasi_identifiers, 1 if alone else k)
    as_they_are = {column: Flat() for column, pair in settings.get("levels", {}).items() if pair == (0, 0)}
    columns = tuple(dict.fromkeys(name for qid in qids for name in qid.attributes))
    for_distance = tuple(protection.column for protection in protections if "t" in protection.options)
    return Policy(
        quasi_identifiers=qids,
        sensitive=sensitive,
        protections=protections,
        population=population,
        risks=risks,
        taxonomies=as_they_are | _taxonomies_of(taxonomies, (*columns, *for_distance)),
        **settings,
    )


def _without_models(settings: dict[str, Any]) -> dict[str, Any]:
    given = settings.pop("privacy", None) or ()
    models = [given] if isinstance(given, Declared) or not isinstance(given, Iterable) else list(given)
    for name, value in settings.items():
        if isinstance(value, Declared):
            if value.option_name != name:
                raise PolicyError(
                    f"The '{name}' parameter must not be {type(value).__name__}; give it as {value.option_name}."
                )
            models.append(value)
            settings[name] = None
    by_column: dict[str, dict[str, Any]] = {}
    for model in models:
        if not isinstance(model, Declared):
            raise PolicyError(
                f"The 'privacy' parameter must be a list of models such as KAnonymity(5). Got {shown(model)}."
            )
        of_column = by_column.setdefault(str(model.column), {}) if model.about == "column" else settings
        for name, value in model.as_options().items():
            home = of_column if name in COLUMN_OPTIONS else settings
            if isinstance(value, Mapping) and home is settings:
                value = {**(settings.get(name) or {}), **value}
            elif home.get(name) not in (None, value):
                raise PolicyError(f"'{name}' is given twice, as {shown(home[name])} and {shown(value)}; give one")
            home[name] = value
    if by_column:
        settings["sensitive"] = _joined(settings.get("sensitive") or (), by_column)
    return settings


def _joined(sensitive: Any, by_column: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    if not isinstance(sensitive, Mapping):
        sensitive = {name: {} for name in ([sensitive] if isinstance(sensitive, str) else sensitive)}
    found = {column: dict(own) if isinstance(own, Mapping) else own for column, own in sensitive.items()}
    for column, own in by_column.items():
        found[column] = {**found.get(column, {}), **own}
    return found


def _taxonomies_of(given: Any, columns: Sequence[str]) -> dict[str, Taxonomy | Rule]:
    """Taxonomies by column; a folder serves the columns that it has a file for."""
    if isinstance(given, tuple):  # the later ones win
        return {column: item for part in given for column, item in _taxonomies_of(part, columns).items()}
    if isinstance(given, str | Path):
        folder = Path(given)
        if not folder.is_dir():
            raise PolicyError(f"no taxonomy folder {folder}; give an existing folder, or a file for each column")
        files = [
            (column, folder / f"{column}{suffix}") for column in columns for suffix in (".toml", ".csv.gz", ".csv")
        ]
        given = {column: path for column, path in files if path.exists()}
    return {column: _taxonomy_of(column, item) for column, item in dict(given or {}).items()}


def _taxonomy_of(column: str, item: Any) -> Taxonomy | Rule:
    if isinstance(item, Mapping):
        return rule_of(column, item)
    taxonomy: Taxonomy | Rule = Taxonomy.read(item) if isinstance(item, str | Path) else item
    return taxonomy


def quasi_identifiers_of(given: Any, k: int | None = None) -> tuple[QuasiIdentifier, ...]:
    """Quasi-identifiers from what a user may write.

    Args:
        given: Column names for a single quasi-identifier, or several quasi-identifiers: objects, mappings with
            "attributes" and "k", or lists of columns.
        k: The k of those that do not say their own.
    """
    if isinstance(given, str | QuasiIdentifier):
        given = [given]
    if not isinstance(given, Iterable):
        raise PolicyError(f"The 'quasi_identifiers' parameter must be columns or lists of columns. Got {shown(given)}.")
    if isinstance(given, Mapping):
        given = [given]
    given = list(given)
    if any(isinstance(item, str) for item in given):  # then all should be
        wrong = [item for item in given if not isinstance(item, str)]
        if wrong:
            raise PolicyError(
                f"The 'quasi_identifiers' parameter must name columns by text. Got {shown(wrong[0])} among them."
            )
        given = [given]
    return tuple(_quasi_identifier_of(item, k) for item in given)


def _quasi_identifier_of(item: Any, k: int | None) -> QuasiIdentifier:
    if isinstance(item, QuasiIdentifier):
        return item
    if isinstance(item, Mapping):
        for key in item:
            if key not in ("attributes", "k"):
                raise UnknownNameError("key", str(key), ("attributes", "k"), "a quasi-identifier")
        item, k = item.get("attributes", ()), item.get("k", k)
    if k is None:
        raise PolicyError("A quasi-identifier must have a k, the size of the smallest crowd allowed. None was given.")
    return QuasiIdentifier(item, k)
