"""What is written together with the rows of a release: its other files, as text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.recodings.learned_hierarchies import learned_hierarchies_file
from incrowd.recodings.steps import steps_json

if TYPE_CHECKING:
    from incrowd.release.files import ReleaseFiles
    from incrowd.release.release import Release
    from incrowd.verification.certificate import Certificate


def sidecars_of(
    release: Release, paths: ReleaseFiles, certificate: Certificate, *, confidential: bool
) -> dict[Path, str]:
    contents: dict[Path, Any] = {paths.certificate: certificate.to_json()}
    if certificate.secret is not None:
        contents[paths.commitment] = certificate.secret.to_json()
    if release.key is not None:
        contents[paths.key] = release.key.to_json()
    if release.settled.earlier is not None and release.settled.earlier.continues is not None:
        return _texts(contents)  # a codebook would tell of newcomers who wait, and not of rows that left before
    recoding = release.recoding
    contents[paths.recoding] = recoding.for_new_rows.to_json()
    if confidential and recoding.is_confidential:
        contents[paths.tuples] = recoding.to_json()
    if release.steps:
        left_out = release.measures.total.suppressed > 0
        shown = {name: {*recoding.labels(name), None} for name in recoding.names}
        contents[paths.steps] = steps_json(
            [step.to_json(shown[step.attribute], left_out=left_out) for step in release.steps]
        )
    if grown := release.grown:
        contents[paths.grown] = learned_hierarchies_file(grown)
    return _texts(contents)


def _texts(contents: dict[Path, Any]) -> dict[Path, str]:
    return {path: content if isinstance(content, str) else _json(content) for path, content in contents.items()}


def _json(content: Any) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
