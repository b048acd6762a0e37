"""Why earlier releases leave nothing to release, for how many people, and what would help: each change is tried out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from incrowd.errors import IncrowdError, InfeasibleError, many

if TYPE_CHECKING:
    from incrowd.ledger.earlier import Earlier
    from incrowd.ledger.store import Entry
    from incrowd.policy.policy import Policy

_MOST = 8  # changes to try
_SOMEBODY = "\0somebody else"


class StandOutError(InfeasibleError):
    """Everybody of a table would stand out beside releases of other columns; other changes than waiting may help."""


def nobody(last: Entry | None, others: Sequence[Entry], waiting: int, k: int) -> InfeasibleError:
    """Why nothing can be released."""
    if last is not None and not others:
        why = f"nobody can be added to release {last.number} of the ledger: {many(waiting, 'newcomer')}"
        if waiting < k:
            more = f"release again when {k - waiting} more have come"
            return InfeasibleError(f"{why} of at least {k} that a crowd needs; {more}")
        return InfeasibleError(f"{why} with too few sensitive values for a crowd; release again when more have come")
    numbers = ", ".join(str(entry.number) for entry in others)
    return StandOutError(
        f"beside release {numbers} of the ledger, {many(waiting, 'person', 'people')} of this table would stand out: "
        f"fewer than {k} of their crowd are in it, or are not in it"
    )


def what_helps(policy: Policy, columns: Sequence[str], tried: Callable[[Policy], Earlier]) -> str:
    """What would help, in words, with how many rows could be released then.

    Args:
        policy: What was refused.
        columns: The columns of the table.
        tried: What is left to release under another policy; it raises if there is nothing.
    """
    found = []
    for change, changed in _changes(policy, columns):
        try:
            made = tried(changed)
        except IncrowdError:
            continue
        rows = made.rows_that_leave
        found.append((rows, f"{change} ({many(rows, 'row')})"))
    if not found:
        return "no change that was tried helps; release all people of that release"
    return "tried out, these would help: " + ", ".join(text for _, text in sorted(found, key=lambda each: -each[0]))


def _changes(policy: Policy, columns: Sequence[str]) -> Iterator[tuple[str, Policy]]:
    for name in policy.passing(columns)[:_MOST]:
        yield f"drop the column {name}", _without(policy, name)
    yield "name a recipient who gets nothing else with --recipient", replace(policy, recipient=_SOMEBODY)


def _without(policy: Policy, column: str) -> Policy:
    """The policy with a column dropped that passed."""
    return replace(
        policy,
        sensitive=tuple(name for name in policy.sensitive if name != column),
        insensitive=tuple(name for name in policy.insensitive if name != column),
        keep=tuple(name for name in policy.keep if name != column),
        identifiers=(*policy.identifiers, column),
        target=None if policy.target == column else policy.target,
        protections=tuple(each for each in policy.protections if each.column != column),
        taxonomies={name: tree for name, tree in policy.taxonomies.items() if name != column},
        types={name: kind for name, kind in policy.types.items() if name != column},
    )
