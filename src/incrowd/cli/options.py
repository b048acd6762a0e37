"""The options that commands share: what must hold, what a CSV file looks like, how classifiers are tested."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import typer

from incrowd.cli.groups import OptionGroup, completes, declared, option, path_option
from incrowd.cli.help import TRIAL
from incrowd.errors import PolicyError
from incrowd.options import FILES, INPUT, LARGE, REPORTS, columns_of
from incrowd.policy.options import ENGINE, OPTIONS, PROMISED, TYPED, check_engine, typed
from incrowd.schemas.shapes import Flag
from incrowd.search.registry import METHODS

if TYPE_CHECKING:
    from incrowd.engines.engine import Settings
    from incrowd.policy.policy import Policy


complete_method = completes(METHODS)


PolicyFile = Annotated[
    Path | None, path_option("A policy file such as release.toml; options take precedence.", "--policy")
]
Input = Annotated[
    Path,
    typer.Argument(
        help="CSV, Parquet, Arrow, JSON lines, Excel, Stata, SPSS or SAS file.", show_default=False, readable=False
    ),
]
KeyFile = Annotated[
    Path | None,
    path_option("The key.json of an earlier release, to reproduce it exactly.", "--key", section=REPORTS, noun="FILE"),
]
Output = Annotated[
    Path,
    path_option(
        "Where to write; the suffix says the format (.csv, .parquet, .xlsx ...).", "-o", "--output", section=FILES
    ),
]
Overwrite = Annotated[bool, option("Replace existing files.", "--overwrite", section=FILES)]
_PROTOCOL = "Test rows: original (default), apply (recoded), together (optimistic: released with the others)."
_CLASSIFIER = "tree, bayes, c45, bayes10 or scikit-learn's, by commas (default: tree,bayes; for numbers tree,linear)."
_INTERVALS = "Treat released intervals as midpoints (default), bounds or categories."


@dataclass(frozen=True, kw_only=True)
class CsvOptions(OptionGroup):
    """How a table is read: what a CSV file looks like, where it should not be detected, which sheet, which query."""

    separator: Annotated[str | None, option("Separator of columns.", section=INPUT)] = None
    quote: Annotated[str | None, option("Quote character.", section=INPUT)] = None
    encoding: Annotated[str | None, option("Encoding, such as cp1252.", section=INPUT)] = None
    header: Annotated[bool | None, option("The first line has names.", "--header/--no-header", section=INPUT)] = None

    strip: Annotated[bool | None, option("Leave out blanks around values.", "--strip", section=INPUT)] = None
    sheet: Annotated[str | None, option("Sheet of an Excel file.", section=INPUT, noun="NAME")] = None
    value_labels: Annotated[
        str | None, option("Codes of Stata and SPSS files: keep, or apply their labels.", section=INPUT, noun="WORD")
    ] = None
    query: Annotated[str | None, option("What to read of a database.", section=LARGE, noun="SQL")] = None

    def dialect(self) -> dict[str, Any]:
        given = {option.name: getattr(self, option.name) for option in fields(CsvOptions)}
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class TrialOptions(OptionGroup):
    test: Annotated[Path | None, path_option("A file with the test rows.", section=TRIAL)] = None
    split: Annotated[
        float | None, option("Share of rows to test on (default: one third).", section=TRIAL, noun="SHARE")
    ] = None
    folds: Annotated[int | None, option("Number of folds of a cross-validation.", section=TRIAL, noun="N")] = None
    protocol: Annotated[str, option(_PROTOCOL, section=TRIAL, noun="WORD")] = "original"
    classifier: Annotated[str, option(_CLASSIFIER, section=TRIAL, noun="NAMES")] = "tree,bayes"
    features: Annotated[
        str | None, option("Columns that classifiers may use (default: all).", section=TRIAL, noun="COLUMNS")
    ] = None
    intervals: Annotated[str, option(_INTERVALS, section=TRIAL, noun="WORD")] = "midpoints"
    seed: Annotated[int, option("Seed of splits, classifiers and searches.", section=TRIAL, noun="N")] = 0

    def design(self, dialect: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of `Trial.of`; test rows are read in the dialect of the table."""
        from incrowd.formats.registry import open_source

        return {
            "test": None if self.test is None else open_source(self.test, **dialect),
            "split": self.split,
            "folds": self.folds,
            "classifiers": columns_of(self.classifier),
            "features": None if self.features is None else columns_of(self.features),
            "seed": self.seed,
        }


@dataclass(frozen=True, kw_only=True)
class DeclaredOptions(OptionGroup):
    """Options of a policy as they are typed, made from their declarations."""

    given: Mapping[str, Any] = field(default_factory=dict)

    names: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def parameters(cls) -> dict[str, inspect.Parameter]:
        own = {name: keyword for name, keyword in super().parameters().items() if name != "given"}
        complete = {"method": {"autocompletion": complete_method}}
        named = {name: declared(name, TYPED[name], **complete.get(name, {})) for name in cls.names}
        return named | own

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        fields = {name: value for name, value in given.items() if name not in cls.names}
        return cls(given={name: value for name, value in given.items() if name in cls.names}, **fields)

    def settings(self) -> dict[str, Any]:
        return typed(self.given)


@dataclass(frozen=True, kw_only=True)
class EngineOptions(DeclaredOptions):
    """What reads, counts and writes rows, and what it may use."""

    names: ClassVar[tuple[str, ...]] = ENGINE

    def chosen(self) -> tuple[str, Settings]:
        from incrowd.engines.engine import Settings
        from incrowd.engines.registry import AUTO

        settings = self.settings()
        engine = settings.get("engine", AUTO)
        limits = {name: settings.get(name) for name in ("memory_limit", "spill_folder", "master")}
        for name, value in limits.items():
            OPTIONS[name].check(name, value)
        check_engine(engine, **limits)
        return engine, Settings(**limits)


@dataclass(frozen=True, kw_only=True)
class RowsToVerify(DeclaredOptions):
    """What new rows must satisfy, and which of their columns leave."""

    names: ClassVar[tuple[str, ...]] = ("quasi_identifiers", "k", "unit", "identifiers", "keep", "keep_order")


@dataclass(frozen=True, kw_only=True)
class VerifyOptions(DeclaredOptions):
    policy: PolicyFile = None

    names: ClassVar[tuple[str, ...]] = (
        *("quasi_identifiers", "k", "unit", "sensitive", "missing_values"),
        *(name for name in PROMISED if TYPED[name].section),
    )

    def read(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What must hold, from options or from a policy file; and how that reads CSV files."""
        settings = self.settings()
        if self.policy is None:
            if "quasi_identifiers" not in settings:
                raise PolicyError(
                    "nothing to verify; give --qi with the columns of a quasi-identifier, or a --policy file"
                )
            return settings, {}
        from incrowd.policy.toml import read_policy

        base, dialect = read_policy(self.policy)
        asking = (*self.names, *PROMISED, "taxonomies", "types")
        found = {**{name: value for name, value in base.items() if name in asking}, **settings}
        sensitive = found.get("sensitive", ())
        for name in ("taxonomies", "types"):
            if isinstance(by_column := found.get(name), Mapping):
                found[name] = {column: value for column, value in by_column.items() if column in sensitive}
        return found, dialect


@dataclass(frozen=True, kw_only=True)
class PolicyOptions(DeclaredOptions, CsvOptions):
    policy: PolicyFile = None
    method_options: Mapping[str, Any] = field(default_factory=dict)  # those that were given, by name

    names: ClassVar[tuple[str, ...]] = tuple(name for name, about in TYPED.items() if about.section)

    @classmethod
    def parameters(cls) -> dict[str, inspect.Parameter]:
        own = {name: keyword for name, keyword in super().parameters().items() if name != "method_options"}
        return own | _method_options()

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        of_methods = _method_options()
        options = {name: text for name, text in given.items() if name in of_methods and text is not None}
        common = {name: value for name, value in given.items() if name not in of_methods}
        return super().of({**common, "method_options": options})

    def read(self) -> tuple[Policy, dict[str, Any]]:
        return policy_of(self.policy, self.settings(), self.dialect(), self.method_options)


_INSTEAD = {"taxonomies": "ranges", "ranges": "taxonomies"}  # a column has one or the other


def policy_of(
    file: Path | None, settings: dict[str, Any], dialect: dict[str, Any], options: Mapping[str, Any] | None = None
) -> tuple[Policy, dict[str, Any]]:
    """The policy of a file and of options, and how to read CSV files; what was typed wins."""
    from incrowd.policy.making import make_policy
    from incrowd.policy.policy import Policy

    if file is not None:
        from incrowd.policy.toml import read_policy

        base, base_dialect = read_policy(file)
        if "k" in settings and "quasi_identifiers" not in settings and _says_k(base.get("quasi_identifiers")):
            raise PolicyError(f"every quasi-identifier in {file} has its own k; change it there, or give --qi as well")
        settings, dialect = _joined(base, settings), {**base_dialect, **dialect}
    if "quasi_identifiers" not in settings:
        raise PolicyError("a release needs a quasi-identifier; give --qi with its columns, or a --policy file")
    method = METHODS.get(settings.get("method", Policy.method))
    known = {} if method is None else method.options
    own = {name: known[name].typed(text) if name in known else text for name, text in (options or {}).items()}
    policy = make_policy(**{**settings, "options": {**settings.get("options", {}), **own}})
    return policy, {**dialect, **_read_by(policy)}


def _read_by(policy: Policy) -> dict[str, Any]:
    """What `open_source` must know of an engine that reads paths by itself."""
    from incrowd.formats.registry import READERS

    return {"engine": policy.engine, "master": policy.master} if policy.engine in READERS else {}


def _joined(base: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a file and those of options, which win: column by column, or option by option of the method."""
    gone: set[str] = set()  # what the file says of columns that are no longer asked for
    if "quasi_identifiers" in base and "quasi_identifiers" in settings:
        gone = _columns(base["quasi_identifiers"]) - _columns(settings["quasi_identifiers"])
    joined = {**base, **settings, "options": {**base.get("options", {}), **settings.get("options", {})}}
    for name in ("taxonomies", "types", "ranges", "levels", "form"):
        own, more = base.get(name, {}), settings.get(name, {})
        if isinstance(own, Mapping):
            replaced = gone | _named(settings.get(_INSTEAD.get(name, "")))
            own = {column: value for column, value in own.items() if column not in replaced}
        joined[name] = (own, more) if name == "taxonomies" else {**own, **more}  # taxonomies may be a folder
    return joined


def _named(settings: Any) -> set[str]:
    """The columns of what was typed by column; taxonomies may be a folder and single ones."""
    if isinstance(settings, tuple):
        return set().union(*map(_named, settings))
    return set(settings) if isinstance(settings, Mapping) else set()


def _columns(quasi_identifiers: Any) -> set[str]:
    from incrowd.policy.making import quasi_identifiers_of

    return {name for qid in quasi_identifiers_of(quasi_identifiers, 2) for name in qid.attributes}  # whatever their k


def _says_k(quasi_identifiers: Any) -> bool:
    """Whether all quasi-identifiers of a policy file have their own k, which a common k would not change."""
    items = quasi_identifiers if isinstance(quasi_identifiers, list) else []
    return bool(items) and all(isinstance(item, dict) and "k" in item for item in items)


def _method_options() -> dict[str, inspect.Parameter]:
    """The options of all methods; `incrowd methods NAME` lists them, and not the help of every command."""
    found: dict[str, inspect.Parameter] = {}
    for method in METHODS.values():
        for name, about in method.options.items():
            flag, is_flag = name.replace("_", "-"), isinstance(about.kind, Flag)
            form = f"--{flag}/--no-{flag}" if is_flag else f"--{flag}"
            found.setdefault(name, declared(name, replace(about, names=(form,), hidden=True)))
    return found
