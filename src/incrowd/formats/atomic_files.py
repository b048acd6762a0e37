"""Files that appear complete or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from incrowd.errors import OutputError, shown
from incrowd.formats.registry import check_written
from incrowd.formats.staging import (
    Folder,
    Staged,
    exists_error,
    locked,
    publish,
    recover_commits,
    sync,
    sync_folder,
    unnamed,
)

if TYPE_CHECKING:
    from incrowd.formats.writers import Output

_ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def check_output(
    path: str | os.PathLike[str],
    *,
    inputs: Iterable[Path] = (),
    overwrite: bool = False,
    suffixes: tuple[str, ...] | None = None,
    links: bool = True,
) -> Path:
    """Check that a release can be written to a path, before any work is done.

    Args:
        path: Where the release should go.
        inputs: The files it is made from; none of them may be overwritten, also not through a link.
        overwrite: Whether a file that is there already may be replaced.
        suffixes: What its name may end in; those of tables if None.
        links: Whether it may be a link, through which another file is written.

    Raises:
        OutputError: Something is in the way.
    """
    target = Path(path)
    try:
        os.path.realpath(target)
        is_folder = target.is_dir()
    except (OSError, ValueError):  # too long, or with half a character or a null byte in it
        raise OutputError(f"{shown(str(target))} cannot be the name of a file; choose another name") from None
    if is_folder:
        raise OutputError(f"{target} is a directory; give a file name")
    if suffixes is None:
        check_written(target)
    elif not target.name.endswith(suffixes):
        raise OutputError(f"cannot tell the format of {target.name} from its suffix; use {' or '.join(suffixes)}")
    parent = check_folder(target)
    if not links and target.is_symlink():
        raise OutputError(f"{target} is a link; remove it, or choose another name")
    if target.exists():
        for source in inputs:
            if source.exists() and target.samefile(source):
                raise OutputError(f"{target} is the input {source}; choose another name")
        if not target.is_file():
            raise OutputError(f"{target} is not a regular file; choose another name")
        if not overwrite:
            raise exists_error(target)
    if not os.access(parent, os.W_OK | os.X_OK):
        raise OutputError(f"cannot write to {parent}: permission denied")
    return target


def check_folder(target: Path) -> Path:
    """The folder that a file will be in, with what a run that died left there completed; OutputError without one."""
    parent = Path(os.path.realpath(target)).parent
    if not parent.is_dir():
        raise OutputError(f"no directory {target.parent} to write {target.name} to; create it first")
    recover_commits(parent)
    return parent


class AtomicFiles:
    """Files that are written where nobody sees them, and appear together when all are complete.

    On any exception, a keyboard interrupt too, nothing is left of them and what was there before stays. A process that
    is killed leaves nothing either, or files that the next command completes (see `staging`).

        with AtomicFiles() as files:
            with open_writer(files.open("release.csv"), schema, source) as writer: ...
            files.open("report.html").write_text(...)

    Args:
        overwrite: Whether files that are there already may be replaced; checked when the files are complete, so that
            of two runs on one output only one can win.
    """

    def __init__(self, *, overwrite: bool = True) -> None:
        self._overwrite = overwrite
        self._staged: dict[Path, Staged] = {}
        self._removed: list[Path] = []
        self._folders: dict[Path, Folder] = {}
        self._output: Output | None = None
        self._checks: list[Callable[[], None]] = []

    def __enter__(self) -> Self:
        return self

    def open(
        self,
        path: str | os.PathLike[str],
        *,
        mode: int | None = None,
        folder: int | None = None,
        replaces: bool = False,
    ) -> Path:
        """What to write instead of a target: an empty file with the same suffix.

        Args:
            path: The target.
            mode: Permissions of the file; those of the file that it replaces, or of any new file, if None.
            folder: Permissions of the folder of the target, which is made with the files if it is not there; None if
                it must be there.
            replaces: Whether it may replace a file, even if the others may not.
        """
        target = Path(os.path.realpath(path))  # through a link, as open() would
        if target in self._staged:
            raise OutputError(f"{path} would be written twice; give different names")
        with output_errors(target.parent):
            if mode is None:
                mode = target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~_umask()
            made = folder if not target.parent.exists() else None
            home = target.parent if made is None else target.parent.parent
            staged = unnamed(target, mode, home, made) or self._hidden(target, mode, home, made)
            self._staged[target] = replace(staged, replaces=replaces)
        return self._staged[target].path

    def join(self, output: Output) -> Output:
        """Let an output that is not a file appear with the files, or not at all."""
        assert self._output is None, "rows have one place"
        self._output = output
        return output

    def check(self, last: Callable[[], None]) -> None:
        """Look at something once more when all is complete and no other run moves files; what it raises counts."""
        self._checks.append(last)

    def remove(self, path: Path) -> None:
        """Remove an earlier file when these appear; only if they may replace others."""
        self._removed.append(path.absolute())

    def _hidden(self, target: Path, mode: int, home: Path, folder: int | None) -> Staged:
        hidden = self._folder(home).path / f"new-{len(self._staged)}{''.join(target.suffixes[-2:])}"
        os.close(os.open(hidden, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        return Staged(target, hidden, None, mode, home, folder)

    def _folder(self, parent: Path) -> Folder:
        if parent not in self._folders:
            self._folders[parent] = Folder(parent)
        return self._folders[parent]

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        try:
            if kind is None and (self._staged or self._output):
                self._commit()
        finally:
            if self._output is not None:
                self._output.roll_back()
            for staged in self._staged.values():
                if staged.handle is not None:
                    os.close(staged.handle)
            for folder in self._folders.values():
                folder.remove()
        if isinstance(error, OSError) and error.errno in _DISK_FULL:
            raise OutputError(f"cannot write: {os.strerror(error.errno)}; nothing was written") from None

    def _commit(self) -> None:
        """Bring everything to the disk, then let it appear, without being interrupted in between."""
        staged, output = list(self._staged.values()), self._output
        with ThreadPoolExecutor(max(len(staged), 1)) as pool:  # a disk waits once for all of them
            list(pool.map(_sync, staged))
        parents = list(dict.fromkeys(file.home for file in staged))
        if not parents and self._overwrite:
            parents = list(dict.fromkeys(file.parent for file in self._removed if file.exists()))
        done = False
        while not done:
            if output is not None:
                output.prepare()
            homes = parents if output is None or output.home is None else [*parents, output.home]
            with uninterrupted(), output_errors(next(iter(homes), Path())), locked(homes):
                if done := output is None or output.is_ready:  # another run may have been quicker
                    self._appear(staged, parents)
                    for parent in homes:
                        sync_folder(parent)

    def _appear(self, staged: list[Staged], parents: list[Path]) -> None:
        """Let everything appear, and remember its names for messages."""
        for parent in parents:
            recover_commits(parent)
            self._folder(parent)
        for check in self._checks:
            check()
        publish(self._folders, staged, self._removed, self._output, overwrite=self._overwrite)
        _WRITTEN.extend([] if self._output is None else [self._output.name])
        _WRITTEN.extend(file.target.name for file in staged)
        for parent in parents:
            self._folders.pop(parent).remove()


_WRITTEN: list[str] = []


def written() -> tuple[str, ...]:
    """The names of files and tables that this process has written so far, all of them complete."""
    return tuple(_WRITTEN)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay signals that would end the process until after what is inside, which must be short."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are answered elsewhere
        return
    came: list[int] = []
    before = {number: signal.getsignal(number) for number in _ENDING}
    for number, handler in before.items():
        if handler not in (None, signal.SIG_IGN):
            signal.signal(number, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler not in (None, signal.SIG_IGN):
                signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


def _sync(file: Staged) -> None:
    with output_errors(file.home):
        file.sync()


class NewFile:
    """A file that is not there yet and that a library writes by itself, such as a database; hidden until complete."""

    def __init__(self, target: Path) -> None:
        self.target = Path(os.path.realpath(target))
        self._folder: Folder | None = Folder(self.target.parent)
        self.path = self._folder.path / f"new{target.suffix}"

    @staticmethod
    def check(target: Path) -> None:
        """Raise OutputError unless a file can be made there, or one that is there can be written."""
        if target.is_dir():
            raise OutputError(f"{target} is a directory; give a file name")
        parent = check_folder(target)
        if not os.access(parent, os.W_OK | os.X_OK) or (target.exists() and not os.access(target, os.W_OK)):
            raise OutputError(f"cannot write to {target}: permission denied")

    def complete(self) -> None:
        """Bring the file, which is closed, to the disk, with the permissions of a new file."""
        with output_errors(self.target.parent):
            sync(self.path)
            os.chmod(self.path, 0o666 & ~_umask())

    def vanish(self) -> None:
        if self._folder is not None:
            self._folder.remove()
            self._folder = None


def _umask() -> int:
    """The permissions that new files do not get; the system says it only by changing it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


@contextlib.contextmanager
def output_errors(parent: Path, left: str = "nothing was written") -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "the system gave no reason"
        raise OutputError(f"cannot write to {parent}: {reason}; {left}") from None
