"""The words that promise something against a population: its table, k_map and delta_presence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from incrowd.errors import PolicyError

WORDS = ("population_table", "k_map", "delta_presence")


def add_population(words: dict[str, Any]) -> None:
    """Open the population and read the bounds among the words of a policy, in place; what is None was not given."""
    for word in WORDS:
        if words.get(word) is None:
            words.pop(word, None)
    if "delta_presence" in words:
        words["delta_presence"] = _largest(words["delta_presence"])
    if "population_table" in words:
        from incrowd.formats.registry import open_source

        words["population_table"] = open_source(words["population_table"])


def _largest(given: Any) -> Any:
    """The largest share, given alone or as a pair that begins with 0."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        return given
    if len(given) == 2 and given[0] == 0:
        return given[1]
    if len(given) == 1:
        return given[0]
    raise PolicyError(
        "The 'delta_presence' parameter must be the largest share, or 0 and the largest share: people whose values no "
        f"record has are surely not in the table, so a smallest share above 0 cannot hold. Got {str(given)[:40]!r}."
    )
