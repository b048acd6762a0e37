"""Who gets a release, and why that is acceptable: the table [context] of a policy file, for the packs of boards.

incrowd can count crowds, and cannot know who the recipient is. What is not answered here stays a marked blank in a
pack. The answers have no effect on the release, and are not in its certificate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from incrowd.errors import UnknownNameError
from incrowd.options import REPORTS, Option
from incrowd.schemas.shapes import Shape, Text

PACKS: Mapping[str, str] = {  # the bodies that a pack is for; `report.packs.registry` has their templates
    "ema": "Anonymisation report by the process of EMA Policy 0070",
    "hipaa": "Documentation for an expert determination under 45 CFR 164.514(b)(1)",
    "iso27559": "De-identification assessment by the framework of ISO/IEC 27559",
    "gdpr": "Anonymisation assessment by the criteria of Opinion 05/2014 (WP216)",
    "tehdas": "Output description for a secure processing environment of the EHDS",
}


@dataclass(frozen=True)
class Day(Shape):
    """A day, as text."""

    form = "a day such as 2026-11-30"

    def plain(self, value: Any) -> Any:
        return value.isoformat() if isinstance(value, date) and not isinstance(value, datetime) else value

    def allows(self, value: Any) -> bool:
        try:
            return isinstance(value, str) and date.fromisoformat(value).isoformat() == value
        except ValueError:
            return False


def _question(title: str, about: str, kind: Shape | None = None) -> Option:
    return Option(about, kind or Text(blank=False), title=title, section=REPORTS)


CONTEXT: Mapping[str, Option] = {
    "recipient": _question("Recipient", "Who gets the release."),
    "purpose": _question("Purpose", "What they use it for, and what it must still be good for."),
    "environment": _question("Environment", "Where they keep it, and who has access."),
    "controls": _question("Controls", "Agreements, and security and privacy practices, that bind the recipient."),
    "motives": _question("Motives and capacity", "Who might try to identify people, why, and with what means."),
    "other_data": _question("Other data", "What others have or can get that could be linked with the release."),
    "earlier_releases": _question("Earlier releases", "What was released before about the same people, and to whom."),
    "harm": _question("Harm", "What it would mean to people if they were identified."),
    "threshold_reason": _question("Reason for the threshold", "Why the chosen k and risk are low enough here."),
    "review": _question("Review and incidents", "Who watches the release, how often, and what happens in an incident."),
    "expert": _question("Expert", "Who assessed the release, with their knowledge and experience."),
    "approver": _question("Approved by", "Name and function of whoever approves the release."),
    "approved": _question("Approved on", "The day of the approval.", Day()),
    "expires": _question("Expires on", "The day after which the assessment must be made again.", Day()),
}


def checked_context(answers: Mapping[str, Any]) -> dict[str, str]:
    """The answers in one form.

    Raises:
        PolicyError: One is to no question, or not what its question asks for.
    """
    for name in answers:
        if name not in CONTEXT:
            raise UnknownNameError("question", name, CONTEXT, "the context")
    return {name: CONTEXT[name].checked(f"context.{name}", answer) for name, answer in answers.items()}
