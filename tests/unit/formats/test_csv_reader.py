"""CSV files: what is read, and what is refused with a line number and no word of what stands there."""

import csv
import io

import pyarrow as pa
import pytest
from tests.csv_text import SECRET, failure, put, rows_of

from incrowd.errors import DataError
from incrowd.formats import csv_reader
from incrowd.formats.registry import open_source


class TestReading:
    def test_every_value_is_text_and_stays_what_it_was(self, tmp_path):
        source = open_source(put(tmp_path, "id,zip,name\n007,,NA\n1e3, 01234 ,null\n"))
        assert source.columns == ("id", "zip", "name")
        assert source.schema.types == [pa.string()] * 3
        assert rows_of(source) == [("007", "", "NA"), ("1e3", " 01234 ", "null")]

    def test_encoded_columns_are_dictionaries(self, tmp_path):
        source = open_source(put(tmp_path, "a,b,c\nx,1,p\ny,2,q\nx,3,r\n"))
        (batch,) = source.batches(["c", "a"], encoded={"a"})
        assert batch.schema.names == ["c", "a"]
        assert batch.schema.types == [pa.string(), pa.dictionary(pa.int32(), pa.string())]
        assert batch.column(1).to_pylist() == ["x", "y", "x"]

    def test_a_pass_can_be_left_early(self, tmp_path):
        source = open_source(put(tmp_path, "a,b\n" + "x,y\n" * 500_000))
        next(source.batches())
        assert sum(batch.num_rows for batch in source.batches()) == 500_000

    @pytest.mark.parametrize("size", range(24, 64))
    @pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
    @pytest.mark.parametrize("width", [1, 3])
    def test_rows_do_not_depend_on_where_blocks_end(self, tmp_path, monkeypatch, size, newline, width):
        monkeypatch.setattr(csv_reader, "BLOCK_BYTES", size)
        rows = [("x" * (number % 7), 'a"\r\nb', "")[:width] for number in range(60)]
        text = io.StringIO()
        csv.writer(text, lineterminator=newline).writerows([("a", "b", "c")[:width], *rows])
        source = open_source(put(tmp_path, text.getvalue()))
        assert source.dialect.newline == newline
        assert rows_of(source) == rows

    def test_blank_lines_are_rows_of_a_single_column_only(self, tmp_path):
        assert rows_of(open_source(put(tmp_path, "a\n1\n\n2\n\n"), header=True)) == [("1",), ("",), ("2",), ("",)]
        assert rows_of(open_source(put(tmp_path, "\n\na,b\n\nx,y\n\n\nz,w"))) == [("x", "y"), ("z", "w")]

    def test_quotes_inside_a_value_are_part_of_it(self, tmp_path):
        assert rows_of(open_source(put(tmp_path, 'a,b\n5"x,"y"z\n'))) == [('5"x', "yz")]


class TestBadFiles:
    def test_missing(self, tmp_path):
        assert "no file" in failure(tmp_path / "nobody.csv")
        assert "no file" in failure(str(tmp_path / "nobody.parquet"))

    def test_directory(self, tmp_path):
        (tmp_path / "x.csv").mkdir()
        assert "is a directory" in failure(tmp_path / "x.csv")

    def test_not_readable_as_the_system_says(self, tmp_path, monkeypatch):
        def refuse(*_):
            raise PermissionError(13, "Permission denied")

        path = put(tmp_path, "a,b\nx,y\n")
        monkeypatch.setattr("pathlib.Path.open", refuse)
        assert "Permission denied" in failure(path)

    @pytest.mark.parametrize("content", ["", "\n\n", "\ufeff"])
    def test_empty(self, tmp_path, content):
        assert "is empty" in failure(put(tmp_path, content))

    @pytest.mark.parametrize("content", ["a,b", "a,b\n", "a,b\r\n\r\n", "a\n", "a", '"a\nb"\n'])
    def test_header_only(self, tmp_path, content):
        assert "no rows" in failure(put(tmp_path, content))

    @pytest.mark.parametrize(
        ("record", "got"), [(SECRET, 1), (f"{SECRET},x,y,z", 4), (f"{SECRET},x,é,z", 4), (",,,", 4)]
    )
    def test_ragged(self, tmp_path, record, got):
        text = f'a,b,c\n"x\ny",1,2\n\nx,y,z\n{record}\np,q,r\n'
        assert "line 6 of people.csv has" in (message := failure(put(tmp_path, text)))
        assert f"{got} column{'s' * (got > 1)} instead of 3" in message

    def test_ragged_after_the_sample(self, tmp_path):
        text = "a,b\n" + "xxxx,yyyy\n" * 300_000 + f"{SECRET}\n" + "x,y\n" * 300_000
        assert "line 300002 of people.csv has 1 column instead of 2" in failure(put(tmp_path, text))

    @pytest.mark.parametrize("rows", [2, 200, 400_000])
    @pytest.mark.parametrize("place", [0, 1])
    def test_unterminated_quote(self, tmp_path, rows, place):
        bad = [f'"{SECRET},y', f'x,"{SECRET}'][place]
        message = failure(put(tmp_path, f"a,b\nx,y\n{bad}\n" + "x,y\n" * rows))
        assert "line 3 of people.csv" in message
        assert "left open" in message

    def test_unterminated_quote_at_the_very_end(self, tmp_path):
        assert "line 2" in failure(put(tmp_path, f'a,b\nx,"{SECRET}'))
        assert "left open" in failure(put(tmp_path, f'"a,b\nx,{SECRET}\n' * 1))

    def test_an_unread_column_is_checked_too(self, tmp_path):
        source = open_source(put(tmp_path, f'a,b\nx,y\nx,"{SECRET}\n'))
        with pytest.raises(DataError, match="left open"):
            list(source.batches(["a"]))

    def test_duplicate_names(self, tmp_path):
        assert "'age'" in failure(put(tmp_path, "age,sex,age\n1,2,3\n"))

    def test_blank_names(self, tmp_path):
        source = open_source(put(tmp_path, ",sex, \n1,2,3\n"))  # as R and pandas write row labels
        assert source.columns == ("column1", "sex", "column3")
        assert "same name" in failure(put(tmp_path, "column2,\n1,2\n"))
        assert "without a name" in failure(put(tmp_path, "\nx\ny\n"))

    def test_changed_while_reading(self, tmp_path):
        path = put(tmp_path, "a,b\nx,y\n")
        source = open_source(path)
        source.check_unchanged()
        path.write_text("a,b\nx,y\np,q\n")
        for use in (source.check_unchanged, source.fingerprint, lambda: list(source.batches())):
            with pytest.raises(DataError, match="changed"):
                use()
        path.unlink()
        with pytest.raises(DataError, match="cannot read"):
            source.check_unchanged()


@pytest.mark.parametrize("held", [0, 1 << 25])
def test_rows_are_the_same_whether_they_are_kept_or_read_again(tmp_path, monkeypatch, held):
    monkeypatch.setattr(csv_reader, "HELD_BYTES", held)
    monkeypatch.setattr(csv_reader, "SAMPLE_BYTES", 1000)  # so that the sample is not all of it
    path = tmp_path / "x.csv"
    path.write_text("a,b,c\n" + "".join(f"{number},x{number % 3},\n" for number in range(500)))
    source = csv_reader.CsvSource(path)
    text = pa.dictionary(pa.int32(), pa.string())
    first = pa.Table.from_batches(source.batches(["b", "a"], encoded=["b"]))
    again = pa.Table.from_batches(source.batches(encoded=["a"]))
    plain = pa.Table.from_batches(source.batches())
    assert first.schema.types == [text, pa.string()]
    assert again.schema.types == [text, pa.string(), pa.string()]
    assert plain.schema == source.schema
    assert first.to_pydict() == plain.select(["b", "a"]).to_pydict()
    assert again.to_pydict() == plain.to_pydict()
    assert sum(len(batch) for batch in source.batches([])) == 500
    path.write_text("a,b,c\n1,2,3\n")
    with pytest.raises(DataError, match="changed while it was being read"):
        list(source.batches())
