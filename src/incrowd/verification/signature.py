"""Detached signatures: who answers for a release, its certificate, or a pack.

A signature is a file of its own, with the digests of what was signed and the public key of whoever signed (Ed25519). A
key in a file proves nothing about a person, so whoever checks says whose signature is expected: without that, or if
anything differs, the check fails. The private key is read where it lies, and is never written anywhere else.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import stat
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.errors import DataError, MissingPackageError, NotAnonymousError, PolicyError
from incrowd.formats.atomic_files import AtomicFiles, check_output
from incrowd.formats.registry import open_source
from incrowd.schemas.documents import DIGEST, Document
from incrowd.schemas.regular_files import open_regular
from incrowd.schemas.shapes import Fields, ListOf, Text
from incrowd.verification.certificate import Certificate

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

DOCUMENT = Document("signature", 1, "give the .signature.json of a file", megabytes=1)
ENDING = ".signature.json"
_OWNER_FILE = 0o600
_PART = 1 << 20  # bytes of a file that are read at once
_MOST_KEY = 1 << 16  # bytes of a key file
_SIGNED = Fields({"name": Text(blank=False), "digest": DIGEST})
_SHAPE = DOCUMENT.shape(
    {
        "files": ListOf(_SIGNED, 1),
        "signed": Text(blank=False),
        "public_key": Text(pattern="[0-9a-f]{64}", called="a public key of 64 hexadecimal digits"),
        "signature": Text(pattern="[0-9a-f]{128}", called="a signature of 128 hexadecimal digits"),
    }
)


@dataclass(frozen=True)
class SignatureCheck:
    """What was found of a signature that holds."""

    signer: str
    signed: str
    files: tuple[tuple[str, str], ...]


def fingerprint(public: bytes) -> str:
    """The fingerprint of a public key, to compare by telephone."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(public).digest()).decode().rstrip("=")


def new_key(path: str | Path) -> str:
    """Draw a private key, and write it where nobody but its owner can read it.

    Returns:
        The fingerprint of its public half.
    """
    keys, serialization = _library()
    target = check_output(path, suffixes=(".pem",), links=False)
    private = keys.Ed25519PrivateKey.generate()
    kind, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    data = private.private_bytes(kind, form, serialization.NoEncryption())
    with AtomicFiles(overwrite=False) as files:
        files.open(target, mode=_OWNER_FILE).write_bytes(data)
    return fingerprint(private.public_key().public_bytes_raw())


def sign(
    path: str | Path, key: str | Path, certificate: Path | None = None, *, overwrite: bool = False
) -> tuple[Path, str]:
    """Sign a file; with the rows of a release also their certificate.

    Args:
        path: The file.
        key: The file of the private key.
        certificate: Where the certificate of a release with these rows would be; None if it cannot be one.
        overwrite: Whether an earlier signature may be replaced.

    Returns:
        The signature's file, and the fingerprint of the signer.

    Raises:
        OutputError: The signature cannot be written.
        PolicyError: The key is none, or others can read it.
        NotAnonymousError: The certificate beside the rows is not theirs.
    """
    private = _private(Path(key))
    path = Path(path)
    target = path.with_name(path.name + ENDING)
    check_output(target, inputs=[path, Path(key)], overwrite=overwrite, suffixes=(ENDING,), links=False)
    public = private.public_key().public_bytes_raw()
    content = {
        **DOCUMENT.head(),
        "files": _digests(path, certificate),
        "signed": datetime.now(UTC).isoformat(timespec="seconds"),
        "public_key": public.hex(),
    }
    document = {**content, "signature": private.sign(_message(content)).hex()}
    text = json.dumps(DOCUMENT.sealed(document), indent=1, ensure_ascii=False) + "\n"
    with AtomicFiles(overwrite=overwrite) as files:
        files.open(target).write_text(text, encoding="utf-8")
    return target, fingerprint(public)


def check_signature(
    signature: str | Path, path: str | Path, signer: str | None, certificate: Path | None = None
) -> SignatureCheck:
    """Check that a file, and the certificate beside it, are those that a signer signed.

    Args:
        signature: The signature's file.
        path: What was signed.
        signer: The fingerprint of whoever should have signed it, known from elsewhere than this file.
        certificate: As when it was signed.

    Raises:
        NotAnonymousError: The signature does not hold, or nobody said whose it must be.
        DataError: It is no signature.
    """
    keys, _ = _library()
    from cryptography.exceptions import InvalidSignature

    document = DOCUMENT.read(signature, _SHAPE)
    content = {name: document[name] for name in document if name not in ("signature", "digest")}
    public = bytes.fromhex(document["public_key"])
    who = fingerprint(public)
    try:
        verifier: Ed25519PublicKey = keys.Ed25519PublicKey.from_public_bytes(public)
        verifier.verify(bytes.fromhex(document["signature"]), _message(content))
    except (InvalidSignature, ValueError):
        raise NotAnonymousError(f"the signature does not hold: {signature} was not made with the key in it") from None
    if (found := _digests(Path(path), certificate)) != document["files"]:
        names = [each["name"] for each in document["files"] if each not in found]
        other = ", ".join(names) or "a file beside it"
        raise NotAnonymousError(f"the signature does not hold: {other} is not what {who} signed")
    if signer is None:
        raise NotAnonymousError(
            f"signed by {who}, which proves nothing by itself; give --signer with the fingerprint that you know"
        )
    if signer != who:
        raise NotAnonymousError(f"the signature does not hold: it was made by {who}, and not by {signer[:100]}")
    return SignatureCheck(who, document["signed"], tuple((each["name"], each["digest"]) for each in found))


def _message(content: dict[str, Any]) -> bytes:
    return b"incrowd signature\n" + json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


def _digests(path: Path, certificate: Path | None) -> list[dict[str, str]]:
    """What is signed: a file, and the certificate of a release whose rows it has."""
    if certificate is None or not certificate.exists():
        return [{"name": path.name, "digest": _digest(path)}]
    rows = open_source(path).fingerprint()
    if Certificate.read(certificate).output != rows:
        raise NotAnonymousError(f"{certificate.name} is the certificate of other rows than those of {path.name}")
    return [{"name": path.name, "digest": rows}, {"name": certificate.name, "digest": _digest(certificate)}]


def _digest(path: Path) -> str:
    try:
        with open_regular(path) as file:
            found = hashlib.sha256()
            while part := file.read(_PART):
                found.update(part)
            return f"sha256:{found.hexdigest()}"
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}; give a file") from None


def _private(path: Path) -> Ed25519PrivateKey:
    keys, serialization = _library()
    try:
        with open_regular(path) as file:
            mode, data = os.fstat(file.fileno()).st_mode, file.read(_MOST_KEY)
    except OSError as error:
        raise PolicyError(f"cannot read the key {path}: {error.strerror}; make one with --new-key") from None
    if sys.platform != "win32" and stat.S_IMODE(mode) & 0o077:
        raise PolicyError(f"others can read the key {path}; use another one, and keep it to yourself (chmod 600)")
    private: Ed25519PrivateKey | None
    try:
        private = serialization.load_pem_private_key(data, None)
    except (ValueError, TypeError, _unsupported()):  # not PEM, or with a password
        private = None
    if private is None or not isinstance(private, keys.Ed25519PrivateKey):
        raise PolicyError(f"{path} is not an Ed25519 key in PEM without a password; make one with --new-key")
    return private


def _unsupported() -> type[Exception]:
    from cryptography.exceptions import UnsupportedAlgorithm

    return UnsupportedAlgorithm


def _library() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise MissingPackageError("signatures need the package cryptography", "signing") from None
    return ed25519, serialization
