"""Tables in files of any format, for tests."""

import pyarrow as pa

from incrowd.formats.registry import open_source, open_writer


def written(path, table):
    """A table in a file, whose format its name says; gives the path."""
    with open_writer(path, table.schema, open_source(table)) as writer:
        for batch in table.to_batches():
            writer.write(batch)
    return path


def read(data, *, columns=None, encoded=(), **options):
    """What is read of a file, an address or a frame."""
    return pa.Table.from_batches(open_source(data, **options).batches(columns, encoded))
