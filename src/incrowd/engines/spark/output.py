"""Folders that the cluster writes to: staged beside the target, and moved when they are verified."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa

from incrowd.engines.spark.digests import file_digest, folder_digest
from incrowd.engines.spark.paths import SUFFIXES, SparkPath, charset, for_spark, format_of, local_path, read_csv
from incrowd.engines.spark.session import is_classic, spark_errors
from incrowd.engines.spark.source import SparkSource
from incrowd.errors import OutputError
from incrowd.formats.atomic_files import output_errors
from incrowd.formats.csv_dialect import Dialect, output_dialect
from incrowd.formats.outputs import Proof
from incrowd.formats.sources import Source
from incrowd.formats.staging import Folder, Move, exists_error, heal, sync_files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class SparkOutput:
    """A folder of part files.

    Args:
        address: Where the release should go.
        overwrite: Whether a release that is there may be replaced.

    Raises:
        OutputError: It cannot go there.
    """

    def __init__(self, address: str | Path, *, overwrite: bool) -> None:
        self.address = str(address).rstrip("/")
        self.name = self.address.rpartition("/")[2]
        self._overwrite = overwrite
        kind = format_of(self.address)
        if kind is None:
            raise OutputError(f"cannot tell the format of {self.name} from its suffix; Spark writes {SUFFIXES}")
        self.kind = kind
        self.path = local_path(self.address)
        self.beside = self.path if self.path is not None else Path.cwd() / self.name
        self._folder: Folder | None = None
        self._staged = ""
        self._session: SparkSession | None = None
        self._dialect = Dialect()
        if self.path is not None:
            self._check(self.path)

    def _check(self, path: Path) -> None:
        parent = path.parent
        if not parent.is_dir():
            raise OutputError(f"no directory {parent} to write {path.name} to; create it first")
        heal(parent)
        if path.is_symlink() or path.is_file():
            raise OutputError(f"{path} is a file, and Spark writes a folder; choose another name")
        if path.exists():
            if not _is_release(path):
                raise OutputError(f"{path} is a folder with other files than those of a release; choose another name")
            if not self._overwrite:
                raise exists_error(path)
        if not os.access(parent, os.W_OK | os.X_OK):
            raise OutputError(f"cannot write to {parent}: permission denied")

    def writer(self, schema: pa.Schema, source: Source) -> NoReturn:
        """Nobody but Spark writes there."""
        raise OutputError(f"only the engine 'spark' writes to {self.name}")

    def begin(self, source: SparkSource) -> SparkOutput:
        """Make room beside the target."""
        self._session = source.session
        given = getattr(source, "dialect", None)
        self._dialect = output_dialect(given, Path(self.name.removesuffix(".gz")).suffix)
        if self.path is not None:
            if isinstance(source, SparkPath) and source.path is not None and _overlap(source.path, self.path):
                raise OutputError(f"{self.path} is the input {source.path}; choose another name")
            with output_errors(self.path.parent):
                self._folder = Folder(self.path.parent)
            self._staged = for_spark(self._folder.path / self.name, pattern=False)
            return self
        files = self._files()
        if not self._overwrite and files.exists(self.address):
            raise OutputError(
                f"{self.address} already exists; choose another name, or use --overwrite (in Python overwrite=True)"
            )
        parent = self.address.rpartition("/")[0]
        self._staged = f"{parent}/_incrowd-{secrets.token_hex(8)}/{self.name}"
        return self

    def save(self, rows: DataFrame) -> None:
        """Write the rows where nobody looks."""
        options: dict[str, Any] = {}
        if self.kind == "csv":
            options = {
                "sep": self._dialect.separator,
                "quote": self._dialect.quote,
                "escape": self._dialect.quote,
                "header": self._dialect.header,
                "encoding": charset(self._dialect),
                "emptyValue": "",
                "ignoreLeadingWhiteSpace": False,
                "ignoreTrailingWhiteSpace": False,
            }
            if self.name.endswith(".gz"):
                options["compression"] = "gzip"
        rows.write.format(self.kind).options(**options).save(self._staged)

    def read_back(self, names: list[str], schema: Any) -> DataFrame:
        """What was written."""
        assert self._session is not None
        where = self._staged if self._folder is None else for_spark(self._folder.path / self.name)
        if self.kind == "csv":
            return read_csv(self._session, where, self._dialect, names)
        return self._session.read.schema(schema).format(self.kind).load(where)

    def fingerprint(self) -> str:
        """The digest of the part files."""
        assert self._session is not None
        if self._folder is None:
            return file_digest(self._session, self._staged)
        return folder_digest(self._folder.path / self.name)

    def prepare(self) -> None:
        """Bring the part files to the disk."""
        if self._folder is not None:
            with output_errors(self._folder.path.parent):
                sync_files(self._folder.path / self.name)

    @property
    def is_ready(self) -> bool:
        """Nobody else writes where it waits."""
        return True

    @property
    def home(self) -> Path | None:
        """The folder that the release appears in, if it is on this machine."""
        return None if self._folder is None else self._folder.path.parent

    @property
    def proof(self) -> Proof | None:
        """None: on this machine the folder is moved with the other files, and elsewhere only Spark could look."""
        return None

    def commit(self) -> None:
        """Move the folder into place, where that is not on this machine."""
        if self._folder is None:
            with spark_errors(f"move {self.name} into place"):
                self._files().move(self._staged, self.address, overwrite=self._overwrite)

    def moves(self) -> list[Move]:
        """What brings the folder to its place on this machine."""
        if self._folder is None or self.path is None:
            return []
        if not self._overwrite and os.path.lexists(self.path):
            raise exists_error(self.path)
        return [Move(self._folder.path / self.name, self.path, self._overwrite)]

    def is_committed(self) -> bool | None:
        """Not known."""
        return None

    def roll_back(self) -> None:
        """Remove what is left beside the target."""
        if self._folder is not None:
            self._folder.remove()
            self._folder = None
        elif self._staged:
            with contextlib.suppress(Exception):
                self._files().remove(self._staged.rpartition("/")[0])
        self._staged = ""

    def _files(self) -> HadoopFiles:
        if not is_classic(self._session):
            raise OutputError(
                f"through Spark Connect a release is written to folders that this machine sees, and {self.address} is "
                "none; in Python, write release.data yourself"
            )
        return HadoopFiles(self._session)


class HadoopFiles:
    """Names on file systems that a session of Spark reaches."""

    def __init__(self, session: Any) -> None:
        self._jvm = session._jvm
        self._settings = session._jsparkSession.sessionState().newHadoopConf()

    def _found(self, address: str) -> tuple[Any, Any]:
        path = self._jvm.org.apache.hadoop.fs.Path(address)
        return path.getFileSystem(self._settings), path

    def exists(self, address: str) -> bool:
        """Whether something is there."""
        files, path = self._found(address)
        return bool(files.exists(path))

    def move(self, old: str, new: str, *, overwrite: bool) -> None:
        """Give a folder another name; what is there is removed if it may be."""
        files, target = self._found(new)
        if files.exists(target):
            if not overwrite:
                raise OutputError(f"{new} already exists; choose another name")
            aside = self._found(f"{old}.old")[1]
            if not files.rename(target, aside):
                raise OutputError(f"cannot replace {new}; nothing was changed")
        if not files.rename(self._found(old)[1], target):
            raise OutputError(f"cannot move the release to {new}; nothing was written")

    def remove(self, address: str) -> None:
        """Remove a folder with all that is in it."""
        files, path = self._found(address)
        files.delete(path, True)


def _is_release(path: Path) -> bool:
    """Whether a folder holds what Spark writes and nothing else."""
    return all(name.startswith(("part-", "_", ".")) for name in os.listdir(path))


def _overlap(source: Path, target: Path) -> bool:
    """Whether one of two paths is in the other."""
    one, other = Path(os.path.realpath(source)), Path(os.path.realpath(target))
    return one == other or one in other.parents or other in one.parents
