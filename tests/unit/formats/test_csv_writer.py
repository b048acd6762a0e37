"""Rows as lines of CSV: quoted where needed, in the dialect of the source, byte for byte."""

import pyarrow as pa
import pytest
from tests.csv_text import SECRET, copied, put

from incrowd.errors import OutputError
from incrowd.formats.csv_dialect import Dialect
from incrowd.formats.csv_reader import CsvSource
from incrowd.formats.csv_writer import CsvWriter


class TestLines:
    @pytest.mark.parametrize(
        "text",
        [
            'a,b\n"x,y","say ""hi"""\n"line\nline",plain\n,\n',
            "a;b;c\nx,y; p ;\n1,5;2;3\n",
            "39,Private\n50,State-gov\n",
            "a,b\r\nx,y\r\n",
            'a,b\r\n"x\r\ny",z\r\n',
            "a\tb\nx y\t'z\n",
            '"a,b",c\nx,y\n',
            'a\nx\n""\n"y,z"\n',
            "'a,b',c\n'x''y',z\n",
        ],
    )
    def test_a_copy_is_the_same_byte_for_byte(self, tmp_path, text):
        assert copied(CsvSource(put(tmp_path, text))) == text.encode()

    def test_dictionaries_nulls_and_slices(self):
        batch = pa.RecordBatch.from_pydict(
            {
                "a": pa.array(["zero", "x,y", None, "p", "x,y"]).dictionary_encode(),
                "b": pa.array(["", 'q"', "r", None, "s"], pa.large_string()),
            }
        )
        writer = CsvWriter(Dialect(), ["a", "b"])
        assert bytes(writer.lines(batch.slice(1, 3))) == b'"x,y","q"""\n,r\np,\n'
        assert bytes(writer.lines(batch.slice(2, 2))) == b",r\np,\n"
        assert bytes(writer.lines(batch.slice(0, 0))) == b""

    def test_neighbours_of_few_values_are_joined_once(self, monkeypatch):
        monkeypatch.setattr(CsvWriter, "_write_plain", None)  # of which no row is joined by itself
        columns = {
            "a": pa.array(["x", "y", None, "x"] * 40).dictionary_encode(),
            "b": pa.array(["1", "2", "1", "1"] * 40).dictionary_encode(),
            "c": pa.array(["p", "p", "p", None] * 40).dictionary_encode(),
        }
        writer = CsvWriter(Dialect(), list(columns))
        batch = pa.RecordBatch.from_pydict(columns)
        assert bytes(writer.lines(batch)) == b"x,1,p\ny,2,p\n,1,p\nx,1,\n" * 40
        cells = [writer._cells(column, name) for name, column in columns.items()]
        assert [len(each.values) for each in writer._merged(cells, len(batch))] == [3 * 2 * 2]
        assert [len(each.values) for each in writer._merged(cells, 4 * 9)] == [3 * 2, 1]
        assert [len(each.values) for each in writer._merged(cells, 4 * 9 - 1)] == [2, 2 * 2]

    def test_typed_columns_are_written_as_arrow_writes_them(self):
        batch = pa.RecordBatch.from_pydict({"a": [1, None], "b": [1.5, 2.25], "c": [True, False]})
        assert bytes(CsvWriter(Dialect(), ["a", "b", "c"]).lines(batch)) == b"1,1.5,true\n,2.25,false\n"

    def test_bytes_that_are_no_text(self):
        batch = pa.RecordBatch.from_pydict({"a": [b"\xff"], "b": ["x"]})
        with pytest.raises(OutputError, match="column 'a' of type binary"):
            CsvWriter(Dialect(), ["a", "b"]).lines(batch)

    def test_text_that_the_encoding_cannot_write(self):
        batch = pa.RecordBatch.from_pydict({"a": ["x"], "b": [f"{SECRET} 名"]})
        with pytest.raises(OutputError, match=r"column 'b' has the character U\+540D") as caught:
            CsvWriter(Dialect(encoding="cp1252"), ["a", "b"]).lines(batch)
        assert SECRET not in str(caught.value)
