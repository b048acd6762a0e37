"""A new file that a library writes by itself, such as a database: hidden in a folder of ours until it is complete."""

from __future__ import annotations

import os
from pathlib import Path

from incrowd.errors import OutputError
from incrowd.formats.staging import Folder, exists_error, heal, sync_folder


class NewFile:
    """A file that is not there yet.

    Args:
        target: Where it belongs.
    """

    def __init__(self, target: Path) -> None:
        self._target = Path(os.path.realpath(target))
        self._folder: Folder | None = Folder(self._target.parent)
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

    def appear(self) -> None:
        """Put the file, which is complete and closed, in its place.

        Raises:
            OutputError: Another one is there by now.
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
            self._name_it()
            sync_folder(self._target.parent)
        except FileExistsError:
            raise exists_error(self._target) from None
        except OSError as error:
            raise OutputError(f"cannot write to {self._target.parent}: {error.strerror}; nothing was written") from None
        finally:
            self.vanish()

    def _name_it(self) -> None:
        try:
            os.link(self.path, self._target, follow_symlinks=False)
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            if os.path.lexists(self._target):
                raise FileExistsError from None
            os.replace(self.path, self._target)

    def vanish(self) -> None:
        """Remove what is hidden."""
        if self._folder is not None:
            self._folder.remove()
            self._folder = None
