"""The ledger of a release that is not out yet: it is made with a copy, which counts once the files are exported.

Otherwise every release that somebody tries out would be one that later releases have to be safe beside.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from incrowd.errors import DataError
from incrowd.formats.atomic_files import AtomicFiles
from incrowd.ledger.store import FILE, OWNER_FILE, OWNER_FOLDER, Ledger
from incrowd.studio.paths import private_file

FOLDER = "ledger"


def with_draft(settings: Mapping[str, Any], home: Path, folder: Path) -> dict[str, Any]:
    """The settings of a policy, with a copy of its ledger in a folder in the place of the ledger, if it has one."""
    if not settings.get("ledger"):
        return dict(settings)
    copy = folder / FOLDER
    copy.mkdir(OWNER_FOLDER)
    with Ledger.locked(home / settings["ledger"]) as found:
        names = [name for entry in found.releases for name in entry.files]
        for name in (*names, FILE) if found.releases else ():
            with private_file(copy / name) as file:
                file.write((found.folder / name).read_bytes())
    return {**settings, "ledger": str(copy)}


def enter(settings: Mapping[str, Any], home: Path, made: Path) -> None:
    """Enter a release that was made with a copy of the ledger, since it goes out now.

    Raises:
        DataError: The ledger is no longer the one that was copied.
    """
    if not settings.get("ledger"):
        return
    draft = Ledger.read(made / FOLDER)
    with Ledger.locked(home / settings["ledger"]) as found:
        if found.releases == draft.releases:
            return
        if found.releases != draft.releases[:-1]:
            raise DataError(
                "another release was entered in the ledger after this one was made; make it again on the screen Release"
            )
        with AtomicFiles(overwrite=True) as files:
            for name in (*draft.releases[-1].files, FILE):
                data = (draft.folder / name).read_bytes()
                files.open(found.folder / name, mode=OWNER_FILE, replaces=True).write_bytes(data)
