"""CSV files of any text: what is written is read back, and any bytes are read or refused."""

import csv
import io

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.csv_text import copied, put, rows_of
from tests.examples import examples

from incrowd.errors import DataError
from incrowd.formats import csv_reader, csv_writer
from incrowd.formats.csv_dialect import Dialect
from incrowd.formats.csv_writer import CsvWriter
from incrowd.formats.registry import open_source

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\ufeff"), max_size=8) | st.text(
    ",;\"'\t|\r\n ax", max_size=6
)
NAMES = ("first", "second", "third")


@st.composite
def tables(draw):
    width = draw(st.integers(1, 3))
    rows = draw(st.lists(st.tuples(*[TEXT] * width), min_size=1, max_size=12))
    dialect = Dialect(
        separator=draw(st.sampled_from(",;\t|")),
        quote=draw(st.sampled_from("\"'")),
        encoding=draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])),
        newline=draw(st.sampled_from(["\n", "\r\n"])),
    )
    return NAMES[:width], rows, dialect, draw(st.booleans())


@examples(120)
@given(table=tables())
def test_what_is_written_is_read_back_by_us_and_by_python(table, tmp_path_factory):
    columns, rows, dialect, encoded = table
    arrays = [pa.array(values, pa.string()) for values in zip(*rows, strict=True)]
    arrays = [array.dictionary_encode() if encoded else array for array in arrays]
    writer = CsvWriter(dialect, columns)
    data = writer.begin() + bytes(writer.lines(pa.RecordBatch.from_arrays(arrays, names=columns)))

    text = io.StringIO(data.decode(dialect.encoding), newline="")
    assert list(map(tuple, csv.reader(text, delimiter=dialect.separator, quotechar=dialect.quote))) == [columns, *rows]

    path = put(tmp_path_factory.mktemp("round"), data)
    source = open_source(
        path, separator=dialect.separator, quote=dialect.quote, encoding=dialect.encoding, header=dialect.header
    )
    assert rows_of(source, encoded=columns if encoded else ()) == rows
    assert copied(source) == data


@examples(150)
@given(
    table=tables(),
    nulls=st.sets(st.tuples(st.integers(0, 11), st.integers(0, 2))),
    plain=st.sets(st.integers(0, 2)),
    often=st.integers(1, 40),
    room=st.sampled_from([60, 1 << 29]),
)
def test_columns_of_few_values_are_written_as_any_others_are(table, nulls, plain, often, room):
    columns, rows, dialect, _ = table
    rows = [
        [None if (row, place) in nulls else text for place, text in enumerate(each)] for row, each in enumerate(rows)
    ]
    texts = [pa.array(list(values) * often, pa.string()) for values in zip(*rows, strict=True)]
    coded = [text if place in plain else text.dictionary_encode() for place, text in enumerate(texts)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_writer, "MOST_JOINED_BYTES", room)
        written = [
            bytes(CsvWriter(dialect, columns).lines(pa.RecordBatch.from_arrays(arrays, names=columns)))
            for arrays in (texts, coded)
        ]
    assert written[0] == written[1]


@examples(100)
@given(
    rows=st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=8),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
)
def test_what_python_writes_is_read(rows, quoting, tmp_path_factory):
    text = io.StringIO()
    csv.writer(text, quoting=quoting).writerows([("a", "b"), *rows])
    source = open_source(put(tmp_path_factory.mktemp("python"), text.getvalue()), separator=",", quote='"', header=True)
    assert rows_of(source) == rows


BYTES = st.binary(max_size=60) | st.lists(
    st.sampled_from([b"a", b"1", b",", b";", b'"', b"'", b"\n", b"\r", b"\xe9", b"\0"]), max_size=40
).map(b"".join)


@examples(300)
@given(data=BYTES, size=st.sampled_from([16, 64, 1 << 20]))
def test_any_bytes_are_read_or_refused_in_one_line(data, size, tmp_path_factory):
    path = put(tmp_path_factory.mktemp("fuzz"), data)
    refused = ""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_reader, "BLOCK_BYTES", size)
        try:
            source = open_source(path)
            found = [list(source.columns)] * source.dialect.header + [list(row) for row in rows_of(source)]
        except DataError as error:
            refused = str(error)
    assert "\n" not in refused
    if refused:
        return
    text = io.StringIO(data.decode(source.dialect.encoding).removeprefix("\ufeff"), newline="")
    python = csv.reader(text, delimiter=source.dialect.separator, quotechar=source.dialect.quote)
    expected = [row or [""] for row in python if row or len(source.columns) == 1]
    if source.dialect.header:
        expected[0] = [name if name.strip() else f"column{place}" for place, name in enumerate(expected[0], 1)]
    assert found == expected
