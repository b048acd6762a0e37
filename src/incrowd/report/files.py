"""Reports as files: the suffix says whether it is a page, Markdown or data; a steward's report is its owner's alone."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.formats.atomic_files import AtomicFiles, check_output
from incrowd.formats.sources import WatchedFile
from incrowd.release.files import OWNER_FILE, OWNER_FOLDER, ReleaseFiles
from incrowd.report.markdown import markdown_of
from incrowd.report.notebook import page_of
from incrowd.report.page import html_of
from incrowd.report.summary import summary_of

if TYPE_CHECKING:
    from incrowd.evaluation.result import Evaluation
    from incrowd.release.release import Release
    from incrowd.tabular import Tabular
    from incrowd.verification.certificate import Certificate


def _json_of(summary: Mapping[str, Any]) -> str:
    return json.dumps(summary, indent=1, ensure_ascii=False) + "\n"


WRITERS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    ".html": html_of,
    ".md": markdown_of,
    ".json": _json_of,
}


RESULTS: Mapping[str, Callable[[Any], str]] = {
    ".html": page_of,
    ".json": lambda result: _json_of(result.to_json()),
}


def check_report(
    path: str | Path, *, inputs: Iterable[Path] = (), overwrite: bool = False, made: Path | None = None
) -> Path:
    """Check that a report can be written to a path, before any work is done.

    Args:
        path: The path.
        inputs: What must not be overwritten.
        overwrite: Whether a file that is there already may be replaced.
        made: A folder that need not be there yet, because it is made with the report.

    Raises:
        OutputError: Something is in the way.
    """
    target = Path(path)
    if made is not None and not made.exists() and os.path.realpath(target.parent) == os.path.realpath(made):
        check_output(made.with_name(target.name), overwrite=True, suffixes=tuple(WRITERS))  # the suffix, the place
        return target
    return check_output(path, inputs=inputs, overwrite=overwrite, suffixes=tuple(WRITERS), links=False)


def check_result(path: str | Path, *, inputs: Iterable[Path] = (), overwrite: bool = False) -> Path:
    """The same for the report of an inspection, a comparison or an evaluation.

    Raises:
        OutputError: Something is in the way.
    """
    return check_output(path, inputs=inputs, overwrite=overwrite, suffixes=tuple(RESULTS), links=False)


def write_result(result: Tabular, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write a result as a page or as data, for its owner alone."""
    target = check_result(path, overwrite=overwrite)
    with AtomicFiles(overwrite=overwrite) as files:
        files.open(target, mode=OWNER_FILE).write_text(RESULTS[target.suffix](result), encoding="utf-8")
    return target


def write_report(
    release: Release,
    path: str | Path,
    *,
    public: bool = False,
    overwrite: bool = False,
    certificate: Certificate | None = None,
    evaluation: Evaluation | None = None,
) -> Path:
    """Write the report of a release.

    Args:
        release: The release.
        path: Where to; the suffix is .html, .md or .json.
        public: Whether anyone may read it; otherwise it is confidential, and the file its owner's alone.
        overwrite: Whether a file that is there already may be replaced.
        certificate: The certificate of the file that the release was written to; that of its `data` if None.
        evaluation: What classifiers err with the release, for the steward's report.
    """
    inputs = [release.source.path] if isinstance(release.source, WatchedFile) else []
    target = check_report(path, inputs=inputs, overwrite=overwrite)
    with AtomicFiles(overwrite=overwrite) as files:
        stage_report(files, release, target, public=public, certificate=certificate, evaluation=evaluation)
    return target


def stage_report(
    files: AtomicFiles,
    release: Release,
    path: str | Path,
    *,
    public: bool,
    folder: ReleaseFiles | None = None,
    certificate: Certificate | None = None,
    evaluation: Evaluation | None = None,
) -> None:
    """Write the report of a release where nobody sees it, to appear with other files.

    Args:
        files: The files that appear together.
        release: The release.
        path: Where the report will be.
        public: Whether anyone may read it.
        folder: Where the files of the release go, if the report may lie in their confidential folder.
        certificate: The certificate of the release.
        evaluation: What classifiers err with the release.
    """
    target = Path(path)
    summary = summary_of(release, for_public=public, certificate=certificate, evaluation=evaluation)
    text = WRITERS[target.suffix](summary)
    private = folder is not None and os.path.realpath(target.parent) == os.path.realpath(folder.confidential)
    made = OWNER_FOLDER if private else None
    files.open(target, mode=None if public else OWNER_FILE, folder=made).write_text(text, encoding="utf-8")
