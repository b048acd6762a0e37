"""What a release must satisfy and how to look for it: frozen, checked once, the same words in every face."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from incrowd.errors import PolicyError, UnknownNameError
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import PrivacyModel, Requirement
from incrowd.run import Run

if TYPE_CHECKING:
    from incrowd.taxonomies.rules import Rule
    from incrowd.taxonomies.taxonomy import Taxonomy

ROLES = ("quasi_identifiers", "target", "identifiers", "sensitive", "insensitive")
MISSING = ("category", "drop", "error")
TYPES = ("number", "date", "text")


@dataclass(frozen=True)
class QuasiIdentifier:
    """Attributes that together could identify a person, and the size of the crowd that everyone must be in.

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
        KAnonymity(k)  # raises PolicyError if it cannot be one
        object.__setattr__(self, "attributes", names)
        object.__setattr__(self, "k", k)

    @property
    def models(self) -> tuple[PrivacyModel, ...]:
        """The privacy models that every class must satisfy."""
        return (KAnonymity(self.k),)

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
        sensitive: Columns worth protecting that pass through unchanged.
        insensitive: Columns that pass through unchanged, like columns that have no role.
        taxonomies: Taxonomy, or rule that builds one, by column.
        types: "number", "date" or "text" by column, where detection is not wanted.
        ranges: Public lowest and highest value by column of numbers or dates.
        missing: What to do with missing values: a "category" of their own, "drop" the rows, or "error".
        missing_values: Texts that stand for a missing value, such as "?".
        method: Name of the search.
        options: Options of the search.
        seed: Seed for methods that draw random numbers.
        strict: Whether every column must have a role.
        time_limit: Seconds after which an anytime method gives the best that it has, and any other ends.
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
    strict: bool = False
    time_limit: float | None = None

    def __post_init__(self) -> None:
        if not self.quasi_identifiers:
            raise PolicyError("A policy must have at least one quasi-identifier. None was given.")
        if self.missing not in MISSING:
            raise PolicyError(f"The 'missing' parameter must be one of {', '.join(MISSING)}. Got '{self.missing}'.")
        for column, kind in self.types.items():
            if kind not in TYPES:
                raise PolicyError(f"The type of '{column}' must be one of {', '.join(TYPES)}. Got '{kind}'.")
        for column, bounds in self.ranges.items():
            if not _ascend(bounds):
                raise PolicyError(f"The range of '{column}' must be a lower and a higher value. Got {bounds!r}.")
            if column in self.taxonomies:
                raise PolicyError(f"column '{column}' has a taxonomy, so its range would have no effect; leave one out")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int):
            raise PolicyError(f"The 'seed' parameter must be an integer. Got {self.seed!r}.")
        if not isinstance(self.strict, bool):
            raise PolicyError(f"The 'strict' parameter must be True or False. Got {self.strict!r}.")
        Run(time_limit=self.time_limit)  # raises PolicyError if it cannot be one
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
                    raise PolicyError(f"column '{name}' has two roles, {role_of[name]} and {role}; choose one")

    @property
    def attributes(self) -> tuple[str, ...]:
        """The columns of all quasi-identifiers, each once, in order of appearance."""
        return tuple(dict.fromkeys(name for qid in self.quasi_identifiers for name in qid.attributes))

    @cached_property
    def requirements(self) -> tuple[Requirement, ...]:
        """What must hold for the classes of each quasi-identifier."""
        return tuple(Requirement(qid.attributes, qid.models) for qid in self.quasi_identifiers)

    @property
    def protected(self) -> tuple[str, ...]:
        """The columns whose values privacy models count."""
        return tuple(dict.fromkeys(column for requirement in self.requirements for column in requirement.columns))

    @property
    def counted(self) -> tuple[str, ...]:
        """The columns that are counted within tuples: the target, and those that privacy models count."""
        target = (self.target,) if self.target else ()
        return tuple(dict.fromkeys((*target, *self.protected)))

    def untouched(self, columns: Sequence[str]) -> tuple[str, ...]:
        """The columns of a table that have no role, and so pass through untouched."""
        roles = {*self.attributes, *self.counted, *self.identifiers, *self.sensitive, *self.insensitive}
        return tuple(name for name in columns if name not in roles)

    def check_columns(self, columns: Sequence[str], where: str) -> None:
        """Every column that the policy names must exist."""
        target = (self.target,) if self.target else ()
        for name in (*self.attributes, *target, *self.identifiers, *self.sensitive, *self.insensitive):
            if name not in columns:
                raise UnknownNameError("column", name, columns, where)
        if self.strict and (untouched := self.untouched(columns)):
            raise PolicyError(
                f"these columns of {where} have no role: {', '.join(untouched)}; name each as a quasi-identifier, "
                "identifier, sensitive, insensitive or target, or leave out 'strict'"
            )

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
            "strict": self.strict,
            **({} if self.time_limit is None else {"time_limit": self.time_limit}),
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
