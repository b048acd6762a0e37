"""The rows that leave with a release of a ledger: those that left before, as they were, and those of newcomers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from incrowd.engines.plan import ReleasePlan
from incrowd.errors import OutputError
from incrowd.ledger.earlier import Earlier
from incrowd.ledger.people import PERSON
from incrowd.ledger.rows import with_rows
from incrowd.ledger.store import (
    CONTENTS,
    FIRST,
    HISTORIES,
    LAST,
    LOSSES,
    PERSONS,
    Entry,
    Ledger,
    among,
    now,
    persons_of,
)
from incrowd.ledger.turnover import numbered
from incrowd.recodings.by_value import ByValue
from incrowd.recodings.recoding import Recoding
from incrowd.run import Run
from incrowd.table.arrays import to_arrow
from incrowd.table.grouping import Codes, group
from incrowd.verification.histories import Seen, count_histories, require_together

if TYPE_CHECKING:
    from incrowd.formats.atomic_files import AtomicFiles
    from incrowd.formats.sources import Source
    from incrowd.release.release import Release
    from incrowd.verification.certificate import Certificate

Mask = npt.NDArray[np.bool_]
_ADDED = (PERSONS, CONTENTS, HISTORIES)
_NUMBERS = 1 << 40  # histories of one release
PATIENCE = 0.5  # newcomers wait where they would lose more than this many times what the rows before them lost


@dataclass(frozen=True)
class Outgoing:
    """Rows to write.

    Args:
        new: The new rows, with the columns of the ledger.
        rows: All of them.
        waiting: Who waits, and since which release.
    """

    new: pa.Table = field(repr=False)
    rows: pa.Table = field(repr=False)
    waiting: dict[bytes, int] = field(repr=False)

    def source(self, release: Release) -> tuple[Source, Recoding]:
        """The rows as a source that is written as it is; the unit, numbered, is shown to the witness and dropped."""
        unit = release.policy.unit
        table = self.rows.drop_columns([*_ADDED, LOSSES])
        if unit is not None:
            (persons,), _ = numbered(persons_of(self.rows))
            table = table.append_column(unit, to_arrow(persons).cast(pa.string()))
        assert release.settled.earlier is not None
        recoding = ByValue((), dropped=() if unit is None else (unit,))
        return with_rows(release.settled.earlier.original, table), recoding


def outgoing(release: Release, run: Run) -> Outgoing:
    """The rows of a release that a ledger has a say in."""
    earlier = release.settled.earlier
    assert earlier is not None
    new, came_back = _recoded(release, earlier, run)
    waiting = dict(earlier.waiting)
    if earlier.continues is None:
        return Outgoing(new, new, waiting)
    waits = _waits(new, came_back, earlier, release.policy.wait)
    since = earlier.ledger.waiting(earlier.continues.number)
    for person in new.filter(to_arrow(waits))[PERSONS].to_pylist():
        waiting[person] = since.get(person, earlier.number)
    new = new.filter(to_arrow(~waits))
    assert earlier.carried is not None
    return Outgoing(new, pa.concat_tables([earlier.carried, new.cast(earlier.carried.schema)]), waiting)


@dataclass(frozen=True)
class Opened:
    """A ledger that waits for a release, locked."""

    ledger: Ledger
    release: Release

    def enter(self, certificate: Certificate, files: AtomicFiles) -> None:
        """Write the release into the ledger, to appear with its files."""
        earlier, sent = self.release.settled.earlier, self.release.sent
        assert earlier is not None
        assert sent is not None
        wait = pa.table({PERSONS: pa.array(list(sent.waiting), PERSON), "since": list(sent.waiting.values())})
        entry = Entry(
            number=earlier.number,
            made=now(),
            recipient=earlier.recipient,
            policy=certificate.policy,
            columns=earlier.columns,
            output=certificate.output,
            continues=None if earlier.continues is None else earlier.continues.number,
            records=sent.rows.num_rows,
            entered=sent.new.num_rows,
            waiting=len(sent.waiting),
            held=0 if earlier.turnover is None else earlier.turnover.held,
        )
        self._verify(earlier, sent)
        self.ledger.record(files, entry, sent.new, earlier.gone, wait)

    def _verify(self, earlier: Earlier, sent: Outgoing) -> None:
        """Let the witness count what is left of every crowd, given all releases to this recipient.

        Raises:
            NotAnonymousError: Too little.
        """
        releases = []
        for last in (*earlier.others, *(() if earlier.continues is None else (earlier.continues,))):
            stays = earlier.ledger.stays(last.number)
            releases.append(_seen(stays, last.policy, stays[FIRST].to_numpy(), stays[LAST].to_numpy()))
        if releases:
            here = np.full(sent.rows.num_rows, earlier.number)
            releases.append(_seen(sent.rows, self.release.policy.to_json(), here, here))
            few = count_histories(releases)
            require_together(few, count_histories(releases[:-1]) if few else 0)


def _seen(rows: pa.Table, policy: Mapping[str, Any], first: Codes, last: Codes) -> Seen:
    """What the witness is told of a release, or of releases that continue each other."""
    quasi = policy["quasi_identifiers"][0]
    labels = [rows[name].cast(pa.string()).combine_chunks().dictionary_encode("encode") for name in quasi["attributes"]]
    codes = [np.asarray(column.indices, np.int64) for column in labels]
    classes = group(codes, [len(column.dictionary) for column in labels])[0]
    values = {name: own["l"] for name, own in policy.get("protections", {}).items() if "l" in own}
    secrets = {name: rows[name].cast(pa.string()).combine_chunks().dictionary_encode("encode") for name in values}
    columns = {name: np.asarray(column.indices, np.int64) for name, column in secrets.items()}
    persons = persons_of(rows).view("S16")
    return Seen(persons, classes.astype(np.int64), first, last, columns, quasi["k"], values)


@contextlib.contextmanager
def ledger_of(release: Release) -> Iterator[Opened | None]:
    """The ledger of a release, for it alone until its files have appeared; None if it has none.

    Raises:
        OutputError: Another run uses it, or has written to it since the search began.
    """
    if release.settled.earlier is None:
        yield None
        return
    mine = release.settled.earlier.ledger
    with Ledger.locked(mine.folder) as found:
        if found.releases != mine.releases:
            raise OutputError(f"another release was entered in the ledger {mine.folder} meanwhile; run again")
        yield Opened(mine, release)


def _recoded(release: Release, earlier: Earlier, run: Run) -> tuple[pa.Table, Mask]:
    """The new rows, recoded, with their people, histories and losses; and which are of people who came back."""
    recoding = replace(release.recoding, dropped=(*release.recoding.dropped, *earlier.hidden))
    plan = ReleasePlan(hidden_columns=_ADDED)
    rows = pa.Table.from_batches(list(release.engine.recode(earlier.rows, recoding, run, plan)))
    labels: list[Codes] = []
    losses = np.zeros(rows.num_rows)
    parts = release.recoding.parts(release.table)
    for name in recoding.names:
        texts = rows[name].combine_chunks().cast(pa.string())
        rows = rows.set_column(rows.column_names.index(name), name, texts)
        encoded = texts.dictionary_encode(null_encoding="encode")
        codes = np.asarray(encoded.indices, np.int64)
        cells = np.unique(parts.cells[name])
        known = dict(zip(release.recoding.labels_of(name, cells.tolist()), parts.losses[name][cells], strict=True))
        losses += np.array([known.get(text, 1.0) for text in encoded.dictionary.to_pylist()])[codes]
        labels.append(codes)
    histories = rows[HISTORIES].to_numpy()
    labels.append(np.unique(histories, return_inverse=True)[1].ravel())
    numbers = group(labels, [int(column.max(initial=0)) + 1 for column in labels])[0]
    made = to_arrow(numbers.astype(np.int64) + earlier.number * _NUMBERS)
    rows = rows.set_column(rows.column_names.index(HISTORIES), HISTORIES, made)
    return rows.append_column(LOSSES, to_arrow(losses / max(len(recoding.names), 1))), histories >= 0


def _waits(new: pa.Table, came_back: Mask, earlier: Earlier, wait: int) -> Mask:
    """Newcomers who had better wait: whole crowds of them, until one has waited as long as anyone may, then nobody.

    Whoever goes alone takes density from those who wait; so only those go first who lose little.
    """
    assert earlier.carried is not None
    assert earlier.continues is not None
    since = earlier.ledger.waiting(earlier.continues.number)
    overdue = [person for person, number in since.items() if earlier.number - number >= wait]
    persons = persons_of(new)
    waited = among(persons, persons_of(pa.table({PERSONS: pa.array(overdue, PERSON)})))
    if not wait or not earlier.carried.num_rows or waited.any():
        return np.zeros(new.num_rows, bool)
    classes = np.unique(new[HISTORIES].to_numpy(), return_inverse=True)[1].ravel()
    mean = np.bincount(classes, new[LOSSES].to_numpy()) / np.bincount(classes)
    waits = mean > PATIENCE * float(np.mean(earlier.carried[LOSSES].to_numpy()))
    waits[classes[came_back]] = False
    (number,), size = numbered(persons)
    while True:  # a person with several rows waits with all of them, or with none
        goes = np.zeros(size, bool)
        goes[number[~waits[classes]]] = True
        torn = np.unique(classes[waits[classes] & goes[number]])
        if not len(torn):
            return np.asarray(waits[classes])
        waits[torn] = False
