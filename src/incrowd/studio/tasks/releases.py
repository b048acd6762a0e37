"""A release for a task: made from the words of a policy, or taken from where an earlier job has put it.

A release that a job has made is kept as a pickle beside its result, for those who want to know more of it. Unpickling
runs code, so a file is only read back if its digest is the one that the job itself has told the server in this very
session; otherwise the release is made again with its key, which gives the same one.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from incrowd.errors import DataError, NamesPeopleError, PolicyError
from incrowd.formats.registry import open_source
from incrowd.key import KEY_FILE, Key
from incrowd.pipeline import release_of
from incrowd.release.release import Release
from incrowd.run import Run
from incrowd.studio.policy_words import names_people, policy_of

FILE = "release.pickle"


def made(words: Mapping[str, Any], run: Run) -> Release:
    """The release that a policy makes of a table, with the key of the run.

    Args:
        words: "table", "policy" with the words of a policy file, and "home", the folder of that file.
        run: Told what happens, and asked whether to go on.
    """
    policy, dialect = policy_of(words["policy"], Path(words["home"]))
    with run.at_most(policy.time_limit) if policy.time_limit else nullcontext():
        try:
            return release_of(open_source(words["table"], **dialect), policy, run)
        except NamesPeopleError as error:
            raise PolicyError(names_people(error.reasons)) from None


def kept(release: Release, folder: Path) -> str:
    """Keep a release for later tasks of this session, and give the digest by which they know it."""
    data = pickle.dumps(release)
    hidden = folder / f".{FILE}"
    with os.fdopen(os.open(hidden, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as file:
        file.write(data)
    hidden.replace(folder / FILE)
    return hashlib.sha256(data).hexdigest()


def again(words: Mapping[str, Any], run: Run) -> Release:
    """The release that was kept, or, where there is none that can be trusted, made again.

    Args:
        words: As for `made`; also "folder", and "digest" of what was kept there in this session, if anything.
        run: Told what happens, and asked whether to go on.
    """
    if words.get("digest"):
        try:
            data = (Path(words["folder"]) / FILE).read_bytes()
        except OSError:
            data = b""
        if hashlib.sha256(data).hexdigest() == words["digest"]:
            found: Release = pickle.loads(data)
            return found
    run.key = _kept_key(Path(words["folder"]))
    return made(words, run)


def _kept_key(folder: Path) -> Key:
    """The key of the release whose files are in a folder."""
    for path in folder.glob(f"*.confidential/{KEY_FILE}"):
        return Key.read(path)
    raise DataError("the files of the release are gone; make it again on the screen Release")
