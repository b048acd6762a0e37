"""Fingerprints that a cluster can compute: of rows in any order, and of files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from incrowd.formats.parquet_sets import ParquetSet, parquet_files
from incrowd.formats.sources import Check, WatchedFile

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_DIGITS = 15  # hexadecimal ones that fit in a number of Spark
_PIECES = 4


def frame_digest(rows: DataFrame, columns: Sequence[str]) -> str:
    """The digest of a frame: that of its columns and types, the number of rows, and the sums of their SHA-256 digests.

    Rows of a frame have no order, so their digests are added up, in pieces that Spark can add.
    """
    from pyspark.sql import functions as F

    text = F.to_json(F.struct(*rows.columns), {"ignoreNullFields": "false"})
    digest = F.sha2(text, 256)
    pieces = [
        F.sum(F.conv(F.substring(digest, 1 + _DIGITS * piece, _DIGITS), 16, 10).cast("decimal(38,0)"))
        for piece in range(_PIECES)
    ]
    sums = rows.agg(F.count(F.lit(1)), *pieces).toArrow().to_pylist()[0].values()
    kinds = [field.dataType.simpleString() for field in rows.schema.fields]
    told = repr([*zip(columns, kinds, strict=True), *map(str, sums)])
    return "sha256:" + hashlib.sha256(told.encode()).hexdigest()


def data_files(path: Path) -> list[Path]:
    """The files of a file or folder that hold rows, in the order of their names."""
    if not path.is_dir():
        return [path]
    found = [Path(folder) / name for folder, _, names in os.walk(path) for name in names]
    hidden = {file for file in found if any(part[0] in "._" for part in file.relative_to(path).parts)}
    return sorted(file for file in found if file not in hidden)


def folder_digest(path: Path, check: Check | None = None) -> str:
    """The digest of the files of a folder: for Parquet, what every engine says of that folder."""
    files = data_files(path)
    if parquet_files(path) == files:
        return ParquetSet(files, path).fingerprint(check)
    return _together(WatchedFile(file).fingerprint(check) for file in files)


def _together(digests: Iterable[str]) -> str:
    """The digest of several files, as `ParquetSet` has it for those without partitions."""
    return "sha256:" + hashlib.sha256("".join(f"{digest} []\n" for digest in digests).encode()).hexdigest()


def file_digest(session: SparkSession, address: str) -> str:
    """The digest of the files at an address, as `folder_digest` has it; the cluster reads them."""
    from pyspark.sql import functions as F

    files = session.read.format("binaryFile").load(address)
    found = files.select("path", F.sha2("content", 256).alias("digest")).orderBy("path").toArrow()
    digests = [f"sha256:{digest}" for digest in found.column("digest").to_pylist()]
    return digests[0] if len(digests) == 1 else _together(digests)
