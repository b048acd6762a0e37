"""The project folder: everything that is known, in files, so that a reload, a crash or tomorrow loses nothing.

    people.studio/
      release.toml          the policy; the one place where it is kept, and may be edited by hand
      hierarchies/          files that the policy names; never changed, a new one takes their place
      history/              earlier policies, for undo
      results/              what jobs have found
      uploads/              tables that came through the browser
      export/               the release and all that goes with it
      project.json          which table, and what to undo

Only its owner may read it. Files appear whole or not at all. One studio at a time has it open.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from incrowd.errors import DataError, OutputError, PolicyError
from incrowd.formats.atomic_files import AtomicFiles, output_errors
from incrowd.formats.staging import recover_commits
from incrowd.policy.toml_text import policy_text
from incrowd.schemas.documents import DIGEST, Document
from incrowd.schemas.regular_files import open_regular
from incrowd.schemas.shapes import Anything, Fields, ListOf, Maybe, TableOf, Text, Whole
from incrowd.schemas.toml import parsed_toml
from incrowd.studio.paths import inside

OWNER_FOLDER, OWNER_FILE = 0o700, 0o600
MOST_UNDO = 100
FOLDERS = ("hierarchies", "history", "results", "uploads", "export")
Settings = dict[str, Any]
PROJECT = Document("studio project", 1, "rename it, and the studio starts over", megabytes=16)
RESULT = Document("studio result", 1, "rename it, and run it again", megabytes=256)

_STATE = Fields({"size": Whole(0), "changed": Whole()})  # of a file: its bytes, and the time of its last change in ns
PROJECT_SHAPE = PROJECT.shape(
    {
        "table": Maybe(Text(blank=False)),  # relative to the folder that the studio was started in
        "revision": Whole(0),  # one more with every change
        "undo": ListOf(Whole(1)),  # numbers of earlier policies in history/, the last one first to come back
        "redo": ListOf(Whole(1)),
        "parked": TableOf(TableOf(Anything())),  # by column, what was said of it in a role that it no longer has
    }
)
RESULT_SHAPE = RESULT.shape(
    {
        "name": Text(blank=False),
        "made_from": DIGEST,  # of the table and the policy; another one means that it is out of date
        "table": Maybe(_STATE),
        "data": TableOf(Anything()),
    }
)


class Project:
    """A project folder that is open; tables are in `root`, the folder that the studio was started in."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root, self.folder = Path(os.path.realpath(root)), Path(os.path.realpath(folder))
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            raise OutputError(f"{folder} is not a folder of its own; rename it, or start the studio elsewhere")
        with output_errors(self.folder.parent):
            for path in (self.folder, *(self.folder / name for name in FOLDERS)):
                path.mkdir(OWNER_FOLDER, exist_ok=True)
                path.chmod(OWNER_FOLDER)
            self._lock = _locked(self.folder / "lock")
            self._tidy()
        self._read: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {}  # results, as long as their files stay
        self._state: dict[str, Any] = {"table": None, "revision": 0, "undo": [], "redo": [], "parked": {}}
        try:
            if (self.folder / "project.json").exists():
                found = PROJECT.read(self.folder / "project.json", PROJECT_SHAPE)
                self._state = {key: found[key] for key in self._state}
        except DataError:
            self.close()
            raise

    def _tidy(self) -> None:
        """Remove what a studio that was killed has left, and complete what it had nearly done."""
        for folder in (self.folder, *(self.folder / name for name in FOLDERS)):
            recover_commits(folder)
        complete(self.made("export"))
        for result in (path for path in (self.folder / "results").iterdir() if path.is_dir()):
            complete(result / "made")
            for left in result.glob("next-*"):
                _remove(left)

    @classmethod
    def at(cls, root: Path, table: str | None) -> Project:
        """The project of a table, in the same folder; without a table, that of the folder."""
        stem = "incrowd" if table is None else table.removesuffix(".gz").rpartition(".")[0] or table
        return cls(root, root / f"{stem}.studio")

    def close(self) -> None:
        self._lock.close()

    # The table

    @property
    def revision(self) -> int:
        """One more with every change, so that another tab knows that there was one."""
        return int(self._state["revision"])

    @property
    def table(self) -> str | None:
        name = self._state["table"]
        return None if name is None else str(name)

    @property
    def table_path(self) -> Path:
        if self.table is None:
            raise DataError("no table yet; choose one on the screen Data")
        return inside(self.root, self.table)

    def choose(self, table: str) -> None:
        """Begin with a table; what was said and found of another one is forgotten."""
        inside(self.root, table)
        if table == self.table:
            return
        for path in (self.folder / "results").iterdir():
            _remove(path)
        self._write({"release.toml": ""}, {**self._state, "table": table, "undo": [], "redo": [], "parked": {}})

    def upload(self, name: str) -> Path:
        return self.folder / "uploads" / name

    # The policy

    @property
    def policy_path(self) -> Path:
        return self.folder / "release.toml"

    def settings(self) -> Settings:
        """What the policy file says, as TOML has it; nothing where there is none yet."""
        try:
            with open_regular(self.policy_path) as file:
                return parsed_toml(file.read(1 << 24).decode())
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise PolicyError(f"cannot read release.toml in the project folder: {error.strerror}") from None
        except (ValueError, RecursionError) as error:
            reason = " ".join(str(error).split())[:200]
            raise PolicyError(
                f"release.toml in the project folder is not valid TOML: {reason}; undo, or edit it"
            ) from None

    def change(self, settings: Mapping[str, Any], parked: Mapping[str, Any] | None = None) -> None:
        """Write another policy; the one before can be brought back. What is parked stays if None."""
        self._save(self._settings_or_none(), settings, parked=parked)

    @property
    def parked(self) -> dict[str, dict[str, Any]]:
        """By column, what was said of it in a role that it no longer has."""
        return json.loads(json.dumps(self._state["parked"]))  # type: ignore[no-any-return]

    @property
    def can_undo(self) -> bool:
        return bool(self._state["undo"])

    @property
    def can_redo(self) -> bool:
        return bool(self._state["redo"])

    def undo(self) -> None:
        self._step("undo", "redo")

    def redo(self) -> None:
        self._step("redo", "undo")

    def _step(self, source: str, target: str) -> None:
        if not self._state[source]:
            return
        number = self._state[source][-1]
        text = (self.folder / "history" / f"{number:06}.toml").read_text(encoding="utf-8")
        kept = self._number()
        state = {source: self._state[source][:-1], target: [*self._state[target], kept]}
        files = {f"history/{kept:06}.toml": self._text(), "release.toml": text}
        self._write(files, {**self._state, **state})

    def _save(self, before: Settings | None, settings: Mapping[str, Any], **state: Any) -> None:
        text = policy_text(settings)
        files = {"release.toml": text}
        changed = {key: value for key, value in state.items() if value is not None}
        if before != settings or before is None:
            kept = self._number()
            files[f"history/{kept:06}.toml"] = self._text()
            changed |= {"undo": [*self._state["undo"][-MOST_UNDO:], kept], "redo": []}
        self._write(files, {**self._state, **changed})

    def _settings_or_none(self) -> Settings | None:
        try:
            return self.settings()
        except PolicyError:
            return None

    def _text(self) -> str:
        with contextlib.suppress(OSError, ValueError):
            return self.policy_path.read_text(encoding="utf-8")
        return ""

    def _number(self) -> int:
        return int(max([0, *self._state["undo"], *self._state["redo"]])) + 1

    def _write(self, files: Mapping[str, str], state: dict[str, Any]) -> None:
        state = {**state, "revision": self._state["revision"] + 1}
        texts = {**files, "project.json": _json(PROJECT.sealed(state))}
        with AtomicFiles() as staged:
            for name, text in texts.items():
                staged.open(self.folder / name, mode=OWNER_FILE).write_text(text, encoding="utf-8")
        self._state = state

    # Hierarchies

    def keep_hierarchy(self, column: str, text: str) -> str:
        """Write a hierarchy, and give the name by which the policy file can name it."""
        stem = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in column)[:60] or "column"
        mark = hashlib.sha256(f"{column}\n{text}".encode()).hexdigest()[:8]
        name = f"hierarchies/{stem}-{mark}.csv"
        with AtomicFiles() as staged:
            staged.open(self.folder / name, mode=OWNER_FILE).write_text(text, encoding="utf-8")
        return name

    # Results

    def made_from(self) -> str:
        """A digest of the table and the policy, which tells whether a result is out of date."""
        known = [self.table, self.table_state(), self._text()]
        return "sha256:" + hashlib.sha256(json.dumps(known).encode()).hexdigest()

    def table_state(self) -> dict[str, int] | None:
        """How large the table is and when it was changed last; None where it is gone."""
        try:
            found = self.table_path.stat()
        except (DataError, OSError):
            return None
        return {"size": found.st_size, "changed": found.st_mtime_ns}

    def keep(self, name: str, data: Mapping[str, Any], made_from: str, table: Mapping[str, int] | None = None) -> None:
        fields = {"name": name, "made_from": made_from, "table": table or self.table_state(), "data": dict(data)}
        path = self.folder / "results" / f"{name}.json"
        with AtomicFiles() as staged:
            staged.open(path, mode=OWNER_FILE).write_text(_json(RESULT.sealed(fields)), encoding="utf-8")
        self._state["revision"] += 1

    def result(self, name: str) -> dict[str, Any] | None:
        """What a job has found, not to be changed; None where there is nothing, or nothing that can be read."""
        path = self.folder / "results" / f"{name}.json"
        try:
            state = path.stat()
        except OSError:
            self._read.pop(name, None)
            return None
        mark = (state.st_ino, state.st_size, state.st_mtime_ns)
        known = self._read.get(name)
        if known is not None and known[0] == mark:
            return known[1]
        try:
            found: dict[str, Any] = RESULT.read(path, RESULT_SHAPE)
        except DataError:
            return None
        self._read[name] = (mark, found)
        return found

    def folder_of(self, name: str) -> Path:
        """A folder for the files of a result, for its owner alone."""
        path = self.folder / "results" / name
        path.mkdir(OWNER_FOLDER, exist_ok=True)
        return path

    def made(self, name: str) -> Path:
        """The folder with the files of a result that came whole; see `fresh`."""
        return self.folder / "export" if name == "export" else self.folder_of(name) / "made"

    def fresh(self, name: str) -> Path:
        """An empty folder for the files of a result that is being made; `whole` puts it in the place of `made`."""
        for left in self.folder_of(name).glob("next-*"):
            _remove(left)
        path = self.folder_of(name) / f"next-{secrets.token_hex(4)}"  # one that ends late writes to its own
        path.mkdir(OWNER_FOLDER)
        return path

    def whole(self, name: str, folder: Path) -> None:
        exchange(folder, self.made(name))

    def drop(self, folder: Path) -> None:
        _remove(folder)

    def forget(self, name: str) -> None:
        for path in (self.folder / "results" / f"{name}.json", self.folder / "results" / name):
            _remove(path)


def _json(document: Mapping[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"


def exchange(new: Path, target: Path) -> None:
    """Put a folder in the place of another; whatever ends the process, `complete` finds one of them whole."""
    before = target.with_name(f"{target.name}.before")
    _remove(before)
    if target.exists():
        target.rename(before)
    new.rename(target)
    _remove(before)


def complete(target: Path) -> None:
    """Finish or undo what `exchange` has begun."""
    before = target.with_name(f"{target.name}.before")
    if before.exists() and not (target.exists() and any(target.iterdir())):
        _remove(target)
        before.rename(target)
    _remove(before)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def _locked(path: Path) -> IO[bytes]:
    """Hold a file that only one process can hold."""
    file = path.open("ab")
    with contextlib.suppress(ImportError):  # a system without such locks does without
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise OutputError(f"another studio has {path.parent.name} open; use that one, or end it first") from None
    return file
