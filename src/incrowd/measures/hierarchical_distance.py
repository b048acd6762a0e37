"""The measures of local recoding by clustering: distances in hierarchies, distortion, inconsistency, generalization.

Definitions 5 to 14 of Li, Wong, Fu and Pei, by their numbers. Level 1 is the root of a hierarchy; h is its height, the
number of its levels. Values are nodes of a taxonomy. All of it is exact: fractions.

Where paths have unequal lengths, a shorter one is filled up with its leaf, which so belongs to every level from its own
down. Distances are counted from the lowest: an original value says all there is to say, a suppressed one has lost 1,
and an original value is never inconsistent with the original values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from incrowd.errors import PolicyError
from incrowd.table.grouping import count
from incrowd.taxonomies.taxonomy import Taxonomy

Counts = npt.NDArray[Any]
Scheme = Literal["height", "uniform"]


@dataclass(frozen=True)
class Weights:
    """How much a step between two levels weighs.

    Args:
        scheme: "uniform": all the same; "height": 1/(j-1)^beta between levels j and j-1, most near the root.
        beta: The exponent.
        priorities: Weight of an attribute by name, 1 for those that are not named (Section 6: the lower, the sooner it
            is generalized).
        levels: Weights of the steps of an attribute by name, from the root down, one fewer than it has levels
            (Definition 5 leaves them to the user); attributes that are not named follow the scheme.
    """

    scheme: Scheme = "height"
    beta: float = 1
    priorities: Mapping[str, float] = field(default_factory=dict)
    levels: Mapping[str, Sequence[float]] = field(default_factory=dict)

    def of(self, attribute: str) -> Fraction:
        """The weight of an attribute."""
        return Fraction(str(self.priorities.get(attribute, 1)))

    def details(self, height: int, attribute: str | None = None) -> tuple[Fraction, ...]:
        """WHD(level, 1) for the levels 1 to h: how much a value of that level still says.

        Raises:
            PolicyError: The weights that the attribute was given are not those of h levels.
        """
        if attribute is None or attribute not in self.levels:
            return _details(self.scheme, self.beta, height)
        given = self.levels[attribute]
        if len(given) != height - 1:
            raise PolicyError(
                f"The weights in 'level_weights' of '{attribute}' must be {height - 1}, one for each step between two "
                f"of its {height} levels. Got {len(given)}."
            )
        return _shares([Fraction(str(weight)) for weight in given])


def _shares(steps: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """What the steps from the root down add up to, as shares of all of them."""
    total = sum(steps, Fraction(0))
    return (Fraction(0), *(sum(steps[:count], Fraction(0)) / total for count in range(1, len(steps) + 1)))


@lru_cache(maxsize=256)
def _details(scheme: Scheme, beta: float, height: int) -> tuple[Fraction, ...]:
    def weight(step: int) -> Fraction:
        if scheme == "uniform":
            return Fraction(1)
        whole = float(beta).is_integer()
        return Fraction(1, step ** int(beta)) if whole else Fraction(1 / step**beta).limit_denominator(10**6)

    return _shares([weight(level - 1) for level in range(2, height + 1)])


UNIFORM = Weights("uniform")
HEIGHT = Weights("height")


def weighted_hierarchical_distance(p: int, q: int, height: int, weights: Weights = HEIGHT) -> Fraction:
    """WHD(p, q), Definition 5: what generalizing a cell from level p to level q costs."""
    if not 1 <= q <= p <= height:
        raise PolicyError(f"WHD(p, q) needs levels 1 <= q <= p <= {height}. Got p={p}, q={q}.")
    details = weights.details(height)
    return details[p - 1] - details[q - 1]


def closest_common_generalization(
    taxonomies: Sequence[Taxonomy], first: Sequence[int], second: Sequence[int]
) -> tuple[int, ...]:
    """The closest common generalization of two tuples, Definition 8."""
    pairs = zip(taxonomies, first, second, strict=True)
    return tuple(taxonomy.lowest_common_ancestor(one, other) for taxonomy, one, other in pairs)


def tuple_distortion(
    taxonomies: Mapping[str, Taxonomy], original: Sequence[int], released: Sequence[int], weights: Weights = HEIGHT
) -> Fraction:
    """Distortion of a tuple, Definition 6, with the weights of the attributes."""
    total = Fraction(0)
    for (name, taxonomy), before, after in zip(taxonomies.items(), original, released, strict=True):
        details = weights.details(taxonomy.height + 1, name)
        total += weights.of(name) * (details[taxonomy.level[before]] - details[taxonomy.level[after]])
    return total


def tuple_distance(
    taxonomies: Mapping[str, Taxonomy], first: Sequence[int], second: Sequence[int], weights: Weights = HEIGHT
) -> Fraction:
    """Distance of two tuples, Definition 9."""
    return class_distance(taxonomies, (first, 1), (second, 1), weights)


def class_distance(
    taxonomies: Mapping[str, Taxonomy],
    first: tuple[Sequence[int], int],
    second: tuple[Sequence[int], int],
    weights: Weights = HEIGHT,
    k: int | None = None,
) -> Fraction:
    """Distance of two classes, each a tuple and its size, Definition 10; with a k as in Definition 14.

    With a k and 2k records or more, only the stub of the second class takes part.
    """
    (one, own), (other, others) = first, second
    if k is not None and own + others >= 2 * k:
        others = k - own
    both = closest_common_generalization(tuple(taxonomies.values()), one, other)
    return own * tuple_distortion(taxonomies, one, both, weights) + others * tuple_distortion(
        taxonomies, other, both, weights
    )


def level_counts(taxonomy: Taxonomy, nodes: npt.NDArray[Any], records: Counts) -> Counts:
    """How many values belong to each level, from level 1 to level h; `records` have each of the nodes."""
    depth = taxonomy.depth[nodes]
    counts = count(depth, taxonomy.height + 1, records)
    leaves = np.isin(nodes, taxonomy.leaves)
    above = count(depth[leaves], taxonomy.height + 1, records[leaves])
    counts[1:] += np.cumsum(above)[:-1]  # leaves of a higher level belong to this one, too
    return counts


def inconsistency(taxonomy: Taxonomy, nodes: npt.NDArray[Any], records: Counts) -> Fraction:
    """Inconsistency of an attribute, Definition 12: the share of values that are not of the most frequent level.

    That of a table is the largest of its attributes.
    """
    return _others(int(level_counts(taxonomy, nodes, records).max()), records)


def generalization_portion(taxonomy: Taxonomy, nodes: npt.NDArray[Any], records: Counts) -> Fraction:
    """Generalization portion, Definition 13: the share of values above the most specific level that occurs."""
    base = int(taxonomy.depth[nodes].max())
    return _others(int(level_counts(taxonomy, nodes, records)[base]), records)


def _others(number: int, records: Counts) -> Fraction:
    return 1 - Fraction(number, int(records.sum()))
