"""What a policy promises, as plain data for the witness: names of columns, numbers and texts.

All of it is made anew from what the user asked for, and nothing is taken from the requirements that searches are given,
so that a promise which was lost on the way to the search is still counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.registry import OF_COLUMNS
from incrowd.privacy.units import KUnits
from incrowd.verification.counts import Promise
from incrowd.verification.values import Meaning, pointed
from incrowd.verification.witness import Asked, Witness

if TYPE_CHECKING:
    from incrowd.policy.policy import Policy, QuasiIdentifier


def witness_of(policy: Policy) -> Witness:
    of_all = (*policy.models_against_population, *policy.models_of_table)
    others = [*_of_columns(policy), *(Promise(**model.promise()) for model in of_all)]
    asked = [Asked(q.attributes, q.k, (*crowd(q, policy.unit), *others)) for q in policy.quasi_identifiers]
    return Witness(asked, meanings(policy), texts=policy.population_table is not None)


def witness_of_everything(policy: Policy) -> Witness:
    """A witness of all that can be counted if nothing is promised, with limits that say little."""
    models = [model.of(column, model.weakest, {}) for column in policy.sensitive for model in OF_COLUMNS.values()]
    others = [Promise(**model.promise()) for model in models]
    asked = [Asked(q.attributes, q.k, (*crowd(q, policy.unit), *others)) for q in policy.quasi_identifiers]
    return Witness(asked, meanings(policy))


def witness_of_crowds(quasi_identifiers: Iterable[QuasiIdentifier], unit: str | None = None) -> Witness:
    """A witness of nothing but the sizes of crowds."""
    return Witness([Asked(q.attributes, q.k, crowd(q, unit)) for q in quasi_identifiers])


def crowd(quasi_identifier: QuasiIdentifier, unit: str | None) -> tuple[Promise, ...]:
    """The promise that a crowd has k records, or k people where a column says whose record it is."""
    k = quasi_identifier.k
    if k == 1:
        return ()
    return (Promise(**(KAnonymity(k) if unit is None else KUnits(unit, k)).promise()),)


def meanings(policy: Policy) -> dict[str, Meaning]:
    """What the values of sensitive columns count as, and those of the unit."""
    found = {}
    for name in dict.fromkeys((*policy.sensitive, *((policy.unit,) if policy.unit else ()))):
        own = next((protection for protection in policy.protections if protection.column == name), None)
        groups, bins = (own.groups, own.bins) if own else ({}, ())
        found[name] = Meaning(tuple(policy.missing_values), _has_commas(policy, name), groups, bins)
    return found


def _has_commas(policy: Policy, column: str) -> bool:
    """Whether the values of a sensitive column are numbers with a decimal comma; a taxonomy has them as written."""
    return policy.types.get(column) == "comma" and column not in policy.taxonomies


def _of_columns(policy: Policy) -> Iterator[Promise]:
    for protection in policy.protections:
        for model in protection.models(policy.tree_of(protection.column)):
            promise = Promise(**model.promise())
            if promise.harmless and _has_commas(policy, protection.column):
                promise = replace(promise, more={**promise.more, "harmless": tuple(map(pointed, promise.harmless))})
            yield promise
