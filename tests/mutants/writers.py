"""Mistakes of writers, of the libraries behind them, and of what reads back: nothing that is wrong may appear.

The writers are broken where rows pass through them: in one a cell changes, in the next a row is lost, and so on. That
each of them is noticed whatever the mistake is, `unit/formats/test_read_back.py` tries by itself.
"""

from tests.mutants.mutation import of

BACK = ("unit/formats/test_read_back.py",)
RIGHT = ("unit/formats/test_read_back.py::test_what_is_written_right_appears",)
SPARK = ("spark/test_promises.py::test_what_a_cluster_writes_right_appears",)

WRITERS = (
    # writers: a cell, a row less, a row twice, columns swapped
    of(
        "formats/csv_writer.py",
        "self._sink.write(self._lines.lines(batch.select(self._schema.names)))",
        "self._sink.write(bytes(self._lines.lines(batch.select(self._schema.names))).replace(b'text 3', b'text 4', 1))",
        *RIGHT,
    ),
    of(
        "formats/csv_writer.py",
        "self._sink.write(self._lines.lines(batch.select(self._schema.names)))",
        "self._sink.write(self._lines.lines(batch.select(self._schema.names).slice(1)))",
        *RIGHT,
    ),
    of(
        "formats/csv_writer.py",
        "self._lines.lines(batch.select(self._schema.names))",
        "self._lines.lines(batch.select(self._schema.names[::-1]))",
        *RIGHT,
    ),
    of("formats/csv_writer.py", 'quote * 2), quote, "")', 'quote), quote, "")', "conformance/test_formats.py"),
    of(
        "formats/parquet_files.py",
        "self._waiting.append(conform(batch, self._schema))",
        "self._waiting.append(conform(batch.slice(1), self._schema))",
        *RIGHT,
    ),
    of(
        "formats/parquet_files.py",
        "table = pa.Table.from_batches(self._waiting, self._schema)",
        "table = pa.Table.from_batches([*self._waiting, self._waiting[0].slice(0, 1)], self._schema)",
        *RIGHT,
    ),
    of(
        "formats/arrow_files.py",
        "            self._writer.write_batch(batch)",
        "            self._writer.write_batch(batch.take(pa.array([0, *range(len(batch) - 1)])))",
        *RIGHT,
    ),
    of(
        "formats/json_lines.py",
        'parts.append(pc.fill_null(_json(batch.column(name), name), "null"))',
        'parts.append(pc.fill_null(_json(batch.column(self._names[max(place, 1) - 1]), name), "null"))',
        *RIGHT,
    ),
    of(
        "formats/excel_files.py",
        "for row, cells in enumerate(zip(*columns, strict=True), first):",
        "for row, cells in enumerate(list(zip(*columns, strict=True))[1:], first):",
        *RIGHT,
    ),
    of("formats/excel_files.py", "_Digits(value))", "_Digits(value + 1))", *RIGHT),
    of(
        "formats/statistics_files.py",
        "table = pa.Table.from_batches(self._held, self._schema)",
        "table = pa.Table.from_batches(self._held, self._schema).slice(1)",
        *RIGHT,
    ),
    of(
        "formats/sqlite_files.py",
        "zip(*columns, strict=True))",
        "list(zip(*columns, strict=True))[1:])",
        *RIGHT,
    ),
    of(
        "formats/duckdb_files.py",
        "rows = pa.Table.from_batches([batch.slice(start, _INSERTED)])",
        "rows = pa.Table.from_batches([batch.slice(start, _INSERTED), batch.slice(0, 1)])",
        *RIGHT,
    ),
    of(
        "formats/postgres.py",
        "rows = pa.Table.from_batches([batch])",
        "rows = pa.Table.from_batches([batch]).slice(1)",
        *RIGHT,
    ),
    of(
        "engines/spark/write.py",
        "rows.write.format(self.kind).options(**options).save(self._staged)",
        "rows.limit(20).write.format(self.kind).options(**options).save(self._staged)",
        *SPARK,
    ),
    of(
        "formats/frames.py",
        '    return cast("Frame", nw.from_native(result) if isinstance(frame, nw.DataFrame) else result)',
        '    return cast("Frame", nw.from_native(result) if isinstance(frame, nw.DataFrame) else result[:-1])',
        "unit/formats/test_read_back.py::test_a_frame_that_was_built_right_is_handed_out",
    ),
    # what reads back
    of("formats/read_back.py", "    read.require(meant)\n", "    pass\n", *BACK),
    of("formats/read_back.py", "        digests[1].require(digests[0])\n", "        pass\n", *BACK),
    of("formats/read_back.py", "if self.rows != meant.rows:", "if False:", *BACK),
    of("formats/read_back.py", "if self._labels.digest() != meant._labels.digest():", "if False:", *BACK),
    of("formats/read_back.py", "own.digests() != other.digests()", "False", *BACK),
    of(
        "formats/read_back.py",
        "if batch.schema.names != self.schema.names:",
        "if False:",
        *BACK,
    ),
    of("formats/read_back.py", "* self._factor", "* np.uint64(1)", *BACK),
    of(
        "formats/read_back.py",
        "            places = np.flatnonzero(to_numpy(pc.is_null(column))) + before",
        "            places = np.zeros(0)",
        *BACK,
    ),
    of("formats/read_back.py", "self._hashes[1].update(np.diff(offsets).astype(np.uint32).data)", "pass", *BACK),
    of(
        "formats/read_back.py",
        "if size and bytes(held.slice(start, size * len(column))) != text * len(column):",
        "if False:",
        *BACK,
    ),
    of("formats/read_back.py", "            self._waiting = self._waiting.slice(len(part))", "            pass", *BACK),
    of(
        "engines/arrow/write.py",
        "opened, observer, run.check, folder, ahead)",
        "opened, print, run.check, folder, ahead)",
        *BACK,
    ),
)
