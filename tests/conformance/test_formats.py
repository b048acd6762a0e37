"""What every format of files promises. A format that is registered is run through all of it."""

import pyarrow as pa
import pytest
from tests.conformance.tables import cases

import incrowd
from incrowd.errors import DataError, OutputError
from incrowd.formats.registry import FORMATS, SUFFIXES, open_source, open_writer

CASES = cases()
NAMES = [
    pytest.param(f"people{suffix}{more}", id=f"{suffix}{more}")
    for known in FORMATS.values()
    for suffix in known.suffixes
    for more in ("", *known.compressed)
]
EVERY = pytest.mark.parametrize("name", NAMES)


def written(table, path):
    """A table in a file."""
    with open_writer(path, table.schema, open_source(table)) as writer:
        for batch in table.to_batches():
            writer.write(batch)
    return writer.fingerprint


def texts(table):
    """Cells as text, as a CSV file has them: an empty cell is missing, a whole number has no fraction."""
    return [{name: text(value) for name, value in row.items()} for row in table.to_pylist()]


def text(value):
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


@EVERY
def test_what_is_written_is_read_back(name, tmp_path):
    table = CASES["mixed"].table
    written(table, tmp_path / name)
    source = open_source(tmp_path / name)
    assert source.columns == tuple(table.column_names)
    assert texts(pa.Table.from_batches(list(source.batches()))) == texts(table)


@EVERY
def test_the_release_of_a_file_is_that_of_the_table(name, tmp_path):
    case = CASES["with a target"]
    written(case.table, tmp_path / name)
    from_file = incrowd.anonymize(tmp_path / name, **case.words, keep_order=True)
    from_table = incrowd.anonymize(case.table, **case.words, keep_order=True)
    assert texts(from_file.data.select(case.columns)) == texts(from_table.data.select(case.columns))
    from_file = incrowd.anonymize(tmp_path / name, **case.words)
    from_file.write(tmp_path / f"release-{name}")
    again = open_source(tmp_path / f"release-{name}")
    assert texts(pa.Table.from_batches(list(again.batches()))) == texts(from_file.data)
    assert incrowd.verify(tmp_path / f"release-{name}", quasi_identifiers=case.columns, k=case.words["k"]).holds


@EVERY
def test_the_same_rows_give_the_same_bytes(name, tmp_path):
    table = CASES["mixed"].table
    first, second = written(table, tmp_path / name), written(table, tmp_path / f"again-{name}")
    assert first == second == open_source(tmp_path / name).fingerprint()


@EVERY
def test_a_damaged_file_is_one_clear_error(name, tmp_path):
    (tmp_path / name).write_bytes(b"\x00\xff\x13 no such thing \x00" * 20)
    with pytest.raises(DataError) as caught:
        list(open_source(tmp_path / name).batches())
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_suffix_that_no_format_has_names_all_that_there_are(tmp_path):
    (tmp_path / "people.docx").write_text("")
    with pytest.raises(DataError) as caught:
        open_source(tmp_path / "people.docx")
    assert SUFFIXES in str(caught.value)
    with pytest.raises(OutputError, match=r"cannot tell the format of people\.docx"):
        written(CASES["mixed"].table, tmp_path / "people.docx")
    for known in FORMATS.values():
        assert all(suffix in SUFFIXES for suffix in (*known.suffixes, *known.compressed))
