"""What is risky in a release, beside what it promises: what passes through, who has several rows, bare columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incrowd.inspection.findings import warning_of
from incrowd.inspection.first_look import steady_warning, telling_warning
from incrowd.table.forms import Form

if TYPE_CHECKING:
    from incrowd.policy.policy import Policy
    from incrowd.release.release import Release


def warnings_of(release: Release) -> tuple[str, ...]:
    """One line for each risk; no row is read for it."""
    policy, look = release.policy, release.checked
    found = [steady_warning(name) for name in look.steady]
    risky = [warning_of(name, findings) for name, findings in look.findings.items() if name not in policy.keep]
    found += [warning for warning in risky if warning is not None]
    for name, others in look.told.items():
        if told := [other for other in others if release.loses(other)]:
            found.append(telling_warning(name, told))
    found += look.repeating
    bare = set(policy.sensitive) - set(policy.secrets)
    found += [
        f"nothing is promised about the sensitive column '{name}': a crowd may share one value; give l or t"
        for name in policy.sensitive
        if name in bare
    ]
    return (*found, *form_warnings(policy), *_exact_bounds(release))


def form_warnings(policy: Policy) -> tuple[str, ...]:
    """A line for each column of which crowds show one number: what that says and a range does not."""
    return tuple(_form_warning(name, Form.of(text)) for name, text in policy.form.items())


def _form_warning(name: str, form: Form) -> str:
    place = "" if form.step is None else f", rounded to multiples of {float(form.step):g}"
    if form.centre == "mean":
        shown = (
            f"crowds show the mean of '{name}'{place}: whoever knows the values of all others in a crowd can compute"
        )
        return f"{shown} the last one's{', up to the rounding' if place else ''}"
    told = "close to" if place else "equal to"
    return f"crowds show the {form.centre} of '{name}'{place}, which is {told} the value of somebody in them"


def _exact_bounds(release: Release) -> list[str]:
    """A line where ranges begin and end at the values of people, which somebody asked for."""
    if not release.recoding.exact_ranges:
        return []
    names = ", ".join(f"'{name}'" for name in release.recoding.exact_ranges)
    asked = release.policy.options.get("bounds") == "exact"
    why = " (bounds=exact); round bounds tell nobody's value" if asked else "; they are cut where the target changes"
    return [f"ranges of {names} begin and end at the values of people{why}"]
