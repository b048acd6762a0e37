"""Distances for clustering, as whole numbers: how much detail every node of every hierarchy still holds.

The detail of a node is what would be lost by generalizing it to the root: its weighted hierarchical distance to the
root, or the NCP that it saves. Where all details are fractions with a common denominator of moderate size they are kept
exactly, as multiples of it, so that equal distances are equal; else they are rounded to multiples of 2^-30.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import PolicyError, UnknownNameError
from incrowd.measures.hierarchical_distance import Weights
from incrowd.recodings.hierarchies import Hierarchy
from incrowd.table.attributes import Attribute, NumberAttribute

_LARGEST = 2**31
_ROUNDED = 2**30


def weights_of(
    distance: str,
    beta: float,
    priorities: Mapping[str, float] | None,
    hierarchies: Sequence[Hierarchy],
    levels: Mapping[str, Sequence[float]] | None = None,
) -> Weights:
    """The weights that the options of a method ask for."""
    names = [hierarchy.name for hierarchy in hierarchies]
    for name in levels or {}:
        if name not in names:
            raise UnknownNameError("quasi-identifier column", name, names, "the 'level_weights' parameter")
    if levels and distance != "height":
        raise PolicyError(f"The 'level_weights' parameter must come with the distance 'height'. Got '{distance}'.")
    for name, weight in (priorities or {}).items():
        if name not in names:
            raise UnknownNameError("quasi-identifier column", name, names, "the 'priorities' parameter")
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight <= 1000:
            raise PolicyError(f"The weights in 'priorities' must be above 0 and at most 1000. Got {weight!r}.")
    return Weights("uniform" if distance == "uniform" else "height", beta, priorities or {}, levels or {})


def details(
    attributes: Sequence[Attribute], hierarchies: Sequence[Hierarchy], distance: str, weights: Weights
) -> tuple[list[npt.NDArray[np.int64]], int]:
    """The detail of each node, per attribute, in whole units, and how many units are 1.

    Priorities that are all equal are none: what is rounded must not depend on them.
    """
    priorities = [weights.of(hierarchy.name) for hierarchy in hierarchies]
    if len(set(priorities)) == 1:
        priorities = [Fraction(1)] * len(hierarchies)
    found: list[npt.NDArray[Any] | list[Fraction]] = []
    denominators: list[int] = []
    for attribute, hierarchy, priority in zip(attributes, hierarchies, priorities, strict=True):
        tree = hierarchy.taxonomy
        if distance == "ncp" and isinstance(attribute, NumberAttribute):
            found.append((1 - hierarchy.losses(attribute)) * float(priority))
            denominators.append(_LARGEST)
            continue
        if distance == "ncp":
            leaves = len(tree.leaves)
            single = {int(lost * max(1, leaves - 1) + 0.5) for lost in hierarchy.losses(attribute)}
            exact = {lost: priority * (1 - Fraction(lost, max(1, leaves - 1))) for lost in single}
            keys = (hierarchy.losses(attribute) * max(1, leaves - 1) + 0.5).astype(int)
        else:
            levels = weights.details(tree.height + 1, hierarchy.name)
            exact = {level: priority * detail for level, detail in enumerate(levels)}
            keys = tree.level
        found.append([exact[key] for key in keys.tolist()])
        denominators += [value.denominator for value in exact.values()]
    unit = lcm(*denominators) if max(denominators) < _LARGEST else _LARGEST
    unit = unit if unit < _LARGEST else _ROUNDED
    return [np.array([round(value * unit) for value in column], np.int64) for column in found], unit
