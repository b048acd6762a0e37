"""What a release must satisfy and how to look for it: frozen, checked once, the same words in every face."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.errors import PolicyError, UnknownNameError

if TYPE_CHECKING:
    from incrowd.taxonomies.rules import Rule
    from incrowd.taxonomies.taxonomy import Taxonomy

ROLES = ("quasi_identifiers", "target", "identifiers", "sensitive", "insensitive")
MISSING = ("category", "drop", "error")
TYPES = ("number", "date", "text")


@dataclass(frozen=True)
class QuasiIdentifier:
    """Attributes that together could point at a person, and the crowd everyone must stand in.

    Args:
        attributes: Column names.
        k: Smallest number of records that may share a combination of values.
    """

    attributes: tuple[str, ...]
    k: int

    def __init__(self, attributes: Iterable[str], k: int) -> None:
        several = isinstance(attributes, Iterable) and not isinstance(attributes, str)
        names: tuple[Any, ...] = tuple(attributes) if several else (attributes,)
        if not names or not all(isinstance(name, str) and name for name in names):
            raise PolicyError(f"A quasi-identifier must name at least one column. Got {names!r}.")
        if len(set(names)) < len(names):
            raise PolicyError(f"A quasi-identifier must name each column once. Got {', '.join(names)}.")
        if isinstance(k, bool) or not isinstance(k, int) or k < 2:
            raise PolicyError(f"The 'k' parameter must be an int of at least 2. Got {k!r}.")
        object.__setattr__(self, "attributes", names)
        object.__setattr__(self, "k", k)

    def implied_by(self, other: QuasiIdentifier) -> bool:
        """Whether every table that satisfies `other` satisfies this one."""
        return set(self.attributes) <= set(other.attributes) and self.k <= other.k

    def __str__(self) -> str:
        return f"{{{', '.join(self.attributes)}}} k={self.k}"


@dataclass(frozen=True, kw_only=True)
class Policy:
    """Everything that decides a release.

    Args:
        quasi_identifiers: One or more, each with its own k.
        target: Column that models will predict; the release keeps what predicts it. None for no purpose in particular.
        identifiers: Columns to drop.
        sensitive: Columns to pass through untouched, worth protecting.
        insensitive: Columns to pass through untouched; so are columns that have no role.
        taxonomies: Taxonomy, or rule that builds one, by column.
        types: "number", "date" or "text" by column, where detection is not wanted.
        ranges: Public lowest and highest value by column of numbers or dates.
        missing: What to do with missing values: a "category" of their own, "drop" the rows, or "error".
        missing_values: Texts that stand for a missing value, such as "?".
        method: Name of the search.
        options: Options of the search.
        seed: Seed for methods that draw random numbers.
    """

    quasi_identifiers: tuple[QuasiIdentifier, ...]
    target: str | None = None
    identifiers: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    insensitive: tuple[str, ...] = ()
    taxonomies: Mapping[str, Taxonomy | Rule] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    ranges: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    missing: str = "category"
    missing_values: tuple[str, ...] = ()
    method: str = "tdr"
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.quasi_identifiers:
            raise PolicyError("A policy must have at least one quasi-identifier. Got none.")
        if self.missing not in MISSING:
            raise PolicyError(f"The 'missing' parameter must be one of {', '.join(MISSING)}. Got '{self.missing}'.")
        for column, kind in self.types.items():
            if kind not in TYPES:
                raise PolicyError(f"The type of '{column}' must be one of {', '.join(TYPES)}. Got '{kind}'.")
        for column, bounds in self.ranges.items():
            if not _ascend(bounds):
                raise PolicyError(f"The range of '{column}' must be a lower and a higher value. Got {bounds!r}.")
            if column in self.taxonomies:
                raise PolicyError(f"column '{column}' has a taxonomy, which its range would not change; leave one out")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int):
            raise PolicyError(f"The 'seed' parameter must be an int. Got {self.seed!r}.")
        self._check_roles()
        for word in ("taxonomies", "types", "ranges"):
            for column in getattr(self, word):
                if column not in self.attributes:
                    raise UnknownNameError("quasi-identifier column", column, self.attributes, f"the policy ({word})")

    def _check_roles(self) -> None:
        role_of: dict[str, str] = {}
        columns = (self.attributes, (self.target,) if self.target else (), *(getattr(self, r) for r in ROLES[2:]))
        for role, names in zip(ROLES, columns, strict=True):
            for name in names:
                if role_of.setdefault(name, role) != role:
                    raise PolicyError(f"column '{name}' has two roles, {role_of[name]} and {role}; give it one")

    @property
    def attributes(self) -> tuple[str, ...]:
        """The columns of all quasi-identifiers, each once, in order of appearance."""
        return tuple(dict.fromkeys(name for qid in self.quasi_identifiers for name in qid.attributes))

    def check_columns(self, columns: Sequence[str], where: str) -> None:
        """Every column that the policy names must exist."""
        target = (self.target,) if self.target else ()
        for name in (*self.attributes, *target, *self.identifiers, *self.sensitive, *self.insensitive):
            if name not in columns:
                raise UnknownNameError("column", name, columns, where)

    def to_json(self) -> dict[str, Any]:
        """The policy as JSON-able data, in the words of a policy file; taxonomies by column only."""
        return {
            "quasi_identifiers": [{"attributes": list(q.attributes), "k": q.k} for q in self.quasi_identifiers],
            "target": self.target,
            "identifiers": list(self.identifiers),
            "sensitive": list(self.sensitive),
            "insensitive": list(self.insensitive),
            "taxonomies": sorted(self.taxonomies),
            "types": dict(self.types),
            "ranges": {column: [str(bound) for bound in bounds] for column, bounds in self.ranges.items()},
            "missing": self.missing,
            "missing_values": list(self.missing_values),
            "method": self.method,
            **self.options,
            "seed": self.seed,
        }

    def without_redundant(self) -> tuple[Policy, tuple[QuasiIdentifier, ...]]:
        """The policy less the quasi-identifiers that another one implies, and those that were dropped."""
        kept: list[QuasiIdentifier] = []
        dropped: list[QuasiIdentifier] = []
        for i, qid in enumerate(self.quasi_identifiers):
            others = [*self.quasi_identifiers[i + 1 :], *kept]
            (dropped if any(qid.implied_by(other) for other in others) else kept).append(qid)
        taken = {name for qid in kept for name in qid.attributes}
        assert taken == set(self.attributes)  # a redundant one is contained in another: no column is lost
        return replace(self, quasi_identifiers=tuple(kept)), tuple(dropped)


def _ascend(bounds: Any) -> bool:
    """Whether these are a lower and a higher value."""
    try:
        low, high = bounds
        return bool(low < high)
    except (TypeError, ValueError):
        return False


def make_policy(*, quasi_identifiers: Any, k: int | None = None, taxonomies: Any = None, **words: Any) -> Policy:
    """A policy from the words that users write, the same in Python, on the command line and in a policy file.

    Args:
        quasi_identifiers: See `quasi_identifiers_of`.
        k: The k of quasi-identifiers that do not say their own.
        taxonomies: Taxonomy, rule or file by column, or a folder with a file per column.
        **words: The other fields of `Policy`; lists are fine where it wants tuples.
    """
    qids = quasi_identifiers_of(quasi_identifiers, k)
    columns = tuple(dict.fromkeys(name for qid in qids for name in qid.attributes))
    for word in ("identifiers", "sensitive", "insensitive", "missing_values"):
        if word in words:
            words[word] = (words[word],) if isinstance(words[word], str) else tuple(words[word])
            if not all(isinstance(text, str) for text in words[word]):
                raise PolicyError(f"The '{word}' parameter must be texts. Got {words[word]!r}; put quotes around them.")
    for word in ("types", "ranges", "options"):
        if word in words:
            words[word] = dict(words[word] or {})
    return Policy(quasi_identifiers=qids, taxonomies=_taxonomies_of(taxonomies, columns), **words)


def _taxonomies_of(given: Any, columns: Sequence[str]) -> dict[str, Taxonomy | Rule]:
    """Taxonomies by column; a folder serves the columns that it has a file for."""
    if isinstance(given, tuple):  # the later ones win
        return {column: item for part in given for column, item in _taxonomies_of(part, columns).items()}
    if isinstance(given, str | Path):
        folder = Path(given)
        if not folder.is_dir():
            raise PolicyError(f"no folder {folder} with taxonomies; give a folder, or files by column")
        files = [
            (column, folder / f"{column}{suffix}") for column in columns for suffix in (".toml", ".csv.gz", ".csv")
        ]
        given = {column: path for column, path in files if path.exists()}
    return {column: _taxonomy_of(column, item) for column, item in dict(given or {}).items()}


def _taxonomy_of(column: str, item: Any) -> Taxonomy | Rule:
    """A taxonomy or a rule from a file, or from the words of a policy file."""
    from incrowd.taxonomies.rules import rule_of
    from incrowd.taxonomies.taxonomy import Taxonomy

    if isinstance(item, Mapping):
        return rule_of(column, item)
    taxonomy: Taxonomy | Rule = Taxonomy.read(item) if isinstance(item, str | Path) else item
    return taxonomy


def quasi_identifiers_of(words: Any, k: int | None = None) -> tuple[QuasiIdentifier, ...]:
    """Quasi-identifiers from what a user may write.

    Args:
        words: Column names for a single quasi-identifier, or several quasi-identifiers: objects, mappings with
            "attributes" and "k", or lists of columns.
        k: The k of those that do not say their own.
    """
    if isinstance(words, str | QuasiIdentifier):
        words = [words]
    if not isinstance(words, Iterable):
        raise PolicyError(f"The 'quasi_identifiers' parameter must be columns, or lists of columns. Got {words!r}.")
    words = list(words)
    if words and all(isinstance(word, str) for word in words):
        words = [words]
    return tuple(_quasi_identifier_of(word, k) for word in words)


def _quasi_identifier_of(word: Any, k: int | None) -> QuasiIdentifier:
    if isinstance(word, QuasiIdentifier):
        return word
    if isinstance(word, Mapping):
        for key in word:
            if key not in ("attributes", "k"):
                raise UnknownNameError("key", str(key), ("attributes", "k"), "a quasi-identifier")
        word, k = word.get("attributes", ()), word.get("k", k)
    if k is None:
        raise PolicyError("A quasi-identifier must have a k. Got none; say how large the smallest crowd may be.")
    return QuasiIdentifier(word, k)
