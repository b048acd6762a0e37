"""What a policy promises, as plain data for the witness: names of columns, numbers and texts.

All of it is taken from what the user asked for, and nothing from the requirements and models that searches are given,
so that a promise which was lost on the way to the search is still counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from incrowd.privacy.population import POPULATION
from incrowd.taxonomies.taxonomy import Taxonomy
from incrowd.verification.counts import Promise
from incrowd.verification.values import Meaning, pointed
from incrowd.verification.witness import Asked, Witness

if TYPE_CHECKING:
    from incrowd.policy.policy import Policy, QuasiIdentifier
    from incrowd.policy.protection import Protection


def witness_of(policy: Policy) -> Witness:
    """A witness of all that a policy promises."""
    others = (*_of_columns(policy), *_against_population(policy))
    asked = [Asked(q.attributes, q.k, (*crowd(q, policy.unit), *others)) for q in policy.quasi_identifiers]
    return Witness(asked, meanings(policy), texts=policy.population_table is not None)


def witness_of_everything(policy: Policy) -> Witness:
    """A witness of all that can be counted where nothing is promised, with limits that say little."""
    others = [promise for column in policy.sensitive for promise in _everything(column)]
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
    if unit is None:
        return (Promise("k-anonymity", f"k={k}", k),)
    return (Promise("k people", f"k={k} people ({unit})", k, unit),)


def meanings(policy: Policy) -> dict[str, Meaning]:
    """What the values of sensitive columns count as, and those of the unit."""
    found = {}
    for name in dict.fromkeys((*policy.sensitive, *((policy.unit,) if policy.unit else ()))):
        own = next((protection for protection in policy.protections if protection.column == name), None)
        groups, bins = ((own.groups or {}), own.bins) if own else ({}, ())
        found[name] = Meaning(tuple(policy.missing_values), _has_commas(policy, name), groups, bins)
    return found


def _has_commas(policy: Policy, column: str) -> bool:
    """Whether the values of a sensitive column are numbers with a decimal comma; a taxonomy has them as written."""
    return policy.types.get(column) == "comma" and column not in policy.taxonomies


def _of_columns(policy: Policy) -> Iterator[Promise]:
    for protection in policy.protections:
        tree = policy.taxonomies.get(protection.column)
        harmless = tuple(map(pointed, protection.harmless)) if _has_commas(policy, protection.column) else None
        yield from _of_column(protection, harmless, tree if isinstance(tree, Taxonomy) else None)


def _of_column(asked: Protection, pointed: tuple[str, ...] | None, tree: Taxonomy | None) -> Iterator[Promise]:
    name, harmless = asked.column, asked.harmless if pointed is None else pointed
    if asked.l is not None:
        yield Promise("distinct l-diversity", f"l={asked.l} of {name}", asked.l, name, harmless=harmless)
    if (l := asked.entropy_l) is not None:
        yield Promise("entropy l-diversity", f"entropy l={l:g} of {name}", l, name, harmless=harmless)
    if asked.recursive_l is not None:
        c, l = asked.recursive_l
        text = f"recursive c={c:g}, l={l} of {name}"
        yield Promise("recursive (c, l)-diversity", text, c, name, l, harmless)
    if asked.t is not None:
        distance = asked.t_distance or ("hierarchical" if tree is not None else None)
        told = f" ({asked.t_distance} distance)" if asked.t_distance in ("ordered", "hierarchical") else ""
        paths = tuple(tree.paths()) if tree is not None and distance == "hierarchical" else ()
        yield Promise("t-closeness", f"t={asked.t:g} of {name}{told}", asked.t, name, distance=distance, paths=paths)
    if asked.alpha is not None:
        yield Promise("alpha-anonymity", f"alpha={asked.alpha:g} of {name}", asked.alpha, name, harmless=harmless)
    if (beta := asked.beta_likeness) is not None:
        yield Promise("beta-likeness", f"beta={beta:g} of {name}", beta, name)
    if (beta := asked.enhanced_beta_likeness) is not None:
        yield Promise("beta-likeness", f"enhanced beta={beta:g} of {name}", beta, name, enhanced=True)
    if (delta := asked.delta_disclosure) is not None:
        yield Promise("delta-disclosure", f"delta={delta:g} of {name}", delta, name)


def _against_population(policy: Policy) -> Iterator[Promise]:
    if policy.k_map is not None:
        yield Promise("k-map", f"k-map={policy.k_map}", policy.k_map, POPULATION)
    if (delta := policy.delta_presence) is not None:
        yield Promise("delta-presence", f"delta-presence={delta:g}", delta, POPULATION)


def _everything(column: str) -> Iterator[Promise]:
    yield Promise("distinct l-diversity", f"l=2 of {column}", 2, column)
    yield Promise("entropy l-diversity", f"entropy l=2 of {column}", 2, column)
    yield Promise("recursive (c, l)-diversity", f"recursive c=1, l=2 of {column}", 1, column, 2)
    yield Promise("t-closeness", f"t=1 of {column}", 1, column)
    yield Promise("alpha-anonymity", f"alpha=1 of {column}", 1, column)
    yield Promise("beta-likeness", f"beta=1 of {column}", 1, column)
    yield Promise("beta-likeness", f"enhanced beta=1 of {column}", 1, column, enhanced=True)
    yield Promise("delta-disclosure", f"delta=1 of {column}", 1, column)
