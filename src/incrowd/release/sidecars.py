"""What is written together with the rows of a release: its other files as text, and its reports."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.errors import OutputError
from incrowd.formats.sources import Source, WatchedFile
from incrowd.recodings.learned_hierarchies import learned_hierarchies_file
from incrowd.recodings.steps import steps_json

if TYPE_CHECKING:
    from incrowd.evaluation.result import Evaluation
    from incrowd.formats.atomic_files import AtomicFiles
    from incrowd.release.files import ReleaseFiles
    from incrowd.release.release import Release
    from incrowd.verification.certificate import Certificate


def sidecars_of(
    release: Release, paths: ReleaseFiles, certificate: Certificate, *, confidential: bool
) -> dict[Path, str]:
    """What is written besides the rows, by file.

    Args:
        release: The release.
        paths: Where its files go.
        certificate: Its certificate.
        confidential: Whether the recoding of a local method is written too.
    """
    contents: dict[Path, Any] = {paths.certificate: certificate.to_json()}
    if certificate.secret is not None:
        contents[paths.commitment] = certificate.secret.to_json()
    if release.key is not None:
        contents[paths.key] = release.key.to_json()
    recoding = release.recoding
    if not recoding.is_confidential:
        contents[paths.recoding] = recoding.to_json()
    elif confidential:
        contents[paths.tuples] = recoding.to_json()
    if release.steps:
        left_out = release.measures.total.suppressed > 0
        shown = {name: {*recoding.labels(name), None} for name in recoding.names}
        contents[paths.steps] = steps_json(
            [step.to_json(shown[step.attribute], left_out=left_out) for step in release.steps]
        )
    if grown := release.grown:
        contents[paths.grown] = learned_hierarchies_file(grown)
    return {path: content if isinstance(content, str) else _json(content) for path, content in contents.items()}


def _json(content: Any) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


@dataclass(frozen=True)
class Reports:
    """The reports that appear together with a release.

    Args:
        own: Where the steward's report goes, if there is one; it may lie in the confidential folder of the release.
        public: Where the public report goes, if there is one.
        evaluation: What classifiers err with the release, for the steward's report.
    """

    own: str | Path | None = None
    public: str | Path | None = None
    evaluation: Evaluation | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        """Where reports go."""
        return tuple(Path(path) for path in (self.own, self.public) if path is not None)

    def check(self, source: Source, files: ReleaseFiles, *, overwrite: bool) -> None:
        """Check that they can be written, before any work is done.

        Raises:
            OutputError: Something is in the way.
        """
        inputs = [source.path] if isinstance(source, WatchedFile) else []
        taken = {os.path.realpath(path) for path in (files.release, *files.sidecars)}
        for path in self.paths:
            from incrowd.report.files import check_report

            check_report(path, inputs=inputs, overwrite=overwrite, made=files.confidential)
            if os.path.realpath(path) in taken:
                raise OutputError(f"{path} would be written twice; give different names")
            taken.add(os.path.realpath(path))

    def write(self, release: Release, certificate: Certificate, files: AtomicFiles, paths: ReleaseFiles) -> None:
        """Write them where nobody sees them yet, to appear with the release."""
        for path, public in ((self.own, False), (self.public, True)):
            if path is not None:
                from incrowd.report.files import stage_report

                evaluation = None if public else self.evaluation
                stage_report(
                    files, release, path, public=public, folder=paths, certificate=certificate, evaluation=evaluation
                )
