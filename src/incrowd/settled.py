"""What was asked of a table, and what was decided for it before anything is searched.

A policy is never changed. Where it leaves something open, the table or what is known besides it decides, and a
`Settled` says what: the next reader sees which part came from the user and which did not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from incrowd.inspection.first_look import comma_types
from incrowd.ledger.earlier import Earlier, earlier_releases
from incrowd.ledger.rows import held
from incrowd.policy.differential_privacy import check_differential
from incrowd.policy.protection import Protection
from incrowd.population.table import open_population
from incrowd.table.attributes import TaxonomyAttribute
from incrowd.taxonomies.rules import Calendar, Domain

if TYPE_CHECKING:
    from incrowd.formats.sources import Source
    from incrowd.policy.policy import Policy, QuasiIdentifier
    from incrowd.privacy.model import Requirement
    from incrowd.search.method import SearchResult
    from incrowd.table.compressed import CompressedTable
    from incrowd.table.out_of_core import OutOfCoreTable
    from incrowd.taxonomies.rules import Rule

LEAST = {"l": 2}  # what is promised about a sensitive column if nobody says so


@dataclass(frozen=True)
class Settled:
    """A policy, and what was decided for one table.

    Args:
        asked: The policy as the user gave it.
        redundant: Quasi-identifiers that another one implies, by their place in the policy.
        types: Readings of columns: the types that were found where the policy says nothing of a column.
        readings: How quasi-identifiers are grouped of which the policy says nothing: as codes, dates, countries.
        promised: Sensitive columns without a promise, which get the least one.
        population: Side knowledge: the table of everyone that the policy names, open.
        earlier: Side knowledge: what earlier releases ask, by the ledger that the policy names.
        chosen: The method that the search chose, and its options, where the policy asked for any.
    """

    asked: Policy
    redundant: tuple[int, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    readings: Mapping[str, Rule] = field(default_factory=dict)
    promised: tuple[str, ...] = ()
    population: Source | None = None
    earlier: Earlier | None = None
    chosen: tuple[str, Mapping[str, Any]] | None = None

    @cached_property
    def policy(self) -> Policy:
        """The policy with all that was decided: what every step works by."""
        decided: dict[str, Any] = {}
        if self.redundant:
            given = enumerate(self.asked.quasi_identifiers)
            decided["quasi_identifiers"] = tuple(qid for place, qid in given if place not in self.redundant)
        if self.types:
            decided["types"] = {**self.asked.types, **self.types}
        if self.readings:
            decided["taxonomies"] = {**self.asked.taxonomies, **self.readings}
        if self.promised:
            decided["protections"] = self._protections
        if self.population is not None:
            decided["population_table"] = self.population
        if self.chosen is not None:
            decided["method"], decided["options"] = self.chosen
        return replace(self.asked, **decided) if decided else self.asked

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """What the search must keep: what was asked for, and what earlier releases ask."""
        more = () if self.earlier is None else self.earlier.models
        return tuple(replace(each, models=(*each.models, *more)) for each in self.policy.requirements)

    @property
    def _protections(self) -> tuple[Protection, ...]:
        given = {protection.column: protection for protection in self.asked.protections}
        least = {name: {**(given[name].options if name in given else {}), **LEAST} for name in self.promised}
        return tuple({**given, **{name: Protection(name, options) for name, options in least.items()}}.values())

    @property
    def left_out(self) -> tuple[QuasiIdentifier, ...]:
        """The quasi-identifiers that another one implies."""
        return tuple(self.asked.quasi_identifiers[place] for place in self.redundant)

    def having_read(self, table: CompressedTable | OutOfCoreTable) -> Settled:
        """With how columns were read, and without promises about a single value, which nothing can hide."""
        rules = {each.name: each.rule for each in table.attributes if isinstance(each, TaxonomyAttribute) and each.rule}
        readings = {name: rule for name, rule in rules.items() if name not in self.asked.taxonomies}
        known = table.protected
        promised = tuple(name for name in self.promised if name in known and known[name].width > 1)
        return replace(self, readings=readings, promised=promised)

    def notes(self) -> list[str]:
        """What was decided that a user may want to change, and how."""
        found = [
            f"column '{name}' is read as {_called(rule)}; to change that, declare its type (--type '{name}=text', in "
            "Python types) or give it a taxonomy"
            for name, rule in self.readings.items()
        ]
        if self.promised:
            names = " and of ".join(f"'{name}'" for name in self.promised)
            found.append(
                f"every crowd has at least {LEAST['l']} different values of {names} (sensitive), since nothing else "
                "was promised; to change that, give l, t or another promise, or l = 1 for none"
            )
        return found

    def after(self, found: SearchResult) -> Settled:
        """With what the search chose; not where records may be left out, since it could tell who was."""
        if "method" not in found.facts or self.asked.options.get("suppress"):
            return self
        return replace(self, chosen=(found.facts["method"], found.facts["options"]))


def _called(rule: Rule) -> str:
    """What the values of a column are, by the rule that groups them."""
    if isinstance(rule, Calendar):
        return "dates, grouped by month, quarter, year and decade"
    if isinstance(rule, Domain):
        return "countries, grouped by part of the world" if rule.name == "country" else "ICD-10 codes, by chapter"
    return "codes, grouped by their first characters"


def unpromised(policy: Policy) -> tuple[str, ...]:
    """The sensitive columns that get the least promise: those of which none is given, nor refused with l = 1."""
    if policy.most_tuples is not None or policy.options.get("relaxed") is True:  # where nothing but k can be promised
        return ()
    given = {protection.column for protection in policy.protections if {"l"} & {*protection.options}}
    return tuple(name for name in policy.sensitive if name not in (*policy.secrets, *given))


def settle(policy: Policy, source: Source) -> Settled:
    """Decide for a table what a policy leaves open: the one place where anything but the policy has a say.

    How the values of quasi-identifiers are read shows once all of them are known: see `Settled.having_read`.
    """
    policy.check_columns(source.columns, source.name)
    check_differential(policy, source.columns)
    promised = unpromised(policy)
    if promised and policy.ledger is not None:  # it asks before values are known; nothing hides a single one
        rows = held(source)
        promised = tuple(name for name in promised if len(rows[name].unique()) > 1)
    settled = Settled(
        policy,
        redundant=policy.redundant,
        types=comma_types(policy, source),  # readings of columns enter here
        promised=promised,
        population=open_population(policy),  # side knowledge enters here; `pipeline.with_side_knowledge` uses it
    )
    return replace(settled, earlier=earlier_releases(source, settled.policy))  # with what is promised unasked, too
