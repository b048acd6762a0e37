"""The folder of a ledger: owner-only, sealed, locked, and nothing in it but hashes and what was released."""

import errno
import os
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from incrowd.errors import DataError, OutputError, UnknownNameError
from incrowd.formats.atomic_files import AtomicFiles
from incrowd.ledger.people import people_of
from incrowd.ledger.store import (
    CONTENTS,
    FILE,
    FIRST,
    HISTORIES,
    LAST,
    LOSSES,
    PERSONS,
    Entry,
    Ledger,
    latest,
    now,
    persons_column,
)
from incrowd.ledger.turnover import numbered

ROWS = pa.table({"age": ["1", "2", "2"]})


def entered(ledger, continues=None, rows=ROWS, gone=()):
    people = people_of(rows, ledger.key, None, ("age",))
    table = rows.append_column(PERSONS, persons_column(people.persons))
    table = table.append_column(CONTENTS, pa.array(people.contents))
    table = table.append_column(HISTORIES, pa.array(np.zeros(rows.num_rows, np.int64)))
    table = table.append_column(LOSSES, pa.array(np.zeros(rows.num_rows)))
    left = people_of(pa.table({"age": list(gone)}), ledger.key, None, ("age",)).persons if gone else None
    left = None if left is None else pa.table({PERSONS: persons_column(left)})
    entry = Entry(
        ledger.next_number, now(), "", {}, ("age",), "sha256:" + "0" * 64, continues, rows.num_rows, rows.num_rows
    )
    with AtomicFiles(overwrite=False) as files:
        return ledger.record(files, entry, table, left)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "ledger"


def test_what_was_entered_comes_back(folder):
    with Ledger.locked(folder) as ledger:
        entered(ledger)
    again = Ledger.read(folder)
    assert again.rows(1)["age"].to_pylist() == ["1", "2", "2"]
    assert again.releases[0].number == 1
    assert len(set(again.rows(1)[PERSONS].to_pylist())) == 3  # equal records are people of their own


def test_a_release_that_continues_another_has_its_rows_but_for_those_who_left(folder):
    with Ledger.locked(folder) as ledger:
        ledger = entered(ledger)
        people = ledger.rows(1)[PERSONS].to_pylist()
        ledger = entered(ledger, 1, pa.table({"age": ["7"]}))
        assert sorted(ledger.rows(2)["age"].to_pylist()) == ["1", "2", "2", "7"]
    assert len(people) == 3


def test_every_row_has_the_first_and_the_last_release_that_has_it(folder):
    """People come, leave and come back; a row is there from one release to another."""
    with Ledger.locked(folder) as ledger:
        ledger = entered(ledger)  # 1, 2, 2
        ledger = entered(ledger, 1, pa.table({"age": ["7"]}), gone=["1"])
        ledger = entered(ledger, 2, pa.table({"age": ["1"]}), gone=["7"])
        ledger = entered(ledger, 3, pa.table({"age": ["9"]}), gone=["1"])
        entered(ledger, 2, pa.table({"age": ["8"]}))  # to somebody else
    ledger = Ledger.read(folder)
    rows = zip(*(ledger.stays(4)[name].to_pylist() for name in ("age", FIRST, LAST)), strict=True)
    assert sorted(rows) == [("1", 1, 1), ("1", 3, 3), ("2", 1, 4), ("2", 1, 4), ("7", 2, 2), ("9", 4, 4)]
    assert sorted(latest(ledger.stays(4))["age"].to_pylist()) == ["1", "2", "2", "7", "9"]
    assert [sorted(ledger.rows(number)["age"].to_pylist()) for number in range(1, 6)] == [
        ["1", "2", "2"], ["2", "2", "7"], ["1", "2", "2"], ["2", "2", "9"], ["2", "2", "7", "8"],
    ]  # fmt: skip


def test_only_the_owner_may_read_it(folder):
    with Ledger.locked(folder) as ledger:
        entered(ledger)
    assert folder.stat().st_mode & 0o077 == 0
    assert all((folder / name).stat().st_mode & 0o077 == 0 for name in os.listdir(folder))


def test_two_runs_at_once_cannot_both_have_it(folder):
    with Ledger.locked(folder), pytest.raises(OutputError, match="another run uses the ledger"), Ledger.locked(folder):
        pass


@pytest.mark.parametrize("locks", ["none on this system", "not on this disk"])
def test_a_ledger_that_cannot_be_locked_is_not_used(folder, monkeypatch, locks):
    def refused(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    lock = None if locks == "none on this system" else SimpleNamespace(flock=refused, LOCK_EX=0, LOCK_NB=0)
    monkeypatch.setattr("incrowd.ledger.store.fcntl", lock)
    with pytest.raises(OutputError, match="cannot be locked"), Ledger.locked(folder):
        pass


def test_hashes_that_begin_alike_are_of_two_people():
    persons = np.array([[1, 2], [1, 3], [1, 2], [0, 2], [1, 3]], np.uint64).view("V16").ravel()
    (first, second), size = numbered(persons, persons[:2])
    assert size == 3
    assert first.tolist() == [1, 2, 1, 0, 2]
    assert second.tolist() == [1, 2]


@pytest.mark.parametrize("name", [FILE, "rows-0001.parquet"])
def test_what_was_changed_is_noticed(folder, name):
    with Ledger.locked(folder) as ledger:
        entered(ledger)
    path = folder / name
    path.write_bytes(path.read_bytes().replace(b'"number": 1', b'"number": 2') if name == FILE else b"other")
    with pytest.raises(DataError, match=r"was changed|do not fit"):
        Ledger.read(folder).rows(1)


def test_a_missing_file_is_named(folder):
    with Ledger.locked(folder) as ledger:
        entered(ledger)
    (folder / "rows-0001.parquet").unlink()
    with pytest.raises(DataError, match=r"lacks rows-0001.parquet.*backup"):
        Ledger.read(folder).rows(1)


def test_a_folder_of_other_files_is_no_ledger(folder):
    folder.mkdir()
    (folder / "people.csv").write_text("age\n1\n")
    with pytest.raises(DataError, match=r"no ledger\.json"):
        Ledger.read(folder)


def test_a_release_can_be_forgotten_unless_another_continues_it(folder):
    with Ledger.locked(folder) as ledger:
        ledger = entered(ledger)
        ledger = entered(ledger, 1)
        with pytest.raises(DataError, match="release 2 continues release 1"):
            ledger.forget(1)
        ledger.forget(2)
    again = Ledger.read(folder)
    assert [entry.number for entry in again.releases] == [1]
    assert not (folder / "rows-0002.parquet").exists()
    with pytest.raises(UnknownNameError):
        again.release(2)


@pytest.mark.real_keys
def test_hashes_need_the_key(folder):
    with Ledger.locked(folder) as ledger:
        entered(ledger)
        other = Ledger(folder, type(ledger.key).drawn())
    own = people_of(ROWS, ledger.key, None, ("age",)).persons.tobytes()
    assert own != people_of(ROWS, other.key, None, ("age",)).persons.tobytes()
