"""Rows in an order of their own, larger than memory too."""

import os
import tempfile
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from incrowd.engines.arrow import shuffle
from incrowd.engines.arrow.shuffle import shuffled
from incrowd.engines.row_order import order_of, row_hashes
from incrowd.errors import OutputError


def batches(rows=2000, size=170, seed=0, most=500):
    draw = np.random.default_rng(seed)
    numbers = draw.integers(0, most, rows)
    labels = pa.array(["low", "high", "*"])
    table = pa.RecordBatch.from_arrays(
        [
            pa.DictionaryArray.from_arrays(pa.array((numbers % 3).astype(np.int32)), labels),
            pa.array([f"a note of {number} words" for number in numbers]),
            pa.array([f"kind {number % 5}" for number in numbers]).dictionary_encode(),
            pa.array(numbers % 2 == 0),
        ],
        names=["age", "note", "kind", "flag"],
    )
    return [table.slice(start, size) for start in range(0, rows, size)]


def together(found):
    return pa.Table.from_batches(list(found)).to_pylist()


@pytest.mark.parametrize("most", [3, 500, 100_000])
def test_the_same_in_memory_and_out_of_it(most, tmp_path, monkeypatch):
    rows = batches(most=most)
    whole = pa.concat_batches([batch.select(["age", "note", "flag"]) for batch in rows])
    expected = whole.take(pa.array(order_of(row_hashes(whole)))).to_pylist()
    monkeypatch.setattr(shuffle, "HELD_BYTES", 3000)
    parts = [batch.select(["age", "note", "flag"]) for batch in rows]
    for folder in (None, tmp_path):
        assert together(shuffled(iter(parts), folder=folder, fixed=["age"])) == expected


def test_columns_that_are_not_released_come_along_and_have_no_say(tmp_path, monkeypatch):
    monkeypatch.setattr(shuffle, "HELD_BYTES", 3000)
    rows, start, numbered = batches(), 0, []
    for batch in rows:
        numbered.append(batch.append_column("row", pa.array(range(start, start + len(batch)))))
        start += len(batch)
    found = together(shuffled(iter(numbered), ["row"], tmp_path, ["age"]))
    original = together(rows)
    assert [{name: row[name] for name in original[0]} for row in found] == together(shuffled(iter(rows), fixed=["age"]))
    assert all({**original[row["row"]], "row": row["row"]} == row for row in found)
    assert len({row["row"] for row in found}) == 2000


def test_types_dictionaries_and_their_order_stay():
    ordered = pa.dictionary(pa.int8(), pa.string(), ordered=True)
    first = pa.DictionaryArray.from_arrays(pa.array([0, 1, None], pa.int8()), ["low", "high"], ordered=True)
    second = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), ["high", "top"], ordered=True)
    parts = [
        pa.RecordBatch.from_arrays([column, pa.array(range(len(column)), pa.int16())], names=["a", "b"])
        for column in (first, second)
    ]
    found = pa.Table.from_batches(list(shuffled(iter(parts))))
    assert found.schema == pa.schema([("a", ordered), ("b", pa.int16())])
    assert Counter(found["a"].to_pylist()) == {"low": 1, "high": 2, None: 1, "top": 1}
    assert found["a"].chunk(0).dictionary.to_pylist() == ["low", "high", "top"]


@pytest.mark.parametrize("label", ["*", None])
def test_a_column_that_is_the_same_everywhere_though_nobody_is_in_the_first_batch(label):
    def batch(rows):
        indices = pa.array(np.zeros(rows, np.int32), mask=np.full(rows, label is None))
        column = pa.DictionaryArray.from_arrays(indices, [label or ""])
        return pa.RecordBatch.from_arrays([column, pa.array(range(rows), pa.int64())], names=["a", "b"])

    found = pa.Table.from_batches(list(shuffled(iter([batch(0), batch(4)]), fixed=["a"])))
    assert found["a"].to_pylist() == [label] * 4


def test_no_rows_are_one_empty_batch():
    rows = batches()[0].slice(0, 0)
    found = list(shuffled(iter([rows, rows]), fixed=["age"]))
    assert [batch.num_rows for batch in found] == [0]
    assert found[0].schema == rows.schema


def test_text_of_more_than_two_gigabytes_in_all(monkeypatch):
    joined = pa.concat_batches

    def refusing(given):
        if any(pa.types.is_string(column.type) for column in given[0].columns):
            raise pa.ArrowInvalid("offset overflow while concatenating arrays")
        return joined(given)

    monkeypatch.setattr(shuffle.pa, "concat_batches", refusing)
    rows = batches()
    found = pa.Table.from_batches(list(shuffled(iter(rows), fixed=["age"])))
    assert found.schema == rows[0].schema
    assert found.num_rows == 2000


def test_the_file_has_no_name_and_is_for_its_owner_only(tmp_path, monkeypatch):
    monkeypatch.setattr(shuffle, "HELD_BYTES", 3000)
    monkeypatch.setattr(shuffle, "BATCH_ROWS", 2)  # so that the first rows come before all of them were read back
    made, plain = [], tempfile.TemporaryFile
    monkeypatch.setattr(shuffle.tempfile, "TemporaryFile", lambda **words: made.append(plain(**words)) or made[-1])
    stream = shuffled(iter(batches()), folder=tmp_path, fixed=["age"])
    next(stream)
    assert made
    assert list(tmp_path.iterdir()) == []
    assert os.fstat(made[0].fileno()).st_mode & 0o77 == 0
    assert os.fstat(made[0].fileno()).st_nlink == 0
    stream.close()
    assert all(file.closed for file in made)


def test_a_folder_that_cannot_be_written_to_is_one_clear_error(tmp_path, monkeypatch):
    monkeypatch.setattr(shuffle, "HELD_BYTES", 3000)
    with pytest.raises(OutputError, match=r"cannot write to .*: No such file or directory; nothing was written"):
        list(shuffled(iter(batches()), folder=tmp_path / "gone", fixed=["age"]))
