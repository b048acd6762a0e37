"""Every place that a release can go to has certificates, codebooks and confidential folders of its own."""

import json

import pyarrow as pa
import pytest
from tests.databases import PEOPLE, WORDS, duckdb_file, no_server, postgres_server, sqlite_file

import incrowd
from incrowd.errors import OutputError
from incrowd.formats.databases import Address, TableOutput
from incrowd.release.apply import apply_to_file
from incrowd.release.files import ReleaseFiles
from incrowd.run import Run


def files_of(address):
    """The files of a release, without asking a server."""
    found = Address.of(address)
    return ReleaseFiles.of(address if found is None else found.database().beside(found.table or "release"))


PLACES = [
    "open.csv",
    "open.patients.csv",
    "open.duckdb.patients.csv",
    "open.duckdb",
    "open.duckdb#patients",
    "open.duckdb#other.patients",
    "open.sqlite#patients",
    "open.sqlite3#patients",
    "other/open.sqlite#patients",
    "postgresql://one/open#patients",
    "postgresql://two/open#patients",
    "postgresql://one:5433/open#patients",
    "postgresql://one/open?port=5434#patients",
    "postgresql:///open?host=/run/one#patients",
    "postgresql:///open?host=/run/two#patients",
    "postgresql://one/other#patients",
    "postgresql://one/open#other.patients",
]


def test_no_two_places_share_a_file():
    pytest.importorskip("adbc_driver_postgresql")
    files = {place: {*files_of(place).sidecars, files_of(place).confidential} for place in PLACES}
    assert [(one, other) for one in PLACES for other in PLACES[: PLACES.index(one)] if files[one] & files[other]] == []


def test_a_place_is_the_same_whoever_writes_there(monkeypatch):
    pytest.importorskip("adbc_driver_postgresql")
    same = ["postgresql://one/open#t", "postgres://ann:secret@ONE/open#t", "postgresql://ben@one/open?password=x#t"]
    assert len({files_of(place).certificate for place in same}) == 1
    assert len({Address.of(place).database().place("t") for place in same}) == 1
    for place in same:
        told = Address.of(place).database().location()
        assert "secret" not in told
        assert "password" not in told
        assert Address.of(told).database().place("t") == Address.of(place).database().place("t")
    monkeypatch.setenv("PGHOST", "two")
    assert files_of("postgresql:///open#t") != files_of("postgresql:///open?host=one#t")


@pytest.mark.parametrize(("make", "suffix"), [(duckdb_file, "duckdb"), (sqlite_file, "sqlite")])
def test_a_table_has_one_name_however_it_is_written(tmp_path, make, suffix):
    make(tmp_path / f"a.{suffix}", name="People")
    for name in ("People", "PEOPLE", "people", *(("main.people",) if suffix == "duckdb" else ())):
        output = TableOutput(Address.of(f"{tmp_path}/a.{suffix}#{name}"), overwrite=True)
        assert output.beside.name == f"a.{suffix}#People.table"
        with pytest.raises(OutputError, match="#People already exists"):
            TableOutput(Address.of(f"{tmp_path}/a.{suffix}#{name}"), overwrite=False)


@pytest.mark.skipif(bool(no_server()), reason=no_server())
def test_a_table_of_a_server_has_one_name_and_its_rows_their_own_certificate(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    release = incrowd.anonymize(PEOPLE, **WORDS)
    with postgres_server() as url:
        release.write(f"{url}#released")
        with pytest.raises(OutputError, match="#released already exists"):
            release.write(f"{url}#public.released")
        release.write(f"{url}#public.released", overwrite=True)
        (certificate,) = tmp_path.glob("*.certificate.json")
        duckdb = f"{certificate.name.partition('#')[0].removesuffix('.postgresql')}.duckdb#released"
        release.write(duckdb)
        assert incrowd.check_certificate(certificate, f"{url}#released").holds
        assert incrowd.check_certificate(f"{duckdb}.certificate.json", duckdb).holds


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def release():
    return incrowd.anonymize(PEOPLE, **WORDS)


class TestFilesOfSeveralFormats:
    """`x.csv` and `x.parquet` would both have `x.certificate.json`."""

    @pytest.mark.parametrize("overwrite", [False, True])
    @pytest.mark.parametrize(("first", "second"), [("x.parquet", "x.csv"), ("x.csv", "x.csv.gz"), ("x.csv", "x.tsv")])
    def test_the_certificate_of_other_rows_stays(self, tmp_path, release, first, second, overwrite):
        release.write(tmp_path / first)
        before = contents(tmp_path)
        words = f"x.certificate.json is the certificate of {first}, .* or remove {first} first"
        with pytest.raises(OutputError, match=words):
            release.write(tmp_path / second, overwrite=overwrite)
        assert contents(tmp_path) == before
        release.write(tmp_path / first, overwrite=True)  # its own
        (tmp_path / first).unlink()
        release.write(tmp_path / second, overwrite=True)
        assert incrowd.check_certificate(tmp_path / "x.certificate.json", tmp_path / second).holds

    def test_also_where_no_certificate_is_written(self, tmp_path, release):
        release.write(tmp_path / "x.parquet")
        before = contents(tmp_path)
        release.write(tmp_path / "x.csv", sidecars=False, overwrite=True)
        apply_to_file(release.recoding, PEOPLE, tmp_path / "x.csv", Run(), overwrite=True)
        assert {name: data for name, data in contents(tmp_path).items() if name != "x.csv"} == before

    def test_also_if_the_other_appears_in_the_meantime(self, tmp_path, release, monkeypatch):
        other = incrowd.anonymize(PEOPLE, **WORDS)
        verdict = incrowd.verification.witness.Witness.verdict

        def then(self):
            monkeypatch.undo()
            other.write(tmp_path / "x.parquet")
            return verdict(self)

        monkeypatch.setattr("incrowd.verification.witness.Witness.verdict", then)
        with pytest.raises(OutputError, match=r"x\.certificate\.json is the certificate of x\.parquet"):
            release.write(tmp_path / "x.csv", overwrite=True)
        assert not (tmp_path / "x.csv").exists()
        assert incrowd.check_certificate(tmp_path / "x.certificate.json", tmp_path / "x.parquet").holds

    def test_a_certificate_of_no_rows_that_are_there_may_be_replaced(self, tmp_path, release):
        release.write(tmp_path / "x.parquet")
        pa.parquet.write_table(PEOPLE, tmp_path / "x.parquet")
        release.write(tmp_path / "x.csv", overwrite=True)
        for text in ("old", "[]", json.dumps({"output": 1})):
            (tmp_path / "x.certificate.json").write_text(text)
            release.write(tmp_path / "x.csv", overwrite=True)


def test_a_codebook_goes_with_its_own_table_alone(tmp_path, release):
    release.write(f"{tmp_path}/a.sqlite#t")
    (tmp_path / "a.sqlite#t.recoding.json").rename(tmp_path / "kept.json")
    apply_to_file(release.recoding, PEOPLE, f"{tmp_path}/a.sqlite#t", Run(), overwrite=True)
    assert not (tmp_path / "a.sqlite#t.certificate.json").exists()  # its rows are gone
