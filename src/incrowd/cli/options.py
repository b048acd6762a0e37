"""The options that say what a release must satisfy, the same for every command that makes one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from incrowd.errors import PolicyError
from incrowd.search import METHODS
from incrowd.words import option_value

if TYPE_CHECKING:
    from incrowd.policy import Policy, QuasiIdentifier

_QI = "Columns of a quasi-identifier, separated by commas; several times for several, each with ':k'."
_RULES = "column=FILE, zip=prefix:3,2, age=widths:5,10 or age=bounds:18,65."

Qi = Annotated[list[str] | None, typer.Option("--qi", "--quasi-identifiers", help=_QI, show_default=False)]
K = Annotated[int | None, typer.Option("--k", help="Smallest crowd that anyone may stand in.", show_default=False)]
PolicyFile = Annotated[
    Path | None, typer.Option("--policy", help="A release.toml.", show_default=False, readable=False)
]
Separator = Annotated[str | None, typer.Option(help="Of a CSV file; detected if not given.", rich_help_panel="CSV")]
Quote = Annotated[str | None, typer.Option(help="Quote character.", rich_help_panel="CSV")]
Encoding = Annotated[str | None, typer.Option(help="Such as cp1252.", rich_help_panel="CSV")]
Header = Annotated[
    bool | None, typer.Option("--header/--no-header", help="First line is names.", rich_help_panel="CSV")
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

TRIAL: Any = {"rich_help_panel": "Evaluation", "show_default": False}
_PROTOCOL = "apply: release the training rows, recode test rows alike (default); together: release both."
_CLASSIFIER = "tree, bayes, or any of scikit-learn, such as RandomForestClassifier; by commas (default: tree,bayes)."
TestFile = Annotated[Path | None, typer.Option(help="A file with the test rows.", readable=False, **TRIAL)]
Split = Annotated[float | None, typer.Option(help="Share of rows to test on (default: a third).", **TRIAL)]
Folds = Annotated[int | None, typer.Option(help="Cross-validate in that many folds.", **TRIAL)]
Protocol = Annotated[str, typer.Option(help=_PROTOCOL, **TRIAL)]
Classifier = Annotated[str, typer.Option(help=_CLASSIFIER, **TRIAL)]
Columns = Annotated[str | None, typer.Option(help="Columns that classifiers may use (default: all).", **TRIAL)]
IntervalsAs = Annotated[str, typer.Option(help="Released intervals as midpoints (default) or categories.", **TRIAL)]


@dataclass(frozen=True, kw_only=True)
class PolicyOptions:
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
    separator: Separator = None
    quote: Quote = None
    encoding: Encoding = None
    header: Header = None
    method_options: Mapping[str, Any] = field(default_factory=dict)  # those that were given, by name

    def read(self) -> tuple[Policy, dict[str, Any]]:
        """The policy, and how to read CSV files."""
        from incrowd.config import DIALECT
        from incrowd.words import given_words

        typed = dict(self.__dict__)
        file, dialect = typed.pop("policy"), {word: typed.pop(word) for word in DIALECT}
        options = dict(typed.pop("method_options"))
        return policy_of(file, given_words(quasi_identifiers=typed.pop("qi"), options=options, **typed), dialect)


def policy_of(file: Path | None, words: dict[str, Any], dialect: dict[str, Any]) -> tuple[Policy, dict[str, Any]]:
    """The policy of a file and of options, and how to read CSV files; options win."""
    from incrowd.policy import make_policy

    dialect = {key: value for key, value in dialect.items() if value is not None}
    if file is not None:
        from incrowd.config import read_policy

        base, base_dialect = read_policy(file)
        if "k" in words and "quasi_identifiers" not in words and _says_k(base.get("quasi_identifiers")):
            raise PolicyError(f"a quasi-identifier in {file} has a k of its own; change it there, or give --qi as well")
        options = {**base.pop("options", {}), **words.pop("options", {})}
        words, dialect = {**base, **words, "options": options}, {**base_dialect, **dialect}
    if "quasi_identifiers" not in words:
        raise PolicyError("a release needs a quasi-identifier; give --qi with its columns, or a --policy file")
    return make_policy(**words), dialect


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
    """Whether a quasi-identifier of a policy file has its own k, which a common k would not change."""
    items = quasi_identifiers if isinstance(quasi_identifiers, list) else []
    return any(isinstance(item, dict) and "k" in item for item in items)


def with_policy_options(command: Callable[..., None], without: Collection[str] = ()) -> Callable[..., None]:
    """Give a command the options of a policy and of all methods, in place of its parameter `options`.

    Args:
        command: The command.
        without: Fields of `PolicyOptions` that it replaces by options of its own.
    """
    hints = get_type_hints(PolicyOptions, include_extras=True)
    names = [field.name for field in fields(PolicyOptions) if field.name not in ("method_options", *without)]
    of_methods = _method_options()
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        if parameter.name == "options":
            kinds = {name: hints[name] for name in names} | of_methods
            parameters += [
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
                for name, kind in kinds.items()
            ]
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    @wraps(command)
    def wrapped(**given: Any) -> None:
        typed = {name: given.pop(name) for name in of_methods}
        options = {name: option_value(text) for name, text in typed.items() if text is not None}
        common = {name: given.pop(name) for name in names}
        command(options=PolicyOptions(**common, method_options=options), **given)

    # Typer asks for both, and must not look through to the command itself.
    wrapped.__dict__.update(__signature__=inspect.Signature(parameters))
    wrapped.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    del wrapped.__dict__["__wrapped__"]
    return wrapped


def _method_options() -> dict[str, Any]:
    """The options of all methods as annotations; each tells which methods take it."""
    takers: dict[str, list[str]] = {}
    for name, method in METHODS.items():
        for option in method.options:
            takers.setdefault(option, []).append(name)
    found: dict[str, Any] = {}
    for option, names in takers.items():
        known = METHODS[names[0]].options[option]
        choices = f": {', '.join(known.choices)}" if known.choices else ""
        words = f"({', '.join(names)}) {known.about}{choices}"
        flag = option.replace("_", "-")
        form = f"--{flag}/--no-{flag}" if known.flag else f"--{flag}"
        kind = bool if known.flag else str
        panel = "Options of methods"
        found[option] = Annotated[
            kind | None, typer.Option(form, help=words, show_default=False, rich_help_panel=panel)
        ]
    return found
