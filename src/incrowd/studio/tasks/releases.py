"""A release for a task: made from the request of a policy, or taken from where an earlier job has put it.

A release that a job has made is kept as a pickle next to its result, for tasks that look closer. Unpickling
runs code, so a file is only read back if its digest is the one that the job itself has sent to the server in this
session; otherwise the release is made again with its key, which gives the same one.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from incrowd.errors import DataError, NamesPeopleError, PolicyError
from incrowd.formats.registry import open_source
from incrowd.key import KEY_FILE, Key
from incrowd.release.release import Release, release_of
from incrowd.run import Run
from incrowd.studio.paths import private_file
from incrowd.studio.policy_settings import names_people, policy_of

FILE = "release.pickle"


def made(request: Mapping[str, Any], run: Run) -> Release:
    """The release that a "policy" in the folder "home" makes of a "table", with the key of the run."""
    policy, dialect = policy_of(request["policy"], Path(request["home"]))
    with run.at_most(policy.time_limit) if policy.time_limit else nullcontext():
        try:
            return release_of(open_source(request["table"], **dialect), policy, run)
        except NamesPeopleError as error:
            raise PolicyError(names_people(error.reasons)) from None


def kept(release: Release, folder: Path) -> str:
    """Keep a release for later tasks of this session, and give the digest by which they know it."""
    data = pickle.dumps(release)
    with private_file(folder / FILE) as file:
        file.write(data)
    return hashlib.sha256(data).hexdigest()


def again(request: Mapping[str, Any], run: Run) -> Release:
    """The release that was kept in "folder" under a "digest" of this session; otherwise it is made again."""
    if request.get("digest"):
        try:
            data = (Path(request["folder"]) / FILE).read_bytes()
        except OSError:
            data = b""
        if hashlib.sha256(data).hexdigest() == request["digest"]:
            found: Release = pickle.loads(data)
            return found
    if request["policy"].get("ledger"):  # which may have this release in it by now
        raise DataError("a release with a ledger is looked at in the session that made it; make it again")
    run.key = _kept_key(Path(request["folder"]))
    return made(request, run)


def _kept_key(folder: Path) -> Key:
    """The key of the release whose files are in a folder."""
    for path in folder.glob(f"*.confidential/{KEY_FILE}"):
        return Key.read(path)
    raise DataError("the files of the release are gone; make it again on the screen Release")
