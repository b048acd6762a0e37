"""What was released of each person before, over all releases that somebody could lay beside the next one.

Two releases are linked if one shows a column as it is that the other shows too, recoded or not: then what one says of
somebody narrows down the other. Releases that are not linked, not even through others, tell nothing of each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from incrowd.engines.allocation import mix
from incrowd.ledger.store import HISTORIES, LAST, Entry, persons_of
from incrowd.ledger.turnover import distinct_in, numbered
from incrowd.table.grouping import Codes, group

Persons = npt.NDArray[np.void]


@dataclass(frozen=True)
class Secrets:
    """A sensitive column of an earlier release, of which every crowd must have several values.

    Args:
        column: Its name.
        release: The release, by its number.
        least: How many values.
        codes: The value that was released of each person; of others one of their own.
        known: Of whom one was released.
    """

    column: str
    release: int
    least: int
    codes: Codes
    known: npt.NDArray[np.bool_]

    @property
    def name(self) -> str:
        return f"{self.column} of release {self.release}"


@dataclass(frozen=True)
class Past:
    """What was released of some people; it is the same of those with the same number.

    Args:
        histories: A number for each person; 0 if nothing was.
        secrets: What has to stay diverse.
    """

    histories: Codes
    secrets: tuple[Secrets, ...]


def linked(entries: Sequence[Entry], columns: Sequence[str], passing: Sequence[str]) -> list[Entry]:
    """The releases that are linked to one with these columns, of which some pass, directly or through others."""
    found: list[Entry] = []
    reached = [(set(columns), set(passing))]
    while reached:
        shown, open_ones = reached.pop()
        for entry in entries:
            if entry not in found and (set(entry.columns) & open_ones or shown_by(entry) & shown):
                found.append(entry)
                reached.append((set(entry.columns), shown_by(entry)))
    return sorted(found, key=lambda entry: entry.number)


def shown_by(entry: Entry) -> set[str]:
    """The columns that a release shows as they are."""
    return set(entry.columns) - set(entry.policy["quasi_identifiers"][0]["attributes"])


def promised(entry: Entry) -> dict[str, int]:
    """How many values of which columns a release promised."""
    return {name: int(own["l"]) for name, own in entry.policy.get("protections", {}).items() if "l" in own}


def past(told: Sequence[tuple[Entry, pa.Table]], persons: Persons) -> Past:
    """What some releases, and those that they continue, said of people.

    The class of somebody's last rows says what was released of her before them, since it has a single history.

    Args:
        told: The releases, each with the rows that were released last of everyone who ever was in it.
        persons: The person of each row.
    """
    columns, secrets = [np.zeros(len(persons), np.int64)], []
    known = np.zeros(len(persons), bool)
    for entry, rows in told:
        (theirs, own), size = numbered(persons_of(rows), persons)
        sets, until = np.zeros(size, np.uint64), np.zeros(size, np.int64)
        np.add.at(sets, theirs, mix(rows[HISTORIES].to_numpy().astype(np.uint64)))
        until[theirs] = rows[LAST].to_numpy()
        columns += [np.unique(sets, return_inverse=True)[1].ravel()[own], until[own]]
        known |= until[own] > 0
        for name, least in promised(entry).items():
            value = np.full(size, -1)
            value[theirs] = _codes(rows[name])
            own_value = value[own]
            codes = np.where(own_value < 0, rows.num_rows + own, own_value)
            secrets.append(Secrets(name, entry.number, least, codes, own_value >= 0))
    numbers = group(columns, [int(c.max(initial=0)) + 1 for c in columns])[0]
    return Past(np.where(known, numbers + 1, 0).astype(np.int64), tuple(secrets))


def torn(told: Sequence[tuple[Entry, pa.Table]], k: int) -> int:
    """How many people share what these releases told of them with fewer than k, or with too few values."""
    every = np.concatenate([persons_of(rows) for _, rows in told])
    persons = every[np.unique(numbered(every)[0][0], return_index=True)[1]]
    found = past(told, persons)
    few = np.bincount(found.histories)[found.histories] < k
    for secret in found.secrets:
        values = distinct_in(found.histories, secret.codes)
        few |= secret.known & (values < secret.least)
    return int(few.sum())


def _codes(column: pa.ChunkedArray) -> Codes:
    encoded = column.combine_chunks().cast(pa.string()).dictionary_encode(null_encoding="encode")
    return np.asarray(encoded.indices, np.int64)
