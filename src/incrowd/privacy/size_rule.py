"""The questions of a requirement that counts records only, as plain functions of numbers and arrays.

What a class needs is one tuple, `SizeRule`. Searches that are not compiled ask these; `privacy.compiled` compiles
them for those that are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from incrowd.errors import PolicyError

if TYPE_CHECKING:
    from incrowd.privacy.model import PrivacyModel


class SizeRule(NamedTuple):
    """What a class needs to be good: this many records."""

    records: int


def size_rule_of(models: Sequence[PrivacyModel]) -> SizeRule:
    """What a class needs for some models.

    Raises:
        PolicyError: A model needs the values of a protected column.
    """
    counts_records_only(models)
    return SizeRule(max(model.least_size for model in models))


def counts_records_only(models: Iterable[PrivacyModel]) -> None:
    """Called by a search that knows the size of a class and nothing else of it.

    Raises:
        PolicyError: A model needs the values of a protected column.
    """
    for model in models:
        if model.column is not None:
            raise PolicyError(f"this method cannot satisfy {model} yet; it only counts records")


def is_good(needs: SizeRule, records: Any) -> Any:
    return records >= needs.records


def spare(needs: SizeRule, records: Any) -> Any:
    """How many records a good class can do without; negative or 0 if none."""
    return records - needs.records


def lacking(needs: SizeRule, records: Any) -> Any:
    """How many records a class lacks to be good; negative or 0 if none."""
    return needs.records - records


def could_be_two(needs: SizeRule, records: Any) -> Any:
    return records >= 2 * needs.records
