"""What `incrowd inspect` does: look at a table, show what was found, and write a policy to begin with."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

from incrowd.cli.groups import option, path_option
from incrowd.cli.messages import running, user_errors
from incrowd.cli.options import CsvOptions, Input, Overwrite
from incrowd.cli.report import ResultReport
from incrowd.cli.voice import VOICE, show_result
from incrowd.options import FILES


def inspect(
    table: Input,
    csv: CsvOptions,
    page: ResultReport,
    unit: Annotated[
        str | None, option("Person ID, such as patient_id: uniques count people.", "--unit", noun="COLUMN")
    ] = None,
    write: Annotated[
        Path | None, path_option("Write the proposals as a release.toml.", "--write", section=FILES)
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Inspect a table: types, values, what could identify a person, proposed roles and hierarchies.

    incrowd inspect people.csv --write release.toml

    incrowd anonymize people.csv -o release.csv --policy release.toml
    """
    with user_errors():
        from incrowd.formats.atomic_files import AtomicFiles, check_output
        from incrowd.formats.registry import open_source
        from incrowd.inspection.inspection import inspection_of

        dialect = csv.dialect()
        with running() as run:
            source = open_source(table, **dialect)
            if write is not None:
                check_output(write, inputs=[table], overwrite=overwrite, suffixes=(".toml",))
            page.check(table, overwrite=overwrite)
            found = inspection_of(source, run, dialect, unit)
        typed = str(table) if table.exists() else found.name  # the address of a server may hold a password
        if write is not None:
            with AtomicFiles(overwrite=overwrite) as files:
                files.open(write).write_text(found.policy_toml(typed, write), encoding="utf-8")
        show_result(found)
        page.write(found, overwrite=overwrite)
        if write is not None:
            follow = f"incrowd anonymize {quote(typed)} -o release.csv --policy {quote(str(write))}"
            VOICE.summary = f"wrote {write}; read it, then: {follow}"
