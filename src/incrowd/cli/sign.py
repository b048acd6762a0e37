"""What `incrowd sign` and `incrowd verify --signature` do."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from incrowd.cli.groups import option, path_option
from incrowd.cli.messages import user_errors
from incrowd.cli.options import Overwrite
from incrowd.cli.voice import answer
from incrowd.errors import PolicyError
from incrowd.options import FILES

_FILE = "A release, whose certificate beside it is signed as well, or any other file, such as a pack."
_KEY = "Your private key (Ed25519, PEM), which only you can read."


def sign(
    file: Annotated[Path, typer.Argument(help=_FILE, show_default=False, readable=False)],
    key: Annotated[Path, path_option(_KEY, "--key", section=FILES)],
    new_key: Annotated[bool, option("Make the key first; it must not exist.", "--new-key", section=FILES)] = False,
    overwrite: Overwrite = False,
) -> None:
    """Sign a file, in a file of its own beside it: FILE.signature.json.

    incrowd sign release.csv --key steward.pem
    """
    with user_errors():
        from incrowd.verification import signature

        if new_key:
            signature.new_key(key)
        target, who = signature.sign(file, key, certificate_of(file), overwrite=overwrite)
        answer({"signature": str(target), "signer": who}, f"wrote {target}, signed by {who}")


def certificate_of(file: Path) -> Path | None:
    """Where the certificate of a file is, if it is a release."""
    from incrowd.formats.registry import format_of
    from incrowd.release.files import ReleaseFiles

    return None if format_of(file) is None else ReleaseFiles.of(file).certificate


def check_signed(signature: Path | None, file: Path, signer: str | None, *, alone: bool) -> None:
    """Check a signature, and say who has signed what; other things cannot be asked in the same command."""
    if signature is None:
        raise PolicyError("--signer says who must have signed; give the .signature.json as --signature as well")
    if not alone:
        raise PolicyError(
            "a signature is checked by itself; leave out --qi, --policy and --certificate, or --signature"
        )
    from incrowd.verification.signature import check_signature

    found = check_signature(signature, file, signer, certificate_of(file))
    files = dict(found.files)
    told = ", ".join(f"{name} ({digest})" for name, digest in files.items())
    answer(
        {"holds": True, "signer": found.signer, "signed": found.signed, "files": files},
        f"signed by {found.signer} on {found.signed}: {told}",
    )
