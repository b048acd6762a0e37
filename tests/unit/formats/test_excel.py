"""Excel files: what a cell holds is what is read, and nothing but values is written."""

import datetime
import zipfile

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.files import read, written

from incrowd.errors import DataError, OutputError, UnknownNameError
from incrowd.formats import excel_files
from incrowd.formats.registry import open_source

xlsxwriter = pytest.importorskip("xlsxwriter")
pytest.importorskip("fastexcel")


def book(path, cells, sheets=("People",), formats=()):
    """A file with cells by place; values are put with the library's own rules, formulas among them."""
    with xlsxwriter.Workbook(path) as made:
        for name in sheets:
            sheet = made.add_worksheet(name)
            for (row, place), value in cells.items():
                form = (
                    made.add_format({"num_format": dict(formats)[row, place]})
                    if (row, place) in dict(formats)
                    else None
                )
                sheet.write(row, place, value, *([form] if form else []))
    return path


TEXT = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\ufffe\uffff"), max_size=12
) | st.sampled_from(
    [
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "_x0041_",
        "a\r\nb",
        "\r",
        " a ",
        "\t",
        "http://a.b",
        "007",
        "{=1}",
        "TRUE",
        "#N/A",
    ]
)


@examples(25)
@given(st.lists(st.tuples(TEXT, st.floats(allow_infinity=False, allow_nan=False)), min_size=1, max_size=30))
def test_texts_and_numbers_come_back_exactly(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("excel") / "x.xlsx"
    table = pa.table({"text": pa.array([text for text, _ in rows]), "number": [number for _, number in rows]})
    found = read(written(path, table))
    assert found["text"].to_pylist() == table["text"].to_pylist()
    assert found["number"].cast(pa.float64()).to_pylist() == table["number"].to_pylist()


def test_types_come_back(tmp_path):
    day, moment = datetime.date(2020, 2, 29), datetime.datetime(2020, 2, 29, 23, 59, 59, 999000)
    table = pa.table(
        {
            "whole": pa.array([1, None, 2**53], pa.int64()),
            "part": [0.1 + 0.2, None, 1e300],
            "short": pa.array([0.1, None, 2.5], pa.float32()),
            "day": [day, None, datetime.date(1900, 3, 1)],
            "moment": pa.array([moment, None, moment], pa.timestamp("ms")),
            "time": pa.array([datetime.time(1, 2, 3), None, datetime.time(0)], pa.time32("ms")),
            "truth": [True, None, False],
            "kind": pa.array(["a", "c", "b"]).dictionary_encode(),
        }
    )
    found = read(written(tmp_path / "x.xlsx", table))
    expected = table.set_column(2, "short", pa.array([0.1, None, 2.5])).set_column(7, "kind", pa.array(["a", "c", "b"]))
    assert found.to_pylist() == expected.to_pylist()
    assert [str(kind) for kind in found.schema.types] == [
        "int64", "double", "double", "date32[day]", "timestamp[ms]", "time32[ms]", "bool", "string"
    ]  # fmt: skip


def test_no_formula_is_written_and_none_is_evaluated(tmp_path):
    texts = ["=1+1", "+1", "-1", "@a", "=HYPERLINK(1)", "https://example.org", "{=1}"]
    path = written(tmp_path / "x.xlsx", pa.table({"=name()": texts}))
    with zipfile.ZipFile(path) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml")
        assert b"<f" not in sheet
        assert b"hyperlink" not in sheet
        assert not [name for name in archive.namelist() if "_rels/sheet" in name]
    assert read(path).to_pydict() == {"=name()": texts}
    with xlsxwriter.Workbook(tmp_path / "y.xlsx") as made:
        sheet = made.add_worksheet()
        sheet.write_row(0, 0, ["a"])
        sheet.write_formula(1, 0, "=1+1", None, 7)
    assert read(tmp_path / "y.xlsx").to_pydict() == {"a": [7]}  # as it was saved, and not 2


def test_a_file_tells_neither_who_nor_when(tmp_path):
    path = written(tmp_path / "x.xlsx", pa.table({"a": ["1"]}))
    with zipfile.ZipFile(path) as archive:
        assert {part.date_time[:2] for part in archive.infolist()} == {(1980, 1)}
        core = archive.read("docProps/core.xml").decode()
        assert "<dc:creator></dc:creator><cp:lastModifiedBy></cp:lastModifiedBy>" in core
        assert core.count("1980-01-01T00:00:00Z") == 2
    assert [found.name for found in tmp_path.iterdir()] == ["x.xlsx"]


def test_a_row_without_values_stays_a_row_and_blank_rows_of_others_do_not(tmp_path):
    table = pa.table({"a": [1, None, 2, None], "b": ["x", None, None, None]})
    assert read(written(tmp_path / "x.xlsx", table)).num_rows == 4
    path = book(tmp_path / "y.xlsx", {(3, 1): "a", (3, 2): "b", (4, 1): 1, (4, 2): "x", (7, 1): 2})
    assert read(path).to_pydict() == {"a": [1, 2], "b": ["x", None]}


class TestSheets:
    def test_one_is_chosen_by_name(self, tmp_path):
        path = book(tmp_path / "x.xlsx", {(0, 0): "a", (1, 0): 1}, ("One", "Two"))
        assert read(path, sheet="Two").num_rows == 1
        with pytest.raises(DataError, match="has several sheets: 'One', 'Two'; choose one"):
            open_source(path)
        with pytest.raises(UnknownNameError, match=r"no sheet 'Tow' in x.xlsx; did you mean 'Two'"):
            open_source(path, sheet="Tow")


class TestBadFiles:
    @pytest.mark.parametrize(
        ("cells", "message"),
        [
            ({}, "has no columns"),
            ({(0, 0): "a"}, "has no rows"),
            ({(0, 0): "a", (0, 2): "b", (1, 1): 1}, "columns without a name, at position 2"),
            (
                {(0, 0): "People of 2024", (2, 0): "a", (2, 1): "b"},
                "position 2; the first row .* delete what is above",
            ),
            ({(0, 0): "a", (0, 1): "a", (1, 1): 1}, "several columns of the same name: 'a'"),
        ],
    )
    def test_of_headers(self, tmp_path, cells, message):
        with pytest.raises(DataError, match=message):
            open_source(book(tmp_path / "x.xlsx", cells))

    def test_a_name_with_a_number_is_fine(self, tmp_path):
        path = book(tmp_path / "x.xlsx", {(0, 0): "a", (0, 1): "a_1", (1, 1): 1})
        assert open_source(path).columns == ("a", "a_1")

    def test_durations_and_texts(self, tmp_path):
        cells = {(0, 0): "a", (1, 0): datetime.timedelta(hours=30), (2, 0): "secret"}
        path = book(tmp_path / "x.xlsx", cells, formats={(1, 0): "[h]:mm"})
        with pytest.raises(DataError, match="mixes durations with other values") as caught:
            open_source(path)
        assert caught.value.__context__ is None

    def test_a_bomb_is_one_line(self, tmp_path, monkeypatch):
        monkeypatch.setattr(excel_files, "MOST_BYTES", 1 << 20)
        with zipfile.ZipFile(tmp_path / "x.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("xl/worksheets/sheet1.xml", b"<" + b" " * (1 << 22) + b">")
        with pytest.raises(DataError, match=r"x.xlsx unfolds to more than 1 MB, more than a table would; is it intact"):
            open_source(tmp_path / "x.xlsx")

    def test_a_bomb_that_lies_about_its_size(self, tmp_path, monkeypatch):
        monkeypatch.setattr(excel_files, "MOST_BYTES", 1 << 20)
        path = tmp_path / "x.xlsx"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("xl/worksheets/sheet1.xml", b" " * (1 << 22))
        path.write_bytes(path.read_bytes().replace((1 << 22).to_bytes(4, "little"), (9).to_bytes(4, "little")))
        with pytest.raises(DataError, match="unfolds to more than"):
            open_source(path)

    def test_cells_that_lie_far_apart(self, tmp_path):
        path = book(tmp_path / "x.xlsx", {(0, 0): "a", (1, 0): 1, (1_000_000, 16_000): 2})
        with pytest.raises(DataError, match=r"the cells of x.xlsx lie too far apart"):
            open_source(path)

    def test_too_much_for_a_sheet(self, tmp_path):
        with pytest.raises(OutputError, match="text of more than 32767 characters"):
            written(tmp_path / "x.xlsx", pa.table({"a": ["x" * 40_000]}))
        with pytest.raises(OutputError, match="column 'a' has a character that Excel cannot hold"):
            written(tmp_path / "x.xlsx", pa.table({"a": ["\ufffe"]}))
        with pytest.raises(OutputError, match="16384 columns at most"):
            written(tmp_path / "x.xlsx", pa.table({f"c{i}": [1] for i in range(16_385)}))
        with pytest.raises(OutputError, match="1048576 rows at most"):
            written(tmp_path / "x.xlsx", pa.table({"a": pa.repeat(1, 1 << 20)}))
        assert [found.name for found in tmp_path.iterdir()] == ["x.xlsx"]  # the unfinished one, which is not in place
