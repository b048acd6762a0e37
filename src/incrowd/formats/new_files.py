"""A new file that a library writes by itself, such as a database: hidden in a folder of ours until it is complete."""

from __future__ import annotations

import os
from pathlib import Path

from incrowd.errors import OutputError
from incrowd.formats.staging import Folder, Move, heal


class NewFile:
    """A file that is not there yet.

    Args:
        target: Where it belongs.
    """

    def __init__(self, target: Path) -> None:
        self.target = Path(os.path.realpath(target))
        self._folder: Folder | None = Folder(self.target.parent)
        self.path = self._folder.path / f"new{target.suffix}"

    @staticmethod
    def check(target: Path) -> None:
        """Raise OutputError unless a file can be made there, or one that is there can be written."""
        parent = Path(os.path.realpath(target)).parent
        if target.is_dir():
            raise OutputError(f"{target} is a directory; give a file name")
        if not parent.is_dir():
            raise OutputError(f"no directory {target.parent} to write {target.name} to; create it first")
        heal(parent)
        if not os.access(parent, os.W_OK | os.X_OK) or (target.exists() and not os.access(target, os.W_OK)):
            raise OutputError(f"cannot write to {target}: permission denied")

    def complete(self) -> None:
        """Bring the file, which is closed, to the disk, with the permissions of a new file.

        Raises:
            OutputError: It cannot be done.
        """
        try:
            handle = os.open(self.path, os.O_RDWR)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
            mask = os.umask(0o077)
            os.umask(mask)
            os.chmod(self.path, 0o666 & ~mask)
        except OSError as error:
            raise OutputError(f"cannot write to {self.target.parent}: {error.strerror}; nothing was written") from None

    def move(self) -> Move:
        """What brings it to its place; another one that is there by now stays, since it may hold other tables."""
        return Move(self.path, self.target, replace=False)

    def vanish(self) -> None:
        """Remove what is hidden."""
        if self._folder is not None:
            self._folder.remove()
            self._folder = None
