import os
import pickle
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.command_line import run as cli
from tests.databases import (
    PEOPLE,
    WORDS,
    duckdb_file,
    no_server,
    postgres_server,
    postgres_table,
    sqlite_file,
)

import incrowd
from incrowd.errors import DataError, IncrowdError, MissingPackageError, OutputError, PolicyError
from incrowd.formats.databases import Address
from incrowd.formats.registry import open_source
from incrowd.policy.toml import read_policy

KINDS = [
    "duckdb",
    "sqlite",
    pytest.param("postgresql", marks=pytest.mark.skipif(bool(no_server()), reason=no_server())),
]
FILES = ["duckdb", "sqlite"]


@pytest.fixture(scope="module")
def server():
    with postgres_server() as url:
        yield url


@pytest.fixture
def stored(request, tmp_path):
    """Puts a table in a database of a kind, and gives its address."""

    def store(kind, table=PEOPLE, name="people"):
        if kind == "postgresql":
            return postgres_table(request.getfixturevalue("server"), table, name)
        return {"duckdb": duckdb_file, "sqlite": sqlite_file}[kind](tmp_path / f"hospital.{kind}", table, name)

    return store


def umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def rows_of(address, **words):
    return pa.Table.from_batches(list(open_source(address, **words).batches()))


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_is_read_as_it_is(kind, stored):
    address = stored(kind)
    source = open_source(address)
    assert source.columns == tuple(PEOPLE.column_names)
    assert rows_of(address).to_pydict() == PEOPLE.to_pydict()
    assert source.name.endswith("#people")
    assert [batch.num_rows for batch in source.batches([])] == [60]
    coded = next(source.batches(["job"], encoded=["job"])).column("job")
    assert pa.types.is_dictionary(coded.type)
    again = pickle.loads(pickle.dumps(source))
    assert again.fingerprint() == source.fingerprint()


@pytest.mark.parametrize("kind", KINDS)
def test_a_query_is_read_and_what_writes_is_refused(kind, stored):
    address = stored(kind)
    base = address.partition("#")[0]
    found = rows_of(
        base, query="SELECT age, count(*) AS n FROM people WHERE job IS NOT NULL GROUP BY age ORDER BY age -- x"
    )
    assert found.to_pydict()["age"] == [20, 21, 23, 24]
    refused = [
        "DELETE FROM people",
        "DROP TABLE people",
        "SELECT 1; DELETE FROM people",
        "INSERT INTO people SELECT * FROM people",
    ]
    refused += ["SELECT nothing FROM people", "SELECT * FROM nowhere", "", "SELECT"]
    refused += ["SELECT 1) AS t; DELETE FROM people; --", "WITH a AS (DELETE FROM people RETURNING *) SELECT * FROM a"]
    for query in refused:
        with pytest.raises((PolicyError, DataError)) as error:
            open_source(base, query=query)
        assert "\n" not in str(error.value)
    assert rows_of(address).num_rows == 60
    with pytest.raises(PolicyError, match=r"a table .* and a query were given"):
        open_source(address, query="SELECT 1")


@pytest.mark.parametrize("kind", FILES)
def test_what_is_not_there_is_named(kind, stored, tmp_path):
    address = stored(kind)
    assert rows_of(address.partition("#")[0]).num_rows == 60  # the only table
    with pytest.raises(PolicyError, match=r"no table 'peple' in hospital.*did you mean 'people'"):
        open_source(address.replace("#people", "#peple"))
    stored(kind, name="others")
    with pytest.raises(
        PolicyError, match=r"name a table of hospital.* after '#', or give a query; it has: others, people"
    ):
        open_source(address.partition("#")[0])
    with pytest.raises(DataError, match="no file"):
        open_source(tmp_path / f"nowhere.{kind}")
    (tmp_path / f"broken.{kind}").write_bytes(b"this is no database at all" * 100)
    with pytest.raises(DataError, match=f"broken.{kind} is not a"):
        open_source(tmp_path / f"broken.{kind}")
    with pytest.raises(DataError, match="has no rows"):
        open_source(stored(kind, PEOPLE.slice(0, 0), "empty"))


def test_databases_by_their_bytes_and_urls_that_lost_their_slashes(tmp_path):
    (tmp_path / "a.sqlite").write_bytes(b"")
    sqlite_file(tmp_path / "a.db")
    assert Address.of(tmp_path / "a.db").kind == "sqlite"
    duckdb_file(tmp_path / "b.db")
    assert Address.of(f"{tmp_path / 'b.db'}#people") == Address("duckdb", str(tmp_path / "b.db"), "people")
    assert Address.of("nowhere.db") is None
    assert Address.of("people#1.csv") is None
    for typed, meant in [
        ("postgresql://me@host/db?a=b", "postgresql://me@host/db?a=b"),
        ("postgres:///db?host=/tmp/x", "postgresql:///db?host=/tmp/x"),
    ]:
        assert Address.of(Path(f"{typed}#t")) == Address.of(f"{typed}#t") == Address("postgresql", meant, "t")


def test_columns_of_sqlite_are_what_all_their_values_are(tmp_path):
    mixed = pa.table({"n": [1, 2], "x": [1.5, 2.0], "t": ["1", None], "none": pa.array([None, None], pa.string())})
    address = sqlite_file(tmp_path / "a.sqlite", mixed)
    import sqlite3

    with sqlite3.connect(tmp_path / "a.sqlite") as connection:
        connection.execute("INSERT INTO people VALUES (3, 4, 7, NULL)")
        connection.execute("INSERT INTO people VALUES ('four', 2, x'00', NULL)")
    assert rows_of(address).to_pydict() == {
        "n": ["1", "2", "3", "four"],
        "x": [1.5, 2.0, 4.0, 2.0],
        "t": ["1", None, "7", "\0"],
        "none": [None] * 4,
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_release_of_a_table_is_written_to_a_table_verified_and_certified(kind, stored, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    address = stored(kind)
    others, target = stored(kind, name="others"), address.replace("#people", "#released")
    expected = incrowd.anonymize(PEOPLE, **WORDS)
    release = incrowd.anonymize(address, **WORDS)
    assert release.engine.name == ("duckdb" if kind == "duckdb" else "arrow")
    assert release.data.to_pydict() == expected.data.to_pydict()
    if kind in FILES:
        with pytest.raises(OutputError, match="is being read; write the release to another file"):
            release.write(target)
    expected.write(target)
    assert rows_of(target).to_pydict() == expected.data.to_pydict()
    (certificate,) = tmp_path.glob("*#released.certificate.json")
    assert incrowd.check_certificate(certificate, target).holds
    with pytest.raises(OutputError, match="#released already exists; choose another table"):
        expected.write(target)
    again = incrowd.anonymize(PEOPLE, **{**WORDS, "k": 10})
    again.write(target, overwrite=True)
    assert rows_of(target).to_pydict() == again.data.to_pydict()
    assert rows_of(others).num_rows == rows_of(address).num_rows == 60
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_fail_the_recount_leave_everything_as_it_was(kind, stored, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    address = stored(kind)
    before = set(tmp_path.iterdir())
    targets = [(address.replace("#people", "#failed"), False), (address, True)]
    targets += [(tmp_path / f"new.{kind}", False)] if kind in FILES else []
    release = incrowd.anonymize(PEOPLE, **WORDS)
    monkeypatch.setattr(
        "incrowd.verification.witness.Witness.verdict", lambda self: (_ for _ in ()).throw(DataError("no"))
    )
    for target, overwrite in targets:
        with pytest.raises(DataError, match="no"):
            release.write(target, overwrite=overwrite)
    assert set(tmp_path.iterdir()) == before
    assert rows_of(address).to_pydict() == PEOPLE.to_pydict()
    with pytest.raises(PolicyError, match="no table 'failed'"):
        open_source(targets[0][0])


@pytest.mark.parametrize("kind", FILES)
def test_a_new_database_appears_with_its_files(kind, tmp_path):
    incrowd.anonymize(PEOPLE, **WORDS).write(tmp_path / f"new.{kind}")
    found = {path.name.removeprefix(f"new.{kind}") for path in tmp_path.iterdir()}
    assert found == {"", "#release.certificate.json", "#release.confidential", "#release.recoding.json"}
    assert (tmp_path / f"new.{kind}").stat().st_mode & 0o777 == 0o666 & ~umask()


@pytest.mark.parametrize("kind", FILES)
def test_a_file_that_changes_between_two_reads_is_refused(kind, stored):
    release = incrowd.anonymize(stored(kind), **WORDS)
    stored(kind, PEOPLE.slice(0, 50))
    with pytest.raises(DataError, match="changed while it was being read"):
        _ = release.data


@pytest.mark.skipif(bool(no_server()), reason=no_server())
def test_postgres_is_read_as_it_was_at_one_moment(stored, server):
    release = incrowd.anonymize(stored("postgresql"), **WORDS)
    expected = incrowd.anonymize(PEOPLE, **WORDS).data
    import adbc_driver_postgresql.dbapi as adbc

    with adbc.connect(server) as connection, connection.cursor() as cursor:
        cursor.execute("DELETE FROM people WHERE age > 22")
        connection.commit()
    assert release.data.to_pydict() == expected.to_pydict()


@pytest.mark.skipif(bool(no_server()), reason=no_server())
def test_types_of_postgres(server):
    query = """SELECT 1.50::numeric(9, 2) AS exact, 2.5::numeric AS free, DATE '2020-01-02' AS day,
      'x'::char(3) AS padded,
      '00000000-0000-0000-0000-000000000001'::uuid AS number, '{"a": 1}'::jsonb AS document, 'NaN'::float8 AS nothing"""
    (row,) = rows_of(server, query=query).to_pylist()
    assert str(row["exact"]) == "1.50"
    assert (row["free"], row["padded"], row["document"]) == ("2.5", "x  ", '{"a": 1}')
    assert row["number"].endswith("-000000000001")


def test_a_missing_driver_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr("incrowd.formats.databases.find_spec", lambda name: None)
    for address, extra in (("a.duckdb", "duckdb"), ("postgresql://x/y", "postgres")):
        with pytest.raises(MissingPackageError, match=rf"not installed; run: pip install 'incrowd\[{extra}\]'"):
            open_source(tmp_path / address if extra == "duckdb" else address)


def test_queries_are_for_databases(tmp_path):
    with pytest.raises(PolicyError, match="The 'query' parameter is for databases"):
        incrowd.anonymize(PEOPLE, query="SELECT 1", **WORDS)
    pa.parquet.write_table(PEOPLE, tmp_path / "people.parquet")
    with pytest.raises(PolicyError, match=r"is for databases, and people.parquet is not one"):
        incrowd.verify(tmp_path / "people.parquet", query="SELECT 1", quasi_identifiers=["age"], k=2)
    query = f"SELECT * FROM '{tmp_path}/people.parquet' WHERE age < 23"
    assert incrowd.verify(":memory:", query=query, quasi_identifiers=["age"], k=2).records == 30
    assert incrowd.assess(":memory:", query=query, quasi_identifiers=["age"]).records == 30
    found = incrowd.inspect(":memory:", query=query)
    assert found.records == 30
    (tmp_path / "release.toml").write_text(found.policy_toml())
    assert read_policy(tmp_path / "release.toml")[1] == {"query": query}


def test_from_the_shell(stored, tmp_path):
    address = stored("duckdb")
    words = ["--qi", "age,job,wage", "--k", "4", "--identifiers", "id", "--method", "tdr"]
    done = cli("anonymize", address, "-o", f"{tmp_path}/r.sqlite#out", *words)
    assert done.exit_code == 0, done.stderr
    assert rows_of(f"{tmp_path}/r.sqlite#out").to_pydict() == incrowd.anonymize(PEOPLE, **WORDS).data.to_pydict()
    done = cli("verify", f"{tmp_path}/r.sqlite", "--query", "SELECT * FROM out", "--qi", "age,job,wage", "--k", "4")
    assert done.exit_code == 0, done.stderr
    again = cli("anonymize", address, "-o", f"{tmp_path}/r.sqlite#out", *words)
    assert (again.exit_code, "already exists" in again.stderr) == (1, True)
    (tmp_path / "release.toml").write_text(
        'quasi_identifiers = ["age"]\nk = 3\nidentifiers = ["id"]\nquery = "SELECT id, age FROM people"\n'
        'engine = "duckdb"\nmemory_limit = "200MB"\nspill_folder = "."\n'
    )
    done = cli(
        "anonymize",
        address.partition("#")[0],
        "-o",
        tmp_path / "r.csv",
        "--policy",
        tmp_path / "release.toml",
        "--json",
    )
    assert done.exit_code == 0, done.stderr
    assert open_source(tmp_path / "r.csv").columns == ("age",)


def test_settings_of_engines_are_checked():
    for word, value in (("memory_limit", "2"), ("spill_folder", "/nowhere/at/all"), ("engine", 3)):
        with pytest.raises(IncrowdError, match=f"The '{word}' parameter must be"):
            incrowd.anonymize(PEOPLE, **WORDS, **{word: value})
