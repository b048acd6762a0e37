"""The options that commands share: what must hold, what a CSV file looks like, how classifiers are tested."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from incrowd.cli.groups import OptionGroup, keyword
from incrowd.errors import PolicyError
from incrowd.search import METHODS
from incrowd.words import columns_of, option_value

if TYPE_CHECKING:
    from incrowd.policy import Policy, QuasiIdentifier

_QI = "Columns of a quasi-identifier, separated by commas; several times for several, each with ':k'."
_RULES = "column=FILE, zip=prefix:3,2, age=widths:5,10 or age=bounds:18,65."

Qi = Annotated[list[str] | None, typer.Option("--qi", "--quasi-identifiers", help=_QI, show_default=False)]
K = Annotated[int | None, typer.Option("--k", help="Smallest crowd that anyone may stand in.", show_default=False)]
PolicyFile = Annotated[
    Path | None, typer.Option("--policy", help="A release.toml.", show_default=False, readable=False)
]
Experiments = Annotated[
    list[str] | None, typer.Argument(metavar="[NAME]...", help="Experiments; none to list them.", show_default=False)
]
PapersFolder = Annotated[
    Path, typer.Option("-o", "--output", help="Folder for data, plots and findings.", readable=False)
]
DocsFolder = Annotated[
    Path | None, typer.Option(help="Folder whose papers.md to update instead.", show_default=False, readable=False)
]

_CSV: Any = {"rich_help_panel": "CSV"}
TRIAL: Any = {"rich_help_panel": "Evaluation", "show_default": False}
_PROTOCOL = "apply: release the training rows, recode test rows alike (default); together: release both."
_CLASSIFIER = "tree, bayes, c45, bayes10, or any of scikit-learn's by name; by commas (default: tree,bayes)."
_INTERVALS = "Released intervals as midpoints (default) or categories."


@dataclass(frozen=True, kw_only=True)
class CsvOptions(OptionGroup):
    """What a CSV file looks like, where it is not to be found out."""

    separator: Annotated[str | None, typer.Option(help="Of a CSV file; detected if not given.", **_CSV)] = None
    quote: Annotated[str | None, typer.Option(help="Quote character.", **_CSV)] = None
    encoding: Annotated[str | None, typer.Option(help="Such as cp1252.", **_CSV)] = None
    header: Annotated[bool | None, typer.Option("--header/--no-header", help="First line is names.", **_CSV)] = None

    def dialect(self) -> dict[str, Any]:
        """The words of `open_source` that were given."""
        given = {option.name: getattr(self, option.name) for option in fields(CsvOptions)}
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class TrialOptions(OptionGroup):
    """How classifiers are tested."""

    test: Annotated[Path | None, typer.Option(help="A file with the test rows.", readable=False, **TRIAL)] = None
    split: Annotated[float | None, typer.Option(help="Share of rows to test on (default: a third).", **TRIAL)] = None
    folds: Annotated[int | None, typer.Option(help="Cross-validate in that many folds.", **TRIAL)] = None
    protocol: Annotated[str, typer.Option(help=_PROTOCOL, **TRIAL)] = "apply"
    classifier: Annotated[str, typer.Option(help=_CLASSIFIER, **TRIAL)] = "tree,bayes"
    features: Annotated[str | None, typer.Option(help="Columns that classifiers may use (default: all).", **TRIAL)] = (
        None
    )
    intervals: Annotated[str, typer.Option(help=_INTERVALS, **TRIAL)] = "midpoints"

    def words(self, dialect: Mapping[str, Any]) -> dict[str, Any]:
        """The words of `Trial.of`; test rows are read in the dialect of the table."""
        from incrowd.engines.sources import open_source

        return {
            "test": None if self.test is None else open_source(self.test, **dialect),
            "split": self.split,
            "folds": self.folds,
            "classifiers": columns_of(self.classifier),
            "features": None if self.features is None else columns_of(self.features),
        }


@dataclass(frozen=True, kw_only=True)
class PolicyOptions(CsvOptions):
    """The options of a policy as they are typed; each field is one option of the command line."""

    policy: PolicyFile = None
    qi: Qi = None
    k: K = None
    target: Annotated[str | None, typer.Option(help="Column that models will predict.", show_default=False)] = None
    identifiers: Annotated[str | None, typer.Option(help="Columns to drop, by commas.", show_default=False)] = None
    sensitive: Annotated[str | None, typer.Option(help="Columns to keep as they are.", show_default=False)] = None
    insensitive: Annotated[str | None, typer.Option(help="Columns to keep as they are.", show_default=False)] = None
    taxonomies: Annotated[
        Path | None, typer.Option(help="Folder with a taxonomy file per column.", show_default=False, readable=False)
    ] = None
    taxonomy: Annotated[list[str] | None, typer.Option(help=_RULES, show_default=False)] = None
    types: Annotated[
        list[str] | None, typer.Option("--type", help="column=number, date or text.", show_default=False)
    ] = None
    ranges: Annotated[
        list[str] | None, typer.Option("--range", help="column=low:high, a public range.", show_default=False)
    ] = None
    missing: Annotated[str | None, typer.Option(help="category, drop or error.", show_default=False)] = None
    missing_values: Annotated[
        list[str] | None, typer.Option("--missing-value", help="Text that means missing, such as '?'.")
    ] = None
    method: Annotated[str | None, typer.Option(help="The search; see 'incrowd methods'.", show_default=False)] = None
    seed: Annotated[int | None, typer.Option(help="Seed of whatever is drawn at random.", show_default=False)] = None
    method_options: Mapping[str, Any] = field(default_factory=dict)  # those that were given, by name

    @classmethod
    def parameters(cls) -> dict[str, inspect.Parameter]:
        """Also the options of all methods."""
        return super().parameters() | _method_options()

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """The options of methods go together."""
        of_methods = _method_options()
        options = {name: option_value(text) for name, text in given.items() if name in of_methods and text is not None}
        common = {name: value for name, value in given.items() if name not in of_methods}
        return cls(**common, method_options=options)

    def read(self) -> tuple[Policy, dict[str, Any]]:
        """The policy, and how to read CSV files."""
        from incrowd.words import given_words

        dialect = {option.name for option in fields(CsvOptions)}
        typed = {name: value for name, value in self.__dict__.items() if name not in dialect}
        file, options, qi = typed.pop("policy"), dict(typed.pop("method_options")), typed.pop("qi")
        return policy_of(file, given_words(quasi_identifiers=qi, options=options, **typed), self.dialect())


_INSTEAD = {"taxonomies": "ranges", "ranges": "taxonomies"}  # a column has one or the other


def policy_of(file: Path | None, words: dict[str, Any], dialect: dict[str, Any]) -> tuple[Policy, dict[str, Any]]:
    """The policy of a file and of options, and how to read CSV files; options win."""
    from incrowd.policy import make_policy

    if file is not None:
        from incrowd.config import read_policy

        base, base_dialect = read_policy(file)
        if "k" in words and "quasi_identifiers" not in words and _says_k(base.get("quasi_identifiers")):
            raise PolicyError(
                f"every quasi-identifier in {file} has a k of its own; change it there, or give --qi as well"
            )
        words, dialect = _joined(base, words), {**base_dialect, **dialect}
    if "quasi_identifiers" not in words:
        raise PolicyError("a release needs a quasi-identifier; give --qi with its columns, or a --policy file")
    return make_policy(**words), dialect


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
    from incrowd.policy import quasi_identifiers_of

    return {name for qid in quasi_identifiers_of(quasi_identifiers, 2) for name in qid.attributes}  # whatever their k


def to_verify(
    qi: list[str] | None, k: int | None, policy: Path | None
) -> tuple[tuple[QuasiIdentifier, ...], dict[str, Any]]:
    """What must hold, from options or from a policy file, and how that reads CSV files."""
    from incrowd.policy import quasi_identifiers_of
    from incrowd.words import quasi_identifiers

    if qi is not None:
        return quasi_identifiers_of(quasi_identifiers(qi, k), k), {}
    if policy is None:
        raise PolicyError("say what to verify; give --qi with its columns, or a --policy file")
    made, dialect = policy_of(policy, {} if k is None else {"k": k}, {})
    return made.quasi_identifiers, dialect


def _says_k(quasi_identifiers: Any) -> bool:
    """Whether all quasi-identifiers of a policy file have their own k, which a common k would not change."""
    items = quasi_identifiers if isinstance(quasi_identifiers, list) else []
    return bool(items) and all(isinstance(item, dict) and "k" in item for item in items)


def _method_options() -> dict[str, inspect.Parameter]:
    """The options of all methods; each tells which methods take it."""
    takers: dict[str, list[str]] = {}
    for name, method in METHODS.items():
        for option in method.options:
            takers.setdefault(option, []).append(name)
    found: dict[str, inspect.Parameter] = {}
    for option, names in takers.items():
        known = METHODS[names[0]].options[option]
        choices = f": {', '.join(known.choices)}" if known.choices else ""
        words = f"({', '.join(names)}) {known.about}{choices}"
        flag = option.replace("_", "-")
        form = f"--{flag}/--no-{flag}" if known.flag else f"--{flag}"
        kind = bool if known.flag else str
        panel = "Options of methods"
        told = typer.Option(form, help=words, show_default=False, rich_help_panel=panel)
        found[option] = keyword(option, Annotated[kind | None, told])
    return found
