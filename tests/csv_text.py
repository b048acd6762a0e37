"""CSV files of a few lines, and what reading them gives."""

import pytest

from incrowd.errors import DataError
from incrowd.formats.csv_writer import CsvWriter
from incrowd.formats.registry import open_source

SECRET = "Hildegard"


def put(folder, content, name="people.csv"):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def rows_of(source, **options):
    return [tuple(row.values()) for batch in source.batches(**options) for row in batch.to_pylist()]


def copied(source):
    writer = CsvWriter(source.dialect, source.columns)
    return writer.begin() + b"".join(bytes(writer.lines(batch)) for batch in source.batches())


def failure(path, kind=DataError, **options):
    """The message of the error that reading the file raises, which must be one line and show no row."""
    with pytest.raises(kind) as caught:
        list(open_source(path, **options).batches())
    message = str(caught.value)
    assert "\n" not in message
    assert SECRET not in message
    assert caught.value.__cause__ is None
    return message
