"""CSV files: what is found out of their dialect, what is read, what is refused without showing a value, and writing.

Whether rows of any text come back is a property: see `property/test_csv_files.py`.
"""

import csv
import io

import pyarrow as pa
import pytest
from tests.csv_text import SECRET, copied, failure, put, rows_of

from incrowd.errors import DataError, OutputError, PolicyError
from incrowd.formats import csv_reader
from incrowd.formats.csv_dialect import Dialect, detect
from incrowd.formats.csv_writer import CsvWriter
from incrowd.formats.registry import open_source

MANY = "a,b\n" + "xxxx,yyyy\n" * 300_000  # more than the sample


class TestDialect:
    @pytest.mark.parametrize(
        ("text", "separator", "columns"),
        [
            *(("a,b,c\nx,y,z\n".replace(",", mark), mark, ("a", "b", "c")) for mark in ",;\t|"),
            ("x;y\n1,5;a\n2,5;b\n", ";", ("x", "y")),  # decimal commas
            ('a;b\n"x,y,z";1\n"p,q,r";2\n', ";", ("a", "b")),  # commas in quotes
            ("comment\nwell, well\nyes\n", ";", ("comment",)),  # one column, with commas in its text
            ("a|b\n;|,\n;|,\n", "|", ("a", "b")),
            ("a b\nx y\n", ",", ("a b",)),
        ],
    )
    def test_the_separator_that_gives_the_most_columns(self, tmp_path, text, separator, columns):
        source = open_source(put(tmp_path, text))
        assert (source.dialect.separator, source.columns) == (separator, columns)

    def test_single_quotes_and_apostrophes(self, tmp_path):
        source = open_source(put(tmp_path, "'a','b'\n'x, y','it''s'\n"))
        assert source.dialect.quote == "'"
        assert rows_of(source) == [("x, y", "it's")]
        for text in ("a,b\n'tis,O'Brien\n", "a,b\n'x','y'\n\"p,q\",r\n", "a,b\n'x,y'\n"):
            assert open_source(put(tmp_path, text)).dialect.quote == '"'

    @pytest.mark.parametrize(
        ("text", "header"),
        [
            ("39,Private\n50,Private\n", False),
            ("age,work\n39,Private\n", True),
            ("a,b\nx,y\n", True),
            ("1,b\nx,y\n", True),  # a number, but not above numbers
            ("x,1.5\ny,\nz,-2e3\n", False),
        ],
    )
    def test_header_unless_a_number_is_above_numbers(self, text, header):
        dialect, columns = detect(text.encode(), True, "people.csv", {})
        assert dialect.header is header
        assert header or columns == ("column1", "column2")

    def test_what_is_given_is_taken(self, tmp_path):
        path = put(tmp_path, "1;x,y\n2;z,w\n")
        assert open_source(path, separator=",", header=True).columns == ("1;x", "y")
        assert rows_of(open_source(path, separator=",", header=False)) == [("1;x", "y"), ("2;z", "w")]
        assert rows_of(open_source(put(tmp_path, "a,b\n'x',\"y\"\n"), quote="'")) == [("x", '"y"')]

    @pytest.mark.parametrize(
        "options",
        [
            *({"separator": mark} for mark in (",,", "", "\n", "§", '"')),
            *({"quote": "''"}, {"quote": ",", "separator": ","}, {"header": "yes"}),
            *({"encoding": name} for name in ("utf-99", "hex", "")),
        ],
        ids=str,
    )
    def test_a_wrong_option_is_a_policy_error(self, tmp_path, options):
        failure(put(tmp_path, "a,b\nx,y\n"), PolicyError, **options)

    @pytest.mark.parametrize("given", [None, "cp1252", "latin-1", "utf-16-le", "shift_jis"])
    @pytest.mark.parametrize("marked", ["utf-8", "utf-8-sig", "utf-16"])
    def test_the_encoding_is_given_or_what_the_byte_order_mark_says(self, tmp_path, marked, given):
        text = "名,b\nx,y\n" if given == "shift_jis" else "é,b\nx,ü\n"
        data = text.encode(given or marked)
        source = open_source(put(tmp_path, data), encoding=given)
        assert source.columns[0] == text[0]
        assert copied(source) == data


class TestReading:
    def test_every_value_is_text_and_stays_what_it_was(self, tmp_path):
        source = open_source(put(tmp_path, "id,zip,name\n007,,NA\n1e3, 01234 ,null\n"))
        assert source.schema.types == [pa.string()] * 3
        assert rows_of(source) == [("007", "", "NA"), ("1e3", " 01234 ", "null")]
        assert rows_of(open_source(put(tmp_path, 'a,b\n5"x,"y"z\n'))) == [('5"x', "yz")]  # quotes inside a value
        assert len(rows_of(open_source(put(tmp_path, "a,b\n" + "x" * 300_000 + ",y\n")))[0][0]) == 300_000

    def test_a_pass_can_be_left_early(self, tmp_path):
        source = open_source(put(tmp_path, MANY))
        next(source.batches())
        assert sum(batch.num_rows for batch in source.batches()) == 300_000

    @pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
    @pytest.mark.parametrize("width", [1, 3])
    def test_rows_do_not_depend_on_where_blocks_end(self, tmp_path, monkeypatch, newline, width):
        rows = [("x" * (number % 7), 'a"\r\nb', "")[:width] for number in range(60)]
        text = io.StringIO()
        csv.writer(text, lineterminator=newline).writerows([("a", "b", "c")[:width], *rows])
        path = put(tmp_path, text.getvalue())
        for size in range(24, 64):
            monkeypatch.setattr(csv_reader, "BLOCK_BYTES", size)
            source = open_source(path)
            assert source.dialect.newline == newline
            assert rows_of(source) == rows, size

    def test_blank_lines_are_rows_of_a_single_column_only(self, tmp_path):
        assert rows_of(open_source(put(tmp_path, "a\n1\n\n2\n\n"), header=True)) == [("1",), ("",), ("2",), ("",)]
        assert rows_of(open_source(put(tmp_path, "\n\na,b\n\nx,y\n\n\nz,w"))) == [("x", "y"), ("z", "w")]

    def test_blank_names_are_numbered_as_r_and_pandas_write_row_labels(self, tmp_path):
        assert open_source(put(tmp_path, ",sex, \n1,2,3\n")).columns == ("column1", "sex", "column3")

    @pytest.mark.parametrize("held", [0, 1 << 25])
    def test_rows_are_the_same_whether_they_are_kept_or_read_again(self, tmp_path, monkeypatch, held):
        monkeypatch.setattr(csv_reader, "HELD_BYTES", held)
        monkeypatch.setattr(csv_reader, "SAMPLE_BYTES", 1000)  # so that the sample is not all of it
        lines = "".join(f"{number},x{number % 3},\n" for number in range(500))
        source = csv_reader.CsvSource(put(tmp_path, f"a,b,c\n{lines}"))
        text = pa.dictionary(pa.int32(), pa.string())
        first = pa.Table.from_batches(source.batches(["b", "a"], encoded=["b"]))
        again = pa.Table.from_batches(source.batches(encoded=["a"]))
        plain = pa.Table.from_batches(source.batches())
        assert first.schema.types == [text, pa.string()]
        assert again.schema.types == [text, pa.string(), pa.string()]
        assert first.to_pydict() == plain.select(["b", "a"]).to_pydict()
        assert again.to_pydict() == plain.to_pydict()
        assert sum(len(batch) for batch in source.batches([])) == 500

    @pytest.mark.parametrize(("room", "whole", "kept"), [(1500, True, True), (1500, False, False), (500, True, False)])
    def test_encoded_columns_of_few_values_are_kept_once_all_rows_were_read(
        self, tmp_path, monkeypatch, room, whole, kept
    ):
        for name, size in (("HELD_BYTES", room), ("SAMPLE_BYTES", 1000), ("BLOCK_BYTES", 1000)):
            monkeypatch.setattr(csv_reader, name, size)
        source = csv_reader.CsvSource(put(tmp_path, "a,b,c\n" + "".join(f"{n},x{n % 3},\n" for n in range(500))))
        first = source.batches(encoded=["a", "b", "c"])
        assert (list if whole else next)(first)
        first.close()
        read, asked = [], csv_reader.CsvSource._read
        monkeypatch.setattr(csv_reader.CsvSource, "_read", lambda *words: read.append(words[1]) or asked(*words))
        expected = {"c": [""] * 500, "b": [f"x{n % 3}" for n in range(500)], "a": [str(n) for n in range(500)]}
        for encoded in ((), ["b"]):
            for columns in (["b"], ["c", "b"], ["b", "a"]):
                found = pa.Table.from_batches(source.batches(columns, encoded=encoded))
                assert found.to_pydict() == {name: expected[name] for name in columns}
                assert found.schema.field("b").type == (csv_reader.ENCODED_TEXT if encoded else pa.string())
        assert (["b"] not in read, ["b", "a"] in read) == (kept, True)


LEFT_OPEN = r"line 3 of people.csv .*left open"
BAD = {
    "empty": ("\n\n", "is empty"),
    "only a mark": ("\ufeff", "is empty"),
    "header only": ("a,b\r\n\r\n", "no rows"),
    "header without an end": ("a", "no rows"),
    "numbers only, once": ("1,2\n", "no rows"),
    "names twice": ("age,sex,age\n1,2,3\n", "'age'"),
    "a name twice once it is numbered": ("column2,\n1,2\n", "same name"),
    "no name": ("\nx\ny\n", "without a name"),
    "too few columns": (f'a,b,c\n"x\ny",1,2\n\nx,y,z\n{SECRET}\np,q,r\n', "line 6 of people.csv has 1 column instead"),
    "too many columns": (f'a,b,c\n"x\ny",1,2\n\nx,y,z\n{SECRET},x,é,z\n', "line 6 of people.csv has 4 columns instead"),
    "too few columns after the sample": (f"{MANY}{SECRET}\n", "line 300002 of people.csv has 1 column instead of 2"),
    "an open quote": (f'a,b\nx,y\n"{SECRET},y\nx,y\n', LEFT_OPEN),
    "an open quote before much": (f'a,b\nx,y\nx,"{SECRET}\n' + "x,y\n" * 400_000, LEFT_OPEN),
    "an open quote at the end": (f'a,b\nx,"{SECRET}', "line 2 of people.csv .*left open"),
    "an open quote at the beginning": (f'"a,b\nx,{SECRET}\n', "left open"),
    "an open quote after the sample": (f'{MANY}x,"{SECRET}\n', "line 300002"),
    "other bytes": ("a,b\nx,é\n".encode("cp1252"), "byte 0xE9 at offset 6; .*cp1252"),
    "other bytes after the sample": (MANY.encode() + b"x,\xe9\n", f"byte 0xE9 at offset {len(MANY) + 2};"),
    "a picture": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "is not text: it has zero bytes; give a table"),
    "half a character": ("a,b\nx,é".encode()[:-1], "is not utf-8"),
    "sixteen bits without a mark": ("a,b\nx,y\n".encode("utf-16-le"), "give its encoding"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_is_one_line_that_shows_no_value(tmp_path, case):
    content, message = BAD[case]
    path = put(tmp_path, content)
    with pytest.raises(DataError, match=message):
        list(open_source(path).batches())
    failure(path)


def test_other_bytes_in_a_given_encoding(tmp_path):
    assert "offset 6" in failure(put(tmp_path, b"a,b\nx,\x81\n"), encoding="cp1252")
    assert f"offset {len(MANY)}" in failure(put(tmp_path, MANY.encode() + b"\x81,y\n"), encoding="cp1252")
    assert "line 3" in failure(put(tmp_path, f"a,b,c\nx,y,z\né,{SECRET}\n".encode("cp1252")), encoding="cp1252")


def test_an_unread_column_is_checked_too(tmp_path):
    source = open_source(put(tmp_path, f'a,b\nx,y\nx,"{SECRET}\n'))
    with pytest.raises(DataError, match="left open"):
        list(source.batches(["a"]))


def test_files_that_cannot_be_opened(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    (tmp_path / "x.csv").mkdir()
    assert "no file" in failure(tmp_path / "nobody.csv")
    assert "is a directory" in failure(tmp_path / "x.csv")
    path = put(tmp_path, "a,b\nx,y\n")
    monkeypatch.setattr("pathlib.Path.open", refuse)
    assert "Permission denied" in failure(path)


class TestWriting:
    @pytest.mark.parametrize(
        "text",
        [
            'a,b\n"x,y","say ""hi"""\n"line\nline",plain\n,\n',
            "a;b;c\nx,y; p ;\n1,5;2;3\n",
            "39,Private\n50,State-gov\n",
            'a,b\r\n"x\r\ny",z\r\n',
            "a\tb\nx y\t'z\n",
            '"a,b",c\nx,y\n',
            'a\nx\n""\n"y,z"\n',
            "'a,b',c\n'x''y',z\n",
        ],
    )
    def test_a_copy_is_the_same_byte_for_byte(self, tmp_path, text):
        assert copied(open_source(put(tmp_path, text))) == text.encode()

    def test_types_dictionaries_nulls_and_slices(self):
        batch = pa.RecordBatch.from_pydict(
            {
                "a": pa.array(["zero", "x,y", None, "p", "x,y"]).dictionary_encode(),
                "b": pa.array(["", 'q"', "r", None, "s"], pa.large_string()),
                "c": [1, 2, None, 4, 5],
                "d": [True, False, True, None, False],
            }
        )
        writer = CsvWriter(Dialect(), ["a", "b", "c", "d"])
        assert bytes(writer.lines(batch.slice(1, 3))) == b'"x,y","q""",2,false\n,r,,true\np,,4,\n'
        assert bytes(writer.lines(batch.slice(2, 2))) == b",r,,true\np,,4,\n"
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

    def test_what_cannot_be_written(self):
        with pytest.raises(OutputError, match="column 'a' of type binary"):
            CsvWriter(Dialect(), ["a"]).lines(pa.RecordBatch.from_pydict({"a": [b"\xff"]}))
        batch = pa.RecordBatch.from_pydict({"a": ["x"], "b": [f"{SECRET} 名"]})
        with pytest.raises(OutputError, match=r"column 'b' has the character U\+540D") as caught:
            CsvWriter(Dialect(encoding="cp1252"), ["a", "b"]).lines(batch)
        assert SECRET not in str(caught.value)
