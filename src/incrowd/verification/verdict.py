"""What `verify` gives: the verdict of the witness, which prints as a short table and converts to a dataframe."""

from __future__ import annotations

from dataclasses import dataclass

from incrowd.display import Rows, Tabular
from incrowd.errors import many
from incrowd.verification.witness import ModelFinding, Verdict


def _verdict(model: ModelFinding) -> str:
    if model.threshold is None:
        return f"{model.worst:,.4g}"
    return "holds" if model.holds else "does not hold"


@dataclass(frozen=True, repr=False)
class Verification(Tabular, Verdict):
    """What the witness found. It prints as a short table."""

    @classmethod
    def of(cls, verdict: Verdict) -> Verification:
        """What a witness said, for people."""
        return cls(verdict.records, verdict.findings)

    def headline(self) -> str:
        said = [many(self.records, "record")]
        for finding in self.findings:
            models = [f"{model.model} {_verdict(model)}" for model in finding.models]
            crowds = f"{many(finding.classes, 'crowd')} on {', '.join(finding.attributes)}"
            said.append(f"{crowds}: {', '.join(models)}")
        return "; ".join(said)

    def to_rows(self) -> Rows:
        """What was counted for each quasi-identifier and privacy model, a row each."""
        return Verdict.to_rows(self)
