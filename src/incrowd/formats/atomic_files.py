"""Files that appear complete or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from incrowd.errors import OutputError
from incrowd.formats.registry import SUFFIXES, format_of

_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def check_output(
    path: str | os.PathLike[str],
    *,
    inputs: Iterable[Path] = (),
    overwrite: bool = False,
    suffixes: tuple[str, ...] | None = None,
) -> Path:
    """Check that a release can be written to a path, before any work is done.

    Args:
        path: Where the release should go.
        inputs: The files it is made from; none of them may be overwritten, also not through a link.
        overwrite: Whether a file that is there already may be replaced.
        suffixes: What its name may end in; those of tables if None.

    Returns:
        The path.

    Raises:
        OutputError: If something is in the way.
    """
    target = Path(path)
    if target.is_dir():
        raise OutputError(f"{target} is a directory; give a file name")
    if not (target.name.endswith(suffixes) if suffixes else format_of(target)):
        allowed = " or ".join(suffixes) if suffixes else SUFFIXES
        raise OutputError(f"cannot tell the format of {target.name} from its suffix; use {allowed}")
    parent = Path(os.path.realpath(target)).parent
    if not parent.is_dir():
        raise OutputError(f"no directory {target.parent} to write {target.name} to; create it first")
    if target.exists():
        for source in inputs:
            if source.exists() and target.samefile(source):
                raise OutputError(f"{target} is the input {source}; choose another name")
        if not target.is_file():
            raise OutputError(f"{target} is not a regular file; choose another name")
        if not overwrite:
            raise OutputError(
                f"{target} already exists; choose another name, or use --overwrite (in Python overwrite=True)"
            )
    if not os.access(parent, os.W_OK | os.X_OK):
        raise OutputError(f"cannot write to {parent}: permission denied")
    return target


class AtomicFiles:
    """Files that are written beside their targets under hidden names, and moved into place when all are complete.

    On any exception, a keyboard interrupt too, the hidden files are removed and what was there before stays. The moves
    follow each other directly, after everything is on the disk; each of them is atomic.

        with AtomicFiles() as files:
            with open_writer(files.open("release.csv"), schema, source) as writer: ...
            files.open("report.html").write_text(...)
    """

    def __init__(self) -> None:
        self._staged: dict[Path, Path] = {}  # target -> hidden file

    def __enter__(self) -> Self:
        return self

    def open(self, path: str | os.PathLike[str]) -> Path:
        """The hidden file to write instead of a target; empty, in the same directory and with the same suffix."""
        target = Path(os.path.realpath(path))  # through a link, as open() would
        if target in self._staged:
            raise OutputError(f"{path} would be written twice; give different names")
        suffix = "".join(target.suffixes[-2:]) if target.suffix.lower() == ".gz" else target.suffix
        hidden = target.with_name(f".incrowd-{secrets.token_hex(8)}{suffix}")
        with output_errors(target.parent):
            self._staged[target] = hidden  # before it exists, so that an interrupt here leaves nothing behind
            os.close(os.open(hidden, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            if target.exists():
                os.chmod(hidden, target.stat().st_mode & 0o7777)
        return hidden

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._commit()
        finally:
            for hidden in self._staged.values():
                with contextlib.suppress(OSError):
                    hidden.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in _DISK_FULL:
            raise OutputError(f"cannot write: {os.strerror(error.errno)}; nothing was written") from None

    def _commit(self) -> None:
        """Bring everything to the disk, then move it into place."""
        for target, hidden in self._staged.items():
            with output_errors(target.parent), hidden.open("rb+") as file:
                os.fsync(file.fileno())
        moved: list[str] = []
        for target, hidden in self._staged.items():
            left = f"already replaced: {', '.join(moved)}" if moved else "nothing was written"
            with output_errors(target.parent, left):
                os.replace(hidden, target)
            moved.append(target.name)
        for parent in {target.parent for target in self._staged}:
            with contextlib.suppress(OSError):  # a directory cannot be synced everywhere; the files already are
                _sync_directory(parent)


def _sync_directory(path: Path) -> None:
    """Make the moves in a directory last."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def output_errors(parent: Path, left: str = "nothing was written") -> Iterator[None]:
    """Turn what the system says into an OutputError of one line."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "the system gave no reason"
        raise OutputError(f"cannot write to {parent}: {reason}; {left}") from None
