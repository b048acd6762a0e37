"""What goes out besides values: nothing."""

import json

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

from incrowd.formats.containers import bare, pandas_notes, without_unused

VALUES = st.lists(st.sampled_from([None, *"abcdef"]), max_size=12)


@examples(60)
@given(VALUES, VALUES, st.booleans())
def test_dictionaries_hold_what_rows_have(first, second, ordered):
    kind = pa.dictionary(pa.int8(), pa.string(), ordered=ordered)
    parts = [
        pa.DictionaryArray.from_arrays(
            pa.array([None if value is None else words.index(value) for value in values], pa.int8()),
            list(words),
            ordered=ordered,
        )
        for values, words in ((first, "fedcba"), (second, "fedcba"))
    ]
    column = without_unused(pa.chunked_array(parts, kind))
    assert column.type == kind
    assert column.to_pylist() == [*first, *second]
    expected = list(dict.fromkeys(value for value in (*first, *second) if value is not None))
    if ordered:
        expected = sorted(expected, reverse=True)
    assert column.dictionary.to_pylist() == expected


def test_other_columns_stay_as_they_are():
    column = pa.array([1, 2])
    assert without_unused(column) is column
    assert without_unused(pa.chunked_array([], pa.dictionary(pa.int8(), pa.string()))).to_pylist() == []


def test_a_schema_without_metadata():
    field = pa.field("a", pa.int8(), nullable=False, metadata={"of": "Hildegard"})
    found = bare(pa.schema([field], metadata={"by": "Hildegard"}))
    assert found.equals(pa.schema([pa.field("a", pa.int8(), nullable=False)]), check_metadata=True)


def test_pandas_knows_types_and_neither_index_nor_rows():
    frame = pd.DataFrame(
        {
            "a": pd.array([1, None], dtype="Int64"),
            "b": pd.Categorical(["x", "x"], categories=["x", "Hildegard"]),
            "c": pd.date_range("2020-01-01", periods=2, tz="Europe/Berlin"),
            "d": [5, 6],
        },
        index=pd.RangeIndex(712345, 712347, name="Hildegard"),
    )
    frame.attrs["title"] = "Hildegard"
    table = pa.Table.from_pandas(frame)
    new = pa.schema([pa.field("d", pa.string()) if field.name == "d" else field for field in table.schema])
    notes = pandas_notes(table.schema, new)
    assert list(notes) == [b"pandas"]
    assert not [word for word in (b"Hildegard", b"712345", b"num_categories") if word in notes[b"pandas"]]
    assert [note["name"] for note in json.loads(notes[b"pandas"])["columns"]] == ["a", "b", "c"]
    back = table.replace_schema_metadata(notes).to_pandas()
    assert list(back.dtypes)[:3] == list(frame.dtypes)[:3]
    assert back.index.equals(pd.RangeIndex(2))


@pytest.mark.parametrize("words", ["{", "[]", "{}", '{"columns": 3}', '{"columns": [4]}'])
def test_notes_that_are_not_as_pandas_writes_them_are_left_out(words):
    schema = pa.schema([("a", pa.int8())], metadata={"pandas": words, "other": "kept"})
    assert pandas_notes(schema, schema) is None
    assert pandas_notes(pa.schema([("a", pa.int8())]), schema) is None
