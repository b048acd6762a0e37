"""The options that commands share: what must hold, what a CSV file looks like, how classifiers are tested."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from incrowd.cli.groups import OptionGroup, keyword, told, told_path
from incrowd.cli.help import CSV, FILES, LARGE, SEARCH, TRIAL, VALUES
from incrowd.cli.protection import ProtectionOptions
from incrowd.errors import PolicyError
from incrowd.policy.typed import columns_of
from incrowd.schemas.shapes import Flag
from incrowd.search.registry import METHODS

if TYPE_CHECKING:
    from incrowd.engines.engine import Settings
    from incrowd.policy.policy import Policy

_QI = "Could identify a person: age,sex,zip; repeatable, each with its own ':k'."
KEEP = "Columns that stay though they look as if they named people."
_STRICT = "Refuse until every column has a role."
KEEP_ORDER = "Leave rows in their order, which can link them to the original ones."
_TIME_LIMIT = "Then a method that can stop early releases what it has; others fail."
_RULES = "column=FILE, zip=prefix:3,2, age=widths:5,10 or age=bounds:18,65."
_ENGINE = "arrow, duckdb or spark; else what suits the table."
_METHOD = "The search: 'incrowd methods' lists them, with a NAME also its options."


def complete_method(incomplete: str) -> list[str]:
    """The methods whose names begin so, for shells that complete what is typed."""
    return [name for name in METHODS if name.startswith(incomplete)]


Qi = Annotated[list[str] | None, told(_QI, "--qi", "--quasi-identifiers", noun="COLUMNS")]
K = Annotated[int | None, told("Size of the smallest crowd allowed.", "--k", noun="N")]
MissingValues = Annotated[
    list[str] | None, told("Text that means missing, such as '?'.", "--missing-value", section=VALUES)
]
PolicyFile = Annotated[
    Path | None, told_path("A policy file such as release.toml; options take precedence.", "--policy")
]
Input = Annotated[
    Path,
    typer.Argument(
        help="CSV, Parquet, Arrow, JSON lines, Excel, Stata, SPSS or SAS file.", show_default=False, readable=False
    ),
]
KeyFile = Annotated[
    Path | None,
    told_path("The key.json of an earlier release, to make the very same again.", "--key", section=SEARCH, noun="FILE"),
]
Output = Annotated[
    Path,
    told_path(
        "Where to write; the suffix says the format (.csv, .parquet, .xlsx ...).", "-o", "--output", section=FILES
    ),
]
Overwrite = Annotated[bool, told("Replace existing files.", "--overwrite", section=FILES)]
Json = Annotated[bool, told("Print JSON on stdout instead of tables.", "--json", section=FILES)]
_PROTOCOL = "apply: recode test rows like the training rows (default); together: release both."
_CLASSIFIER = "tree, bayes, c45, bayes10 or scikit-learn's, by commas (default: tree,bayes)."
_INTERVALS = "Treat released intervals as midpoints (default) or categories."


@dataclass(frozen=True, kw_only=True)
class CsvOptions(OptionGroup):
    """How a table is read: what a CSV file looks like, where it should not be detected, which sheet, which query."""

    separator: Annotated[str | None, told("Separator of columns.", section=CSV)] = None
    quote: Annotated[str | None, told("Quote character.", section=CSV)] = None
    encoding: Annotated[str | None, told("Encoding, such as cp1252.", section=CSV)] = None
    header: Annotated[bool | None, told("Whether the first line has names.", "--header/--no-header", section=CSV)] = (
        None
    )

    strip: Annotated[bool | None, told("Leave out blanks around values.", "--strip", section=CSV)] = None
    sheet: Annotated[str | None, told("Sheet of an Excel file.", section=CSV, noun="NAME")] = None
    value_labels: Annotated[
        str | None, told("Codes of Stata and SPSS files: keep, or apply their labels.", section=CSV, noun="WORD")
    ] = None
    query: Annotated[str | None, told("What to read of a database.", section=LARGE, noun="SQL")] = None

    def dialect(self) -> dict[str, Any]:
        """The words of `open_source` that were given."""
        given = {option.name: getattr(self, option.name) for option in fields(CsvOptions)}
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class TrialOptions(OptionGroup):
    """How classifiers are tested."""

    test: Annotated[Path | None, told_path("A file with the test rows.", section=TRIAL)] = None
    split: Annotated[
        float | None, told("Share of rows to test on (default: one third).", section=TRIAL, noun="SHARE")
    ] = None
    folds: Annotated[int | None, told("Number of folds of a cross-validation.", section=TRIAL, noun="N")] = None
    protocol: Annotated[str, told(_PROTOCOL, section=TRIAL, noun="WORD")] = "apply"
    classifier: Annotated[str, told(_CLASSIFIER, section=TRIAL, noun="NAMES")] = "tree,bayes"
    features: Annotated[
        str | None, told("Columns that classifiers may use (default: all).", section=TRIAL, noun="COLUMNS")
    ] = None
    intervals: Annotated[str, told(_INTERVALS, section=TRIAL, noun="WORD")] = "midpoints"
    seed: Annotated[int, told("Seed of splits, classifiers and searches.", section=TRIAL, noun="N")] = 0

    def words(self, dialect: Mapping[str, Any]) -> dict[str, Any]:
        """The words of `Trial.of`; test rows are read in the dialect of the table."""
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
class EngineOptions(OptionGroup):
    """What reads, counts and writes rows, and what it may use."""

    engine: Annotated[str | None, told(_ENGINE, section=LARGE, noun="NAME")] = None
    memory_limit: Annotated[str | None, told("Memory of the engine: 2GB.", section=LARGE, noun="AMOUNT")] = None
    spill_folder: Annotated[
        Path | None, told_path("Where it puts what does not fit.", section=LARGE, noun="FOLDER")
    ] = None
    master: Annotated[str | None, told("The cluster, such as local[2].", section=LARGE, noun="ADDRESS")] = None

    most_tuples: Annotated[
        int | None, told("Combinations that may come into memory.", section=LARGE, noun="N", hidden=True)
    ] = None

    def settings(self) -> Settings:
        """What the engine may use."""
        from incrowd.engines.engine import Settings
        from incrowd.policy.schema import check_engine, check_word

        words = {word: getattr(self, word) for word in ("memory_limit", "spill_folder", "master")}
        for word, value in words.items():
            check_word(word, value)
        check_engine(self.engine or "auto", **words)
        return Settings(**words)


@dataclass(frozen=True, kw_only=True)
class PolicyOptions(ProtectionOptions, EngineOptions, CsvOptions):
    """The options of a policy as they are typed; each field is one option of the command line."""

    qi: Qi = None
    k: K = None
    target: Annotated[str | None, told("The column that models will predict.", noun="COLUMN")] = None
    identifiers: Annotated[str | None, told("Columns to drop, such as names.", noun="COLUMNS")] = None
    insensitive: Annotated[str | None, told("Harmless columns, kept unchanged.", noun="COLUMNS")] = None
    keep: Annotated[str | None, told(KEEP, noun="COLUMNS")] = None
    strict: Annotated[bool | None, told(_STRICT, "--strict")] = None
    policy: PolicyFile = None
    taxonomies: Annotated[
        Path | None, told_path("Folder with a taxonomy file per column.", section=VALUES, noun="FOLDER")
    ] = None
    taxonomy: Annotated[list[str] | None, told(_RULES, section=VALUES, noun="COLUMN=RULE")] = None
    types: Annotated[
        list[str] | None,
        told("number, comma (as in 3,5), date or text; else detected.", "--type", section=VALUES, noun="COLUMN=TYPE"),
    ] = None
    ranges: Annotated[
        list[str] | None, told("A range that is public.", "--range", section=VALUES, noun="COLUMN=LOW:HIGH")
    ] = None
    missing: Annotated[
        str | None,
        told("Missing values are a category (default), drop rows, or an error.", section=VALUES, noun="WORD"),
    ] = None
    missing_values: MissingValues = None
    method: Annotated[str | None, told(_METHOD, section=SEARCH, noun="NAME", autocompletion=complete_method)] = None
    time_limit: Annotated[float | None, told(_TIME_LIMIT, section=SEARCH, noun="SECONDS")] = None
    keep_order: Annotated[bool | None, told(KEEP_ORDER, "--keep-order", section=FILES)] = None
    method_options: Mapping[str, Any] = field(default_factory=dict)  # those that were given, by name

    @classmethod
    def parameters(cls) -> dict[str, inspect.Parameter]:
        """Also the options of all methods."""
        return super().parameters() | _method_options()

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Collect the options of methods."""
        of_methods = _method_options()
        options = {name: text for name, text in given.items() if name in of_methods and text is not None}
        common = {name: value for name, value in given.items() if name not in of_methods}
        return cls(**common, method_options=options)

    def read(self) -> tuple[Policy, dict[str, Any]]:
        """The policy, and how to read CSV files."""
        from incrowd.policy.typed import given_words

        dialect = {option.name for option in fields(CsvOptions)}
        typed = {name: value for name, value in self.__dict__.items() if name not in dialect}
        file, options, qi = typed.pop("policy"), dict(typed.pop("method_options")), typed.pop("qi")
        words = given_words(quasi_identifiers=qi, **typed)
        return policy_of(file, words, self.dialect(), options)


_INSTEAD = {"taxonomies": "ranges", "ranges": "taxonomies"}  # a column has one or the other


def policy_of(
    file: Path | None, words: dict[str, Any], dialect: dict[str, Any], options: Mapping[str, Any] | None = None
) -> tuple[Policy, dict[str, Any]]:
    """The policy of a file and of options, and how to read CSV files; what was typed wins.

    Args:
        file: The policy file, if there is one.
        words: The words of a policy that were typed.
        dialect: What was typed of CSV files.
        options: The options of methods that were typed, as text.
    """
    from incrowd.policy.policy import Policy
    from incrowd.policy.words import make_policy

    if file is not None:
        from incrowd.policy.toml import read_policy

        base, base_dialect = read_policy(file)
        if "k" in words and "quasi_identifiers" not in words and _says_k(base.get("quasi_identifiers")):
            raise PolicyError(f"every quasi-identifier in {file} has its own k; change it there, or give --qi as well")
        words, dialect = _joined(base, words), {**base_dialect, **dialect}
    if "quasi_identifiers" not in words:
        raise PolicyError("a release needs a quasi-identifier; give --qi with its columns, or a --policy file")
    method = METHODS.get(words.get("method", Policy.method))
    known = {} if method is None else method.options
    typed = {name: known[name].typed(text) if name in known else text for name, text in (options or {}).items()}
    policy = make_policy(**{**words, "options": {**words.get("options", {}), **typed}})
    return policy, {**dialect, **_read_by(policy)}


def _read_by(policy: Policy) -> dict[str, Any]:
    """What `open_source` must know of an engine that reads paths by itself."""
    from incrowd.formats.registry import READERS

    return {"engine": policy.engine, "master": policy.master} if policy.engine in READERS else {}


def _joined(base: Mapping[str, Any], words: Mapping[str, Any]) -> dict[str, Any]:
    """The words of a file and those of options, which win: column by column, or option by option of the method."""
    gone: set[str] = set()  # what the file says of columns that are no longer asked for
    if "quasi_identifiers" in base and "quasi_identifiers" in words:
        gone = _columns(base["quasi_identifiers"]) - _columns(words["quasi_identifiers"])
    joined = {**base, **words, "options": {**base.get("options", {}), **words.get("options", {})}}
    for word in ("taxonomies", "types", "ranges"):
        own, more = base.get(word, {}), words.get(word, {})
        if isinstance(own, Mapping):
            replaced = gone | _named(words.get(_INSTEAD.get(word, "")))
            own = {column: value for column, value in own.items() if column not in replaced}
        joined[word] = (own, more) if word == "taxonomies" else {**own, **more}  # taxonomies may be a folder
    return joined


def _named(words: Any) -> set[str]:
    """The columns of what was typed by column; taxonomies may be a folder and single ones."""
    if isinstance(words, tuple):
        return set().union(*map(_named, words))
    return set(words) if isinstance(words, Mapping) else set()


def _columns(quasi_identifiers: Any) -> set[str]:
    from incrowd.policy.words import quasi_identifiers_of

    return {name for qid in quasi_identifiers_of(quasi_identifiers, 2) for name in qid.attributes}  # whatever their k


def to_verify(
    qi: list[str] | None,
    k: int | None,
    policy: Path | None,
    protection: ProtectionOptions,
    missing_values: list[str] | None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What must hold, as words of a policy, from options or from a policy file; and how that reads CSV files."""
    from incrowd.policy.protection import WORDS
    from incrowd.policy.typed import given_words

    words = given_words(quasi_identifiers=qi, k=k, missing_values=missing_values, **protection.__dict__)
    if policy is None:
        if qi is None:
            raise PolicyError("nothing to verify; give --qi with the columns of a quasi-identifier, or a --policy file")
        return words, {}
    from incrowd.policy.toml import read_policy

    base, dialect = read_policy(policy)
    asking = ("quasi_identifiers", "k", "unit", "sensitive", "taxonomies", "missing_values", "types", *WORDS)
    found = {**{word: value for word, value in base.items() if word in asking}, **words}
    sensitive = found.get("sensitive", ())
    for word in ("taxonomies", "types"):
        if isinstance(by_column := found.get(word), Mapping):
            found[word] = {column: value for column, value in by_column.items() if column in sensitive}
    return found, dialect


def _says_k(quasi_identifiers: Any) -> bool:
    """Whether all quasi-identifiers of a policy file have their own k, which a common k would not change."""
    items = quasi_identifiers if isinstance(quasi_identifiers, list) else []
    return bool(items) and all(isinstance(item, dict) and "k" in item for item in items)


def _method_options() -> dict[str, inspect.Parameter]:
    """The options of all methods; `incrowd methods NAME` tells of them, and not the help of every command."""
    found: dict[str, inspect.Parameter] = {}
    for method in METHODS.values():
        for option, about in method.options.items():
            flag, is_flag = option.replace("_", "-"), isinstance(about.kind, Flag)
            form = f"--{flag}/--no-{flag}" if is_flag else f"--{flag}"
            hidden = typer.Option(form, help=about.about, show_default=False, hidden=True)
            found.setdefault(option, keyword(option, Annotated[(bool if is_flag else str) | None, hidden]))
    return found
