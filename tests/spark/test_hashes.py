"""Spark's expressions give the hashes of `engines/row_order`, bit by bit."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from tests.spark.session import NEEDS_SPARK, spark_session

from incrowd.engines.allocation import mix
from incrowd.engines.row_order import row_hashes
from incrowd.engines.spark.source import moved

F = pytest.importorskip("pyspark.sql.functions")
hashes = pytest.importorskip("incrowd.engines.spark.hashes")
pytestmark = NEEDS_SPARK
EDGES = [0, 1, -1, 2**31, -(2**31) - 1, 2**32 - 1, 2**62 + 12345, 2**63 - 1, -(2**63), None]
KINDS = {
    "long": pa.array(EDGES * 3),
    "short": pa.array([7, None, -(2**15)] * 10, pa.int16()),
    "yes": pa.array([True, False, None, True, True] * 6),
    "day": pa.array([dt.date(1901, 2, 3), None, dt.date(2024, 5, 6)] * 10),
    "moment": pa.array([-1, 1_700_000_000_123_456, None] * 10, pa.timestamp("us", "UTC")),
}


def test_rows_have_the_hashes_of_every_engine():
    table = pa.table(KINDS)
    frame = moved(table, spark_session())
    kinds = {field.name: field.dataType.simpleString() for field in frame.schema.fields}
    assert set(kinds.values()) <= set(hashes.WHOLE)
    named = {column: (f"h{column}", name) for column, name in zip(frame.columns, KINDS, strict=True)}
    found = hashes.with_hashes(frame, named, kinds).select(hashes.total([F.col(new) for new, _ in named.values()]))
    (batch,) = table.combine_chunks().to_batches()
    assert found.toArrow().column(0).combine_chunks() == hashes.signed(row_hashes(batch))


def test_rows_are_spread_as_on_every_engine():
    firsts = np.array([0, 1, -1, 2**63 - 1, -(2**63)], np.int64)
    numbers = np.array([0, 1, 2, 3, 2**40])
    frame = moved(pa.table({"h": firsts, "s": numbers}), spark_session()).toDF("h", "s")
    found = hashes.spread(frame, "h", "s").toArrow().column("s").combine_chunks()
    expected = mix(firsts.view(np.uint64) ^ mix(numbers.astype(np.uint64)))
    assert found == hashes.signed(expected ^ np.uint64(1 << 63))
