"""The certificate of a release: what it promises, and how anyone can check that."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incrowd.policy.policy import Policy
    from incrowd.witness import Verification


@dataclass(frozen=True)
class Certificate:
    """What a release promises and how to check it.

    Args:
        policy: The policy, seed included.
        verification: What the witness counted in the released rows.
        input: The digest of the original table.
        output: The digest of the release.
        untouched: Columns without a role, which are released as they were.
        versions: Of incrowd, and of what decides a release.
    """

    policy: dict[str, Any]
    verification: dict[str, Any]
    input: str
    output: str
    untouched: tuple[str, ...]
    versions: dict[str, str]

    @classmethod
    def of(
        cls, policy: Policy, verification: Verification, original: str, release: str, *, untouched: tuple[str, ...] = ()
    ) -> Certificate:
        """The certificate of a release that was verified.

        Args:
            policy: The policy.
            verification: What was found.
            original: The digest of the original table.
            release: The digest of the release.
            untouched: Columns without a role.
        """
        versions = {name: version(name) for name in ("incrowd", "numpy", "pyarrow")}
        versions["python"] = platform.python_version()
        return cls(policy.to_json(), verification.to_json(), original, release, untouched, versions)

    def to_json(self) -> dict[str, Any]:
        """As JSON-able data."""
        return {"incrowd": "certificate", **self.__dict__, "untouched": list(self.untouched)}
