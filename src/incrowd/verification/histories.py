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
    """A release, or some that continue each other, as their recipient sees them, and whose each row is.

    Args:
        persons: Whose each row is: an array of 16 bytes each.
        classes: The released quasi-identifier of each row, as a number.
        first: The first release that has the row.
        last: The last one; those between have it too.
        columns: The values of the columns of which it promised several, as numbers.
        people: How many people it promised in every class.
        values: How many values of which of these columns it promised.
    """

    persons: Any
    classes: Any
    first: Any
    last: Any
    columns: Mapping[str, Any]
    people: int
    values: Mapping[str, int]


def count_histories(releases: Sequence[Seen]) -> int:
    """How many people share their history with too few: people, or values of a sensitive column in some release."""
    everyone, numbers = np.unique(np.concatenate([release.persons for release in releases]), return_inverse=True)
    persons = np.split(numbers.ravel(), np.cumsum([len(release.persons) for release in releases])[:-1])
    history = np.zeros(len(everyone), np.int64)
    stays = [_paired(_paired(release.classes, release.first), release.last) for release in releases]
    for stay, person in zip(stays, persons, strict=True):
        history = _paired(history, _sets(person, stay, len(everyone)))
    few = np.bincount(history)[history] < max(release.people for release in releases)
    for release, stay, person in zip(releases, stays, persons, strict=True):
        group = _paired(history[person], stay)
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
    width = int(classes.max(initial=0)) + 1
    person, own = np.divmod(np.unique(persons.astype(np.int64) * width + classes), width)
    rank = np.arange(len(person)) - np.searchsorted(person, person)
    order = np.argsort(rank, kind="stable")
    found = np.zeros(size, np.int64)
    for some in np.split(order, np.cumsum(np.bincount(rank))[:-1]):  # the first class of everyone, then the second
        found[person[some]] = found.max() + 1 + _paired(found[person[some]], own[some])
    return found


def require_together(few: int, without: int = 0) -> None:
    """Raise NotAnonymousError if somebody's crowd is too small.

    Args:
        few: Of how many people it is.
        without: Of how many it is without the release that is to go out: others then went to different recipients.
    """
    if few:
        people = many(few, "person", "people")
        helps = "ask for coarser columns or fewer of them, or wait until more people have come"
        if without:
            helps = (
                f"for {many(without, 'person', 'people')} releases that went to different recipients do not keep it "
                "together, and whoever gets this one may have them all: name a recipient who has only one of them"
            )
        raise NotAnonymousError(
            f"the promise does not hold for several releases together: the crowd of {people} would be too "
            f"small; {helps}"
        )
