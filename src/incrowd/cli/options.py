"""The options that commands share: what must hold, what a CSV file looks like, how classifiers are tested."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from incrowd.cli.groups import OptionGroup, keyword
from incrowd.errors import PolicyError
from incrowd.policy.typed import columns_of
from incrowd.search.options import Flag
from incrowd.search.registry import METHODS

if TYPE_CHECKING:
    from incrowd.policy.policy import Policy, QuasiIdentifier

_QI = "Columns of a quasi-identifier, separated by commas; repeat for several, each followed by ':k'."
_STRICT = "Refuse until every column has a role."
_TIME_LIMIT = "Seconds; then methods that can stop early release what they have, others fail."
_RULES = "column=FILE, zip=prefix:3,2, age=widths:5,10 or age=bounds:18,65."

Qi = Annotated[list[str] | None, typer.Option("--qi", "--quasi-identifiers", help=_QI, show_default=False)]
K = Annotated[int | None, typer.Option("--k", help="Size of the smallest crowd allowed.", show_default=False)]
PolicyFile = Annotated[
    Path | None,
    typer.Option("--policy", help="A policy file, such as release.toml.", show_default=False, readable=False),
]
_CSV: Any = {"rich_help_panel": "CSV"}
TRIAL: Any = {"rich_help_panel": "Evaluation", "show_default": False}
_PROTOCOL = "apply: release the training rows and recode the test rows alike (default); together: release both."
_CLASSIFIER = (
    "tree, bayes, c45, bayes10, or scikit-learn classifiers by name; separated by commas (default: tree,bayes)."
)
_INTERVALS = "Treat released intervals as midpoints (default) or categories."


@dataclass(frozen=True, kw_only=True)
class CsvOptions(OptionGroup):
    """What a CSV file looks like, where it should not be detected."""

    separator: Annotated[str | None, typer.Option(help="Separator of columns; detected if not given.", **_CSV)] = None
    quote: Annotated[str | None, typer.Option(help="Quote character.", **_CSV)] = None
    encoding: Annotated[str | None, typer.Option(help="Encoding, such as cp1252.", **_CSV)] = None
    header: Annotated[
        bool | None, typer.Option("--header/--no-header", help="Whether the first line has names.", **_CSV)
    ] = None

    def dialect(self) -> dict[str, Any]:
        """The words of `open_source` that were given."""
        given = {option.name: getattr(self, option.name) for option in fields(CsvOptions)}
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class TrialOptions(OptionGroup):
    """How classifiers are tested."""

    test: Annotated[Path | None, typer.Option(help="A file with the test rows.", readable=False, **TRIAL)] = None
    split: Annotated[float | None, typer.Option(help="Share of rows to test on (default: one third).", **TRIAL)] = None
    folds: Annotated[int | None, typer.Option(help="Number of folds of a cross-validation.", **TRIAL)] = None
    protocol: Annotated[str, typer.Option(help=_PROTOCOL, **TRIAL)] = "apply"
    classifier: Annotated[str, typer.Option(help=_CLASSIFIER, **TRIAL)] = "tree,bayes"
    features: Annotated[str | None, typer.Option(help="Columns that classifiers may use (default: all).", **TRIAL)] = (
        None
    )
    intervals: Annotated[str, typer.Option(help=_INTERVALS, **TRIAL)] = "midpoints"

    def words(self, dialect: Mapping[str, Any]) -> dict[str, Any]:
        """The words of `Trial.of`; test rows are read in the dialect of the table."""
        from incrowd.formats.registry import open_source

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
    identifiers: Annotated[
        str | None, typer.Option(help="Columns to drop, separated by commas.", show_default=False)
    ] = None
    sensitive: Annotated[str | None, typer.Option(help="Columns to keep unchanged.", show_default=False)] = None
    insensitive: Annotated[str | None, typer.Option(help="Columns to keep unchanged.", show_default=False)] = None
    taxonomies: Annotated[
        Path | None, typer.Option(help="Folder with a taxonomy file per column.", show_default=False, readable=False)
    ] = None
    taxonomy: Annotated[list[str] | None, typer.Option(help=_RULES, show_default=False)] = None
    types: Annotated[
        list[str] | None, typer.Option("--type", help="column=TYPE: number, date or text.", show_default=False)
    ] = None
    ranges: Annotated[
        list[str] | None, typer.Option("--range", help="column=low:high, a range that is public.", show_default=False)
    ] = None
    missing: Annotated[
        str | None, typer.Option(help="Missing values: category, drop or error.", show_default=False)
    ] = None
    missing_values: Annotated[
        list[str] | None, typer.Option("--missing-value", help="Text that means missing, such as '?'.")
    ] = None
    method: Annotated[
        str | None, typer.Option(help="The search method; see 'incrowd methods'.", show_default=False)
    ] = None
    seed: Annotated[int | None, typer.Option(help="Seed of the random numbers.", show_default=False)] = None
    strict: Annotated[bool | None, typer.Option("--strict", help=_STRICT, show_default=False)] = None
    time_limit: Annotated[float | None, typer.Option(help=_TIME_LIMIT, show_default=False)] = None
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
    return make_policy(**{**words, "options": {**words.get("options", {}), **typed}}), dialect


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
    qi: list[str] | None, k: int | None, policy: Path | None
) -> tuple[tuple[QuasiIdentifier, ...], dict[str, Any]]:
    """What must hold, from options or from a policy file, and how that reads CSV files."""
    from incrowd.policy.typed import quasi_identifiers
    from incrowd.policy.words import quasi_identifiers_of

    if qi is not None:
        return quasi_identifiers_of(quasi_identifiers(qi, k), k), {}
    if policy is None:
        raise PolicyError("nothing to verify; give --qi with the columns of a quasi-identifier, or a --policy file")
    made, dialect = policy_of(policy, {} if k is None else {"k": k}, {})
    return made.quasi_identifiers, dialect


def _says_k(quasi_identifiers: Any) -> bool:
    """Whether all quasi-identifiers of a policy file have their own k, which a common k would not change."""
    items = quasi_identifiers if isinstance(quasi_identifiers, list) else []
    return bool(items) and all(isinstance(item, dict) and "k" in item for item in items)


def _option_help(option: str, names: Sequence[str]) -> str:
    """What an option means and may be, and which methods take it; separately where they allow different values."""
    takers: dict[str, list[str]] = {}
    for name in names:
        known = METHODS[name].options[option]
        choices = f": {', '.join(known.kind.choices)}" if known.kind.choices else ""
        takers.setdefault(f"{known.about}{choices}", []).append(name)
    return "; ".join(f"({', '.join(methods)}) {text}" for text, methods in takers.items())


def _method_options() -> dict[str, inspect.Parameter]:
    """The options of all methods; each says which methods take it."""
    takers: dict[str, list[str]] = {}
    for name, method in METHODS.items():
        for option in method.options:
            takers.setdefault(option, []).append(name)
    found: dict[str, inspect.Parameter] = {}
    for option, names in takers.items():
        flag = option.replace("_", "-")
        is_flag = isinstance(METHODS[names[0]].options[option].kind, Flag)
        form = f"--{flag}/--no-{flag}" if is_flag else f"--{flag}"
        kind, words = bool if is_flag else str, _option_help(option, names)
        panel = "Options of methods"
        told = typer.Option(form, help=words, show_default=False, rich_help_panel=panel)
        found[option] = keyword(option, Annotated[kind | None, told])
    return found
