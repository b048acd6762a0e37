"""What a release must satisfy and how to look for it: frozen, checked once, the same names in every face."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.errors import PolicyError, UnknownNameError, shown
from incrowd.policy.options import OPTIONS, check_engine
from incrowd.policy.protection import Protection
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Requirement
from incrowd.privacy.population import EstimatedKMap
from incrowd.privacy.registry import OF_POPULATION, OF_TABLE
from incrowd.privacy.units import KUnits
from incrowd.table.numbers import with_point

if TYPE_CHECKING:
    from incrowd.privacy.declared import Declared
    from incrowd.privacy.table_risk import OfTable
    from incrowd.taxonomies.rules import Rule
    from incrowd.taxonomies.taxonomy import Taxonomy

ROLES = ("quasi_identifiers", "target", "identifiers", "unit", "sensitive", "insensitive", "keep")
_TOGETHER = (  # a unit is dropped anyway; what is predicted may be sensitive; keep says that a column may stay
    {"identifiers", "unit"},
    {"target", "sensitive"},
    *({"keep", role} for role in ("target", "sensitive", "insensitive")),
)


@dataclass(frozen=True)
class QuasiIdentifier:
    """Attributes that together could identify a person, and the size of the crowd that everyone must be in.

    Args:
        k: Smallest number of records (of people, where there is a unit) that may share a combination of values; 1 if
            only sensitive columns are protected.
    """

    attributes: tuple[str, ...]
    k: int

    def __init__(self, attributes: Iterable[str], k: int | KAnonymity) -> None:
        k = k.k if isinstance(k, KAnonymity) else k
        several = isinstance(attributes, Iterable) and not isinstance(attributes, str)
        names: tuple[Any, ...] = tuple(attributes) if several else (attributes,)
        if not names:
            raise PolicyError("A quasi-identifier must name at least one column. None was given.")
        if not all(isinstance(name, str) and name for name in names):
            raise PolicyError(f"A quasi-identifier must name columns by text. Got {shown(names)}.")
        if len(set(names)) < len(names):
            raise PolicyError(f"A quasi-identifier must name each column once. Got {', '.join(names)}.")
        if type(k) is not int or k != 1:
            KAnonymity(k)  # raises PolicyError if it cannot be one
        object.__setattr__(self, "attributes", names)
        object.__setattr__(self, "k", k)

    def implied_by(self, other: QuasiIdentifier) -> bool:
        """Whether every table that satisfies `other` satisfies this one."""
        return set(self.attributes) <= set(other.attributes) and self.k <= other.k

    def __str__(self) -> str:
        return f"{{{', '.join(self.attributes)}}} k={self.k}"


@dataclass(frozen=True, kw_only=True)
class Policy:
    """Everything that decides a release, but for the rows and the key.

    Args:
        quasi_identifiers: One or more, each with its own k.
        target: Column that models will predict; the release keeps what predicts it. None for no purpose in particular.
        identifiers: Columns to drop.
        unit: Column that says whose record it is, where one person may have several; k then counts people. It is
            dropped.
        sensitive: Columns worth protecting that pass through unchanged.
        protections: What is promised about sensitive columns.
        population_table: The people that the records were drawn from, with the columns of the quasi-identifiers; the
            pipeline opens it.
        population: What is promised against them, by name, such as "k_map" and "delta_presence".
        risks: What is promised about all classes together, by name, such as "average_risk", and how it is estimated.
        insensitive: Columns that pass through unchanged, like columns that have no role.
        keep: Columns that leave as they are on purpose, though they look as if they named people.
        taxonomies: Taxonomy, or rule that builds one, by column.
        types: "number", "comma", "date" or "text" by column, where detection is not wanted.
        ranges: Public lowest and highest value by column of numbers or dates.
        levels: Lowest and highest level of generalization by column with a taxonomy; None for no highest one.
        form: By column of numbers or dates, the number that a crowd shows of it: "mean", "median" or "mode", or with a
            step that it is rounded to, such as "mean:5".
        missing: What to do with missing values: a "category" of their own, "drop" the rows, or "error".
        missing_values: Texts that stand for a missing value, such as "?".
        method: Name of the search.
        options: Options of the search.
        strict: Whether every column must have a role.
        keep_order: Whether released rows stay in the order of the original ones, which can link them.
        time_limit: Seconds after which an anytime method gives the best that it has, and any other ends.
        dictionary: Formats of data dictionaries that lie beside the release: "frictionless", "ddi" or "all".
        engine: What reads, counts and writes rows; "auto" for the one that suits the table. The release is the same.
        memory_limit: The most memory that an engine may take for itself, such as "2GB".
        spill_folder: Where an engine may put what does not fit in memory.
        master: The cluster of the engine "spark".
        most_tuples: How many distinct tuples may come into memory; more stay in the engine, for top-down methods.
        ledger: The folder that knows earlier releases of the same people; what is promised then holds for all together.
        recipient: Who gets the release; only releases to the same one, and to anyone, are taken together.
        wait: For how many releases a newcomer may have to wait for a better crowd.
    """

    quasi_identifiers: tuple[QuasiIdentifier, ...]
    target: str | None = None
    identifiers: tuple[str, ...] = ()
    unit: str | None = None
    sensitive: tuple[str, ...] = ()
    protections: tuple[Protection, ...] = ()
    population_table: Any = field(default=None, compare=False)
    population: Mapping[str, Any] = field(default_factory=dict)
    risks: Mapping[str, Any] = field(default_factory=dict)
    insensitive: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    taxonomies: Mapping[str, Taxonomy | Rule] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    ranges: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    levels: Mapping[str, tuple[int, int | None]] = field(default_factory=dict)
    form: Mapping[str, str] = field(default_factory=dict)
    missing: str = "category"
    missing_values: tuple[str, ...] = ()
    method: str = "auto"
    options: Mapping[str, Any] = field(default_factory=dict)
    strict: bool = False
    keep_order: bool = False
    time_limit: float | None = None
    dictionary: str | tuple[str, ...] = field(default=(), compare=False)
    engine: str = field(default="auto", compare=False)
    memory_limit: str | None = field(default=None, compare=False)
    spill_folder: str | Path | None = field(default=None, compare=False)
    master: str | None = field(default=None, compare=False)
    most_tuples: int | None = field(default=None, compare=False)
    ledger: str | Path | None = field(default=None, compare=False)
    recipient: str = field(default="", compare=False)
    wait: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        if not self.quasi_identifiers:
            raise PolicyError("A policy must have at least one quasi-identifier. None was given.")
        for name, option in OPTIONS.items():
            if name in self.__dict__ and name != "quasi_identifiers":
                option.check(name, self.__dict__[name])
        for column in self.ranges:
            if column in self.taxonomies:
                raise PolicyError(f"column '{column}' has a taxonomy, so its range would have no effect; leave one out")
        check_engine(self.engine, self.memory_limit, self.spill_folder, self.master)
        self._check_roles()
        self._check_protection()
        target = () if self.target is None else (self.target,)
        others = {
            "taxonomies": self.sensitive,
            "types": (*self.sensitive, *target),
            "ranges": (),
            "levels": (),
            "form": (),
        }
        for name, names in others.items():
            for column in getattr(self, name):
                if column not in (*self.attributes, *names):
                    raise UnknownNameError("quasi-identifier column", column, self.attributes, f"the policy ({name})")
        self._check_levels()
        self._check_form()
        for column in others["types"]:
            if (kind := self.types.get(column, "text")) not in ("comma", "text"):
                raise PolicyError(
                    f"column '{column}' stays as it is, so its type is comma or text, or is left out. Got '{kind}'."
                )

    def _check_levels(self) -> None:
        for column in self.levels:
            if column not in self.taxonomies:
                raise PolicyError(
                    f"column '{column}' has levels, but no taxonomy that has them; give it one, such as "
                    f"--taxonomy {column}=prefix:3,2 or widths:5,10 (level 0 alone needs none)"
                )
        if self.levels and self.most_tuples is not None:
            raise PolicyError("levels of columns need all tuples in memory; leave out levels, or most_tuples")

    def _check_form(self) -> None:
        for column in self.form:
            if column in self.taxonomies:
                raise PolicyError(
                    f"column '{column}' has a taxonomy and a form; its form replaces it, so leave one out"
                )
        if not self.form:
            return
        if len(self.quasi_identifiers) > 1:
            raise PolicyError("a form needs a single quasi-identifier: a crowd of one is no crowd of another")
        against = {"ledger": self.ledger, "population_table": self.population_table, "most_tuples": self.most_tuples}
        for name, value in against.items():
            if value is not None:
                raise PolicyError(f"a number that a crowd shows does not say whom it covers; leave out form, or {name}")

    def _check_roles(self) -> None:
        role_of: dict[str, str] = {}
        target, unit = (() if name is None else (name,) for name in (self.target, self.unit))
        columns = (self.attributes, target, self.identifiers, unit, self.sensitive, self.insensitive, self.keep)
        for role, names in zip(ROLES, columns, strict=True):
            for name in names:
                first = role_of.setdefault(name, role)
                if first != role and {first, role} not in _TOGETHER:
                    raise PolicyError(f"column '{name}' has two roles, {first} and {role}; choose one")

    def _check_protection(self) -> None:
        protected = {protection.column: protection for protection in self.protections}
        for column in protected:
            if column not in self.sensitive:
                raise UnknownNameError("sensitive column", column, self.sensitive, "the policy")
        for column in self.taxonomies:
            if column in self.sensitive and (column not in protected or "t" not in protected[column].options):
                raise PolicyError(
                    f"column '{column}' is sensitive, so its taxonomy is for t alone; give a t or leave it out"
                )
        estimated = {*self.population} == {"k_map"} and "sampling_fraction" in self.risks
        if self.population and self.population_table is None and not estimated:
            raise PolicyError(
                f"{' and '.join(OF_POPULATION)} count the people of a population; give its table as population_table, "
                "or for k_map alone the share of it that is in the table as sampling_fraction"
            )
        if not self.population and self.population_table is not None:
            promises = " or ".join(OF_POPULATION)
            raise PolicyError(f"The 'population_table' parameter says nothing by itself. Give {promises} as well.")
        self._check_risks()
        promised = *self.models_against_population, *self.models_of_columns, *self.models_of_table
        if any(qid.k == 1 for qid in self.quasi_identifiers) and not promised:
            raise PolicyError("The 'k' parameter must be an integer of at least 2. Got 1.")

    def _check_risks(self) -> None:
        estimated = () if self.population_table is not None else self.models_against_population
        risky: tuple[Declared, ...] = (*self.models_of_table, *estimated)
        used = {name for model in risky for name in (model.option_name, *model.settings)}
        for name in self.risks:
            if name not in used:
                models: tuple[type[Declared], ...] = (*OF_TABLE.values(), EstimatedKMap)
                takers = " or ".join(model.option_name for model in models if name in model.settings)
                raise PolicyError(f"The '{name}' parameter says nothing by itself. Give {takers} as well.")
        for model in risky:
            if self.unit is not None or self.ledger is not None:
                other = "unit" if self.unit is not None else "ledger"
                raise PolicyError(f"{model} counts the records of one release; leave out it or the {other}")

    @property
    def attributes(self) -> tuple[str, ...]:
        """The columns of all quasi-identifiers, each once, in order of appearance."""
        return tuple(dict.fromkeys(name for qid in self.quasi_identifiers for name in qid.attributes))

    @property
    def models_against_population(self) -> tuple[Declared, ...]:
        """What is promised against the population; without its table it is estimated from the sampling fraction."""
        if self.population_table is None:
            own = {name: self.risks[name] for name in EstimatedKMap.settings if name in self.risks}
            return tuple(EstimatedKMap.of_sample(k, own) for k in self.population.values())
        return tuple(OF_POPULATION[name](value) for name, value in self.population.items())  # type: ignore[call-arg]

    @property
    def models_of_table(self) -> tuple[OfTable, ...]:
        """What is promised about all classes together."""
        return tuple(model.written(self.risks) for name, model in OF_TABLE.items() if name in self.risks)

    @property
    def models_of_columns(self) -> tuple[Declared, ...]:
        """What is promised about sensitive columns."""
        found: list[Declared] = []
        for protection in self.protections:
            options = dict(protection.options)
            if "harmless" in options and self._has_commas(protection.column):
                options["harmless"] = tuple(map(with_point, options["harmless"]))
            found += Protection(protection.column, options).models(self.tree_of(protection.column))
        return tuple(found)

    def tree_of(self, column: str) -> Taxonomy | None:
        """The tree of the values of a sensitive column, for distances."""
        tree = self.taxonomies.get(column)
        return tree if hasattr(tree, "paths") else None  # type: ignore[return-value]

    @cached_property
    def requirements(self) -> tuple[Requirement, ...]:
        """What must hold for the classes of each quasi-identifier."""
        others = (*self.models_of_columns, *self.models_against_population, *self.models_of_table)
        made = []
        for qid in self.quasi_identifiers:
            crowd = () if qid.k == 1 else (KAnonymity(qid.k) if self.unit is None else KUnits(self.unit, qid.k),)
            made.append(Requirement(qid.attributes, (*crowd, *others)))
        return tuple(made)

    @property
    def dropped(self) -> tuple[str, ...]:
        """The columns that do not leave."""
        return tuple(dict.fromkeys((*self.identifiers, *((self.unit,) if self.unit else ()))))

    def counted_as(self, column: str, value: str | None) -> str | None:
        """The value that a value of a sensitive column counts as: its group, its bin, its number, or itself.

        None, of which all count as one, if it is missing; several texts may say so.
        """
        if not value or value in self.missing_values:
            return None
        number = with_point(value) if self._has_commas(column) else value
        for protection in self.protections:
            if protection.column == column:
                return protection.counted_as(value, number)
        return number

    def _has_commas(self, column: str) -> bool:
        """Whether the values of a sensitive column are numbers with a decimal comma; a taxonomy has them as written."""
        return self.types.get(column) == "comma" and column not in self.taxonomies

    @property
    def protected(self) -> tuple[str, ...]:
        """The columns whose values privacy models count."""
        unit = (self.unit,) if self.unit and any(qid.k > 1 for qid in self.quasi_identifiers) else ()
        return tuple(dict.fromkeys((*unit, *self.secrets)))

    @property
    def secrets(self) -> tuple[str, ...]:
        """The sensitive columns about which something is promised."""
        return tuple(protection.column for protection in self.protections if protection.promises)

    @property
    def counted(self) -> tuple[str, ...]:
        """The columns that are counted within tuples: the target, and those that privacy models count."""
        target = (self.target,) if self.target else ()
        return tuple(dict.fromkeys((*target, *self.protected)))

    def untouched(self, columns: Sequence[str]) -> tuple[str, ...]:
        """The columns of a table that have no role, and so pass through untouched."""
        roles = {*self.attributes, *self.counted, *self.dropped, *self.sensitive, *self.insensitive, *self.keep}
        return tuple(name for name in columns if name not in roles)

    def passing(self, columns: Sequence[str]) -> tuple[str, ...]:
        """The columns of a table that leave as they are, whatever their role."""
        changed = {*self.attributes, *self.dropped}
        return tuple(name for name in columns if name not in changed)

    def check_columns(self, columns: Sequence[str], where: str) -> None:
        """Every column that the policy names must exist."""
        target = (self.target,) if self.target else ()
        for name in (*self.attributes, *target, *self.dropped, *self.sensitive, *self.insensitive, *self.keep):
            if name not in columns:
                raise UnknownNameError("column", name, columns, where)
        if self.strict and (untouched := self.untouched(columns)):
            raise PolicyError(
                f"these columns of {where} have no role: {', '.join(untouched)}; name each as a quasi-identifier, "
                "identifier, sensitive, insensitive, keep or target, or leave out 'strict'"
            )

    def to_json(self) -> dict[str, Any]:
        """The policy as JSON-able data, with the names of a policy file; taxonomies by column only.

        The engine and its settings, and data dictionaries, are left out: they have no effect on the release.
        """
        return {
            "quasi_identifiers": [{"attributes": list(q.attributes), "k": q.k} for q in self.quasi_identifiers],
            "target": self.target,
            "identifiers": list(self.identifiers),
            **({"unit": self.unit} if self.unit else {}),
            "sensitive": list(self.sensitive),
            **({"protections": {p.column: p.to_json() for p in self.protections}} if self.protections else {}),
            **({} if self.population_table is None else {"population_table": _name_of(self.population_table)}),
            **self.population,
            **self.risks,
            "insensitive": list(self.insensitive),
            **({"keep": list(self.keep)} if self.keep else {}),
            "taxonomies": sorted(self.taxonomies),
            "types": dict(self.types),
            "ranges": {column: [str(bound) for bound in bounds] for column, bounds in self.ranges.items()},
            **({"levels": {column: _written(pair) for column, pair in self.levels.items()}} if self.levels else {}),
            **({"form": dict(self.form)} if self.form else {}),
            "missing": self.missing,
            "missing_values": list(self.missing_values),
            "method": self.method,
            **self.options,
            "strict": self.strict,
            "keep_order": self.keep_order,
            **({} if self.time_limit is None else {"time_limit": self.time_limit}),
        }

    @property
    def redundant(self) -> tuple[int, ...]:
        """The places of quasi-identifiers that another one implies; of equal ones, the last is needed."""
        if not all(model.monotone for model in self.models_of_table):
            return ()
        found: list[int] = []
        for place, qid in enumerate(self.quasi_identifiers):
            others = [other for i, other in enumerate(self.quasi_identifiers) if i != place and i not in found]
            if any(qid.implied_by(other) for other in others):
                found.append(place)
        return tuple(found)


def _written(pair: tuple[int, int | None]) -> list[int]:
    """Levels as a policy file has them: without the highest one where there is none."""
    return [level for level in pair if level is not None]


def _name_of(table: Any) -> str:
    if isinstance(table, str | Path):
        return Path(table).name
    return table.name if isinstance(getattr(table, "name", None), str) else "the population"
