"""release.toml: a policy in a file, with the same names as in Python and on the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from incrowd.errors import PolicyError, UnknownNameError, closest, shown
from incrowd.policy.context import CONTEXT, checked_context
from incrowd.policy.options import ATTACK, OPTIONS
from incrowd.schemas.regular_files import open_regular
from incrowd.schemas.toml import parsed_toml
from incrowd.search.registry import METHODS

KEYS = tuple(name for name in OPTIONS if name != "options")
PARAMETERS = (*KEYS, "privacy")  # what functions in Python take
MOST_BYTES = 1 << 24  # of a policy file
FILES = {"csv": ("separator", "quote", "encoding", "header", "strip"), "file": ("sheet", "value_labels")}
DIALECT = tuple(key for keys in FILES.values() for key in keys)
QUERY = "query"  # what to read of a database
APART = {"attack": tuple(ATTACK), "context": tuple(CONTEXT)}  # tables that are not about the release itself


def check_spelling(options: Iterable[str], function: Callable[..., object]) -> None:
    """Raise UnknownNameError if an option that no method has looks like a parameter of the function."""
    own = [each.name for each in signature(function).parameters.values() if each.kind is Parameter.KEYWORD_ONLY]
    known = dict.fromkeys([*own, *PARAMETERS, *DIALECT, QUERY])
    of_methods = [option for method in METHODS.values() for option in method.options]
    for name in options:
        if name not in of_methods and closest(name, [*known, *of_methods]) in known:
            raise UnknownNameError("parameter", name, known, function.__name__)


def read_policy(path: str | Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read a policy file.

    Returns:
        The settings of `make_policy`, and how to read the table (its tables `csv` and `file`, and `query`).

    Raises:
        PolicyError: The file cannot be read, is not TOML, or has an unknown or ill-typed key.
    """
    path = Path(path)
    return settings_in(_parsed(path), path)


def read_attack_settings(path: str | Path) -> dict[str, Any]:
    """What the table [attack] of a policy file says.

    Raises:
        PolicyError: As for `read_policy`.
    """
    return {name: ATTACK[name].checked(name, value) for name, value in _table_apart(path, "attack").items()}


def read_context(path: str | Path) -> dict[str, str]:
    """What the table [context] of a policy file answers.

    Raises:
        PolicyError: As for `read_policy`.
    """
    return checked_context(_table_apart(path, "context"))


def _table_apart(path: str | Path, name: str) -> dict[str, Any]:
    data = _parsed(Path(path))
    settings_in(data, Path(path))
    return dict(data.get(name, {}))


def _parsed(path: Path) -> dict[str, Any]:
    try:
        with open_regular(path) as file:
            text = file.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            raise PolicyError(f"{path} is larger than {MOST_BYTES >> 20} megabytes, which no policy is; give a policy")
        return parsed_toml(text.decode())
    except OSError as error:
        raise PolicyError(f"cannot read the policy {path}: {error.strerror}") from None
    except RecursionError:
        raise PolicyError(f"{path} is nested too deeply for a policy; give a policy") from None
    except ValueError as error:  # not TOML, not UTF-8, or a number of thousands of digits
        raise PolicyError(f"{path} is not valid TOML: {' '.join(str(error).split())[:200]}") from None


def settings_in(data: Mapping[str, Any], path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings of `make_policy` that a parsed policy file holds, and how to read tables.

    Raises:
        PolicyError: There is an unknown or ill-typed key.
    """
    data = dict(data)
    options = sorted({option for method in METHODS.values() for option in method.options})
    known = (*KEYS, *options, *FILES, QUERY, *APART)
    for key in data:
        if key not in known:
            raise UnknownNameError("key", key, known, str(path))
    dialect: dict[str, Any] = {}
    for table, known_there in {**FILES, **APART}.items():
        if not isinstance(data.get(table, {}), Mapping):
            raise PolicyError(f"The '{table}' key of {path} must be a table. Got {shown(data[table])}.")
        for key in data.get(table, {}):
            if key not in known_there:
                raise UnknownNameError("key", key, known_there, f"{path} [{table}]")
        dialect |= data.pop(table, {}) if table in FILES else {}
    checked_context(data.get("context", {}))
    if QUERY in data:
        dialect[QUERY] = data[QUERY]
    settings = {key: value for key, value in data.items() if key in KEYS}
    settings["options"] = {key: value for key, value in data.items() if key in options}
    for key in ("ledger", "population_table", "spill_folder", "taxonomies"):
        if key in settings:
            settings[key] = _beside(path, settings[key])
    return settings, dialect


def _beside(path: Path, value: Any) -> Any:
    """Paths in a policy file are relative to its folder."""
    if isinstance(value, Mapping):
        return {column: _beside(path, item) if isinstance(item, str) else item for column, item in value.items()}
    return path.parent / value if isinstance(value, str) else value
