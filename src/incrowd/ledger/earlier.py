"""What earlier releases ask of this one: which rows leave as before, who is released anew, and among whom.

A release continues the last one to the same recipient that promised the same about the same columns: then rows that
left before leave again, byte for byte, and the search sees newcomers alone, who must share their history
(`privacy.history`). See docs/releases-over-time.md for what is promised and why that is enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import InfeasibleError, PolicyError, many
from incrowd.ledger.people import People, people_of
from incrowd.ledger.recipients import meet, normal
from incrowd.ledger.refusals import StandOutError, nobody, too_small, torn_apart, what_helps
from incrowd.ledger.rows import held, with_rows
from incrowd.ledger.store import (
    CONTENTS,
    HISTORIES,
    PERSONS,
    Entry,
    Ledger,
    among,
    latest,
    persons_column,
    persons_of,
    rows_of,
)
from incrowd.ledger.turnover import Rows, Turnover, numbered, turnover
from incrowd.ledger.views import linked, past, torn
from incrowd.privacy.history import SEPARATOR, SharedHistory
from incrowd.privacy.l_diversity import LDiversity
from incrowd.table.arrays import to_arrow
from incrowd.table.grouping import group

if TYPE_CHECKING:
    from incrowd.formats.sources import Source
    from incrowd.policy.policy import Policy
    from incrowd.privacy.model import PrivacyModel
    from incrowd.table.grouping import Codes

WHO = "\0who"  # a column of the search: the history of a record, and whose it is where people have several
_VIEW = ("quasi_identifiers", "sensitive", "protections", "unit", "missing", "missing_values")


@dataclass(frozen=True)
class Earlier:
    """The say of a ledger in one release.

    Args:
        ledger: The ledger as it was when the table was read.
        original: The whole table.
        rows: The rows that are released anew, with the columns in `hidden`.
        visible: The same rows without them.
        hidden: The columns that the search counts, or that say whose row it is; they never leave.
        dropped: The columns that the policy drops.
        recipient: Who gets the release; empty for anyone.
        models: What the search has to keep besides the policy.
        continues: The release whose rows leave again; None if there is none.
        others: Releases of other columns or promises to the same recipient that are linked to this one.
        carried: These rows.
        gone: The people of those that leave no more.
        turnover: Who stays, leaves, comes and waits.
        waiting: Newcomers who wait, and since which release.
        people: The people of the table.
    """

    ledger: Ledger
    original: Source = field(repr=False)
    rows: Source = field(repr=False)
    visible: Source = field(repr=False)
    hidden: tuple[str, ...]
    dropped: tuple[str, ...]
    recipient: str
    models: tuple[PrivacyModel, ...] = ()
    continues: Entry | None = None
    others: tuple[Entry, ...] = ()
    carried: pa.Table | None = field(default=None, repr=False)
    gone: pa.Table | None = field(default=None, repr=False)
    turnover: Turnover | None = field(default=None, repr=False)
    waiting: Mapping[bytes, int] = field(default_factory=dict, repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that leave."""
        return tuple(name for name in self.original.columns if name not in self.dropped)

    @property
    def apart(self) -> tuple[int, ...]:
        """The releases that went to other recipients, and are not taken together with this one."""
        chain = () if self.continues is None else self.ledger.chain(self.continues)
        others = (entry for entry in self.ledger.releases if not meet(entry.recipient, self.recipient))
        return tuple(entry.number for entry in others if entry not in chain)

    @property
    def certified(self) -> dict[str, Any]:
        """Over which releases the promise holds, for the certificate."""
        chain = [] if self.continues is None else [entry.number for entry in self.ledger.chain(self.continues)]
        beside = [entry.number for entry in self.others]
        return {"number": self.number, "recipient": self.recipient, "continues": chain, "beside": beside}

    @property
    def counted(self) -> tuple[str, ...]:
        """The columns that the search has to count."""
        return tuple(dict.fromkeys(str(model.column) for model in self.models))

    @property
    def rows_that_leave(self) -> int:
        """How many rows can be released: those that left before, and those that are released anew."""
        assert self.turnover is not None
        return int(self.turnover.entering.sum()) + (0 if self.carried is None else self.carried.num_rows)

    @property
    def number(self) -> int:
        return self.ledger.next_number

    @property
    def _beginning(self) -> str:
        """That a ledger is new must be seen: a folder whose name was misspelt knows no earlier releases."""
        said = f"this is release {self.number} of the ledger"
        return (
            said if self.ledger.releases else f"{said}, which is new; if you released before, check its folder's name"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What the steward should know."""
        found = []
        if self.others:
            numbers = ", ".join(str(entry.number) for entry in self.others)
            found.append(
                f"people in release {numbers} of the ledger keep their crowds when that is laid beside this release"
            )
        if self.apart:
            numbers = ", ".join(map(str, self.apart))
            found.append(f"release {numbers} of the ledger went to others; nobody who has it may get this one")
        if self.continues is None or self.turnover is None or self.carried is None:
            return (*found, self._beginning)
        change = self.turnover
        found += [
            f"this release continues release {self.continues.number} of the ledger: "
            f"{many(self.carried.num_rows, 'row')} left before and leave as they did, "
            f"{many(int(change.entering.sum()), 'row')} of newcomers or of people who changed are measured here"
        ]
        if change.left:
            found.append(f"{many(change.left, 'person', 'people')} left the table, and the release")
        if change.held:
            found.append(
                f"{many(change.held, 'person', 'people')} left or changed with too few others of their crowd to go "
                "unnoticed; their rows are released as before until enough have"
            )
        return tuple(found)


def earlier_releases(source: Source, policy: Policy) -> Earlier | None:
    """What the ledger of a policy asks; None if it names none.

    Raises:
        DataError: The ledger is damaged.
        PolicyError: Something is promised that cannot be kept over several releases.
    """
    if policy.ledger is None:
        return None
    ledger, table = Ledger.read(policy.ledger), held(source)
    try:
        return _asked(ledger, source, table, policy)
    except StandOutError as refused:
        help = what_helps(refused, policy, source.columns, ledger.releases, partial(_asked, ledger, source, table))
        raise InfeasibleError(f"{refused}; {help}") from None


def _asked(ledger: Ledger, source: Source, table: pa.Table, policy: Policy) -> Earlier:
    leaving = [name for name in source.columns if name not in policy.dropped]
    people = people_of(table, ledger.key, policy.unit, tuple(leaving))
    last, others = _told(ledger, policy, leaving)
    others = linked(others, leaving, policy.passing(source.columns))
    told = [(entry, latest(ledger.stays(entry.number))) for entry in (*([] if last is None else [last]), *others)]
    for entry, rows in told:
        _check_people(entry, rows, people, policy.unit)
    return _next(ledger, last, told, source, table, people, policy)


def _told(ledger: Ledger, policy: Policy, columns: Sequence[str]) -> tuple[Entry | None, list[Entry]]:
    """What the same recipient was told: the release that this one continues, and the last ones of other kinds.

    What was released to anyone, everybody has; and what is released to anyone meets all that was released.
    """
    same = [entry for entry in ledger.releases if meet(entry.recipient, policy.recipient)]
    continued = {each.number for entry in same for each in ledger.chain(entry)[:-1]}
    last = [entry for entry in same if entry.number not in continued]
    asked = policy.to_json()
    alike = [
        entry
        for entry in last
        if entry.columns == tuple(columns) and all(entry.policy.get(word) == asked.get(word) for word in _VIEW)
    ]
    chosen = alike[-1] if alike else None
    return chosen, [entry for entry in last if entry is not chosen]


def _check_people(entry: Entry, rows: pa.Table, people: People, unit: str | None) -> None:
    """Check that the people of an earlier release could be found again in this table.

    Raises:
        PolicyError: They are known by something else.
    """
    known_by = entry.policy.get("unit")
    told = [f"by '{name}'" if name else "by whole records" for name in (known_by, unit)]
    if known_by != unit:
        raise PolicyError(
            f"release {entry.number} of the ledger knows people {told[0]}, and this one {told[1]}, so that nobody "
            "would be found again; name the same unit"
        )
    if not among(persons_of(rows), people.persons).any():
        wrong = "a column that was added or" if unit is None else f"a column '{unit}' that"
        raise PolicyError(
            f"nobody of release {entry.number} of the ledger is in this table, where people are known {told[1]}: "
            f"{wrong} is written differently makes everyone somebody else; write it as before, or begin a new ledger "
            "if these are other people"
        )


def _next(
    ledger: Ledger,
    last: Entry | None,
    told: Sequence[tuple[Entry, pa.Table]],
    source: Source,
    table: pa.Table,
    people: People,
    policy: Policy,
) -> Earlier:
    asked = _values(policy)
    others = [entry for entry, _ in told if entry is not last]
    k = max([policy.quasi_identifiers[0].k, *(entry.policy["quasi_identifiers"][0]["k"] for entry, _ in told)])
    before = None if last is None else rows_of(told[0][1], last.number)
    rows, values = _compared(told, others, before, table, people, asked)
    if others:
        _check_together(told, k)
    change = turnover(*rows, k, values) if told else turnover(*rows, 1, {})  # the search says what a first one lacks
    since = {} if last is None else ledger.waiting(last.number)
    waiting = {person: since.get(person, ledger.next_number) for person in _texts(people.persons[change.waiting])}
    if not change.entering.any():
        raise nobody(last, others, len(waiting), k)
    entering = to_arrow(change.entering)
    new, persons = table.filter(entering), people.persons[change.entering]
    hidden = {
        PERSONS: persons_column(persons),
        CONTENTS: to_arrow(people.contents[change.entering]),
        HISTORIES: to_arrow(change.histories),
    }
    models: list[PrivacyModel] = []
    if told:
        (numbers,), size = numbered(persons)
        hidden[WHO] = _counted(change.histories, None if size == len(persons) else numbers)
        models.append(SharedHistory(WHO, k))
        shown = {**rows[1].released, **rows[1].secrets}
        for name, least in values.items():
            hidden[f"{WHO} {name}"] = _counted(change.histories, shown[name][change.entering])
            models.append(SharedHistory(f"{WHO} {name}", least, f"values of {name}"))
    return Earlier(
        ledger,
        source,
        _with(source, new, hidden),
        with_rows(source, new),
        tuple(hidden),
        policy.dropped,
        normal(policy.recipient),
        tuple(models),
        last,
        tuple(others),
        None if before is None else before.filter(to_arrow(change.carried)),
        None if before is None else before.filter(to_arrow(~change.carried)).select([PERSONS]),
        change,
        waiting,
    )


def _check_together(told: Sequence[tuple[Entry, pa.Table]], k: int) -> None:
    """Check that earlier releases alone leave everyone a crowd, before anything is searched.

    Raises:
        StandOutError: They went to different recipients, or promised less than is asked now.
    """
    promised = max(entry.policy["quasi_identifiers"][0]["k"] for entry, _ in told)
    entries = [entry for entry, _ in told]
    if few := torn(told, promised):
        raise torn_apart(entries, few)
    if k > promised and (few := torn(told, k)):
        raise too_small(entries, few, k)


def _compared(
    told: Sequence[tuple[Entry, pa.Table]],
    others: Sequence[Entry],
    before: pa.Table | None,
    table: pa.Table,
    people: People,
    asked: Mapping[str, int],
) -> tuple[tuple[Rows, Rows, Rows], dict[str, int]]:
    """The rows of the last release, those of the table, and people who are in neither; and which values must differ."""
    old = persons_of(before) if before is not None else people.persons[:0]
    every = [persons_of(each) for _, each in told]
    if others and any(numbered(each)[1] < len(each) for each in (people.persons, *every)):
        raise PolicyError(
            f"people have several rows, and release {others[0].number} of the ledger told the same recipient other "
            "columns; together the two cannot be made safe yet: ask for the same columns, or name another recipient"
        )
    known = np.concatenate([people.persons[:0], *every])
    known = known[np.unique(numbered(known)[0][0], return_index=True)[1]]
    absent = known[~among(known, np.concatenate([old, people.persons]))]
    parts = (old, people.persons, absent)
    ends = np.cumsum([len(part) for part in parts])[:-1]
    found = past(told, np.concatenate(parts))
    classes = np.split(found.histories, ends)
    if before is not None:  # of people with several rows, each row has a class of its own
        own = np.unique(before[HISTORIES].to_numpy(), return_inverse=True)[1].ravel()
        classes[0] = group([classes[0], own], [int(each.max(initial=0)) + 1 for each in (classes[0], own)])[0]
    values = dict(asked)
    released: list[dict[str, Codes]] = [{}, {}, {}]
    secrets: list[dict[str, Codes]] = [{}, {}, {}]
    for name in asked:
        column = [before[name].cast(pa.string())] if before is not None else []
        codes = _codes(
            pa.chunked_array([*(c for t in column for c in t.chunks), *table[name].cast(pa.string()).chunks])
        )
        released[0][name], secrets[1][name] = codes[: len(old)], codes[len(old) :]
    for secret in found.secrets:
        values[secret.name] = secret.least
        each = np.split(secret.codes, ends)
        released[1][secret.name], released[2][secret.name] = each[1:]
        if secret.release in [entry.number for entry in others]:  # those of the last release are known by the row
            released[0][secret.name] = each[0]
    contents = [
        np.empty(0, np.uint64) if before is None else before[CONTENTS].to_numpy(),
        people.contents,
        np.empty(0, np.uint64),
    ]
    made = [Rows(*each) for each in zip(parts, contents, classes, released, secrets, strict=True)]
    return (made[0], made[1], made[2]), values


def _values(policy: Policy) -> dict[str, int]:
    """How many values of which sensitive columns every crowd must have.

    Raises:
        PolicyError: Something else is promised, which several releases together need not keep.
    """
    found = {}
    for model in policy.models_of_columns:
        if not isinstance(model, LDiversity):
            raise PolicyError(
                f"{model} cannot be kept over several releases: those who join or leave together need not have the "
                "values that it asks for; ask for k and distinct l, or leave out the ledger"
            )
        found[str(model.column)] = model.l
    if len(policy.quasi_identifiers) > 1:
        raise PolicyError("a ledger takes one quasi-identifier; name all of its columns in one")
    if policy.population_table is not None:
        raise PolicyError(
            "promises against a population cannot be kept over several releases yet; leave out the ledger"
        )
    return found


def _with(source: Source, table: pa.Table, hidden: Mapping[str, pa.Array]) -> Source:
    for name, column in hidden.items():
        table = table.append_column(name, column)
    return with_rows(source, table)


def _codes(column: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    encoded = column.combine_chunks().dictionary_encode()
    return np.asarray(pc.fill_null(encoded.indices, len(encoded.dictionary)), np.int64)


def _texts(persons: npt.NDArray[np.void]) -> list[bytes]:
    return [person.tobytes() for person in persons]


def _counted(histories: Codes, things: Codes | None) -> pa.Array:
    """A column that says of each record its history, and what is counted within it."""
    texts = to_arrow(histories).cast(pa.string())
    if things is None:
        return texts.dictionary_encode()
    pairs = pc.binary_join_element_wise(texts, to_arrow(things.astype(np.int64)).cast(pa.string()), SEPARATOR)
    return pairs.dictionary_encode()
