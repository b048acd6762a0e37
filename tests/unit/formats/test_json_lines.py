"""JSON lines: types from all lines, exact values, and messages without what stands in a line."""

import datetime
import json
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.files import read, written

from incrowd.errors import DataError, OutputError
from incrowd.formats import json_lines
from incrowd.formats.registry import open_source


def made(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


class TestReading:
    def test_types_come_from_all_lines(self, tmp_path, monkeypatch):
        monkeypatch.setattr(json_lines, "BLOCK_BYTES", 40)  # so that every line is a block of its own
        lines = [{"a": 1, "b": None}, {"a": 2.5, "b": "2020-01-01"}, {"a": None, "b": "x", "c": True}, {"d": None}]
        source = made(tmp_path / "x.jsonl", "\n".join(map(json.dumps, lines)))
        assert open_source(source).columns == ("a", "b", "c", "d")
        assert [str(kind) for kind in open_source(source).schema.types] == ["double", "string", "bool", "string"]
        table = read(source)
        assert table.to_pylist() == [{name: line.get(name) for name in "abcd"} for line in lines]
        assert read(source, columns=["b", "a"], encoded=["b"]).column_names == ["b", "a"]

    def test_blank_lines_marks_and_line_ends(self, tmp_path):
        source = made(tmp_path / "x.ndjson", b'\xef\xbb\xbf{"a": 1}\r\n\r\n   \n{"a": 9007199254740993}')
        assert read(source)["a"].to_pylist() == [1, 9007199254740993]

    def test_nested_values_pass_through(self, tmp_path):
        source = made(tmp_path / "x.jsonl", '{"a": {"b": [1, 2]}, "c": 1}\n')
        assert read(source).to_pylist() == [{"a": {"b": [1, 2]}, "c": 1}]
        assert json.loads(written(tmp_path / "y.jsonl", read(source)).read_text()) == {"a": {"b": [1, 2]}, "c": 1}

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "has no rows"),
            ("\n\n", "has no rows"),
            ('{"a": 1}\n[1]\n', "line 2 of x.jsonl is not a JSON object; correct that line"),
            ('{"a": 1}\n{"a": \n', "line 2 of x.jsonl is not a JSON object"),
            (b'{"a": "secret \xff"}\n', "line 1 of x.jsonl is not a JSON object"),
            ('{"a": 1}\n{"a": "secret"}\n', "a column of x.jsonl holds values of different kinds"),
            ('{"a": 1, "a": 2}\n', "appears twice in a line"),
            ('{"a": 12345678901234567890}\n', "column 'a' of x.jsonl has numbers with more digits than can be kept"),
            ('{"": 1}\n', "columns without a name"),
        ],
    )
    def test_what_is_wrong_is_one_line(self, tmp_path, text, message):
        with pytest.raises(DataError) as caught:
            read(made(tmp_path / "x.jsonl", text))
        assert message in str(caught.value)
        assert "secret" not in str(caught.value)
        assert caught.value.__context__ is None

    def test_a_line_without_end(self, tmp_path, monkeypatch):
        monkeypatch.setattr(json_lines, "BLOCK_BYTES", 10)
        monkeypatch.setattr(json_lines, "_LONGEST", 100)
        with pytest.raises(DataError, match=r"a line of x.jsonl is longer than"):
            read(made(tmp_path / "x.jsonl", '{"a": "' + "x" * 200))


TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@examples(60)
@given(rows=st.lists(st.tuples(st.none() | TEXT, st.none() | st.floats(allow_infinity=False)), min_size=1), name=TEXT)
def test_what_is_written_is_json_and_read_back(tmp_path_factory, rows, name):
    folder, name = tmp_path_factory.mktemp("json"), f"{name}."
    table = pa.table({name: pa.array([text for text, _ in rows], pa.string()), "n": [number for _, number in rows]})
    expected = [{name: text, "n": None if number != number else number} for text, number in rows]
    path = written(folder / "x.jsonl", table)
    assert [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]] == expected
    assert read(path).to_pylist() == expected


def test_every_type_has_a_form(tmp_path):
    table = pa.table(
        {
            "a": pa.array([Decimal("12.50")], pa.decimal128(5, 2)),
            "b": [datetime.date(2020, 1, 2)],
            "c": pa.array([datetime.datetime(2020, 1, 2, 3)], pa.timestamp("s")),
            "d": pa.array(['x"y']).dictionary_encode(),
            "e": pa.array([3.0], pa.float32()),
            "f": pa.nulls(1),
            "g": [True],
        }
    )
    assert written(tmp_path / "x.jsonl", table).read_text() == (
        '{"a":12.50,"b":"2020-01-02","c":"2020-01-02 03:00:00","d":"x\\"y","e":3.0,"f":null,"g":true}\n'
    )


@pytest.mark.parametrize(
    "column",
    [
        pa.array([float("inf")]),
        pa.array([[float("nan")]]),
        pa.array([b"x"]),
        pa.array([2**63], pa.uint64()),
        pa.array([Decimal("1.00000000000000000001")], pa.decimal128(30, 20)),  # readers would round it
    ],
    ids=lambda column: str(column.type),
)
def test_what_json_cannot_say(tmp_path, column):
    with pytest.raises(OutputError, match=r"column 'a' .* write Parquet instead"):
        written(tmp_path / "x.jsonl", pa.table({"a": column}))
