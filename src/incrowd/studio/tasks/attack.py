"""Plays attackers against the file of a release, which is all that they would have."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from incrowd.attacks.attack import attack
from incrowd.errors import DataError
from incrowd.release.files import ReleaseFiles
from incrowd.release.release import made_again
from incrowd.run import Run
from incrowd.studio.policy_settings import policy_of


def work(request: Mapping[str, Any], run: Run) -> dict[str, Any]:
    """Attack the release "name" in "folder", as the table [attack] of its policy says; "of" is its digest."""
    files = ReleaseFiles.of(Path(request["folder"]) / request["name"])
    if not files.release.exists():
        raise DataError("the files of the release are gone; make it again on the screen Release")
    policy, dialect = policy_of(request["policy"], Path(request["home"]))
    found = attack(
        files.release,
        request["table"],
        policy=policy,
        again=made_again(policy),
        codebook=files.recoding if files.recoding.exists() else None,
        run=run,
        **request["policy"].get("attack", {}),
        **dialect,
    )
    return {**found.to_json(), "rows": found.to_rows(), "of": request["of"]}
