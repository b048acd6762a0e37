"""Earlier releases of the same table that lie beside a new one, where nobody keeps a ledger."""

from __future__ import annotations

from pathlib import Path

from incrowd.errors import DataError
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


def beside_warning(names: tuple[str, ...]) -> str:
    """What the steward should know."""
    return (
        f"this table was released before, as {', '.join(names)}: whoever has both can compare them, and crowds may "
        "fall below k; keep a ledger from the first release on (--ledger FOLDER): it keeps the promise for all of them"
    )
