"""The risk of a table beside that of its release."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from incrowd.display import Tabular
from incrowd.risk.assessment import Question, Risk, risk_of
from incrowd.run import Run

if TYPE_CHECKING:
    from incrowd.formats.sources import Source
    from incrowd.policy.policy import Policy
    from incrowd.population.everyone import Everyone


@dataclass(frozen=True)
class BeforeAndAfter:
    """The risk of a table and of its release, on one quasi-identifier."""

    before: Risk
    after: Risk

    def to_json(self) -> dict[str, Any]:
        """As JSON-able data."""
        return {"before": self.before.to_json(), "after": self.after.to_json()}


@dataclass(frozen=True, repr=False)
class ReleaseRisk(Tabular):
    """The risk before and after a release.

    Args:
        quasi_identifiers: On each quasi-identifier.
    """

    quasi_identifiers: tuple[BeforeAndAfter, ...]

    @property
    def worst(self) -> BeforeAndAfter:
        """On the quasi-identifier with the highest risk after the release; the first of several."""
        return max(self.quasi_identifiers, key=lambda pair: pair.after.prosecutor.highest)

    @property
    def before(self) -> Risk:
        """The risk of the table, on the worst quasi-identifier."""
        return self.worst.before

    @property
    def after(self) -> Risk:
        """The risk of the release, on the worst quasi-identifier."""
        return self.worst.after

    def to_rows(self) -> list[dict[str, Any]]:
        """The figures before and after on each quasi-identifier, a row each."""
        from incrowd.risk.wording import rows

        found: list[dict[str, Any]] = []
        for pair in self.quasi_identifiers:
            before, after = rows(pair.before), rows(pair.after)
            names = ", ".join(pair.before.question.attributes)
            for title in dict.fromkeys((*before, *after)):
                both = {"before": before.get(title), "after": after.get(title)}
                found.append({"quasi_identifier": names, "measure": title, **both})
        return found

    def title_and_notes(self) -> tuple[str, list[str]]:
        from incrowd.risk.wording import notes

        return "Risk before and after", [f"after: {note}" for note in notes(self.after)]

    def to_json(self) -> dict[str, Any]:
        """As JSON-able data."""
        return {"incrowd": "risk of a release", "quasi_identifiers": [q.to_json() for q in self.quasi_identifiers]}


def release_risk(source: Source, released: Source, policy: Policy, everyone: Everyone | None) -> ReleaseRisk:
    """The risk before and after a release, on each of its quasi-identifiers.

    Args:
        source: The table.
        released: Its release; with the unit of each row, where the policy has one.
        policy: What was asked for; has the population, where there is one.
        everyone: What people of that population would be released as.
    """
    pairs = []
    for qid in policy.quasi_identifiers:
        question = Question.of(qid.attributes, sensitive=policy.sensitive, unit=policy.unit)
        question = replace(question, population_table=policy.population_table)
        after = risk_of(released, question, Run(), everyone, unreleased=[policy.unit] if policy.unit else ())
        pairs.append(BeforeAndAfter(risk_of(source, question, Run()), after))
    return ReleaseRisk(tuple(pairs))
