"""Earlier releases that lie beside a new one, and that no ledger knows: there is none, or it is an older copy."""

from __future__ import annotations

import contextlib
from pathlib import Path

from incrowd.errors import DataError
from incrowd.ledger.store import Ledger
from incrowd.verification.certificate import COMMITMENT_FILE, Certificate, Commitment

_MOST = 200  # folders to look into


def earlier_beside(own: Path, certificate: Certificate) -> tuple[str, ...]:
    """The names of other releases of the same table whose confidential folders lie beside that of a new one."""
    assert certificate.secret is not None
    found = []
    for path in sorted(own.parent.glob(f"*.confidential/{COMMITMENT_FILE}"))[:_MOST]:
        try:
            if path.parent != own and Commitment.read(path).digest == certificate.secret.digest:
                found.append(path.parent.name.removesuffix(".confidential"))
        except (DataError, OSError):
            continue
    return tuple(found)


def check_known(folder: Path, ledger: Ledger) -> None:
    """Check that the ledger knows its own releases whose confidential folders lie in a folder.

    Raises:
        DataError: It does not know one, so that it is an older copy; a release that goes out now could tell who is who.
    """
    salts = {ledger.salt(number): number for number in range(ledger.next_number, ledger.next_number + _MOST)}
    for path in sorted(folder.glob(f"*.confidential/{COMMITMENT_FILE}"))[:_MOST]:
        with contextlib.suppress(DataError, OSError):
            if (number := salts.get(Commitment.read(path).salt)) is not None:
                name = path.parent.name.removesuffix(".confidential")
                break
    else:
        return
    raise DataError(
        f"{name} in {folder} is release {number} of this ledger, which does not know it: {ledger.folder} is an older "
        "copy, so use the newest one; if you forgot that release, delete its files"
    )


def beside_warning(names: tuple[str, ...]) -> str:
    """What the steward should know."""
    return (
        f"this table was released before, as {', '.join(names)}: whoever has both can compare them, and crowds may "
        "fall below k; keep a ledger from the first release on (--ledger FOLDER): it keeps the promise for all of them"
    )
