"""Why earlier releases leave nothing to release, for how many people, and what would help: each change is tried out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from incrowd.errors import IncrowdError, InfeasibleError, many
from incrowd.ledger.views import shown_by

if TYPE_CHECKING:
    from incrowd.ledger.earlier import Earlier
    from incrowd.ledger.store import Entry
    from incrowd.policy.policy import Policy

_MOST = 8  # changes to try
_SOMEBODY = "\0somebody else"


class StandOutError(InfeasibleError):
    """Crowds would be too small beside releases of other columns; other changes than waiting may help."""

    otherwise = "release all people of that release"  # if no change helps


class TornApartError(StandOutError):
    """Earlier releases, which went to different recipients, do not keep the promise together."""

    otherwise = "forget one of them if it was withdrawn"


def torn_apart(entries: Sequence[Entry], people: int) -> StandOutError:
    """Why nothing can be released to somebody who may have all of these releases."""
    return TornApartError(
        f"releases {_numbers(entries)} of the ledger went to different recipients, and whoever gets this one may have "
        f"them all: beside each other, the crowd of {many(people, 'person', 'people')} would be too small"
    )


def too_small(entries: Sequence[Entry], people: int, k: int) -> StandOutError:
    """Why a larger k than that of earlier releases cannot be promised beside them."""
    return StandOutError(
        f"beside release {_numbers(entries)} of the ledger, {many(people, 'person', 'people')} would share what was "
        f"released of them with fewer than {k}"
    )


def nobody(last: Entry | None, others: Sequence[Entry], waiting: int, k: int) -> InfeasibleError:
    """Why nothing can be released."""
    if last is not None and not others:
        why = f"nobody can be added to release {last.number} of the ledger: {many(waiting, 'newcomer')}"
        if waiting < k:
            more = f"release again when {k - waiting} more have come"
            return InfeasibleError(f"{why} of at least {k} that a crowd needs; {more}")
        return InfeasibleError(f"{why} with too few sensitive values for a crowd; release again when more have come")
    return StandOutError(
        f"beside release {_numbers(others)} of the ledger, {many(waiting, 'person', 'people')} of this table would "
        f"stand out: fewer than {k} of their crowd are in it, or are not in it"
    )


def what_helps(
    refused: StandOutError,
    policy: Policy,
    columns: Sequence[str],
    releases: Sequence[Entry],
    tried: Callable[[Policy], Earlier],
) -> str:
    """What would help, in words, with how many rows could be released then.

    Args:
        refused: Why the policy was refused.
        policy: What was refused.
        columns: The columns of the table.
        releases: The releases of the ledger.
        tried: What is left to release under another policy; it raises if there is nothing.
    """
    found = []
    for change, changed in _changes(policy, columns, releases):
        try:
            made = tried(changed())
        except IncrowdError:
            continue
        rows = made.rows_that_leave
        found.append((rows, f"{change} ({many(rows, 'row')})"))
    if not found:
        return f"no change that was tried helps; {refused.otherwise}"
    return "tried out, these would help: " + ", ".join(text for _, text in sorted(found, key=lambda each: -each[0]))


def _changes(
    policy: Policy, columns: Sequence[str], releases: Sequence[Entry]
) -> Iterator[tuple[str, Callable[[], Policy]]]:
    attributes, k = policy.quasi_identifiers[0].attributes, policy.quasi_identifiers[0].k
    shown = {name for entry in releases for name in shown_by(entry)}
    linking = [name for name in attributes if name in shown] if len(attributes) > 1 else []
    for name in (*policy.passing(columns), *linking)[:_MOST]:
        yield f"drop the column {name}", partial(_without, policy, name)
    for less in sorted({entry.policy["quasi_identifiers"][0]["k"] for entry in releases}, reverse=True):
        if less < k:
            yield f"ask for a k of {less}", partial(_with_quasi_identifier, policy, attributes, less)
    yield "name a recipient who gets nothing else with --recipient", partial(replace, policy, recipient=_SOMEBODY)
    recipients = sorted({entry.recipient for entry in releases} - {"", policy.recipient})
    for name in recipients[:_MOST]:
        yield f"give it to {name} alone with --recipient", partial(replace, policy, recipient=name)


def _numbers(entries: Sequence[Entry]) -> str:
    return ", ".join(str(number) for number in sorted(entry.number for entry in entries))


def _with_quasi_identifier(policy: Policy, attributes: Sequence[str], k: int) -> Policy:
    return replace(policy, quasi_identifiers=(type(policy.quasi_identifiers[0])(attributes, k),))


def _without(policy: Policy, column: str) -> Policy:
    """The policy with a column dropped."""
    known = policy.quasi_identifiers[0]
    policy = _with_quasi_identifier(policy, [name for name in known.attributes if name != column], known.k)
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
