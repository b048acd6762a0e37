"""Tables that Spark reads: a data frame of the user's, or a path on whatever the cluster sees.

Inside the engine columns are numbered (`c0`, `c1`, ...): the names of a table may hold dots and quotes, and may differ
in nothing but case, all of which Spark reads as something else.
"""

from __future__ import annotations

import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import narwhals as nw
import pyarrow as pa

from incrowd.engines.spark.digests import frame_digest
from incrowd.engines.spark.session import session_of, spark_errors
from incrowd.errors import DataError
from incrowd.formats.frames import FrameSource
from incrowd.formats.sources import BATCH_ROWS, Check, Source, as_array, as_dictionary, check_names, choose_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LOOKED_AT = 1_000_000  # rows that come to the driver to be looked at
ORDER = "o"  # columns that say where a row was: o0, o1, ...


class SparkSource:
    """A Spark data frame, of a session or of Spark Connect.

    Args:
        frame: The data frame. It is evaluated more than once, and must give the same rows each time.
    """

    engine = "spark"
    name = "the table"
    missing_values: tuple[str, ...] = ()

    def __init__(self, frame: DataFrame) -> None:
        self.frame = frame
        self._values: dict[str, pa.Array] = {}
        self._records: int | None = None
        self.session: SparkSession = frame.sparkSession
        with spark_errors(f"read {self.name}"):
            self.columns = tuple(frame.columns)
            if not self.columns:
                raise DataError(f"{self.name} has no columns")
            check_names(self.columns, self.name)
            self._schema: pa.Schema = self.rows().limit(0).toArrow().schema.remove_metadata()
        self._schema = pa.schema([field.with_name(n) for field, n in zip(self._schema, self.columns, strict=True)])

    @property
    def schema(self) -> pa.Schema:
        """The fields as `batches()` gives them when nothing is encoded."""
        return self._schema

    def remember(self, values: Mapping[str, pa.ChunkedArray], records: int | None = None) -> None:
        """Keep what is asked for when rows are recoded: the distinct values of columns, and the number of rows."""
        self._values |= {name: as_array(distinct) for name, distinct in values.items()}
        self._records = self._records if records is None else records

    def glimpse(self) -> Source:
        """A table to look at for what may be risky about its columns: some rows, if these are too many for here."""
        return SparkSource(self.frame.limit(LOOKED_AT)) if self.count() > LOOKED_AT else self

    def count(self) -> int:
        """How many rows there are."""
        if self._records is None:
            with spark_errors(f"count the rows of {self.name}"):
                self._records = int(self.rows().count())
        return self._records

    def distinct(self, name: str) -> pa.Array:
        """The distinct values of a column, null among them if there is one."""
        if name not in self._values:
            with spark_errors(f"count the values of {self.name}"):
                self.remember({name: self.rows().select(self.place(name)).distinct().toArrow().column(0)})
        return self._values[name]

    def place(self, name: str) -> str:
        """The name of a column inside the engine."""
        return f"c{self.columns.index(name)}"

    def kind(self, name: str) -> Any:
        """What Spark calls the type of a column."""
        return self.frame.schema.fields[self.columns.index(name)].dataType

    def rows(self) -> DataFrame:
        """The rows, with columns by number."""
        return self.frame.toDF(*(f"c{place}" for place in range(len(self.columns))))

    def ordered_rows(self) -> DataFrame:
        """The rows, with columns that say where each was."""
        from pyspark.sql import functions as F

        return self.rows().withColumn(f"{ORDER}0", F.monotonically_increasing_id())

    def batches(self, columns: Sequence[str] | None = None, encoded: Collection[str] = ()) -> Iterator[pa.RecordBatch]:
        """The rows in the order in which Spark gives them; see `Source.batches`. All of them come to the driver."""
        chosen = choose_columns(self, columns)
        with spark_errors(f"read {self.name}"):
            table = self.rows().select([self.place(name) for name in chosen]).toArrow()
        if not table.num_rows:
            raise DataError(f"{self.name} has no rows")
        for batch in table.combine_chunks().to_batches(BATCH_ROWS):
            arrays = [
                as_dictionary(column) if name in encoded else column
                for name, column in zip(chosen, batch.columns, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(arrays, names=chosen) if arrays else batch
        self.check_unchanged()

    def fingerprint(self, check: Check | None = None) -> str:
        """A digest of the rows in any order, which Spark adds up."""
        if check is not None:
            check()
        with spark_errors(f"read {self.name}"):
            return frame_digest(self.rows(), self.columns)

    def check_unchanged(self) -> None:
        """A frame has no state to compare; rows that were not there when they were counted are noticed one by one."""


def as_spark(source: Source, master: str | None) -> SparkSource:
    """A source for Spark; that of another kind of table is copied to the cluster."""
    if isinstance(source, SparkSource):
        return source
    if source not in _COPIES:
        table = pa.Table.from_batches(list(source.batches()))
        _COPIES[source] = CopiedSource(source, session_of(master), table)
    return _COPIES[source]


class CopiedSource(SparkSource):
    """A table that the driver had, on the cluster.

    Args:
        original: The table.
        session: The cluster.
        table: Its rows.
    """

    def __init__(self, original: Source, session: SparkSession, table: pa.Table) -> None:
        self._original = weakref.ref(original)
        self.name = original.name
        self.missing_values = original.missing_values
        self.backend = _backend(original)
        with spark_errors(f"take {self.name}"):
            super().__init__(moved(table, session).toDF(*table.column_names))

    def check_unchanged(self) -> None:
        """Raise DataError if the original changed."""
        if (original := self._original()) is not None:
            original.check_unchanged()


def moved(table: pa.Table, session: SparkSession) -> DataFrame:
    """A table of the driver's as a data frame; moments without a time zone stay without one."""
    from pyspark.sql.pandas.types import from_arrow_schema

    fields = [
        pa.field(f"c{place}", field.type.value_type if pa.types.is_dictionary(field.type) else field.type)
        for place, field in enumerate(table.schema)
    ]
    plain = table.rename_columns([field.name for field in fields]).cast(pa.schema(fields))
    return session.createDataFrame(plain, from_arrow_schema(plain.schema, prefer_timestamp_ntz=True))


def _backend(source: Source) -> Any:
    """The library of a frame, for a release of the same kind; None for Arrow."""
    if not isinstance(source, FrameSource):
        return None
    implementation = nw.from_native(source.frame).implementation
    return None if implementation is nw.Implementation.PYARROW else implementation


_COPIES: weakref.WeakKeyDictionary[Source, CopiedSource] = weakref.WeakKeyDictionary()
