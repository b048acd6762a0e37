"""The folder of a ledger: owner-only, sealed, locked, and nothing in it but hashes and what was released."""

import os

import numpy as np
import pyarrow as pa
import pytest

from incrowd.errors import DataError, OutputError, UnknownNameError
from incrowd.formats.atomic_files import AtomicFiles
from incrowd.ledger.people import people_of
from incrowd.ledger.store import CONTENTS, FILE, HISTORIES, LOSSES, PERSONS, Entry, Ledger, now, persons_column

ROWS = pa.table({"age": ["1", "2", "2"]})


def entered(ledger, continues=None, rows=ROWS, left=None):
    people = people_of(rows, ledger.key, None, ("age",))
    table = rows.append_column(PERSONS, persons_column(people.persons))
    table = table.append_column(CONTENTS, pa.array(people.contents))
    table = table.append_column(HISTORIES, pa.array(np.zeros(rows.num_rows, np.int64)))
    table = table.append_column(LOSSES, pa.array(np.zeros(rows.num_rows)))
    gone = None if left is None else table.select([PERSONS]).take(pa.array(left))
    entry = Entry(
        ledger.next_number, now(), "", {}, ("age",), "sha256:" + "0" * 64, continues, rows.num_rows, rows.num_rows
    )
    with AtomicFiles(overwrite=False) as files:
        return ledger.record(files, entry, table, gone)


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


def test_only_the_owner_may_read_it(folder):
    with Ledger.locked(folder) as ledger:
        entered(ledger)
    assert folder.stat().st_mode & 0o077 == 0
    assert all((folder / name).stat().st_mode & 0o077 == 0 for name in os.listdir(folder))


def test_two_runs_at_once_cannot_both_have_it(folder):
    with Ledger.locked(folder), pytest.raises(OutputError, match="another run uses the ledger"), Ledger.locked(folder):
        pass


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
