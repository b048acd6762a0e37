"""What `incrowd verify --certificate` does: every claim of a certificate against the released rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from incrowd.cli.messages import print_json, running
from incrowd.errors import PolicyError

_VERDICTS = {True: "holds", False: "DOES NOT HOLD", None: "not shown"}


def check_file(
    certificate: Path, table: Path, dialect: dict[str, Any], against: dict[str, Any], *, as_json: bool, alone: bool
) -> None:
    """Check a release against its certificate, and print what was found for every claim."""
    if not alone:
        raise PolicyError("a certificate says what must hold; leave out --qi and --policy, or --certificate")
    from incrowd.verification.recipient import check_certificate

    with running() as run:
        run.stage("counting")
        found = check_certificate(certificate, table, run=run, **against, **dialect)
    if as_json:
        print_json(found.to_json())
    else:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        rows = Table(box=None, show_header=False)
        for claim in found.claims:
            rows.add_row(Text(_VERDICTS[claim.holds]), Text(claim.claim), Text(claim.found))
        Console().print(rows)
    found.require()
