"""Recoded rows into a folder of files, written by the cluster next to the target, counted there, then moved.

Like all that Spark writes, a release is a folder of part files. It appears at once, when it was verified. On this
machine that is done as for any other release; elsewhere by Hadoop's file systems, which Spark Connect does not show.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc

from incrowd.engines.arrow.write import written_to
from incrowd.engines.engine import AS_RELEASED, Observer
from incrowd.engines.plan import ReleasePlan
from incrowd.engines.spark.compress import grouped
from incrowd.engines.spark.recode import released_names, released_rows, show, show_counts
from incrowd.engines.spark.session import is_classic, spark_errors, working
from incrowd.engines.spark.source import (
    SUFFIXES,
    SparkPath,
    SparkSource,
    csv_options,
    file_digest,
    folder_digest,
    for_spark,
    format_of,
    local_path,
    read_csv,
)
from incrowd.errors import DataError, OutputError
from incrowd.formats.atomic_files import check_folder, output_errors
from incrowd.formats.csv_dialect import Dialect, output_dialect
from incrowd.formats.registry import has_types
from incrowd.formats.sources import Source
from incrowd.formats.staging import Folder, Move, exists_error, sync_files
from incrowd.formats.writers import Output, Proof
from incrowd.recodings.recoding import Recoding
from incrowd.run import Run

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

_HASHED = ("boolean", "byte", "short", "integer", "long", "float", "double", "date")  # as they are; others as text
_PIECE = (1 << 24) - 1  # of a hash: sums of such pieces do not overflow
_SUMS = ("rows", "low", "middle", "high")


def write(
    source: SparkSource,
    recoding: Recoding,
    path: Path | Output,
    observer: Observer,
    run: Run,
    plan: ReleasePlan = AS_RELEASED,
) -> str:
    """Write the recoded rows. A single file is written by the driver, a folder by the cluster."""
    from pyspark.sql import Observation

    names, hidden = released_names(source, recoding), plan.hidden_columns
    with spark_errors(f"write the release of {source.name}"):
        types = path.kind not in ("csv", "json") if isinstance(path, SparkOutput) else has_types(path)
        rows, records = released_rows(source, recoding, run, plan, types=types)
        if not isinstance(path, SparkOutput):
            return _to_one_file(source, rows, path, observer, run, [*names, *hidden], len(hidden))
        target = path.begin(source)
        kept = rows.select(rows.columns[: len(names)]).toDF(*names)
        seen_rows = Observation()  # by Spark, on their way to whoever writes: that costs no second look at them
        working(run, source.session, lambda: target.save(kept.observe(seen_rows, *_digest(kept, kept.schema))))
        if records is None:  # not all may have been asked for
            records = working(run, source.session, kept.count)
        seen = [int(seen_rows.get[name]) for name in _SUMS]
        written = target.read_back(names, kept.schema)
        source.check_unchanged()
        if written.columns != names:
            raise OutputError(f"{path.name} does not hold what was to be written; nothing was written")
        observed = None if hidden else plan.observed_columns
        if observed is None:
            found = _asked(source, written, kept.schema, run)
        else:  # the same look shows the observer what is there
            sums = _digest(written, kept.schema)[1:]
            counted = grouped(source, written, _quoted(observed), run, sums).rename_columns([*observed, *_SUMS])
            found = [int(pc.sum(counted.column(len(observed) + place)).as_py() or 0) for place in range(len(_SUMS))]
        if found != [records, *seen[1:]]:
            if working(run, source.session, kept.count) != records:
                raise _changed(source)
            raise OutputError(f"{path.name} does not hold what was to be written; nothing was written")
        if observed is not None:
            show_counts(counted.select(range(len(observed) + 1)), observer, run)
        elif not hidden:
            show(source, written, names, observer, plan.observed_columns, run)
        else:
            # Whose record each is stands in no file. These rows are counted instead, once it is shown that without
            # that column they are the very rows of the files, however often each occurs.
            show(source, rows, [*names, *hidden], observer, plan.observed_columns, run)
            again = rows.select(rows.columns[: len(names)]).toDF(*names)
            if _asked(source, again, kept.schema, run) != found:
                raise _changed(source)
        return target.fingerprint()


def _changed(source: SparkSource) -> DataError:
    return DataError(f"{source.name} changed while it was being released; run again when nothing writes to it")


def _digest(frame: DataFrame, schema: StructType) -> list[Column]:
    """The number of rows, and the sums of pieces of their hashes: the same for the same rows in any order.

    The schema has the types that they were meant to have: where all is text, values are made from it again.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType

    hashed: list[Column] = []
    for quoted, field in zip(_quoted(frame.columns), schema.fields, strict=True):
        column = F.col(quoted)
        typed = column if frame.schema[field.name].dataType == field.dataType else column.try_cast(field.dataType)
        if field.dataType.typeName() in _HASHED:
            hashed += [typed, typed.isNull()]  # Spark's hash skips what is null
        elif isinstance(field.dataType, StringType):
            hashed.append(F.coalesce(typed, F.lit("")))
        else:
            hashed.append(F.coalesce(F.to_json(F.struct(typed.alias("v"))), F.lit("")))
    whole = F.xxhash64(*hashed)
    pieces = (whole.bitwiseAND(_PIECE), F.shiftright(whole, 24).bitwiseAND(_PIECE), F.shiftrightunsigned(whole, 48))
    sums = [F.coalesce(F.sum(piece), F.lit(0)) for piece in pieces]
    return [column.alias(name) for column, name in zip((F.count(F.lit(1)), *sums), _SUMS, strict=True)]


def _quoted(names: Sequence[str]) -> list[str]:
    return ["`" + name.replace("`", "``") + "`" for name in names]


def _asked(source: SparkSource, frame: DataFrame, schema: StructType, run: Run) -> list[int]:
    found = working(run, source.session, frame.agg(*_digest(frame, schema)).toArrow)
    return [int(value) for value in found.to_pylist()[0].values()]


def _to_one_file(
    source: SparkSource,
    rows: DataFrame,
    path: Path | Output,
    observer: Observer,
    run: Run,
    names: Sequence[str],
    extra: int,
) -> str:
    """Bring all rows to the driver, and write them there."""
    table: pa.Table = working(run, source.session, rows.toArrow).replace_schema_metadata(None).rename_columns(names)
    source.check_unchanged()
    schema = table.select(list(names[: len(names) - extra])).schema

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in table.combine_chunks().to_batches():
            run.rows(len(batch))
            yield batch

    return written_to(path, batches(), schema, source, observer, run)


class SparkOutput:
    """A folder of part files that the cluster writes to, staged next to the target; see `formats.writers.Output`."""

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
        check_folder(path)
        if path.is_symlink() or path.is_file():
            raise OutputError(f"{path} is a file, and Spark writes a folder; choose another name")
        if path.exists():
            if not _is_release(path):
                raise OutputError(f"{path} is a folder with other files than those of a release; choose another name")
            if not self._overwrite:
                raise exists_error(path)
        if not os.access(path.parent, os.W_OK | os.X_OK):
            raise OutputError(f"cannot write to {path.parent}: permission denied")

    def writer(self, schema: pa.Schema, source: Source) -> NoReturn:
        raise OutputError(f"only the engine 'spark' writes to {self.name}")

    def begin(self, source: SparkSource) -> SparkOutput:
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
        options: dict[str, Any] = {}
        if self.kind == "csv":
            options = {**csv_options(self._dialect), "emptyValue": ""}
            if self.name.endswith(".gz"):
                options["compression"] = "gzip"
        rows.write.format(self.kind).options(**options).save(self._staged)

    def read_back(self, names: list[str], schema: Any) -> DataFrame:
        assert self._session is not None
        where = self._staged if self._folder is None else for_spark(self._folder.path / self.name)
        if self.kind == "csv":
            return read_csv(self._session, where, self._dialect, names)
        return self._session.read.schema(schema).format(self.kind).load(where)

    def fingerprint(self) -> str:
        assert self._session is not None
        if self._folder is None:
            return file_digest(self._session, self._staged)
        return folder_digest(self._folder.path / self.name)

    def prepare(self) -> None:
        if self._folder is not None:
            with output_errors(self._folder.path.parent):
                sync_files(self._folder.path / self.name)

    @property
    def is_ready(self) -> bool:
        return True

    @property
    def home(self) -> Path | None:
        return None if self._folder is None else self._folder.path.parent

    @property
    def proof(self) -> Proof | None:
        """None: on this machine the folder is moved with the other files, and elsewhere only Spark could look."""
        return None

    def commit(self) -> None:
        if self._folder is None:
            with spark_errors(f"move {self.name} into place"):
                self._files().move(self._staged, self.address, overwrite=self._overwrite)

    def moves(self) -> list[Move]:
        if self._folder is None or self.path is None:
            return []
        if not self._overwrite and os.path.lexists(self.path):
            raise exists_error(self.path)
        return [Move(self._folder.path / self.name, self.path, self._overwrite)]

    def is_committed(self) -> bool | None:
        return None

    def roll_back(self) -> None:
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
        files, path = self._found(address)
        files.delete(path, True)


def _is_release(path: Path) -> bool:
    return all(name.startswith(("part-", "_", ".")) for name in os.listdir(path))


def _overlap(source: Path, target: Path) -> bool:
    one, other = Path(os.path.realpath(source)), Path(os.path.realpath(target))
    return one == other or one in other.parents or other in one.parents
