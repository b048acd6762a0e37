"""The options of a policy, each declared once: Python, shell, TOML, studio, certificates and docs are made from this.

Values are checked here, before anything is made of them, so that what follows can rely on their types. What they mean
together (a column with two roles, a range that a taxonomy makes useless) is for `Policy` to say. The promises come from
`privacy.registry`, the options of methods from `search.registry`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from incrowd.errors import PolicyError, shown
from incrowd.options import (
    INPUT,
    LARGE,
    LEDGER,
    REPORTS,
    RISKS,
    SEARCH,
    VALUES,
    ByColumn,
    Option,
    SomeOf,
    Texts,
    columns_of,
)
from incrowd.policy.dictionary import DICTIONARIES
from incrowd.privacy.k_anonymity import K
from incrowd.privacy.registry import COLUMN_OPTIONS, OF_POPULATION, RISK_OPTIONS
from incrowd.run import LONGEST
from incrowd.schemas.shapes import (
    Anything,
    Choice,
    Flag,
    Maybe,
    Number,
    SchemaError,
    Shape,
    TableOf,
    Text,
    Whole,
    described,
    is_number,
    parsed_number,
)
from incrowd.table.forms import FORM

MISSING = ("category", "drop", "error")
TYPES = ("number", "comma", "date", "text")
RULES = ("prefix", "widths", "bounds", "bottom", "top")  # that are typed with numbers
_MOST_LEVELS = 1000
_MOST_DIGITS = 18  # of a k; more people than that have never lived


@dataclass(frozen=True)
class QuasiIdentifiers(Shape):
    """Columns, or several sets of columns, each perhaps with its own k; `QuasiIdentifier` checks them."""

    form = "columns or lists of columns"

    def check(self, value: Any, place: str) -> None:
        pass

    def parse(self, text: str) -> Any:
        """Typed as 'education,sex:4'; a column may have a colon in its name."""
        columns, colon, k = text.rpartition(":")
        if not colon or not is_digits(k.strip()):
            return columns_of(text)
        return {"attributes": columns_of(columns), "k": int(k)}

    def parse_each(self, texts: Sequence[str]) -> Any:
        return [self.parse(text) for text in texts]


def is_digits(text: str) -> bool:
    """Whether a text is a whole number as people type it; to Python, raised and other digits are digits too."""
    return text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS


@dataclass(frozen=True)
class Range(Shape):
    """A lower and a higher number, date or text of one; typed, a colon is between them."""

    form = "a lower and a higher value"

    def check(self, value: Any, place: str) -> None:
        if not isinstance(value, list | tuple) or len(value) != 2 or not all(map(_is_bound, value)):
            raise SchemaError(place, f"be {self.form}, each a number or a date", shown(value))
        try:
            ascends = bool(value[0] < value[1])
        except TypeError:  # a number and a date, or a date with a time zone and one without
            ascends = False
        if not ascends:
            raise SchemaError(place, f"be {self.form}", shown(value))

    def parse(self, text: str) -> Any:
        """A time of day has colons of its own, so it is the one in the middle that separates the bounds."""
        parts = text.split(":")
        if len(parts) % 2:
            raise PolicyError(
                "must look like age=0:120, or seen=2020-01-01 08:00:2020-12-31 20:00 with as many parts on both "
                f"sides; got {shown(text)}"
            )
        middle = len(parts) // 2
        return tuple(parsed_number(":".join(part), int, float) for part in (parts[:middle], parts[middle:]))


@dataclass(frozen=True)
class Levels(Shape):
    """The lowest and the highest level of generalization, the latter None for any; one number is both."""

    form = "a level of at least 0, or a lowest and a highest one such as [1, 3]"

    def plain(self, value: Any) -> Any:
        if isinstance(value, str):
            value = self.parse(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return (value, value)
        return (*value, None)[:2] if isinstance(value, list | tuple) and 0 < len(value) < 3 else value

    def allows(self, value: Any) -> bool:
        if not isinstance(value, tuple) or len(value) != 2:
            return False
        low, high = value
        whole = all(type(level) is int for level in (low, low if high is None else high))
        return whole and 0 <= low <= (low if high is None else high) < _MOST_LEVELS

    def parse(self, text: str) -> Any:
        """Typed as 1:3, 1: or :3, or a single level."""
        low, colon, high = (part.strip() for part in text.partition(":"))
        if not all(is_digits(part) or (colon and not part) for part in (low, *[high] * bool(colon))):
            return text
        return (int(low or 0), int(high) if high else None) if colon else int(low)


def _is_bound(value: Any) -> bool:
    if isinstance(value, Decimal):
        return value.is_finite()
    if isinstance(value, int) and not isinstance(value, bool):
        return abs(value) < 10**400
    return is_number(value) or isinstance(value, date) or (isinstance(value, str) and 0 < len(value) < 100)


@dataclass(frozen=True)
class Folder(Shape):
    """A folder that exists."""

    form = "an existing folder"

    def check(self, value: Any, place: str) -> None:
        if not is_path(value) or not Path(value).is_dir():
            raise SchemaError(place, f"be {self.form}", shown(str(value) if isinstance(value, Path) else value))

    def parse(self, text: str) -> Any:
        return typed_path(text)


@dataclass(frozen=True)
class LedgerFolder(Shape):
    """A folder, which need not exist yet."""

    form = "a folder"

    def allows(self, value: Any) -> bool:
        return is_path(value)

    def parse(self, text: str) -> Any:
        return typed_path(text)


@dataclass(frozen=True)
class TableFile(Anything):
    """A table: the path of a file, or anything that `anonymize` takes."""

    def parse(self, text: str) -> Any:
        return typed_path(text)


def is_path(value: Any) -> bool:
    if not isinstance(value, str | Path):
        return False
    text = str(value)
    return 0 < len(text) < 4096 and "\0" not in text and all(len(part) < 256 for part in Path(text).parts)


def typed_path(text: str) -> Path:
    """A path as it was typed; an empty one would be the current folder.

    Raises:
        PolicyError: It is empty.
    """
    if not text:
        raise PolicyError("must be a path that is not empty")
    return Path(text)


@dataclass(frozen=True)
class Hierarchy(Shape):
    """How the values of a column are generalized: a file, a rule such as {prefix = [3, 2]}, or a taxonomy."""

    form = "a file, a rule or a taxonomy"

    def allows(self, value: Any) -> bool:
        return is_path(value) or isinstance(value, Mapping) or hasattr(value, "ancestors")

    def parse(self, text: str) -> Any:
        parts = text.split(":")
        kinds, lists = parts[::2], parts[1::2]
        if text == "flat":
            return {"flat": True}
        if len(kinds) != len(lists) or any(kind not in RULES for kind in kinds):
            return typed_path(text)
        typed = {
            kind: [parsed_number(number, int, float) for number in numbers.split(",")]
            for kind, numbers in zip(kinds, lists, strict=True)
        }
        return {kind: found[0] if kind in ("bottom", "top") else found for kind, found in typed.items()}


@dataclass(frozen=True)
class Hierarchies(Shape):
    """A folder, or by column a file, a rule or a taxonomy; or several of these, of which later ones win."""

    form = "a folder, or a table of files, rules or taxonomies by column"

    def check(self, value: Any, place: str) -> None:
        if isinstance(value, tuple):
            for part in value:
                self.check(part, place)
            return
        if value is not None and not isinstance(value, Mapping) and not is_path(value):
            raise SchemaError(place, f"be {self.form}", described(value))
        if isinstance(value, Mapping):
            _TAXONOMY.check(place, value)

    def parse(self, text: str) -> Any:
        return typed_path(text)


@dataclass(frozen=True)
class HierarchyByColumn(ByColumn):
    """A hierarchy for each of some columns; a rule that is typed with other signs is shown as it should be."""

    def parse_each(self, texts: Sequence[str]) -> Any:
        for text in texts:
            found = re.fullmatch(rf"(.+?)[:=]({'|'.join(RULES)})[:=](.*)", text)
            if found and not text.startswith(f"{found[1]}={found[2]}:"):
                column, rule, numbers = found.groups()
                raise PolicyError(f"must look like {column}={rule}:{numbers}; got {shown(text)}")
        return super().parse_each(texts)


_TAXONOMY = Option(
    "column=FILE, zip=prefix:3,2, age=widths:5,10:top:90 or age=bounds:18,65.",
    HierarchyByColumn(Hierarchy(), "education=education.csv or zip=prefix:3,2"),
    noun="COLUMN=RULE",
    section=VALUES,
    repeated=True,
    each="taxonomy",
)
_COLUMN, _COLUMNS = Maybe(Text(blank=False)), Texts(single=True)
OPTIONS: Mapping[str, Option] = {
    "quasi_identifiers": Option(
        "Could identify a person: age,sex,zip; repeatable, each with its own ':k'.",
        QuasiIdentifiers(),
        names=("--qi", "--quasi-identifiers"),
        noun="COLUMNS",
        repeated=True,
        comment="Together these could identify a person; they are generalized.",
    ),
    "k": K,
    "unit": Option(
        "Person ID, such as patient_id: k counts people.",
        _COLUMN,
        noun="COLUMN",
        comment="Whose record it is: k counts people. The column is dropped.",
    ),
    "identifiers": Option("Columns to drop, such as names.", _COLUMNS, noun="COLUMNS", comment="These are dropped."),
    "sensitive": Option(
        "Columns to protect, kept unchanged.",
        _COLUMNS,
        noun="COLUMNS",
        comment="These stay as they are, and are worth protecting.",
    ),
    **{
        name: replace(option, kind=ByColumn(option.kind, f"diagnosis={option.example}", for_all=True), repeated=True)
        for name, option in COLUMN_OPTIONS.items()
    },
    "insensitive": Option(
        "Harmless columns, kept unchanged.",
        _COLUMNS,
        noun="COLUMNS",
        section=REPORTS,
        comment="These stay as they are.",
    ),
    "keep": Option("Columns that stay though they look as if they named people.", _COLUMNS, noun="COLUMNS"),
    "target": Option(
        "The column that models will predict.",
        _COLUMN,
        noun="COLUMN",
        comment="What models will predict: the release keeps what predicts it.",
    ),
    "population_table": Option("Everyone that the records were drawn from.", TableFile(), noun="FILE", section=RISKS),
    **{name: model.option for name, model in OF_POPULATION.items()},
    **RISK_OPTIONS,
    "missing": Option(
        "Missing values are a category (default), drop rows, or an error.", Choice(MISSING), noun="WORD", section=INPUT
    ),
    "missing_values": Option(
        "Text that means missing, such as '?'.",
        Texts(blank=True, single=True, split=False),
        names=("--missing-value",),
        section=INPUT,
        repeated=True,
        comment="These texts mean that a value is missing.",
    ),
    "dictionary": Option(
        "A data dictionary beside the release: frictionless, ddi or all.",
        SomeOf(tuple(DICTIONARIES)),
        noun="NAMES",
        section=REPORTS,
        comment="Data dictionaries beside the release, for archives and programs that read it.",
    ),
    "strict": Option("Refuse until every column has a role.", Flag(), names=("--strict",), section=REPORTS),
    "keep_order": Option(
        "Leave rows in their order, which can link them to the original ones.",
        Flag(),
        names=("--keep-order",),
        section=REPORTS,
    ),
    "method": Option(
        "The search: 'incrowd methods' lists them, with a NAME also its options.",
        Text(blank=False),
        noun="NAME",
        section=SEARCH,
        comment="How the release is searched for, and options of the method.",
    ),
    "options": Option("Options of the method, which checks them.", TableOf(Anything()), section=""),
    "time_limit": Option(
        "Stop then, with the best result so far; methods that cannot stop early fail.",
        Maybe(Number(0, LONGEST, above=True, noun="a number of seconds")),
        noun="SECONDS",
        section=SEARCH,
    ),
    "ledger": Option(
        "Folder that knows earlier releases; the promise then holds for all of them together.",
        Maybe(LedgerFolder()),
        noun="FOLDER",
        section=LEDGER,
        comment="Earlier releases of the same people, for you alone.",
    ),
    "recipient": Option(
        "Who gets it, by default anyone; releases to others by name are not taken together.",
        Text(),
        noun="NAME",
        section=LEDGER,
    ),
    "wait": Option("For how many releases newcomers may wait for a better crowd.", Whole(0), noun="N", section=LEDGER),
    "engine": Option(
        "arrow, duckdb or spark; else what suits the table.", Text(blank=False), noun="NAME", section=LARGE
    ),
    "memory_limit": Option(
        "Memory of the engine: 2GB.",
        Maybe(
            Text(
                blank=False,
                pattern=r"[1-9][0-9]{0,8} ?[KMGT]i?B",
                called="an amount of memory such as '2GB' or '500MB'",
            )
        ),
        noun="AMOUNT",
        section=LARGE,
    ),
    "spill_folder": Option("Where it puts what does not fit.", Maybe(Folder()), noun="FOLDER", section=LARGE),
    "master": Option("The cluster, such as local[2].", Maybe(Text(blank=False)), noun="ADDRESS", section=LARGE),
    "most_tuples": Option(
        "Combinations that may come into memory.", Maybe(Whole(1)), noun="N", section=LARGE, hidden=True
    ),
    "types": Option(
        "number, comma (as in 3,5), date or text; else detected.",
        ByColumn(Choice(TYPES), "age=number"),
        names=("--type",),
        noun="COLUMN=TYPE",
        section=VALUES,
        repeated=True,
        each="type",
        comment="What columns contain, where that is not detected.",
    ),
    "ranges": Option(
        "A range that is public.",
        ByColumn(Range(), "age=0:120"),
        names=("--range",),
        noun="COLUMN=LOW:HIGH",
        section=VALUES,
        repeated=True,
        each="range",
        comment="The lowest and the highest value that anyone may know.",
    ),
    "levels": Option(
        "Lowest and highest level of generalization: age=1:3, or sex=0.",
        ByColumn(Levels(), "age=1:3 or sex=0"),
        noun="COLUMN=LOW:HIGH",
        section=VALUES,
        repeated=True,
        each="levels",
        comment="How general values have to be at least, and may be at most: 0 is the value itself.",
    ),
    "form": Option(
        "What crowds show: mean, median, mode, or mean:5 in fives.",
        ByColumn(Text(pattern=FORM, called="mean, median or mode, perhaps with a step as in mean:5"), "age=mean"),
        noun="COLUMN=FORM",
        section=VALUES,
        repeated=True,
        each="form",
        comment="Columns of which each crowd shows one number instead of a range.",
    ),
    "taxonomies": Option(
        "Folder with a taxonomy file per column.",
        Hierarchies(),
        noun="FOLDER",
        section=VALUES,
        comment="How values are generalized: a rule, or a file with one line per value.",
    ),
}
ATTACK: Mapping[str, Option] = {  # the table [attack] of a policy file
    "max_excess": Option(
        "Fail with exit code 3 if an attack exceeds its control by more.",
        Maybe(Number(0, 1, noun="a number from 0 to 1")),
        noun="SHARE",
        section=SEARCH,
    ),
    "only": Option("The attacks to play, by commas (default: all).", _COLUMNS, noun="NAMES", section=SEARCH),
    "trials": Option("How often costly attacks are tried (2000).", Whole(10), noun="N", section=SEARCH),
    "seed": Option("What is drawn at random comes from it (0).", Whole(0), noun="N", section=SEARCH),
}
SEVERAL = ("ledger", "recipient", "wait")
ENGINE = ("engine", "memory_limit", "spill_folder", "master", "most_tuples")
PROMISED = (*COLUMN_OPTIONS, "population_table", *OF_POPULATION, *RISK_OPTIONS)
TYPED: Mapping[str, Option] = {**OPTIONS, "taxonomy": _TAXONOMY}  # the shell has an option for a single hierarchy


def checked(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a policy, each in one form.

    Raises:
        PolicyError: One is not what it must be.
    """
    return {name: OPTIONS[name].checked(name, value) if name in OPTIONS else value for name, value in settings.items()}


def typed(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a policy that were typed in the shell; those that were not are left out.

    Raises:
        PolicyError: What was typed does not look like its example.
    """
    settings: dict[str, Any] = {}
    for name, text in given.items():
        if text is None or text == []:
            continue
        try:
            settings[name] = TYPED[name].typed(text)
        except PolicyError as wrong:
            raise PolicyError(f"The '{TYPED[name].flag(name)}' option {str(wrong).rstrip('.')}.") from None
    if "taxonomy" in settings:
        single = settings.pop("taxonomy")
        settings["taxonomies"] = (settings["taxonomies"], single) if "taxonomies" in settings else single
    sets, k = settings.get("quasi_identifiers"), settings.get("k")
    if k is not None and sets and all(isinstance(each, dict) for each in sets):
        raise PolicyError(f"every quasi-identifier has its own k, so --k {k} would be ignored; leave one out")
    return settings


def check_engine(engine: str, memory_limit: object, spill_folder: object, master: object) -> None:
    """Raise PolicyError for settings that the engine does not have: a limit that nobody keeps is worse than none."""
    if master is not None and engine != "spark":
        raise PolicyError(
            "The 'master' parameter is the cluster of the engine spark. Choose that engine, or leave it out."
        )
    for name, value in (("memory_limit", memory_limit), ("spill_folder", spill_folder)):
        if value is not None and engine == "arrow":
            raise PolicyError(
                f"The '{name}' parameter has no effect on the engine arrow. Choose duckdb, or leave it out."
            )
