"""Opens small files from outside: regular ones only, since opening a pipe would wait for somebody to write to it."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import IO


def open_regular(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open a file to read its bytes.

    Raises:
        OSError: It cannot be opened, is a pipe or a device, or no file can be called so.
    """
    try:
        mode = os.stat(path).st_mode
    except ValueError:  # half a character or a null byte
        raise OSError(errno.EINVAL, "no file can have this name") from None
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # opening a folder fails by itself
        raise OSError(errno.EINVAL, "it is not a regular file")
    return Path(path).open("rb")
