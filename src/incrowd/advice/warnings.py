"""What is risky in a release, beside what it promises: what passes through, who has several rows, bare columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incrowd.inspection.inspection import column_warnings, repeat_warnings
from incrowd.inspection.telling import telling_warnings
from incrowd.run import Run

if TYPE_CHECKING:
    from incrowd.release import Release


def warnings_of(release: Release) -> tuple[str, ...]:
    """One line for each risk."""
    policy, rows = release.policy, getattr(release.source, "glimpse", lambda: release.source)()
    passed = [*release.untouched, *policy.sensitive, *policy.insensitive]
    found = column_warnings(rows, passed, Run(), policy.unit)
    names = [attribute.name for attribute in release.table.attributes]
    changed = [name for name, part in zip(names, release.measures.attributes, strict=True) if part.ncp > 0]
    found += telling_warnings(rows, passed, changed, Run())
    if policy.unit is None:
        found += repeat_warnings(rows, policy.identifiers, Run())
    bare = set(policy.sensitive) - {protection.column for protection in policy.protections if protection.models()}
    found += [
        f"nothing is promised about the sensitive column '{name}': a crowd may share one value; give l or t"
        for name in policy.sensitive
        if name in bare
    ]
    return (*found, *_exact_bounds(release))


def _exact_bounds(release: Release) -> list[str]:
    """A line where ranges begin and end at the values of people, which somebody asked for."""
    if not release.recoding.exact_ranges:
        return []
    names = ", ".join(f"'{name}'" for name in release.recoding.exact_ranges)
    return [f"ranges of {names} begin and end at the values of people (bounds=exact); round bounds tell nobody's value"]
