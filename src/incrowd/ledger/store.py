"""The ledger: a folder that says which people were in which released class of which release, for the steward alone.

    ledger.json          the key of the ledger, and of each release what was promised, when and to whom
    rows-0003.parquet    the rows that were new in release 3, as they left, each with the hash of its person
    left-0003.parquet    the people whose rows left with release 3
    wait-0003.parquet    the people who wait for a crowd since then, and since which release

Only released values are in it, and keyed hashes. A release that continues another one (`continues`) has its rows, but
for those of people who left, and new ones; so the ledger grows with what is new. The files appear in the same commit as
those of the release, and each file's digest is in `ledger.json`, which is sealed: what was cut off, damaged or edited
is noticed, and no release goes out that the ledger does not know.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from incrowd.display import Rows, Tabular
from incrowd.errors import DataError, OutputError, UnknownNameError, many
from incrowd.formats.atomic_files import AtomicFiles, output_errors
from incrowd.formats.staging import recover_commits
from incrowd.key import KEY_BYTES, Key
from incrowd.ledger.people import PERSON
from incrowd.ledger.turnover import numbered
from incrowd.schemas.documents import DIGEST, Document
from incrowd.schemas.shapes import Anything, Either, Fields, ListOf, Nothing, TableOf, Text, Whole
from incrowd.table.arrays import to_arrow

try:
    import fcntl
except ImportError:  # a system without locks
    fcntl = None  # type: ignore[assignment]

FILE = "ledger.json"
PERSONS, CONTENTS, HISTORIES, LOSSES = "\0person", "\0record", "\0history", "\0loss"  # added to released rows
FIRST, LAST = "\0first", "\0last"  # the releases that have a row, from and to
OWNER_FOLDER, OWNER_FILE = 0o700, 0o600
DOCUMENT = Document("ledger", 1, "restore the folder from a backup, or begin a new ledger", megabytes=64)
_COUNT = Whole(0)


@dataclass(frozen=True)
class Entry:
    """One release.

    Args:
        number: Its number, from 1.
        made: When, in UTC.
        recipient: To whom; empty for anyone.
        policy: What was promised, as in its certificate.
        columns: The columns that left, in order.
        output: The digest of the released file.
        continues: The release whose rows it released again, with new ones; None if it stands for itself.
        records: Released rows.
        entered: Rows that were new.
        waiting: People who wait for a crowd.
        held: People who left or changed, and whose old rows were released all the same.
        files: The digest of each of its files.
    """

    number: int
    made: str
    recipient: str
    policy: Mapping[str, Any]
    columns: tuple[str, ...]
    output: str
    continues: int | None
    records: int
    entered: int
    waiting: int = 0
    held: int = 0
    files: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "columns": list(self.columns)}

    def shown(self) -> dict[str, Any]:
        """What the steward reads of it: everything but its files."""
        return {name: value for name, value in self.to_json().items() if name != "files"}


_ENTRY = Fields(
    {
        "number": Whole(1),
        "made": Text(blank=False),
        "recipient": Text(),
        "policy": TableOf(Anything()),
        "columns": ListOf(Text(blank=False), 1, distinct=True),
        "output": DIGEST,
        "continues": Either((Whole(1), Nothing())),
        "records": _COUNT,
        "entered": _COUNT,
        "waiting": _COUNT,
        "held": _COUNT,
        "files": TableOf(DIGEST),
    }
)
_KEY = Text(pattern=f"[0-9a-f]{{{2 * KEY_BYTES}}}", called=f"a key of {2 * KEY_BYTES} hexadecimal digits")


@dataclass(frozen=True, repr=False)
class Ledger(Tabular):
    """A ledger as it was when it was read; `locked` keeps others from writing to it."""

    folder: Path
    key: Key = field(repr=False)
    releases: tuple[Entry, ...] = ()

    @classmethod
    def read(cls, folder: str | Path) -> Ledger:
        """Read a ledger; a folder that is not there, or is empty, is a new one.

        Raises:
            DataError: It is damaged, or is something else.
        """
        folder = Path(folder)
        if folder.exists() and not folder.is_dir():
            raise DataError(f"{folder} is not a folder; give the folder of a ledger")
        if folder.is_dir():
            recover_commits(folder)
        if not (folder / FILE).exists():
            if folder.is_dir() and any(not name.startswith(".") for name in os.listdir(folder)):
                raise DataError(f"{folder} has files, but no {FILE}; give the folder of a ledger, or an empty one")
            return cls(folder, Key.drawn())
        data = DOCUMENT.read(folder / FILE, DOCUMENT.shape({"key": _KEY, "releases": ListOf(_ENTRY)}))
        releases = tuple(Entry(**{**entry, "columns": tuple(entry["columns"])}) for entry in data["releases"])
        numbers = [entry.number for entry in releases]
        if numbers != sorted(set(numbers)) or any(e.continues not in (None, *numbers) for e in releases):
            DOCUMENT.refuse(folder / FILE, "its releases do not fit together")
        return cls(folder, Key(bytes.fromhex(data["key"])), releases)

    @classmethod
    @contextlib.contextmanager
    def locked(cls, folder: str | Path) -> Iterator[Ledger]:
        """The ledger, for one run alone: from before it looks at earlier releases until its own appears.

        Raises:
            OutputError: Another run has it.
        """
        folder = Path(folder)
        with output_errors(folder.parent):
            folder.mkdir(OWNER_FOLDER, exist_ok=True)
            handle = os.open(folder / ".lock", os.O_CREAT | os.O_RDWR, OWNER_FILE)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise OutputError(f"another run uses the ledger {folder}; try again when it has ended") from None
            except (OSError, AttributeError):
                raise OutputError(
                    f"{folder} cannot be locked on this system; keep the ledger on a local disk"
                ) from None
            yield cls.read(folder)
        finally:
            os.close(handle)

    def headline(self) -> str:
        last = self.releases[-1] if self.releases else None
        since = "" if last is None else f", the last of {last.made[:10]}; {last.waiting:,} wait for a crowd"
        return f"ledger {self.folder}: {many(len(self.releases), 'release')}{since}"

    def to_rows(self) -> Rows:
        """The releases, a row each."""
        return [
            {
                "release": entry.number,
                "made": entry.made[:16].replace("T", " "),
                "recipient": entry.recipient or "anyone",
                "continues": entry.continues,
                "rows": entry.records,
                "new": entry.entered,
                "waiting": entry.waiting,
                "held": entry.held,
            }
            for entry in self.releases
        ]

    def to_json(self) -> dict[str, Any]:
        """The releases, without hashes and files."""
        return {"releases": [entry.shown() for entry in self.releases]}

    def release(self, number: int) -> Entry:
        """The release with this number."""
        for entry in self.releases:
            if entry.number == number:
                return entry
        raise UnknownNameError(
            "release", str(number), [str(e.number) for e in self.releases], f"the ledger {self.folder}"
        )

    def rows(self, number: int) -> pa.Table:
        """The rows of a release, as they left, with the columns of the ledger; in no particular order."""
        return rows_of(self.stays(number), number)

    def stays(self, number: int) -> pa.Table:
        """The rows of a release and of all that it continues, each once, with the first and the last that has it.

        Every file is read once, so that this takes as long as the rows are many, however many releases there were.
        """
        chain = self.chain(self.release(number))
        parts = [self._table(entry, "rows") for entry in chain]
        rows = pa.concat_tables([part.cast(parts[0].schema) for part in parts])
        ends = np.cumsum([part.num_rows for part in parts])
        gone = {
            place: persons_of(self._table(entry, "left"))
            for place, entry in enumerate(chain)
            if self._file("left", entry.number) in entry.files
        }
        (persons, *left), size = numbered(persons_of(rows), *gone.values())
        last = np.full(rows.num_rows, number)
        for place, people in reversed([*zip(gone, left, strict=True)]):  # the first time counts
            leaves = np.zeros(size, bool)
            leaves[people] = True
            before = slice(int(ends[place - 1]))
            last[before][leaves[persons[before]]] = chain[place - 1].number
        first = np.repeat([entry.number for entry in chain], [part.num_rows for part in parts])
        return rows.append_column(FIRST, to_arrow(first)).append_column(LAST, to_arrow(last))

    def chain(self, entry: Entry) -> list[Entry]:
        """A release and all that it continues, the first one first."""
        found = [entry]
        while found[-1].continues is not None:
            found.append(self.release(found[-1].continues))
        return found[::-1]

    def loss(self, number: int) -> float:
        """The generalized loss of the rows of a release."""
        return float(np.mean(self.rows(number)[LOSSES].to_numpy()))

    def over_time(self) -> list[dict[str, float]]:
        """What each release lost, who waited, and whose rows had to stay, for a picture."""
        return [
            {"release": each.number, "loss": self.loss(each.number), "waiting": each.waiting, "held": each.held}
            for each in self.releases
        ]

    def waiting(self, number: int) -> dict[bytes, int]:
        """Who waits after a release, and since which one."""
        entry = self.release(number)
        if self._file("wait", number) not in entry.files:
            return {}
        table = self._table(entry, "wait")
        return dict(zip(table[PERSONS].to_pylist(), table["since"].to_pylist(), strict=True))

    @property
    def next_number(self) -> int:
        return self.releases[-1].number + 1 if self.releases else 1

    def salt(self, number: int) -> bytes:
        """The salt of the commitment of a release, by which the ledger knows that the release is its own."""
        return self.key.derived("ledger release", str(number).encode())

    @staticmethod
    def _file(word: str, number: int) -> str:
        return f"{word}-{number:04}.parquet"

    def _table(self, entry: Entry, word: str) -> pa.Table:
        name = self._file(word, entry.number)
        path = self.folder / name
        try:
            data = path.read_bytes()
        except OSError as error:
            raise DataError(f"the ledger lacks {name}: {error.strerror}; restore {self.folder} from a backup") from None
        if _digest(data) != entry.files.get(name):
            raise DataError(f"{path} was changed after it was written; restore {self.folder} from a backup")
        return pq.read_table(pa.BufferReader(data))

    def record(
        self,
        files: AtomicFiles,
        entry: Entry,
        rows: pa.Table,
        left: pa.Table | None = None,
        wait: pa.Table | None = None,
    ) -> Ledger:
        """Write down a release, so that it appears in the ledger when its files appear.

        Args:
            files: The files of the release.
            entry: What it is.
            rows: Its new rows.
            left: The people who left, in a column `PERSONS`.
            wait: The people who wait, and since when.
        """
        digests = {}
        for word, table in (("rows", rows), ("left", left), ("wait", wait)):
            if table is not None and (word == "rows" or table.num_rows):
                name = self._file(word, entry.number)
                sink = pa.BufferOutputStream()
                pq.write_table(table, sink, compression="zstd")
                data = sink.getvalue().to_pybytes()
                digests[name] = _digest(data)
                files.open(self.folder / name, mode=OWNER_FILE).write_bytes(data)
        made = replace(self, releases=(*self.releases, replace(entry, files=digests)))
        made._write(files)
        return made

    def forget(self, number: int) -> Ledger:
        """The ledger without a release, as if it had never been; call it locked.

        Raises:
            DataError: Another release continues it.
        """
        entry = self.release(number)
        if later := [each.number for each in self.releases if each.continues == number]:
            raise DataError(f"release {later[0]} continues release {number}; forget that one first")
        made = replace(self, releases=tuple(each for each in self.releases if each is not entry))
        with AtomicFiles() as files:
            made._write(files)
            for name in entry.files:
                files.remove(self.folder / name)
        return made

    def _write(self, files: AtomicFiles) -> None:
        fields = {"key": self.key.secret.hex(), "releases": [entry.to_json() for entry in self.releases]}
        text = json.dumps(DOCUMENT.sealed(fields), indent=1, ensure_ascii=False) + "\n"
        files.open(self.folder / FILE, mode=OWNER_FILE, replaces=True).write_text(text, encoding="utf-8")


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def rows_of(stays: pa.Table, number: int) -> pa.Table:
    """The rows of the last of some releases, of all that were in one of them."""
    return stays.filter(to_arrow(stays[LAST].to_numpy() == number)).drop_columns([FIRST, LAST])


def latest(stays: pa.Table) -> pa.Table:
    """Of everyone who ever was in some releases, the rows that were released last."""
    (persons,), size = numbered(persons_of(stays))
    last = stays[LAST].to_numpy()
    until = np.zeros(size, np.int64)
    np.maximum.at(until, persons, last)
    return stays.filter(to_arrow(last == until[persons]))


def persons_of(table: pa.Table) -> npt.NDArray[np.void]:
    """The hashes of people in a table of the ledger."""
    column = table[PERSONS].combine_chunks()
    column = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
    data = column.buffers()[1]
    start = column.offset * PERSON.byte_width
    held = data.slice(start, len(column) * PERSON.byte_width) if len(column) else b""
    return np.frombuffer(held, "V16")


def persons_column(persons: npt.NDArray[np.void]) -> pa.Array:
    return pa.Array.from_buffers(PERSON, len(persons), [None, pa.py_buffer(np.ascontiguousarray(persons).tobytes())])


def among(persons: npt.NDArray[np.void], others: npt.NDArray[np.void]) -> npt.NDArray[np.bool_]:
    (own, their), _ = numbered(persons, others)
    return np.isin(own, their)


def _digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()
