"""The certificate of a release: what it promises, and how anyone can check that.

It goes out with the release and says no more of the original table than the released rows do. A plain digest of the
original would confirm any guess of it, so the certificate commits to the original with a salt: who has the salt and the
original can show later that it was this one, and nobody else learns anything. The salt stays with the steward, in a
file of its own (`Commitment`).
"""

from __future__ import annotations

import hmac
import platform
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.display import Rows, Tabular
from incrowd.errors import many
from incrowd.policy.options import OPTIONS, TYPES
from incrowd.schemas.documents import DIGEST, Document
from incrowd.schemas.shapes import (
    Anything,
    Choice,
    Either,
    Fields,
    Flag,
    ListOf,
    Nothing,
    Number,
    Shape,
    TableOf,
    Text,
    Whole,
)
from incrowd.search.registry import METHODS
from incrowd.verification.guarantee import SHAPE, Guarantee
from incrowd.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from incrowd.policy.policy import Policy
    from incrowd.verification.witness import Verdict

COMMITMENT_FILE = "commitment.json"  # what the confidential file with the salt is called
SALT_BYTES = 32

DOCUMENT = Document("certificate", 2, "give the .certificate.json of a release", megabytes=64)
SECRET = Document("commitment", 1, f"give the {COMMITMENT_FILE} of a release", megabytes=1)
_COMMITTED = Text(pattern="hmac-sha256:[0-9a-f]{64}", called="a commitment such as hmac-sha256:0b5e...")
_SALT = Text(pattern=f"[0-9a-f]{{{2 * SALT_BYTES}}}", called=f"a salt of {2 * SALT_BYTES} hexadecimal digits")


@dataclass(frozen=True)
class Commitment:
    """The secret half of a commitment to an original table."""

    salt: bytes = field(repr=False)
    digest: str = field(repr=False)

    @classmethod
    def to(cls, digest: str, salt: bytes | None = None) -> Commitment:
        """Commit to the original with a digest; the salt is drawn, so that two certificates of one table differ."""
        return cls(secrets.token_bytes(SALT_BYTES) if salt is None else salt, digest)

    @property
    def public(self) -> str:
        """What goes into the certificate: it tells nothing without the salt."""
        return f"hmac-sha256:{hmac.digest(self.salt, self.digest.encode(), 'sha256').hex()}"

    def to_json(self) -> dict[str, Any]:
        """As JSON-able data, confidential: with it any guess of the original can be tried."""
        return SECRET.sealed({"salt": self.salt.hex(), "original": self.digest})

    @classmethod
    def read(cls, path: str | Path) -> Commitment:
        """Read the confidential file.

        Raises:
            DataError: The file cannot be read, is no such file, or was changed.
        """
        data = SECRET.read(path, SECRET.shape({"salt": _SALT, "original": DIGEST}))
        return cls(bytes.fromhex(data["salt"]), data["original"])


@dataclass(frozen=True, repr=False)
class Certificate(Tabular):
    """What a release promises and how to check it.

    Args:
        verification: What the witness counted in the released rows.
        commitment: To the original table; nobody can tell from it which that was.
        output: The digest of the release.
        untouched: Columns without a role, which are released as they were.
        warnings: What every recipient should know, beside what is promised.
        versions: Of incrowd, and of what decides a release.
        guarantee: Of differential privacy, where the release has one.
        secret: What the steward keeps to prove the commitment; None if the certificate was read from a file.
    """

    policy: dict[str, Any]
    verification: dict[str, Any]
    commitment: str
    output: str
    untouched: tuple[str, ...]
    versions: dict[str, str]
    warnings: tuple[str, ...] = ()
    releases: Mapping[str, Any] | None = None
    guarantee: Guarantee | None = None
    secret: Commitment | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(
        cls,
        policy: Policy,
        verification: Verdict,
        original: str,
        release: str,
        *,
        untouched: tuple[str, ...] = (),
        warnings: tuple[str, ...] = (),
        releases: Mapping[str, Any] | None = None,
        guarantee: Guarantee | None = None,
        salt: bytes | None = None,
    ) -> Certificate:
        """The certificate of a verified release; it does not show the digest of the original."""
        import numpy as np  # to read a certificate takes neither
        import pyarrow as pa

        versions = {"incrowd": __version__, "numpy": np.__version__, "pyarrow": pa.__version__}
        versions["python"] = platform.python_version()
        secret = Commitment.to(original, salt)
        found = policy.to_json(), verification.to_json()
        return cls(*found, secret.public, release, untouched, versions, warnings, releases, guarantee, secret)

    def headline(self) -> str:
        crowds = [
            f"{', '.join(model['model'] for model in found['models'])} on {', '.join(found['attributes'])}"
            for found in self.verification["quasi_identifiers"]
        ]
        return f"{many(self.verification['records'], 'record')}: {'; '.join(crowds)}"

    def to_rows(self) -> Rows:
        """What is promised and was counted, by quasi-identifier and privacy model, a row each."""
        return [
            {"quasi_identifier": ", ".join(found["attributes"]), "classes": found["classes"], **model}
            for found in self.verification["quasi_identifiers"]
            for model in found["models"]
        ]

    def remarks(self) -> tuple[str, ...]:
        return (f"digest of the release: {self.output}", *self.warnings)

    def commits_to(self, original: str, salt: bytes) -> bool:
        """Whether it was made from an original with this digest, given the salt that the steward kept."""
        return hmac.compare_digest(self.commitment, Commitment(salt, original).public)

    def to_json(self) -> dict[str, Any]:
        """As JSON-able data, to go out with the release; the secret is not in it."""
        fields = {name: getattr(self, name) for name in ("policy", "verification", "commitment", "output")}
        warned: dict[str, Any] = {"warnings": list(self.warnings)} if self.warnings else {}
        warned |= {} if self.releases is None else {"releases": dict(self.releases)}
        warned |= {} if self.guarantee is None else {"differential_privacy": self.guarantee.to_json()}
        return DOCUMENT.sealed({**fields, "untouched": list(self.untouched), **warned, "versions": self.versions})

    @classmethod
    def read(cls, path: str | Path) -> Certificate:
        """Read the certificate of a release.

        Raises:
            DataError: The file cannot be read, is no certificate, or was changed.
        """
        data = DOCUMENT.read(path, _shape())
        found = data["policy"], data["verification"], data["commitment"], data["output"]
        told = data.get("differential_privacy")
        return cls(
            *found,
            tuple(data["untouched"]),
            data["versions"],
            tuple(data.get("warnings", ())),
            data.get("releases"),
            None if told is None else Guarantee(**told),
        )


_NAMES = ListOf(Text(blank=False), distinct=True)
_COUNT = Whole(0)
_QUASI_IDENTIFIER: Mapping[str, Shape] = {"attributes": ListOf(Text(blank=False), 1, distinct=True), "k": Whole(1)}
_MODEL = Fields(
    {
        "model": Text(),
        "threshold": Either((Number(), Nothing())),
        "worst": Number(),
        "bad_classes": _COUNT,
        "bad_records": _COUNT,
        "name": Text(),
        "column": Either((Text(), Nothing())),
        "holds": Flag(),
    }
)
_FINDING = Fields(
    {**_QUASI_IDENTIFIER, "holds": Flag(), "anonymity": Whole(1), "classes": Whole(1), "models": ListOf(_MODEL)}
)
_VERIFICATION = Fields({"holds": Flag(), "records": Whole(1), "quasi_identifiers": ListOf(_FINDING, 1)})


_RELEASES = Fields({"number": Whole(1), "recipient": Text(), "continues": ListOf(Whole(1)), "beside": ListOf(Whole(1))})


def _shape() -> Fields:
    """The schema of a certificate; the names in its policy are those of policies and of methods."""
    options = {option for method in METHODS.values() for option in method.options}
    known: dict[str, Shape] = dict.fromkeys((*options, *OPTIONS), Anything())
    special: dict[str, Shape] = {
        "target": Either((Text(), Nothing())),
        "identifiers": _NAMES,
        "sensitive": _NAMES,
        "insensitive": _NAMES,
        "keep": _NAMES,
        "protections": TableOf(TableOf(Anything())),
        "unit": Text(blank=False),
        "types": TableOf(Choice(TYPES)),
        "missing_values": ListOf(Text()),
    }
    known.pop("quasi_identifiers")
    policy = Fields({"quasi_identifiers": ListOf(Fields(_QUASI_IDENTIFIER), 1)}, {**known, **special})
    return DOCUMENT.shape(
        {
            "policy": policy,
            "verification": _VERIFICATION,
            "commitment": _COMMITTED,
            "output": DIGEST,
            "untouched": _NAMES,
            "versions": TableOf(Text()),
        },
        optional={"warnings": _NAMES, "releases": _RELEASES, "differential_privacy": SHAPE},
    )
