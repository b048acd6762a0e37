"""The key of a release: the one secret from which everything is drawn that nobody else may rebuild.

Which of several equal records goes to which class, and whatever a search draws at random, follows from this key. It is
drawn anew for each release and follows from nothing else, so whoever has the code, the policy, the released files and
everyone's quasi-identifiers still lacks it. It stays with the steward, who can pass it to get the very same release
again: the same rows, the same policy and the same key give the same release, in any order of rows and on any engine.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from incrowd.errors import PolicyError, shown
from incrowd.schemas.documents import Document
from incrowd.schemas.shapes import Text

KEY_FILE = "key.json"  # what the confidential file with the key is called
KEY_BYTES = 32
DOCUMENT = Document("key", 1, f"give the {KEY_FILE} in the confidential folder of a release", megabytes=1)


@dataclass(frozen=True)
class Key:
    """A secret of 32 bytes; what is drawn for different purposes is independent."""

    secret: bytes = field(repr=False)

    @classmethod
    def drawn(cls) -> Key:
        """A new key, which nobody has."""
        return cls(secrets.token_bytes(KEY_BYTES))

    @classmethod
    def of(cls, given: Key | str | Path | None) -> Key:
        """The key that a user gave: itself, or the file that holds it; a new one for None.

        Raises:
            PolicyError: It is neither.
            DataError: The file cannot be read, or is not such a file.
        """
        if given is None:
            return cls.drawn()
        if isinstance(given, Key):
            return given
        if isinstance(given, str | Path):
            return cls.read(given)
        raise PolicyError(f"The 'key' parameter must be a key or the path of a {KEY_FILE}. Got {shown(type(given))}.")

    @classmethod
    def for_experiments(cls, number: int) -> Key:
        """A key that anyone can rebuild, for trials whose rows nobody gets: never for a release."""
        return cls(hashlib.blake2b(f"experiment {number}".encode(), digest_size=KEY_BYTES).digest())

    def derived(self, purpose: str, data: bytes = b"") -> bytes:
        """The secret of one purpose; other purposes, and other data, have others."""
        digest = hashlib.blake2b(key=self.secret, person=purpose.encode(), digest_size=KEY_BYTES)
        digest.update(data)
        return digest.digest()

    def number(self, purpose: str, place: int = 0) -> int:
        """A random number below 2 ** 63: where the draws of one purpose start."""
        return int.from_bytes(self.derived(purpose, str(place).encode())[:8], "little") >> 1

    def to_json(self) -> dict[str, Any]:
        """As JSON-able data, for the steward alone."""
        return DOCUMENT.sealed({"key": self.secret.hex()})

    @classmethod
    def read(cls, path: str | Path) -> Key:
        """Read the confidential file.

        Raises:
            DataError: The file cannot be read, is no such file, or was changed.
        """
        digits = 2 * KEY_BYTES
        shape = Text(pattern=f"[0-9a-f]{{{digits}}}", called=f"a key of {digits} hexadecimal digits")
        return cls(bytes.fromhex(DOCUMENT.read(path, DOCUMENT.shape({"key": shape}))["key"]))
