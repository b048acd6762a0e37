"""What a CSV file looks like is found out, or taken as it is given."""

import pytest
from tests.csv_text import copied, failure, put, rows_of

from incrowd.errors import DataError, PolicyError
from incrowd.formats.csv_dialect import Dialect, detect
from incrowd.formats.registry import open_source


class TestDialect:
    @pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
    def test_the_separator_that_gives_the_most_columns(self, tmp_path, separator):
        source = open_source(put(tmp_path, "a,b,c\nx,y,z\np,q,r\n".replace(",", separator)))
        assert source.dialect == Dialect(separator=separator)
        assert source.columns == ("a", "b", "c")

    @pytest.mark.parametrize(
        ("text", "separator", "columns"),
        [
            ("x;y\n1,5;a\n2,5;b\n", ";", ("x", "y")),  # decimal commas
            ('a;b\n"x,y,z";1\n"p,q,r";2\n', ";", ("a", "b")),  # commas in quotes
            ("comment\nwell, well\nyes\n", ";", ("comment",)),  # one column, with commas in its text
            ("a|b\n;|,\n;|,\n", "|", ("a", "b")),
            ("a b\nx y\n", ",", ("a b",)),
        ],
    )
    def test_separators_in_values_do_not_mislead(self, tmp_path, text, separator, columns):
        source = open_source(put(tmp_path, text))
        assert (source.dialect.separator, source.columns) == (separator, columns)

    def test_single_quotes(self, tmp_path):
        source = open_source(put(tmp_path, "'a','b'\n'x, y','it''s'\n"))
        assert source.dialect.quote == "'"
        assert rows_of(source) == [("x, y", "it's")]

    @pytest.mark.parametrize("text", ["a,b\n'tis,O'Brien\n", "a,b\n'x','y'\n\"p,q\",r\n", "a,b\n'x,y'\n"])
    def test_an_apostrophe_is_no_quote(self, tmp_path, text):
        assert open_source(put(tmp_path, text)).dialect.quote == '"'

    @pytest.mark.parametrize(
        ("text", "header"),
        [
            ("39,Private\n50,Private\n", False),
            ("age,work\n39,Private\n", True),
            ("a,b\nx,y\n", True),
            ("1,b\nx,y\n", True),  # a number, but not above numbers
            ("x,1.5\ny,\nz,-2e3\n", False),
            ("1,2\n", True),
        ],
    )
    def test_header_unless_a_number_stands_above_numbers(self, text, header):
        if text == "1,2\n":
            with pytest.raises(DataError, match="no rows"):
                detect(text.encode(), True, "people.csv", {})
        else:
            dialect, columns = detect(text.encode(), True, "people.csv", {})
            assert dialect.header is header
            assert header or columns == ("column1", "column2")

    def test_what_is_given_is_taken(self, tmp_path):
        path = put(tmp_path, "1;x,y\n2;z,w\n")
        source = open_source(path, separator=",", header=True)
        assert source.columns == ("1;x", "y")
        assert rows_of(open_source(path, separator=",", header=False)) == [("1;x", "y"), ("2;z", "w")]
        assert rows_of(open_source(put(tmp_path, "a,b\n'x',\"y\"\n"), quote="'")) == [("x", '"y"')]

    def test_the_line_end_inside_quotes_does_not_count(self, tmp_path):
        assert open_source(put(tmp_path, '"a\nb",c\r\nx,y\r\n')).dialect.newline == "\r\n"

    def test_a_huge_value_in_the_sample(self, tmp_path):
        source = open_source(put(tmp_path, "a,b\n" + "x" * 300_000 + ",y\n"))
        assert len(rows_of(source)[0][0]) == 300_000

    @pytest.mark.parametrize(
        "options",
        [
            {"separator": ",,"},
            {"separator": ""},
            {"separator": "\n"},
            {"separator": "§"},
            {"quote": "''"},
            {"quote": ",", "separator": ","},
            {"separator": '"'},
            {"encoding": "utf-99"},
            {"encoding": "hex"},
            {"encoding": ""},
            {"header": "yes"},
        ],
    )
    def test_a_wrong_option_is_a_policy_error(self, tmp_path, options):
        failure(put(tmp_path, "a,b\nx,y\n"), PolicyError, **options)


class TestEncodings:
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
    def test_what_the_byte_order_mark_says(self, tmp_path, encoding):
        data = "naïve,b\né,€\n".encode(encoding)
        source = open_source(put(tmp_path, data))
        assert source.dialect.encoding == encoding
        assert source.columns == ("naïve", "b")
        assert rows_of(source) == [("é", "€")]
        assert copied(source) == data

    @pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16-le", "shift_jis"])
    def test_a_given_encoding(self, tmp_path, encoding):
        text = "名,b\nx,y\n" if encoding == "shift_jis" else "é,b\nx,ü\n"
        data = (text * 1).encode(encoding)
        source = open_source(put(tmp_path, data), encoding=encoding)
        assert source.columns[0] == text[0]
        assert copied(source) == data

    def test_other_bytes_are_an_error_and_not_a_guess(self, tmp_path):
        message = failure(put(tmp_path, "a,b\nx,é\n".encode("cp1252")))
        assert "byte 0xE9 at offset 6" in message
        assert "cp1252" in message

    @pytest.mark.parametrize("encoded", [(), ("b",)])
    def test_other_bytes_after_the_sample(self, tmp_path, encoded):
        lines = b"a,b\n" + b"xxxx,yyyy\n" * 300_000
        source = open_source(put(tmp_path, lines + "x,é\n".encode("cp1252")))
        with pytest.raises(DataError, match=f"byte 0xE9 at offset {len(lines) + 2};"):
            list(source.batches(encoded=encoded))

    def test_other_bytes_in_a_given_encoding(self, tmp_path):
        assert "offset 6" in failure(put(tmp_path, b"a,b\nx,\x81\n"), encoding="cp1252")
        lines = b"a,b\n" + b"xxxx,yyyy\n" * 300_000
        assert f"offset {len(lines)}" in failure(put(tmp_path, lines + b"\x81,y\n"), encoding="cp1252")

    def test_sixteen_bits_without_a_mark(self, tmp_path):
        assert "give its encoding" in failure(put(tmp_path, "a,b\nx,y\n".encode("utf-16-le")))
