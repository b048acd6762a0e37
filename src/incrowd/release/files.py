"""The files of a release: which of them go out, and which are for the steward alone.

Beside the release lie files that say no more than the release itself does: its certificate, the recoding of a global
method, which is its codebook, and data dictionaries. All else goes to the folder `<stem>.confidential`, which only its
owner may read: the salt of the certificate, the key of the release, how the search went, and, on request, the recoding
of a local method, which holds the original tuples.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from incrowd.errors import IncrowdError, OutputError
from incrowd.formats.atomic_files import AtomicFiles, check_output, output_errors
from incrowd.formats.registry import format_of, open_source
from incrowd.formats.sources import Source, WatchedFile
from incrowd.key import KEY_FILE
from incrowd.policy.context import PACKS
from incrowd.policy.dictionary import DICTIONARIES
from incrowd.verification.certificate import COMMITMENT_FILE

OWNER_FOLDER, OWNER_FILE = 0o700, 0o600
_SUFFIXES = (".json", ".toml", ".html", ".md", ".xml")  # of what lies beside a release


@dataclass(frozen=True)
class ReleaseFiles:
    """Where the files of a release go."""

    release: Path

    @classmethod
    def of(cls, path: str | Path) -> ReleaseFiles:
        return cls(Path(path))

    @property
    def certificate(self) -> Path:
        """What the release promises, for anyone."""
        return self._beside("certificate.json")

    @property
    def recoding(self) -> Path:
        """What became of every value, for anyone; only a recoding that says no more than the release."""
        return self._beside("recoding.json")

    @property
    def confidential(self) -> Path:
        """The folder of files that are for the steward alone."""
        return self._beside("confidential")

    @property
    def steps(self) -> Path:
        """How the search went, with the sizes of classes."""
        return self.confidential / "steps.json"

    @property
    def grown(self) -> Path:
        """The hierarchies that the search grew for numbers, to edit and to give back."""
        return self.confidential / "taxonomies.toml"

    @property
    def tuples(self) -> Path:
        """What became of every tuple of the original table."""
        return self.confidential / "recoding.json"

    @property
    def commitment(self) -> Path:
        """The secret half of the certificate's commitment to the original table."""
        return self.confidential / COMMITMENT_FILE

    @property
    def key(self) -> Path:
        """The key of the release, with which it can be made again."""
        return self.confidential / KEY_FILE

    def dictionary(self, name: str) -> Path:
        """A data dictionary of the released rows, for anyone."""
        return self._beside(DICTIONARIES[name])

    def pack(self, name: str) -> tuple[Path, Path]:
        """The pack for a board, as a page and as Markdown."""
        return self.confidential / f"pack-{name}.html", self.confidential / f"pack-{name}.md"

    @property
    def sidecars(self) -> tuple[Path, ...]:
        packs = (path for name in PACKS for path in self.pack(name))
        own = (self.steps, self.grown, self.tuples, self.commitment, self.key, *packs)
        return (*self.public, *own)

    @property
    def public(self) -> tuple[Path, ...]:
        """The files that may go out with the release."""
        return (self.certificate, self.recoding, *map(self.dictionary, DICTIONARIES))

    def _beside(self, ending: str) -> Path:
        stem = self.release.name.removesuffix(".gz").rpartition(".")[0]
        return self.release.with_name(f"{stem}.{ending}")

    def check(self, source: Source, *, overwrite: bool, sidecars: bool = True, rows: bool = True) -> None:
        """Check that all files can be written, before any work is done.

        Raises:
            OutputError: Something is in the way.
        """
        inputs = [source.path] if isinstance(source, WatchedFile) else []
        if rows:
            check_output(self.release, inputs=inputs, overwrite=overwrite)
        if not sidecars:
            return
        self.check_own()
        folder = self.confidential
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            raise OutputError(f"{folder} is not a directory of its own; choose another name for the release")
        for path in self.sidecars:
            if path.parent == folder and not folder.exists():
                continue
            check_output(path, inputs=inputs, overwrite=overwrite, suffixes=_SUFFIXES, links=False)

    def check_own(self) -> None:
        """Check that no certificate of other rows lies where that of this release goes.

        Raises:
            OutputError: One does, and its rows are there, too.
        """
        if (other := self.owner()) is not None:
            raise OutputError(
                f"{self.certificate.name} is the certificate of {other.name}, which would be left without one; choose "
                f"another name or folder, or remove {other.name} first"
            )

    def owner(self) -> Path | None:
        """The other release, beside this one, whose rows the certificate is of that lies there; None if there is none.

        Files that differ in nothing but their format have the same certificate's name: `x.csv` and `x.parquet`.
        """
        try:
            digest = json.loads(self.certificate.read_bytes())["output"]
            found = sorted(self.release.parent.iterdir())
        except (OSError, ValueError, KeyError, TypeError):
            return None
        own = [path for path in found if path.name == self.release.name]
        others = [path for path in found if path not in own and ReleaseFiles(path).certificate == self.certificate]
        if any(_is_of(path, digest) for path in own):
            return None
        return next((path for path in others if _is_of(path, digest)), None)

    @contextlib.contextmanager
    def private_folder(self, needed: bool) -> Iterator[None]:
        """The confidential folder, for as long as files are written to it; it does not stay behind empty."""
        try:
            if needed:
                with output_errors(self.confidential.parent), contextlib.suppress(FileNotFoundError):
                    os.chmod(self.confidential, OWNER_FOLDER)  # one that was there before may be open to others
            yield
        finally:
            with contextlib.suppress(OSError):
                self.confidential.rmdir()

    def open(self, files: AtomicFiles, target: Path) -> Path:
        """The hidden file to write instead of a sidecar; of a confidential one only its owner may read it."""
        if target.parent != self.confidential:
            return files.open(target)
        return files.open(target, mode=OWNER_FILE, folder=OWNER_FOLDER)  # the folder appears with the files

    def remove_others(self, files: AtomicFiles, written: Iterable[Path]) -> None:
        """Remove, with these files, the sidecars of an earlier release that would be wrong beside this one.

        If this one has none, what an earlier one said to anyone goes nevertheless.
        """
        kept = set(written)
        if self.owner() is not None:
            return
        for path in self.sidecars if kept else self.public:
            if path not in kept:
                files.remove(path)


def _is_of(path: Path, digest: str) -> bool:
    """Whether a digest is that of the rows in a file, or in a folder of files."""
    if format_of(path) is None:
        return False
    try:
        source = WatchedFile(path) if path.is_file() else open_source(path)
        return source.fingerprint() == digest
    except IncrowdError:
        return False
