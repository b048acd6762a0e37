"""What `incrowd numbers` does: a release with numbers and dates in place of intervals, in a file of its own."""

from __future__ import annotations

from typing import Annotated

from incrowd.cli.groups import option
from incrowd.cli.messages import running, user_errors
from incrowd.cli.options import CsvOptions, Input, Output, Overwrite
from incrowd.cli.voice import answer
from incrowd.errors import PolicyError
from incrowd.options import COLUMNS

_FORM = "midpoint (default): the middle of each interval; bounds: age_low and age_high."


def numbers(
    table: Input,
    output: Output,
    csv: CsvOptions,
    form: Annotated[str, option(_FORM, section=COLUMNS, noun="WORD")] = "midpoint",
    columns: Annotated[str | None, option("Columns to convert (default: all with intervals).", noun="COLUMNS")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Turn the intervals of a release into numbers and dates: their middle, or a column for each bound.

    incrowd numbers release.csv -o numbers.csv --form bounds
    """
    with user_errors():
        from itertools import chain

        from incrowd.formats.atomic_files import AtomicFiles
        from incrowd.formats.registry import has_types, open_source, open_writer
        from incrowd.options import columns_of
        from incrowd.release.files import ReleaseFiles
        from incrowd.release.number_columns import WRITTEN, converted_rows, number_columns

        if form not in WRITTEN:
            raise PolicyError(f"The 'form' parameter must be one of {', '.join(WRITTEN)}. Got '{form}'.")
        source = open_source(table, **csv.dialect())
        ReleaseFiles.of(output).check(source, overwrite=overwrite, sidecars=False)
        with running() as run, AtomicFiles(overwrite=overwrite) as files:
            run.stage("reading")
            found = number_columns(source, form, None if columns is None else columns_of(columns))
            if not has_types(output):
                found = tuple(column.as_written() for column in found)
            run.stage("writing")
            rows = converted_rows(source, found)
            first = next(rows)
            with open_writer(files.open(output), first.schema, source) as writer:
                for batch in chain([first], rows):
                    writer.write(batch)
                    run.rows(len(batch))
        converted = ", ".join(column.name for column in found) or "no column, since none holds intervals"
        answer({"converted": [column.name for column in found]}, f"wrote {output}; converted {converted}")
