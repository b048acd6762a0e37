"""Editing intervals of numbers: levels of bounds, the finest first, each a part of the one before.

A bound belongs to all levels up to one: splitting on a level adds it to all finer ones, joining takes it from all
coarser ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor
from typing import Any

from incrowd.errors import PolicyError
from incrowd.taxonomies.labels import interval_label, number_label

MOST_BOUNDS = 150  # of a level that can be edited
MOST_LEVELS = 12

Bound = int | float
Levels = list[list[Bound]]


def levels_of(rule: Mapping[str, Any] | None, low: float, high: float) -> Levels | None:
    if rule is None:
        return []
    if "bounds" in rule:
        bounds = rule["bounds"]
        levels = [list(level) for level in bounds] if bounds and isinstance(bounds[0], list) else [list(bounds)]
    else:
        origin = _exact(rule.get("origin", 0))
        levels = []
        for width in map(_exact, rule["widths"]):
            first, last = floor((_exact(low) - origin) / width) + 1, ceil((_exact(high) - origin) / width)
            if last - first > MOST_BOUNDS:
                return None
            found = [origin + place * width for place in range(first, last + 1)]
            levels.append([_plain(bound) for bound in found if _exact(low) < bound <= _exact(high)])
    levels = tidy(levels)
    return levels if not levels or len(levels[0]) <= MOST_BOUNDS else None


def rule_of(levels: Levels) -> dict[str, Any] | None:
    """The rule as a policy file has it; None for no bounds at all."""
    if not levels:
        return None
    return {"bounds": levels[0] if len(levels) == 1 else levels}


def split(levels: Levels, level: int, bound: Bound) -> Levels:
    """Cut the interval that a number is in, on a level and on all finer ones."""
    found = [list(each) for each in levels] or [[]]
    if bound in found[level]:
        raise PolicyError(f"there is already a bound at {number_label(bound)}; write another number")
    if len(found[0]) >= MOST_BOUNDS:
        raise PolicyError(f"there are already {MOST_BOUNDS} bounds; join some intervals first")
    for each in found[: level + 1]:
        if bound not in each:
            each.append(bound)
            each.sort()
    return tidy(found)


def join(levels: Levels, level: int, bound: Bound) -> Levels:
    """Join the two intervals that a bound parts, on a level and on all coarser ones."""
    if bound not in levels[level]:
        raise PolicyError(f"there is no bound at {number_label(bound)}; reload the page")
    return tidy([[each for each in found if place < level or each != bound] for place, found in enumerate(levels)])


def coarser(levels: Levels) -> Levels:
    """One more level, with every second bound of the coarsest one."""
    if not levels or len(levels[-1]) < 2:
        raise PolicyError("there is nothing left to join; split an interval first")
    if len(levels) >= MOST_LEVELS:
        raise PolicyError(f"there are already {MOST_LEVELS} levels; remove one first")
    return tidy([*levels, levels[-1][1::2]])


def without(levels: Levels, level: int) -> Levels:
    return tidy([found for place, found in enumerate(levels) if place != level])


def tidy(levels: Sequence[Sequence[Bound]]) -> Levels:
    """The levels without those that are empty or say the same as the one before."""
    found: Levels = []
    for level in levels:
        if level and (not found or set(level) < set(found[-1])):
            found.append(sorted(level))
    return found


def labels(level: Sequence[Bound]) -> list[str]:
    return [interval_label(*ends) for ends in pairwise([None, *map(number_label, level), None])]


def _exact(number: float) -> Fraction:
    return Fraction(repr(float(number))) if isinstance(number, float) else Fraction(number)


def _plain(number: Fraction) -> Bound:
    return int(number) if number.denominator == 1 else float(number)
