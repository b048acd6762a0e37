"""Files of columns with types that are damaged or hold nothing: one line, whatever is wrong."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.files import read, written

from incrowd.errors import DataError
from incrowd.formats.registry import open_source


def arrow_file(table, path):
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)


WRITE = {
    "x.parquet": lambda table, path: pq.write_table(table, path, store_schema=False),
    "x.arrow": arrow_file,
}
DAMAGED = r"^x\.\w+ is not an? [\w ]+ file, or it is damaged$"
EITHER = pytest.mark.parametrize("name", WRITE)


@EITHER
@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pa.table({"a": pa.array([], pa.string())}), "has no rows"),
        (pa.table({}), "has no columns|has no rows"),
        (pa.table([[1], [2]], names=["a", "a"]), "several columns of the same name: 'a'"),
    ],
)
def test_no_rows_no_columns_and_names_given_twice(tmp_path, name, table, message):
    WRITE[name](table, tmp_path / name)
    with pytest.raises(DataError, match=message):
        open_source(tmp_path / name)


@EITHER
def test_names_that_are_no_text(tmp_path, name):
    WRITE[name](pa.table({"name": ["a", "b"]}), tmp_path / name)
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes().replace(b"name", b"na\xd2e"))
    with pytest.raises(DataError, match=DAMAGED):
        open_source(tmp_path / name)


@EITHER
@pytest.mark.parametrize("content", [b"", b"PAR1", b"a,b\n1,2\n", None])
def test_files_of_something_else_and_files_that_end_early(tmp_path, name, content):
    whole = written(tmp_path / name, pa.table({"a": [1, 2]})).read_bytes()
    (tmp_path / name).write_bytes(whole[:-30] if content is None else content)
    with pytest.raises(DataError, match=DAMAGED):
        read(tmp_path / name)
