"""What `incrowd verify --certificate` does: every claim of a certificate against the released rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from incrowd.cli.messages import running
from incrowd.cli.voice import show_result
from incrowd.errors import PolicyError


def check_file(
    certificate: Path, table: Path, dialect: dict[str, Any], against: dict[str, Any], *, alone: bool
) -> None:
    """Check a release against its certificate, and print what was found for every claim."""
    if not alone:
        raise PolicyError("a certificate says what must hold; leave out --qi and --policy, or --certificate")
    from incrowd.verification.recipient import check_certificate

    with running() as run:
        run.stage("counting")
        found = check_certificate(certificate, table, run=run, **against, **dialect)
    show_result(found)
    found.require()
