"""What a differentially private release guarantees, recomputed from the definition, and what it does not cover.

The search takes its parameters from a formula of the paper; here the definition itself is counted, with other code:
by how much may one more record in a class of n change what is seen of that class, for every n that matters?
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import exp, expm1, log
from typing import Any

import numpy as np

from incrowd.errors import NotAnonymousError
from incrowd.schemas.shapes import Fields, Number, Whole

ROUNDING = 1e-9  # relative, of sums of floats
SHAPE = Fields(
    {
        "epsilon": Number(0, above=True),
        "delta": Number(0, 1, above=True, below=True),
        "epsilon_of_choice": Number(0),
        "sampled": Number(0, 1, above=True, below=True),
        "k": Whole(2),
    }
)


@dataclass(frozen=True)
class Guarantee:
    """Differential privacy of a release, record by record.

    Args:
        epsilon: With or without any one record every release is at most e^epsilon times as likely,
        delta: but for releases that have this probability in all.
        epsilon_of_choice: The part of epsilon for choosing how general values are.
        sampled: With which probability each record was drawn.
        k: The smallest class that was released.
    """

    epsilon: float
    delta: float
    epsilon_of_choice: float
    sampled: float
    k: int

    def require(self) -> Guarantee:
        """Itself, if its parameters give what it says.

        Raises:
            NotAnonymousError: They do not.
        """
        reached = delta_of(self.epsilon - self.epsilon_of_choice, self.sampled, self.k)
        if not reached <= self.delta * (1 + ROUNDING):
            raise NotAnonymousError(
                f"the release is not differentially private with epsilon {self.epsilon:g}: delta is {reached:g}, not "
                f"{self.delta:g}; nothing was written. Please report this"
            )
        return self

    def promise(self, kept: str = "") -> str:
        """What it says, and which columns it does not cover, for people."""
        outside = f"; it does not cover {kept}, released as in the table" if kept else ""
        return (
            f"The quasi-identifiers are differentially private with epsilon {self.epsilon:g} and delta {self.delta:g}: "
            f"whether any one record was in the table changes how likely a release is by a factor of at most "
            f"{exp(self.epsilon):.3g}, with exceptions of probability {self.delta:g}{outside}."
        )

    @property
    def limits(self) -> str:
        """What it does not cover, for people."""
        return (
            "Differential privacy is for one record and one release: where a person has several records, and with "
            "every further release from the same table, epsilons and deltas add up. Hierarchies, levels, names and "
            "types of columns and the settings count as public and as chosen without looking at the rows; the key is "
            "secret."
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, facts: Mapping[str, Any], k: int) -> Guarantee | None:
        """From the facts of a search; None if they are not those of a differentially private one."""
        if "sampled" not in facts:
            return None
        return cls(**{name: facts[name] for name in ("epsilon", "delta", "epsilon_of_choice", "sampled")}, k=k)


def delta_of(epsilon: float, sampled: float, k: int) -> float:
    """By how much a record can exceed epsilon at most: the largest sum of f(j; n) - e^epsilon f(j; n - 1) over j >= k.

    Where a record leaves instead, nothing exceeds it, unless so many records are drawn that anything does.
    """
    if expm1(epsilon) * (1 - sampled) < sampled * (1 - ROUNDING):  # sampled > 1 - e^-epsilon
        return 1.0
    gamma = 1 - (1 - sampled) * exp(-epsilon)
    apart = gamma * log(gamma / sampled) + (1 - gamma) * log((1 - gamma) / (1 - sampled))
    worst, records = 0.0, k
    while exp(-records * apart) > worst or records * gamma < k + 1:
        worst = max(worst, _exceeding(epsilon, sampled, k, records))
        records += 1
    return worst


def _exceeding(epsilon: float, sampled: float, k: int, records: int) -> float:
    drawn = np.arange(k, records + 1)
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, records + 1)))])  # of factorials
    with_it = np.exp(
        logs[records]
        - logs[drawn]
        - logs[records - drawn]
        + drawn * log(sampled)
        + (records - drawn) * log(1 - sampled)
    )
    without = with_it * (records - drawn) / (records * (1 - sampled))
    return float(np.maximum(with_it - exp(epsilon) * without, 0).sum())
