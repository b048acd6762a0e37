"""One summary of a release, as plain data, in the order of the questions that a board asks.

Is it safe, what did it cost, what was done, and how can anyone check it. Every report, whatever it looks like, is
written from this summary and from nothing else. It has two readers: the steward, for whom it is confidential, and the
public, for whom it is made from the released rows and the certificate alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from incrowd.report import public, steward
from incrowd.report.brief import title_of
from incrowd.report.public import Published
from incrowd.report.steward import Own
from incrowd.schemas.documents import Document

if TYPE_CHECKING:
    from incrowd.attacks.result import AttackReport
    from incrowd.evaluation.result import Evaluation
    from incrowd.release.release import Release
    from incrowd.verification.certificate import Certificate

DOCUMENT = Document("report", 1, "give the .json of a report", megabytes=64)
STEWARD, PUBLIC = "steward", "public"
SECTIONS = {
    "safe": "Is it safe?",
    "cost": "What did it cost?",
    "done": "What was done?",
    "check": "How can anyone check it?",
}


def sections_for(reader: str) -> dict[str, str]:
    """The questions that a report answers; the public cannot know what was lost, but what is left."""
    return SECTIONS if reader == STEWARD else {**SECTIONS, "cost": "What is it like to work with?"}


def public_summary(rows: Any, certificate: Certificate, attacks: AttackReport | None = None) -> dict[str, Any]:
    """What anyone may read, counted from a release and its certificate."""
    published = Published.of(rows, certificate)
    parts = {name: getattr(public, name)(published) for name in SECTIONS}
    if attacks is not None:  # that they were played, and nothing of what they found
        parts["safe"]["attacks_played"] = [
            f"{each.attack.title}: knows {each.attack.knows}" for each in attacks.results
        ]
    return DOCUMENT.sealed({"reader": PUBLIC, "title": "Release report", **parts})


def steward_summary(
    release: Release,
    certificate: Certificate | None = None,
    evaluation: Evaluation | None = None,
    attacks: AttackReport | None = None,
) -> dict[str, Any]:
    """All that a steward wants to know of a release; confidential."""
    published = Published(release.rows_with_owners(), certificate or release.certificate, release.policy.unit)
    own = Own(release, published, evaluation, attacks)
    parts = {name: getattr(steward, name)(own) for name in SECTIONS}
    return DOCUMENT.sealed({"reader": STEWARD, "title": title_of(release), **parts})


def summary_of(
    release: Release,
    *,
    for_public: bool,
    certificate: Certificate | None = None,
    evaluation: Evaluation | None = None,
    attacks: AttackReport | None = None,
) -> dict[str, Any]:
    if for_public:
        return public_summary(release.rows, certificate or release.certificate, attacks)
    return steward_summary(release, certificate, evaluation, attacks)
