"""Opens the table of the population that a policy names, before its people are counted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from incrowd.formats.registry import open_source

if TYPE_CHECKING:
    from incrowd.policy.policy import Policy


def with_open_population(policy: Policy) -> Policy:
    """The policy with its population as a source; as it is if it has none, or if that is open."""
    if policy.population_table is None or hasattr(policy.population_table, "fingerprint"):
        return policy
    return replace(policy, population_table=open_source(policy.population_table))
