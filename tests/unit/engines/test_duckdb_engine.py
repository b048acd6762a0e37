"""What is particular to the DuckDB engine: where it spills, how it is interrupted, and relations of the user's own."""

import threading

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.databases import PEOPLE, WORDS, duckdb_file

import incrowd
from incrowd.engines.duckdb import session
from incrowd.engines.duckdb import source as native
from incrowd.engines.engine import Settings
from incrowd.engines.reading import compressed
from incrowd.engines.registry import engine_for, engine_of
from incrowd.errors import CancelledError, DataError, PolicyError
from incrowd.formats.registry import open_source
from incrowd.policy.making import make_policy
from incrowd.run import Run


def many(rows):
    """A table of as many distinct tuples as rows."""
    numbers = np.arange(rows)
    return pa.table({"a": numbers % 1000, "b": numbers // 1000, "c": numbers * 7919 % 997, "t": numbers % 2})


@pytest.mark.parametrize("place", ["memory", "parquet"])
def test_tuples_under_a_memory_limit_are_those_without(place, tmp_path, monkeypatch):
    folder, modes = tmp_path / "spill", []
    folder.mkdir()
    monkeypatch.setattr(session.Folder, "remove", _watched(session.Folder.remove, modes))
    table = many(1_000_000)
    policy = make_policy(quasi_identifiers=["a", "b", "c"], k=2, target="t")
    expected = compressed(engine_of(), open_source(table), policy, Run())
    pa.parquet.write_table(table, tmp_path / "many.parquet")
    source = open_source(table if place == "memory" else tmp_path / "many.parquet")
    found = compressed(engine_of("duckdb", Settings("40MB", folder)), source, policy, Run())
    assert (found.counts == expected.counts).all()
    for mine, theirs in zip(found.codes, expected.codes, strict=True):
        assert (mine == theirs).all()
    assert (found.target.counts == expected.target.counts).all()
    assert modes == [0o700]
    assert list(folder.iterdir()) == []


def _watched(remove, modes):
    def watched(self):
        modes.append(self.path.stat().st_mode & 0o777)
        remove(self)

    return watched


@pytest.mark.parametrize("place", ["memory", "parquet", "duckdb"])
def test_a_cancelled_run_ends_the_query(place, tmp_path):
    table = many(200_000)
    if place == "parquet":
        pa.parquet.write_table(table, tmp_path / "many.parquet")
    data = {"memory": table, "parquet": tmp_path / "many.parquet", "duckdb": tmp_path / "many.duckdb"}[place]
    if place == "duckdb":
        data = duckdb_file(data, table)
    source, policy, run = open_source(data), make_policy(quasi_identifiers=["a", "b"], k=2), Run()
    run.cancel()
    before = threading.enumerate()
    with pytest.raises(CancelledError):
        compressed(engine_of("duckdb"), source, policy, run)
    begun = [thread for thread in threading.enumerate() if thread not in before]
    assert not [thread for thread in begun if thread.name == "incrowd, beside" and thread.is_alive()]


def test_an_error_of_the_source_is_told_as_it_is():
    table = PEOPLE.append_column("odd", pa.array([[1]] * 60))
    with pytest.raises(DataError, match="column 'odd' has type list"):
        incrowd.anonymize(table.select(["odd"]), quasi_identifiers=["odd"], k=2, engine="duckdb")
    with pytest.raises(DataError, match="has missing values in a quasi-identifier"):
        incrowd.anonymize(PEOPLE, **WORDS, missing="error", engine="duckdb")


def test_the_engine_is_the_one_where_the_rows_are(tmp_path):
    relation = duckdb.connect().from_arrow(PEOPLE)
    for data, name in ((PEOPLE, "arrow"), (relation, "duckdb"), (duckdb_file(tmp_path / "a.duckdb"), "duckdb")):
        source = open_source(data)
        assert engine_for(make_policy(**WORDS), source).name == name
        assert engine_for(make_policy(**WORDS, engine="arrow"), source).name == "arrow"


def test_relations_are_read_under_a_lock_and_may_be_queries():
    with duckdb.connect() as connection:
        connection.register("people", PEOPLE)
        relation = connection.sql("SELECT * FROM people WHERE age > 21 ORDER BY id")
        release = incrowd.anonymize(relation, **WORDS, keep_order=True)
        expected = incrowd.anonymize(PEOPLE.filter(pa.compute.field("age") > 21), **WORDS, keep_order=True)
        assert release.data.to_pydict() == expected.data.to_pydict()
        assert release.certificate.output.startswith("sha256:")
        with pytest.raises(DataError, match="the relation has no rows"):
            open_source(connection.sql("SELECT * FROM people WHERE age > 99"))
        with pytest.raises(PolicyError, match="must be a relation"):
            open_source(connection)
        with pytest.raises(PolicyError, match="no column 'agee' in the relation"):
            incrowd.anonymize(relation, quasi_identifiers=["agee"], k=2)


def test_parquet_of_types_that_duckdb_reads_in_another_way_comes_through_arrow(tmp_path):
    times = pa.table({"a": pa.array([1, 2], pa.timestamp("ns")), "b": ["x", "y"], "c": pa.array([1, 2], pa.float16())})
    for name, rows in (("times.parquet", times), ("a[1].parquet", times.select(["b"]))):
        pa.parquet.write_table(rows, tmp_path / name)
    source = open_source(tmp_path / "times.parquet")
    assert native._parquet(source, ["a"]) is None
    assert native._parquet(source, ["c"]) is None
    assert "read_parquet" in native._parquet(source, ["b"])
    assert native._parquet(open_source(tmp_path / "a[1].parquet"), ["b"]) is None
