"""Makes small SAS files. Nothing in Python writes them, but the C library that pyreadstat brings along does."""

import ctypes
from pathlib import Path

import pytest

_STRING, _DOUBLE = 0, 5  # readstat_type_t


def write_sas7bdat(path, columns):
    """A .sas7bdat file with columns of texts or of numbers, where None is missing.

    Skips the test where the library does not show its functions.
    """
    import pyreadstat

    found = next(Path(pyreadstat.__file__).parent.glob("_readstat_writer*.so"), None)
    library = ctypes.CDLL(str(found)) if found else None
    if not hasattr(library, "readstat_begin_writing_sas7bdat"):
        pytest.skip("this build of pyreadstat cannot make SAS files to test with")
    for name in ("readstat_writer_init", "readstat_add_variable"):
        getattr(library, name).restype = ctypes.c_void_p
    parts = []

    @ctypes.CFUNCTYPE(ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
    def take(data, size, context):
        parts.append(ctypes.string_at(data, size))
        return size

    def call(name, *values):
        assert getattr(library, name)(*values) == 0

    writer = ctypes.c_void_p(library.readstat_writer_init())
    call("readstat_set_data_writer", writer, take)
    variables = []
    for name, values in columns.items():
        width = max((len(value.encode()) for value in values if isinstance(value, str)), default=0)
        kind = _STRING if width else _DOUBLE
        variables.append(
            ctypes.c_void_p(library.readstat_add_variable(writer, name.encode(), kind, ctypes.c_size_t(width)))
        )
    rows = list(zip(*columns.values(), strict=True))
    call("readstat_begin_writing_sas7bdat", writer, None, ctypes.c_long(len(rows)))
    for row in rows:
        call("readstat_begin_row", writer)
        for variable, value in zip(variables, row, strict=True):
            if value is None:
                call("readstat_insert_missing_value", writer, variable)
            elif isinstance(value, str):
                call("readstat_insert_string_value", writer, variable, value.encode())
            else:
                call("readstat_insert_double_value", writer, variable, ctypes.c_double(value))
        call("readstat_end_row", writer)
    call("readstat_end_writing", writer)
    library.readstat_writer_free(writer)
    path.write_bytes(b"".join(parts))
    return path
