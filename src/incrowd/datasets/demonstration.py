"""What `incrowd demo` shows: the settings of a release of the census data, and the command that makes the same."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from incrowd.policy.policy import Policy

COLUMNS = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")
DROPPED = ("fnlwgt", "education-num", "relationship", "capital-gain", "capital-loss")  # nearly unique, or telling
SENSITIVE = ("income",)
HARMLESS = ("hours-per-week",)
K = 10


def policy_of(taxonomies: Path, k: int) -> Policy:
    """The policy of the demonstration: every column has a role."""
    from incrowd.policy.making import make_policy

    return make_policy(
        quasi_identifiers=COLUMNS,
        k=k,
        identifiers=DROPPED,
        sensitive=SENSITIVE,
        insensitive=HARMLESS,
        taxonomies=taxonomies,
    )


def command_of(table: Path, output: Path, taxonomies: Path, k: int) -> str:
    """The command that does the same."""
    roles = {"qi": COLUMNS, "identifiers": DROPPED, "sensitive": SENSITIVE, "insensitive": HARMLESS}
    asked = " ".join(f"--{role} {','.join(columns)}" for role, columns in roles.items())
    how = f"--k {k} --taxonomies {taxonomies} --preview --overwrite"
    return f"incrowd anonymize {table} -o {output} {asked} {how}"
