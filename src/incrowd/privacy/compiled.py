"""The questions of a requirement for compiled code, which knows numbers and arrays only.

What a class of a compiled search needs is one tuple, `Needs`; the functions below are compiled into whoever calls them.
Compiled searches count the records of a class, and let others join a good class without looking again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from numba import njit

from incrowd.privacy.model import counts_records_only

if TYPE_CHECKING:
    from incrowd.privacy.model import PrivacyModel


class Needs(NamedTuple):
    """What a class needs to be good: so many records."""

    records: int


def needs_of(models: Sequence[PrivacyModel]) -> Needs:
    """What a class needs for some models.

    Raises:
        PolicyError: A model needs the values of a protected column.
    """
    counts_records_only(models)
    return Needs(max(model.least_size for model in models))


@njit(nogil=True, inline="always")
def is_good(needs: Needs, records: int) -> bool:
    """Whether a class of so many records is good."""
    return records >= needs.records


@njit(nogil=True, inline="always")
def spare(needs: Needs, records: int) -> int:
    """How many records a good class can do without; negative or 0 if none."""
    return records - needs.records


@njit(nogil=True, inline="always")
def lacking(needs: Needs, records: int) -> int:
    """How many records a class lacks to be good; negative or 0 if none."""
    return needs.records - records


@njit(nogil=True, inline="always")
def could_be_two(needs: Needs, records: int) -> bool:
    """Whether so many records are enough for two good classes."""
    return records >= 2 * needs.records
