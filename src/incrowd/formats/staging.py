"""Where files wait until all of them are complete, and how they appear together.

While it is written, a file has no name at all where the system allows that: whatever ends the process, nothing is left.
Elsewhere it lies in a folder that only its owner may open. When all files are complete they get names in such a folder,
with a manifest that says where each belongs and which files of before do not belong to them, and are moved into place.
A process that dies between two moves leaves the manifest: the next command that comes by (`heal`) makes the moves and
removes the files that are left. What has no manifest is thrown away.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PosixPath
from typing import Any

from incrowd.errors import OutputError

try:
    import fcntl
except ImportError:  # no locks on this system: two runs at the same moment are not kept apart
    fcntl = None  # type: ignore[assignment]

PREFIX = ".incrowd-"
_Listed = tuple[str, str, int | None]  # a file that waits, where it belongs, permissions of a folder to be made
_MANIFEST = "manifest.json"
_PATIENCE = 20.0  # seconds to wait for another run that is moving its files
_OLD = 2.0  # seconds after which a folder that nobody holds is thrown away; it may have been made just now


class Unnamed(PosixPath):
    """A file without a name: opened, it is that file; asked for its name, it tells the one that it will have."""

    target: Path

    @property
    def name(self) -> str:
        """The name that the file will have."""
        return self.target.name if hasattr(self, "target") else super().name

    @property
    def parent(self) -> Path:  # type: ignore[override]
        """The folder that the file will be in."""
        return self.target.parent if hasattr(self, "target") else super().parent


@dataclass(frozen=True)
class Staged:
    """A file that is being written.

    Args:
        target: Where it belongs.
        path: What to write to.
        handle: The open file, if it has no name.
        mode: Its permissions in the end.
        home: The folder that it waits in: that of the target, or the next above that is there.
        folder: Permissions of the target's folder, should that have to be made; None if it is there.
    """

    target: Path
    path: Path
    handle: int | None
    mode: int
    home: Path
    folder: int | None = None

    def sync(self) -> None:
        """Bring it to the disk."""
        handle = os.open(self.path, os.O_RDWR) if self.handle is None else self.handle
        try:
            os.fsync(handle)
        finally:
            if self.handle is None:
                os.close(handle)

    def name_it(self, path: Path) -> None:
        """Give it a name, and its permissions."""
        os.chmod(self.path, self.mode)
        if self.handle is None:
            os.replace(self.path, path)
        else:  # without src_dir_fd Python would link the link in /proc
            os.link(f"/proc/self/fd/{self.handle}", path, src_dir_fd=self.handle, follow_symlinks=True)


def unnamed(target: Path, mode: int, home: Path, folder: int | None = None) -> Staged | None:
    """A file without a name on the file system of the target; None where there is no such thing."""
    if not hasattr(os, "O_TMPFILE") or not Path("/proc/self/fd").is_dir():
        return None
    try:
        handle = os.open(home, os.O_TMPFILE | os.O_RDWR, 0o600)
    except OSError:
        return None
    path = Unnamed(f"/proc/self/fd/{handle}")
    path.target = target
    return Staged(target, path, handle, mode, home, folder)


class Folder:
    """A folder beside the targets that only its owner may open, held by a lock as long as this process lives."""

    def __init__(self, parent: Path) -> None:
        self.path = parent / f"{PREFIX}{secrets.token_hex(8)}"
        os.mkdir(self.path, 0o700)
        self._handle = os.open(self.path, os.O_RDONLY)
        if fcntl is not None:
            with contextlib.suppress(OSError):
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def remove(self) -> None:
        """Remove it with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.close(self._handle)


@dataclass(frozen=True)
class _Move:
    """One file that is to be moved into place.

    Args:
        staged: Where it waits.
        target: Where it belongs.
        old: Where what was there before waits, should the move have to be undone.
        folder: Permissions of the target's folder, should that have to be made.
    """

    staged: Path
    target: Path
    old: Path
    folder: int | None

    def make(self, *, overwrite: bool) -> None:
        """Move it; what is there already is kept unless it may be replaced."""
        make_folder(self.target.parent, self.folder)
        if overwrite:
            with contextlib.suppress(OSError):  # a file system without links
                os.link(self.target, self.old, follow_symlinks=False)
            os.replace(self.staged, self.target)
            return
        try:
            os.link(self.staged, self.target, follow_symlinks=False)
        except FileExistsError:
            raise exists_error(self.target) from None
        except OSError:  # no links here: the lock must do
            if os.path.lexists(self.target):
                raise exists_error(self.target) from None
            os.replace(self.staged, self.target)

    def undo(self) -> None:
        """Bring back what was there before."""
        if self.old.exists():
            os.replace(self.old, self.target)
        else:
            self.target.unlink(missing_ok=True)
        if self.folder is not None:
            with contextlib.suppress(OSError):  # not empty: it was there before
                self.target.parent.rmdir()


def make_folder(path: Path, mode: int | None) -> None:
    """Make a folder with some permissions, if they are given and it is not there."""
    if mode is not None:
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, mode)


def exists_error(target: Path) -> OutputError:
    """The error for a file that is there already."""
    return OutputError(f"{target} already exists; choose another name, or use --overwrite (in Python overwrite=True)")


def move_together(
    folders: dict[Path, Folder], staged: Sequence[Staged], removed: Sequence[Path], *, overwrite: bool
) -> None:
    """Name complete files and move them into place: all of them, or none.

    Args:
        folders: A folder in each home of the files.
        staged: The files, brought to the disk.
        removed: Files that are removed with that; if they may not be replaced, they stay.
        overwrite: Whether files that are there already may be replaced.
    """
    removed = removed if overwrite else ()
    moves = []
    for number, file in enumerate(staged):
        inside = folders[file.home].path
        moves.append(_Move(inside / f"{number}", file.target, inside / f"{number}.old", file.folder))
        file.name_it(moves[-1].staged)
    if not overwrite:
        for move in moves:
            if os.path.lexists(move.target):
                raise exists_error(move.target)
    manifest = folders[staged[0].home].path / _MANIFEST
    _write_manifest(manifest, moves, removed, overwrite=overwrite)
    made: list[_Move] = []
    try:
        for move in moves:
            made.append(move)
            move.make(overwrite=overwrite)
    except (OSError, OutputError):
        for move in reversed(made[:-1]):
            with contextlib.suppress(OSError):
                move.undo()
        with contextlib.suppress(OSError):  # made for the last one
            if made[-1].folder is not None:
                made[-1].target.parent.rmdir()
        manifest.unlink()
        raise
    remove_all(removed)
    manifest.unlink()


def move_folder(inside: Folder, staged: Path, target: Path, *, overwrite: bool) -> None:
    """Bring a complete folder of files to the disk and move it into place; what was there before is kept until then.

    Args:
        inside: The folder that it waits in.
        staged: The folder to move.
        target: Where it belongs.
        overwrite: Whether a folder that is there already may be replaced.
    """
    for path in (file for file in staged.rglob("*") if file.is_file()):
        with path.open("rb") as file:
            os.fsync(file.fileno())
    move = _Move(staged, target, inside.path / "old", None)
    _write_manifest(inside.path / _MANIFEST, [move], (), overwrite=overwrite)
    try:
        if not overwrite and os.path.lexists(target):
            raise exists_error(target)
        _replace(staged, target, move.old)
    finally:
        (inside.path / _MANIFEST).unlink()
    sync_folder(target.parent)


def _replace(staged: Path, target: Path, old: Path) -> None:
    """Move a file or a folder into place; a folder that is there is moved aside, since none can be replaced."""
    if target.is_dir() and not target.is_symlink():
        os.rename(target, old)
    try:
        os.replace(staged, target)
    except OSError:
        if old.exists():
            os.rename(old, target)
        raise


def remove_all(paths: Iterable[Path | str]) -> None:
    """Remove files that are there."""
    for path in paths:
        with contextlib.suppress(OSError):
            os.unlink(path)


def _write_manifest(path: Path, moves: Iterable[_Move], removed: Iterable[Path], *, overwrite: bool) -> None:
    """Say where each file belongs; complete on the disk before the first move."""
    listed = [[str(move.staged), str(move.target), move.folder] for move in moves]
    data = {"incrowd": "manifest", "overwrite": overwrite, "moves": listed, "removed": [str(file) for file in removed]}
    draft = path.with_name("draft")
    with draft.open("w", encoding="utf-8") as file:
        json.dump(data, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, path)
    sync_folder(path.parent)


@contextlib.contextmanager
def locked(parents: Iterable[Path]) -> Iterator[None]:
    """Keep other runs from moving files in these folders.

    Raises:
        OutputError: Another run does not let go.
    """
    handles = []
    try:
        for parent in sorted(set(parents)) if fcntl is not None else ():
            handles.append(os.open(parent, os.O_RDONLY))
            _lock(handles[-1], parent)
        yield
    finally:
        for handle in handles:
            os.close(handle)


def _lock(handle: int, parent: Path) -> None:
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise OutputError(f"another run is writing to {parent} and does not end; try again later") from None
            time.sleep(0.01)
        except OSError:  # no locks on this file system
            return None


def heal(parent: Path, *, only: Path | None = None) -> None:
    """Finish what a run that died left in a folder: the moves that it did not make, and files that are of no use.

    Args:
        parent: The folder.
        only: Do so only if this file is waiting to be moved.

    Raises:
        OutputError: Files are waiting that cannot be moved.
    """
    try:
        found = [Path(entry.path) for entry in os.scandir(parent) if entry.name.startswith(PREFIX)]
    except OSError:
        return
    for folder in found:
        if (handle := _abandoned(folder)) is not None:
            try:
                _finish(folder, only)
            finally:
                os.close(handle)


def _abandoned(folder: Path) -> int | None:
    """A handle of a folder that this user's run left behind, None if it is somebody else's or still in use."""
    try:
        found = os.lstat(folder)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077 or fcntl is None:
            return None
        handle = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW)
    except (OSError, AttributeError):
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


def _finish(folder: Path, only: Path | None) -> None:
    moves, removed, overwrite = _read_manifest(folder / _MANIFEST)
    if only is not None and os.path.realpath(only) not in [target for _, target, _ in moves]:
        return
    if not moves and time.time() - folder.stat().st_mtime < _OLD:
        return
    try:
        _finish_moves(moves, overwrite=overwrite)
        remove_all(removed if overwrite else ())
    except OSError as error:
        name = Path(moves[0][1]).name
        raise OutputError(
            f"the run that wrote {name} was cut off, and its files cannot be completed: {error.strerror}; remove "
            f"{name} and {folder}"
        ) from None
    for parent in {Path(staged).parent for staged, *_ in moves} | {folder}:
        shutil.rmtree(parent, ignore_errors=True)


def _finish_moves(moves: Sequence[_Listed], *, overwrite: bool) -> None:
    """Make the moves that are left; where somebody else's file stands in the way by now, take back those made."""
    waiting = [move for move in moves if os.path.exists(move[0])]
    there = [(staged, target) for staged, target, _ in waiting if os.path.lexists(target)]
    ours = [target for staged, target in there if os.path.samestat(os.stat(staged), os.lstat(target))]
    if not overwrite and len(ours) < len(there):
        for target in ours:
            os.unlink(target)
        return
    for staged, target, folder in waiting:
        make_folder(Path(target).parent, folder)
        _replace(Path(staged), Path(target), Path(staged).with_name("old"))


def _read_manifest(path: Path) -> tuple[list[_Listed], list[str], bool]:
    """The files that wait and where they belong, those to be removed, and whether others may be replaced.

    Without a manifest there are none.
    """
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
        moves = [(str(s), str(t), None if mode is None else int(mode)) for s, t, mode in data["moves"]]
        return moves, [str(file) for file in data["removed"]], bool(data["overwrite"])
    except (OSError, ValueError, KeyError, TypeError):
        return [], [], False


def sync_folder(path: Path) -> None:
    """Make names in a folder last; not every system can."""
    with contextlib.suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
