"""Counts what is left of every crowd once all releases to one recipient lie side by side.

People have the same history if the same was released of them in each release, and nothing where nothing was released of
one of them; see docs/releases-over-time.md. It is told which released rows are whose, and shares no code with what
decides what leaves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from incrowd.errors import NotAnonymousError, many


@dataclass(frozen=True)
class Seen:
    """A release as its recipient sees it, and whose each row is.

    Args:
        persons: Whose each row is: an array of 16 bytes each.
        classes: The released quasi-identifier of each row, as a number.
        columns: The values of the columns of which it promised several, as numbers.
        people: How many people it promised in every class.
        values: How many values of which of these columns it promised.
    """

    persons: Any
    classes: Any
    columns: Mapping[str, Any]
    people: int
    values: Mapping[str, int]


def count_histories(releases: Sequence[Seen]) -> int:
    """How many people share their history with too few: people, or values of a sensitive column in some release."""
    everyone, numbers = np.unique(np.concatenate([release.persons for release in releases]), return_inverse=True)
    persons = np.split(numbers.ravel(), np.cumsum([len(release.persons) for release in releases])[:-1])
    history = np.zeros(len(everyone), np.int64)
    for release, person in zip(releases, persons, strict=True):
        history = _paired(history, _sets(person, release.classes, len(everyone)))
    few = np.bincount(history)[history] < max(release.people for release in releases)
    for release, person in zip(releases, persons, strict=True):
        group = _paired(history[person], release.classes)
        for name, least in release.values.items():
            _, first = np.unique(_paired(group, release.columns[name]), return_index=True)
            few[person[np.bincount(group[first])[group] < least]] = True
    return int(few.sum())


def _paired(first: Any, second: Any) -> Any:
    """A number for each distinct pair, from 0."""
    width = int(second.max(initial=0)) + 1
    return np.unique(first.astype(np.int64) * width + second, return_inverse=True)[1].ravel()


def _sets(persons: Any, classes: Any, size: int) -> Any:
    """A number for the classes that each person is in; 0 for none."""
    pairs = np.unique(np.stack([persons, classes]), axis=1) if len(np.unique(persons)) < len(persons) else None
    found = np.zeros(size, np.int64)
    if pairs is None:
        found[persons] = classes + 1
        return found
    found[pairs[0]] = pairs[1] + 1
    known: dict[tuple[int, ...], int] = {}
    first = int(classes.max()) + 2
    for person in np.flatnonzero(np.bincount(pairs[0], minlength=size) > 1).tolist():
        start, end = np.searchsorted(pairs[0], [person, person + 1])
        found[person] = first + known.setdefault(tuple(pairs[1][start:end].tolist()), len(known))
    return found


def require_together(few: int) -> None:
    """Raise NotAnonymousError if somebody's crowd is too small."""
    if few:
        raise NotAnonymousError(
            f"the promise does not hold for several releases together: the crowd of {many(few, 'person', 'people')} "
            "would be too small; ask for coarser columns or fewer of them, or wait until more people have come"
        )
