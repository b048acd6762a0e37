"""Every type of Arrow as an untouched, a sensitive and an identifying column: released, or refused in one line.

What is released as it is keeps its type, wherever the file has it.
"""

import datetime as dt
import sqlite3
import uuid
from decimal import Decimal

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from tests.faults.processes import MORE

import incrowd
from incrowd.errors import IncrowdError

pytestmark = pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")  # risks are not the point here
ROWS = 24
TEXTS, BYTES, WHOLE = ["a", "b", "c", "d"], [b"a", b"b", b"c", b"d"], [1, 2, 3, 4]
LONG = [f"a text that is too long for a view to hold it: {text}" for text in TEXTS]
DAYS = [dt.date(2020, 1, day) for day in WHOLE]
MOMENTS = [dt.datetime(2020, 1, day, 10, 30) for day in WHOLE]
TIMES = [dt.time(10, minute) for minute in WHOLE]
SPANS = [dt.timedelta(days=days) for days in WHOLE]
FRACTIONS = [np.float16(value + 0.5) for value in WHOLE]
DECIMALS = [Decimal(f"{value}.5") for value in WHOLE]
LISTS = [[value] for value in WHOLE]
UNITS = ("s", "ms", "us", "ns")
QI = {"k": 2, "method": "tdr"}


def of(kind, values):
    """A column of a type in which every value has several rows."""
    return pa.array([values[row // 2 % 4] for row in range(ROWS)], kind)


def extension(kind, values):
    return pa.ExtensionArray.from_storage(kind, of(kind.storage_type, values))


def columns():
    """A column of every type."""
    plain = {
        pa.bool_(): [True, False] * 2,
        **dict.fromkeys([pa.int8(), pa.int16(), pa.int32(), pa.int64()], WHOLE),
        **dict.fromkeys([pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()], WHOLE),
        **dict.fromkeys([pa.float16(), pa.float32(), pa.float64()], FRACTIONS),
        **dict.fromkeys(
            [pa.decimal32(5, 2), pa.decimal64(9, 2), pa.decimal128(9, 2), pa.decimal256(50, 2)],
            DECIMALS,
        ),
        **dict.fromkeys([pa.date32(), pa.date64()], DAYS),
        **dict.fromkeys([pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")], TIMES),
        **dict.fromkeys([pa.timestamp(unit) for unit in UNITS], MOMENTS),
        **dict.fromkeys([pa.timestamp(unit, "Europe/Paris") for unit in UNITS], MOMENTS),
        **dict.fromkeys([pa.duration(unit) for unit in UNITS], SPANS),
        pa.month_day_nano_interval(): [pa.MonthDayNano([value, 1, 0]) for value in WHOLE],
        **dict.fromkeys([pa.string(), pa.large_string(), pa.string_view()], LONG),
        **dict.fromkeys([pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(1)], BYTES),
        **dict.fromkeys([pa.list_(pa.int64()), pa.large_list(pa.int64()), pa.list_(pa.int64(), 1)], LISTS),
        **dict.fromkeys([pa.list_view(pa.int64()), pa.large_list_view(pa.int64())], LISTS),
        pa.list_(pa.string_view()): [[text] for text in LONG],
        pa.struct([("a", pa.string_view())]): [{"a": text} for text in LONG],
        pa.map_(pa.string(), pa.int64()): [[("a", value)] for value in WHOLE],
    }
    found = {str(kind): of(kind, values) for kind, values in plain.items()}
    places = pa.array([row // 2 % 4 for row in range(ROWS)], pa.int8())
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        found[f"dictionary of {kind}"] = pa.DictionaryArray.from_arrays(places, pa.array(TEXTS, kind))
    found["ordered dictionary"] = pa.DictionaryArray.from_arrays(places, pa.array(TEXTS), ordered=True)
    for kind, values in ((pa.int64(), WHOLE), (pa.date32(), DAYS), (pa.binary(), BYTES), (pa.timestamp("us"), MOMENTS)):
        found[f"dictionary of {kind}"] = pa.DictionaryArray.from_arrays(places, pa.array(values, kind))
    return found | {
        "null": pa.nulls(ROWS),
        "runs of text": pc.run_end_encode(of(pa.string(), TEXTS)),
        "runs of numbers": pc.run_end_encode(of(pa.int64(), WHOLE)),
        "sparse union": pa.UnionArray.from_sparse(pa.array([0] * ROWS, pa.int8()), [of(pa.int64(), WHOLE)]),
        "dense union": pa.UnionArray.from_dense(
            pa.array([0] * ROWS, pa.int8()), pa.array(range(ROWS), pa.int32()), [of(pa.int64(), WHOLE)]
        ),
        "uuid": extension(pa.uuid(), [uuid.UUID(int=value).bytes for value in WHOLE]),
        "json": extension(pa.json_(), [str(value) for value in WHOLE]),
        "bool8": extension(pa.bool8(), [0, 1, 0, 1]),
        "opaque": extension(pa.opaque(pa.int64(), "type", "vendor"), WHOLE),
        "tensor": extension(pa.fixed_shape_tensor(pa.int64(), [1]), LISTS),
    }


COLUMNS = columns()


def table_of(name):
    return pa.table(
        {
            "age": [20 + row % 4 for row in range(ROWS)],
            "sex": ["fm"[row % 2] for row in range(ROWS)],
            "x": COLUMNS[name],
        }
    )


def sources(name, folder):
    """The column as a frame and in files, with the type that it has there; Parquet does not have all."""
    table = table_of(name)
    yield table, table.schema.field("x").type
    path = folder / "people.arrow"
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table)
    yield path, table.schema.field("x").type
    path = folder / "people.parquet"
    try:
        pq.write_table(table, path)
    except pa.ArrowNotImplementedError:
        return
    yield path, pq.read_schema(path).field("x").type


def answered(action):
    """What an action gives, or None if it was refused in one line."""
    try:
        return action()
    except IncrowdError as error:
        said = str(error)
    assert "\n" not in said
    assert len(said) < 400
    return None


@pytest.mark.parametrize("name", COLUMNS)
def test_untouched_it_keeps_its_type(name, tmp_path):
    for source, kind in sources(name, tmp_path):
        release = incrowd.anonymize(source, quasi_identifiers=["age", "sex"], keep=["x"], **QI)
        assert release.data.schema.field("x").type == kind
        assert release.data.column("x").to_pylist().count(None) == COLUMNS[name].null_count
        release.write(tmp_path / "r.arrow", overwrite=True)
        with pa.ipc.open_file(tmp_path / "r.arrow") as file:
            assert file.schema.field("x").type == kind
        written = answered(lambda release=release: release.write(tmp_path / "r.parquet", overwrite=True) or True)
        if written and not isinstance(source, pa.Table) and source.suffix == ".parquet":
            assert pq.read_schema(tmp_path / "r.parquet").field("x").type == kind
        if MORE == 1 and not isinstance(source, pa.Table):
            continue
        for ending in ("csv", "jsonl") if MORE == 1 else ("csv", "jsonl", "xlsx", "sqlite", "duckdb", "dta", "sav"):
            answered(lambda release=release, end=ending: release.write(tmp_path / f"r.{end}", overwrite=True))


@pytest.mark.parametrize("name", COLUMNS)
def test_protected_or_identifying_it_is_released_or_refused(name, tmp_path):
    found = list(sources(name, tmp_path))
    for source, _ in found if MORE > 1 else found[-1:]:
        answered(lambda s=source: incrowd.anonymize(s, quasi_identifiers=["age", "sex"], sensitive=["x"], l=2, **QI))
        release = answered(lambda s=source: incrowd.anonymize(s, quasi_identifiers=["age", "x"], **QI))
        if release is not None:
            crowds = release.data.select(["age", "x"]).to_pylist()
            assert min(crowds.count(row) for row in crowds) >= 2
        answered(lambda s=source: incrowd.verify(s, quasi_identifiers=["age", "x"], k=2))
        answered(lambda s=source: incrowd.verify(s, quasi_identifiers=["age", "sex"], sensitive=["x"], k=2))
        answered(lambda s=source: incrowd.assess(s, quasi_identifiers=["age", "x"]))
        answered(lambda s=source: incrowd.assess(s, quasi_identifiers=["age", "sex"], sensitive=["x"]))
        assert incrowd.inspect(source) is not None  # it looks at any table


@pytest.mark.parametrize("name", ["string_view", "large_string", "decimal32(5, 2)", "runs of text", "timestamp[s]"])
@pytest.mark.parametrize("method", ["cover", "kaca", "mondrian"])
def test_local_methods_deal_rows_of_unusual_types(name, method, tmp_path):
    for source, kind in sources(name, tmp_path):
        words = {"k": 3, "method": method}
        assert incrowd.anonymize(source, quasi_identifiers=["age", "sex"], **words).data.schema.field("x").type == kind
        assert incrowd.anonymize(source, quasi_identifiers=["age", "x"], **words).data.num_rows == ROWS


def test_an_interval_in_duckdb(tmp_path):
    with duckdb.connect(str(tmp_path / "p.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT i % 4 AS age, i % 2 AS sex, to_days((i % 3)::INT) AS x, (i % 3)::HUGEINT AS h,"
            " TIME '10:00:00' AS c FROM range(24) AS r(i)"
        )
    address = f"{tmp_path}/p.duckdb#t"
    assert incrowd.inspect(address) is not None
    for engine in ("arrow", "duckdb"):
        words = {"quasi_identifiers": ["age", "sex"], "engine": engine, **QI}
        answered(lambda w=words: incrowd.anonymize(address, **w, sensitive=["x"], l=2))
        answered(lambda w=words: incrowd.anonymize(address, **{**w, "quasi_identifiers": ["age", "x"]}))
        release = incrowd.anonymize(address, **words, keep=["x"])
        for ending in ("parquet", "csv", "jsonl", "arrow", "sqlite", "duckdb", "xlsx"):
            answered(lambda r=release, end=ending: r.write(tmp_path / f"r.{end}", overwrite=True))
    answered(lambda: incrowd.verify(address, quasi_identifiers=["age", "x"], k=2))
    answered(lambda: incrowd.assess(address, quasi_identifiers=["age", "x"]))


def test_columns_of_sqlite_without_a_declared_type(tmp_path):
    with sqlite3.connect(tmp_path / "p.sqlite") as connection:
        connection.execute("CREATE TABLE t (age, sex TEXT, whole, mixed, note)")
        rows = [(20 + i % 4, "fm"[i % 2], i % 3, [1, "a", 2.5][i % 3], None) for i in range(24)]
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", rows)
    connection.close()
    release = incrowd.anonymize(f"{tmp_path}/p.sqlite#t", quasi_identifiers=["age", "sex"], **QI)
    release.write(f"{tmp_path}/r.sqlite#r")
    with sqlite3.connect(tmp_path / "r.sqlite") as connection:
        found = connection.execute("SELECT whole, mixed, note FROM r").fetchall()
    connection.close()
    assert {type(value) for value, _, _ in found} == {int}
    assert {value for _, value, _ in found} == {"1", "a", "2.5"}  # of several kinds: text, as the page on files says
    assert {value for _, _, value in found} == {None}
