"""Which role a column should have, and why. Where nothing says otherwise, a column is part of the quasi-identifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from incrowd.inspection.findings import DIRECT, NOTHING, STRUCTURE, TEXT, Facts, Finding

IDENTIFIER, QUASI_IDENTIFIER, SENSITIVE, INSENSITIVE = "identifier", "quasi-identifier", "sensitive", "insensitive"
ROLES = (QUASI_IDENTIFIER, IDENTIFIER, SENSITIVE, INSENSITIVE)
_KNOWN_OUTSIDE = ("date of birth", "exact date", "month", "zip code", "country", "age", "year", "code")


@dataclass(frozen=True)
class ProposedRole:
    """A role and why.

    Args:
        name: One of `ROLES`.
        reason: Why, without any value.
        may_be_target: Whether it could be what models will predict.
    """

    name: str
    reason: str
    may_be_target: bool = False


OWNER = ProposedRole(IDENTIFIER, "it says whose record it is")


def role_of(facts: Facts, findings: Sequence[Finding]) -> ProposedRole:
    """The role of a column. Values decide, unless it is called after what names people, such as a surname."""
    reasons = {finding.kind: finding.reason for finding in findings}
    target = 2 <= facts.distinct <= 20 and facts.suggests("target")
    if facts.kind == STRUCTURE:
        return ProposedRole(IDENTIFIER, "it holds lists, structures or bytes, which cannot be generalized")
    if facts.kind == NOTHING or facts.is_constant:
        return ProposedRole(INSENSITIVE, "it has no value" if facts.distinct == 0 else "all its values are the same")
    if direct := next((kind for kind in DIRECT if kind in reasons), None):
        return ProposedRole(IDENTIFIER, reasons[direct])
    if known := next((kind for kind in _KNOWN_OUTSIDE if kind in reasons), None):
        return ProposedRole(QUASI_IDENTIFIER, f"others may know it: {reasons[known]}")
    if "near-unique" in reasons:
        if facts.kind == TEXT and 2 * facts.once >= facts.present:
            return ProposedRole(IDENTIFIER, reasons["near-unique"])
        return ProposedRole(QUASI_IDENTIFIER, reasons["near-unique"])
    if "diagnosis" in reasons:
        return ProposedRole(SENSITIVE, reasons["diagnosis"])
    if facts.suggests("person") and not target:
        return ProposedRole(QUASI_IDENTIFIER, "it is called after something that others know of a person")
    if facts.suggests("sensitive") or target:
        called = "sensitive" if facts.suggests("sensitive") else "predicted"
        return ProposedRole(SENSITIVE, f"it is called after something that is {called}", target)
    return ProposedRole(QUASI_IDENTIFIER, "nothing says that others could not know it")
