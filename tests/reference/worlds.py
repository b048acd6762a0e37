"""What somebody can tell who has all releases and knows everything about everyone but the columns that pass untouched.

The attacker knows in which released class of which release everyone stands, and from which release to which. He asks of
each person which rows could be hers: a row could if there is a world, an assignment of untouched values to people, in
which she has its values and in which every release looks as it does. Whether there is one is decided exactly, by
integer programming over how many people of each kind have which values.
"""

import itertools
from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp


@dataclass(frozen=True)
class Stay:
    """Rows of one class that came with the same release and left with the same one.

    Args:
        kind: The releases that continue each other, by the first.
        label: The released quasi-identifier.
        first: The release with which they came.
        last: The last release that has them.
    """

    kind: int
    label: tuple
    first: int
    last: int


@dataclass(frozen=True)
class Promise:
    """What the releases of one kind show and promise.

    Args:
        shown: The columns that pass untouched.
        people: How many rows could be anyone's.
        values: How many values of which columns these have.
    """

    shown: tuple
    people: int
    values: dict


def below(stays, promises):
    """People with too few rows that could be theirs, and people with too few values of a secret.

    Args:
        stays: For each person, what was released of her: for each stay the values of the columns that are shown. Of
            a person whose untouched values never change.
        promises: What was promised, by kind.
    """
    kinds = Counter(frozenset(own) for own in stays.values())
    columns = sorted({name for promise in promises.values() for name in promise.shown})
    seen = defaultdict(set)
    rows = defaultdict(Counter)
    for own in stays.values():
        for stay, values in own.items():
            rows[stay][tuple(values[name] for name in promises[stay.kind].shown)] += 1
            for name, value in values.items():
                seen[name].add(value)
    domain = list(itertools.product(*(sorted(seen[name], key=str) for name in columns)))
    shown = {
        kind: [tuple(values[columns.index(name)] for name in promise.shown) for values in domain]
        for kind, promise in promises.items()
    }
    possible = _possible(list(kinds), kinds, rows, shown, len(domain))
    few = certain = 0
    for kind, people in kinds.items():
        small = known = False
        for stay in kind:
            promise = promises[stay.kind]
            hers = {shown[stay.kind][place] for place in possible[kind]}
            small |= sum(rows[stay][values] for values in hers) < promise.people
            for name, least in promise.values.items():
                known |= len({values[promise.shown.index(name)] for values in hers}) < least
        few, certain = few + people * small, certain + people * known
    return few, certain


def _possible(kinds, sizes, rows, shown, width):
    """For each kind of person, the values that somebody of it could have: their places in the domain."""
    equations, totals = [], []
    for place, kind in enumerate(kinds):
        equations.append({place * width + value: 1 for value in range(width)})
        totals.append(sizes[kind])
    for stay, counts in rows.items():
        there = [place for place, kind in enumerate(kinds) if stay in kind]
        for values in set(shown[stay.kind]):
            same = [value for value in range(width) if shown[stay.kind][value] == values]
            equations.append({place * width + value: 1 for place in there for value in same})
            totals.append(counts[values])
    matrix = np.zeros((len(equations), len(kinds) * width))
    for number, equation in enumerate(equations):
        matrix[number, list(equation)] = 1
    constraint = LinearConstraint(matrix, totals, totals)
    most = np.min(np.where(matrix > 0, np.array(totals)[:, None], np.inf), axis=0)
    found = np.zeros(matrix.shape[1], bool)
    for place in np.flatnonzero(most > 0):
        if found[place]:
            continue
        least = np.zeros(matrix.shape[1])
        least[place] = 1
        world = milp(-(~found).astype(float), constraints=constraint, bounds=Bounds(least, most), integrality=1)
        if world.x is not None:
            found |= np.round(world.x) > 0
    return {kind: np.flatnonzero(found[place * width : (place + 1) * width]) for place, kind in enumerate(kinds)}
