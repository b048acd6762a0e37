"""What `verify` gives: the verdict of the witness, which prints as a short table and converts to a dataframe."""

from __future__ import annotations

from dataclasses import dataclass

from incrowd.display import Rows, Tabular
from incrowd.verification.witness import Verdict


@dataclass(frozen=True, repr=False)
class Verification(Tabular, Verdict):
    """What the witness found. It prints as a short table."""

    @classmethod
    def of(cls, verdict: Verdict) -> Verification:
        """What a witness said, for people."""
        return cls(verdict.records, verdict.findings)

    def to_rows(self) -> Rows:
        """What was counted for each quasi-identifier and privacy model, a row each."""
        return Verdict.to_rows(self)
