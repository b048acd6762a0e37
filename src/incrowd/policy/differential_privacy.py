"""Which policies a differentially private method can keep: nothing that leaves may depend on people in another way."""

from __future__ import annotations

from collections.abc import Sequence

from incrowd.errors import PolicyError
from incrowd.policy.policy import Policy
from incrowd.search.registry import method_of


def check_differential(policy: Policy, columns: Sequence[str]) -> None:
    """Stop where a release would say more than differential privacy allows.

    Raises:
        PolicyError: A column would leave as it is, how a column is read would follow from its values, or the policy
            asks for what depends on people in another way.
    """
    if not method_of(policy.method, {}).differential:
        return
    method_of(policy.method, {}, len(policy.quasi_identifiers), policy.models_of_table)
    for name in columns:
        if name in policy.passing(columns) and name not in policy.keep:
            raise PolicyError(
                f"column '{name}' would leave as it is, which is not differentially private; make it a "
                f"quasi-identifier, drop it (identifiers), or keep it (keep): the guarantee is then without it"
            )
    for name in policy.attributes:
        if name not in policy.taxonomies:
            raise PolicyError(
                f"column '{name}' needs a hierarchy that is independent of the table; give it one, such as "
                f"--taxonomy {name}=widths:5,10, and --levels {name}=0:2"
            )
    others = {
        "unit": policy.unit,
        "keep_order": policy.keep_order,
        "ledger": policy.ledger,
        "population": policy.population_table,
        "promises about sensitive columns": policy.secrets,
    }
    for name, given in others.items():
        if given:
            raise PolicyError(
                f"The method '{policy.method}' is differentially private for single records and promises k alone; "
                f"leave out: {name}."
            )
