"""Reports as files: a page, Markdown or data, by the suffix; a steward's report is readable by its owner alone."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.errors import OutputError, PolicyError
from incrowd.formats.atomic_files import AtomicFiles, check_output
from incrowd.formats.sources import Source, WatchedFile
from incrowd.policy.context import checked_context
from incrowd.policy.toml import read_context
from incrowd.release.files import OWNER_FILE, OWNER_FOLDER, ReleaseFiles
from incrowd.report.dictionary.described import described
from incrowd.report.dictionary.formats import WRITERS as DICTIONARIES
from incrowd.report.markdown import markdown_of
from incrowd.report.notebook import page_of
from incrowd.report.packs import texts
from incrowd.report.packs.pack import Case, Pack
from incrowd.report.packs.registry import pack_of
from incrowd.report.page import html_of
from incrowd.report.public import Published
from incrowd.report.summary import summary_of

if TYPE_CHECKING:
    from incrowd.attacks.result import AttackReport
    from incrowd.display import Tabular
    from incrowd.evaluation.result import Evaluation
    from incrowd.release.release import Release
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
    path: str | Path, *, inputs: Iterable[Path] = (), overwrite: bool = False, pack: str | None = None
) -> Path:
    """Check that the report of a release, or a pack, can be written to a path, before any work is done."""
    suffixes = tuple(WRITERS if pack is None else texts.WRITERS)
    return check_output(path, inputs=inputs, overwrite=overwrite, suffixes=suffixes, links=False)


def check_result(path: str | Path, *, inputs: Iterable[Path] = (), overwrite: bool = False) -> Path:
    """The same for the report of an inspection, a comparison or an evaluation."""
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
    evaluation: Evaluation | None = None,
    attacks: AttackReport | None = None,
    pack: str | None = None,
    context: Context = None,
) -> Path:
    template = checked_pack(pack, public=public)
    answers = answers_of(context)
    inputs = [release.source.path] if isinstance(release.source, WatchedFile) else []
    target = check_report(path, inputs=inputs, overwrite=overwrite, pack=pack)
    summary = summary_of(release, for_public=public, evaluation=evaluation, attacks=attacks)
    with AtomicFiles(overwrite=overwrite) as files:
        if template is None:
            _write(files, target, summary, public=public)
        else:
            case = Case(summary, release.certificate.policy, answers)
            _write_pack(files, target, template, case)
    return target


Context = Mapping[str, Any] | str | Path | None  # answers about recipients, or the policy file that has them


def answers_of(context: Context) -> dict[str, str]:
    """The answers for a pack.

    Raises:
        PolicyError: One is to no question, or not what it asks for.
    """
    return read_context(context) if isinstance(context, str | Path) else checked_context(context or {})


def checked_pack(name: str | None, *, public: bool = False) -> Pack | None:
    """The template that was asked for, if one was.

    Raises:
        PolicyError: There is none with this name, or it was to be public.
    """
    if name is not None and public:
        raise PolicyError("a pack shows figures of the original table, so it cannot be public; leave one of them out")
    return None if name is None else pack_of(name)


def _write_pack(files: AtomicFiles, path: Path, pack: Pack, case: Case, folder: int | None = None) -> None:
    text = texts.WRITERS[path.suffix](pack, case)
    files.open(path, mode=OWNER_FILE, folder=folder).write_text(text, encoding="utf-8")


def _write(
    files: AtomicFiles, path: Path, summary: Mapping[str, Any], *, public: bool, folder: int | None = None
) -> None:
    text, mode = WRITERS[path.suffix](summary), None if public else OWNER_FILE
    files.open(path, mode=mode, folder=folder).write_text(text, encoding="utf-8")


@dataclass(frozen=True)
class Reports:
    """The reports that appear together with a release.

    Args:
        own: Where the steward's report goes, if there is one; it may be in the confidential folder of the release.
        public: Where the public report goes, if there is one.
        evaluation: Errors of classifiers with the release, for the steward's report.
        packs: For which bodies a pack appears in the confidential folder.
        context: Answers of the steward, for the packs.
        dictionaries: In which formats a data dictionary appears beside the release.
    """

    own: str | Path | None = None
    public: str | Path | None = None
    evaluation: Evaluation | None = None
    packs: tuple[str, ...] = ()
    context: Mapping[str, str] = field(default_factory=dict)
    dictionaries: tuple[str, ...] = ()

    def check(self, source: Source, files: ReleaseFiles, *, overwrite: bool) -> None:
        for name in self.packs:
            pack_of(name)
        inputs = [source.path] if isinstance(source, WatchedFile) else []
        taken = {os.path.realpath(path) for path in (files.release, *files.sidecars)}
        for path in (Path(each) for each in (self.own, self.public) if each is not None):
            if not files.confidential.exists() and _is_in(path, files.confidential):  # a folder that is made with it
                check_output(files.confidential.with_name(path.name), overwrite=True, suffixes=tuple(WRITERS))
            else:
                check_report(path, inputs=inputs, overwrite=overwrite)
            if os.path.realpath(path) in taken:
                raise OutputError(f"{path} would be written twice; give different names")
            taken.add(os.path.realpath(path))

    def write(self, release: Release, certificate: Certificate, files: AtomicFiles, paths: ReleaseFiles) -> None:
        for given, public in ((self.own, False), (self.public, True)):
            if given is None:
                continue
            path, evaluation = Path(given), None if public else self.evaluation
            summary = summary_of(release, for_public=public, certificate=certificate, evaluation=evaluation)
            folder = OWNER_FOLDER if _is_in(path, paths.confidential) else None
            _write(files, path, summary, public=public, folder=folder)
        if self.dictionaries:
            columns = described(Published.of(release.rows, certificate), paths.release.name)
            for name in self.dictionaries:
                files.open(paths.dictionary(name)).write_text(DICTIONARIES[name](columns), encoding="utf-8")
        if self.packs:
            own = summary_of(release, for_public=False, certificate=certificate, evaluation=self.evaluation)
            case = Case(own, certificate.policy, self.context)
            for pack, path in ((pack_of(name), path) for name in self.packs for path in paths.pack(name)):
                _write_pack(files, path, pack, case, OWNER_FOLDER)

    def written(self, paths: ReleaseFiles) -> list[Path]:
        """Which of the files that lie beside every release are written here."""
        packs = [path for name in self.packs for path in paths.pack(name)]
        return [*packs, *map(paths.dictionary, self.dictionaries)]


def _is_in(path: Path, folder: Path) -> bool:
    return os.path.realpath(path.parent) == os.path.realpath(folder)
