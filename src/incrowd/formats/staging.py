"""Where files wait until all of them are complete, and how they appear together.

While it is written, a file has no name at all where the system allows that: whatever ends the process, nothing is left.
Elsewhere it lies in a folder that only its owner may open. When all files are complete they get names in such a folder,
with a manifest that says where each belongs and which earlier files do not belong to them, and are moved into place.
A process that dies between two moves leaves the manifest: the next command (`recover_commits`) makes the moves that
are left and removes the earlier files. A folder without a manifest is deleted.

Rows that go into a database are committed there, between the manifest and the first move. The manifest then has a
proof: where the rows are, and their digest. The next command looks whether they were committed; if they were, it makes
the moves, and if they were not, it deletes the files.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import stat
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PosixPath
from typing import TYPE_CHECKING, Any

from incrowd.errors import OutputError
from incrowd.formats.registry import load

if TYPE_CHECKING:
    from incrowd.formats.writers import Output, Proof

try:
    import fcntl
except ImportError:  # no locks on this system: two runs at the same moment are not kept apart
    fcntl = None  # type: ignore[assignment]

PREFIX = ".incrowd-"
Asked = Callable[["Proof"], bool | None]  # whether rows were committed; None if that cannot be seen now
_MANIFEST = "manifest.json"
_PATIENCE = 20.0  # seconds to wait for another run that is moving its files
_OLD = 2.0  # seconds after which a folder that nobody holds is deleted; it may have been made just now


class Unnamed(PosixPath):
    """A file without a name: opened, it is that file; asked for its name, it gives the one that it will have."""

    target: Path

    @property
    def name(self) -> str:
        return self.target.name if hasattr(self, "target") else super().name

    @property
    def parent(self) -> Path:  # type: ignore[override]
        return self.target.parent if hasattr(self, "target") else super().parent


@dataclass(frozen=True)
class Staged:
    """A file that is being written."""

    target: Path  # where it belongs
    path: Path  # what to write to
    handle: int | None  # the open file, if it has no name
    mode: int  # its permissions in the end
    home: Path  # the folder that it waits in: that of the target, or the next above that is there
    folder: int | None = None  # permissions of the target's folder, if that must be made
    replaces: bool = False  # whether it may replace a file, whatever is said of the others

    def sync(self) -> None:
        sync(self.path if self.handle is None else self.handle)

    def name_it(self, path: Path) -> None:
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
    """A folder next to the targets that only its owner may open, locked as long as this process lives.

    It is removed with its object, however that ends, unless it has a manifest, which the next command follows.
    """

    def __init__(self, parent: Path) -> None:
        self.path = parent / f"{PREFIX}{secrets.token_hex(8)}"
        self._removed = weakref.finalize(self, _remove_own, self.path, os.getpid())  # an interrupt may come at once
        try:
            os.mkdir(self.path, 0o700)
        except OSError:
            self._removed.detach()
            raise
        self._handle = os.open(self.path, os.O_RDONLY)
        if fcntl is not None:
            with contextlib.suppress(OSError):
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def remove(self) -> None:
        if self._removed.alive:
            self._removed()
            os.close(self._handle)


def _remove_own(path: Path, process: int) -> None:
    """Remove a folder without a manifest, unless this is a copy of the process that made it."""
    if os.getpid() == process and not (path / _MANIFEST).exists():
        shutil.rmtree(path, ignore_errors=True)


@dataclass(frozen=True)
class Move:
    """One file, or a folder of files, that is to be moved into place."""

    staged: Path  # where it waits, in a folder of ours
    target: Path  # where it belongs
    replace: bool  # whether it may take the place of what is there
    folder: int | None = None  # permissions of the target's folder, if that must be made

    @property
    def old(self) -> Path:
        """Where what was there before waits, in case the move must be undone."""
        return self.staged.with_name(f"{self.staged.name}.old")

    def make_folder(self) -> None:
        if self.folder is not None:
            with contextlib.suppress(FileExistsError):
                os.mkdir(self.target.parent, self.folder)

    def remove_folder(self) -> None:
        """Remove the folder of the target, if it was made for it."""
        if self.folder is not None:
            with contextlib.suppress(OSError):  # not empty: it was there before
                self.target.parent.rmdir()

    def make(self) -> None:
        """Move it; what is there already is kept unless it may be replaced."""
        self.make_folder()
        if self.replace:
            with contextlib.suppress(OSError):  # a file system without links, or a folder
                os.link(self.target, self.old, follow_symlinks=False)
            _replace(self.staged, self.target, self.old)
            return
        try:
            os.link(self.staged, self.target, follow_symlinks=False)
        except FileExistsError:
            raise exists_error(self.target) from None
        except OSError:  # a folder, or no links here: the lock must do
            if os.path.lexists(self.target):
                raise exists_error(self.target) from None
            os.replace(self.staged, self.target)

    def undo(self) -> None:
        if self.old.is_dir():
            os.rename(self.target, self.staged)
            os.rename(self.old, self.target)
        elif self.old.exists():
            os.replace(self.old, self.target)
        elif self.target.is_dir():
            os.rename(self.target, self.staged)
        else:
            self.target.unlink(missing_ok=True)
        self.remove_folder()


def _replace(staged: Path, target: Path, old: Path) -> None:
    """Move a file or a folder into place; a folder that is there is moved aside, since folders cannot be replaced."""
    if target.is_dir() and not target.is_symlink():
        os.rename(target, old)
    try:
        os.replace(staged, target)
    except OSError:
        if old.is_dir():
            os.rename(old, target)
        raise


def exists_error(target: Path) -> OutputError:
    return OutputError(f"{target} already exists; choose another name, or use --overwrite (in Python overwrite=True)")


class Unfinished(OutputError):
    """Rows are in a database, or may be, and the files that belong to them wait for the next command."""


@dataclass(frozen=True)
class Manifest:
    """What is to be done when all files are complete."""

    moves: Sequence[Move] = ()  # in this order
    removed: Sequence[Path] = ()  # earlier files to remove
    proof: Proof | None = None  # how to see whether rows elsewhere were committed; without it, all is to be done
    home: Path | None = None  # a folder for the manifest if nothing is to be moved

    @property
    def folders(self) -> tuple[Path, ...]:
        """Where files wait; the first one has the manifest, others refer to it."""
        found = dict.fromkeys(move.staged.parent for move in self.moves)
        return tuple(found) or (() if self.home is None or not self.removed else (self.home,))

    def write(self) -> None:
        """Bring it to the disk, last of all; until then the files count as incomplete."""
        for other in self.folders[1:]:
            _write_json(other / _MANIFEST, {"incrowd": "manifest", "see": str(self.folders[0])})
        for folder in self.folders[:1]:
            moves = [[str(move.staged), str(move.target), move.replace, move.folder] for move in self.moves]
            removed = [str(path) for path in self.removed]
            data = {"incrowd": "manifest", "moves": moves, "removed": removed, "proof": self.proof}
            _write_json(folder / _MANIFEST, data)

    def unlink(self) -> None:
        for folder in self.folders:
            (folder / _MANIFEST).unlink(missing_ok=True)

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """That of a folder; without one, nothing is to be done."""
        try:
            data: Any = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
            moves = [
                Move(Path(staged), Path(target), bool(replace), None if mode is None else int(mode))
                for staged, target, replace, mode in data["moves"]
            ]
            proof = data["proof"] and {str(key): str(value) for key, value in data["proof"].items()}
            return cls(moves, [Path(file) for file in data["removed"]], proof)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return cls()

    def concerns(self, place: str) -> bool:
        """Whether it is about a file, or about rows at a place."""
        files = [*(move.target for move in self.moves), *self.removed]
        return place in map(str, files) or (self.proof or {}).get("place") == place

    def make(self) -> None:
        """Make all moves, or none, and remove earlier files."""
        made: list[Move] = []
        try:
            for move in self.moves:
                made.append(move)
                move.make()
        except (OSError, OutputError):
            for move in reversed(made[:-1]):
                with contextlib.suppress(OSError):
                    move.undo()
            made[-1].remove_folder()
            raise
        remove_all(self.removed)

    def finish(self) -> None:
        """Make the moves that are left; where somebody else's file is in the way by now, take back those made."""
        waiting = [move for move in self.moves if os.path.exists(move.staged)]
        there = [move for move in waiting if not move.replace and os.path.lexists(move.target)]
        ours = [move for move in there if os.path.samestat(os.stat(move.staged), os.lstat(move.target))]
        if len(ours) < len(there):
            for move in ours:
                os.unlink(move.target)
            return
        for move in waiting:
            move.make_folder()
            _replace(move.staged, move.target, move.old)
        remove_all(self.removed)


def publish(
    folders: Mapping[Path, Folder],
    staged: Sequence[Staged],
    removed: Sequence[Path],
    output: Output | None,
    *,
    overwrite: bool,
) -> None:
    """Name complete files and move them into place, with what appears elsewhere: all of it, or nothing.

    Args:
        folders: A folder in each home of the files.
        staged: The files, brought to the disk.
        removed: Files that are removed with that, if they may be replaced.
        output: What appears with them and is not a file.
        overwrite: Whether files that are there already may be replaced.

    Raises:
        Unfinished: What is elsewhere has appeared, or nobody knows, and the files wait in their folders.
    """
    moves = []
    for number, file in enumerate(staged):
        replaces = overwrite or file.replaces
        moves.append(Move(folders[file.home].path / f"{number}", file.target, replaces, file.folder))
        file.name_it(moves[-1].staged)
        if not replaces and os.path.lexists(file.target):
            raise exists_error(file.target)
    proof = None if output is None else output.proof
    if output is not None and proof is None:
        output.commit()
        moves[:0] = output.moves()
    home = next((folder.path for folder in folders.values()), None)
    manifest = Manifest(moves, removed if overwrite else (), proof, home)
    try:
        manifest.write()
        if output is None or proof is None:
            manifest.make()
        else:
            _commit(output)
            _follow(manifest, output)
    except Unfinished:
        raise
    except (OSError, OutputError):
        manifest.unlink()
        raise
    manifest.unlink()


def _commit(output: Output) -> None:
    """Commit rows; after an error, see whether they were committed nevertheless."""
    try:
        output.commit()
    except OutputError as error:
        output.roll_back()
        done = output.is_committed()
        if done is None:
            raise Unfinished(
                f"{str(error).removesuffix('; nothing was written')}; it cannot be seen now whether {output.name} was "
                "written, and the next command that uses it completes or removes the files beside it"
            ) from None
        if not done:
            raise


def _follow(manifest: Manifest, output: Output) -> None:
    """Make the moves of files whose rows were committed."""
    try:
        manifest.make()
    except (OSError, OutputError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise Unfinished(
            f"the rows of {output.name} were written, but not the files beside it ({reason}); the next command that "
            "uses it completes them"
        ) from None


def remove_all(paths: Iterable[Path | str]) -> None:
    for path in paths:
        with contextlib.suppress(OSError):
            os.unlink(path)


def _write_json(path: Path, data: Mapping[str, Any]) -> None:
    """Write a small file; complete on the disk before it has its name."""
    draft = path.with_name("draft")
    with draft.open("w", encoding="utf-8") as file:
        json.dump(data, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, path)
    sync_folder(path.parent)


@contextlib.contextmanager
def locked(parents: Iterable[Path]) -> Iterator[None]:
    """Keep other runs from moving files in these folders."""
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


def recover_commits(parent: Path, *, only: Path | str | None = None, asked: Asked | None = None) -> None:
    """Finish what a run that died left in a folder: make the moves that it did not make, delete incomplete files.

    Args:
        parent: The folder.
        only: Do so only if this file is waiting to be moved, or files wait that belong to rows at this place.
        asked: Sees whether rows were committed, for callers that know more of a database than a manifest says.

    Raises:
        OutputError: Files are waiting that cannot be moved.
    """
    try:
        found = [Path(entry.path) for entry in os.scandir(parent) if entry.name.startswith(PREFIX)]
        place = None if only is None else os.path.realpath(only) if isinstance(only, Path) else only
    except (OSError, ValueError):  # no such folder, or a name that no file can have
        return
    for folder in found:
        with _abandoned(folder) as is_ours:
            if not is_ours:
                continue
            main = _with_manifest(folder)
            if main == folder:
                _finish(folder, place, asked)
                continue
            with _abandoned(main) as is_ours_too:
                if is_ours_too:
                    _finish(main, place, asked)


def _with_manifest(folder: Path) -> Path:
    """The folder whose manifest says what is to be done with the files in this one."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        other = Path(json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))["see"])
        if other.name.startswith(PREFIX) and (other / _MANIFEST).exists():
            return other
    return folder


@contextlib.contextmanager
def _abandoned(folder: Path) -> Iterator[bool]:
    """Whether this user's run left a folder behind; False if it is somebody else's or still in use."""
    handle = None
    try:
        try:
            found = os.lstat(folder)
            ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077
            if ours and fcntl is not None:
                handle = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW)
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (OSError, AttributeError):
            ours = False
        yield ours and handle is not None
    finally:
        if handle is not None:
            os.close(handle)


def _finish(folder: Path, place: str | None, asked: Asked | None) -> None:
    manifest = Manifest.read(folder)
    waiting = manifest.moves or manifest.removed
    if place is not None and not manifest.concerns(place):
        return
    if not waiting and time.time() - folder.stat().st_mtime < _OLD:
        return
    done: bool | None = True
    if manifest.proof is not None:
        done = (asked or load("incrowd.formats.databases:is_committed"))(manifest.proof)
    if done is None:
        return
    try:
        if done:
            manifest.finish()
    except OSError as error:
        name = manifest.moves[0].target.name
        raise OutputError(
            f"the run that wrote {name} was cut off, and its files cannot be completed: {error.strerror}; remove "
            f"{name} and {folder}"
        ) from None
    for each in dict.fromkeys((folder, *manifest.folders)):  # what is left without a manifest goes as well
        shutil.rmtree(each, ignore_errors=True)


def sync(file: Path | int) -> None:
    """Bring a file, open or not, to the disk."""
    handle = file if isinstance(file, int) else os.open(file, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        if handle is not file:
            os.close(handle)


def sync_files(folder: Path) -> None:
    for path in (file for file in folder.rglob("*") if file.is_file()):
        sync(path)


def sync_folder(path: Path) -> None:
    """Make names in a folder last; not every system can."""
    with contextlib.suppress(OSError):
        sync(path)
