"""Spark gives the release of Arrow, cell for cell and in the same order.

A release on Spark takes seconds where others take milliseconds, so policies and methods are paired here: each policy of
`test_engines` and each method occurs, and every way in and out.
"""

import datetime as dt
from dataclasses import replace

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from tests.conformance.test_engines import ODD, POLICIES, SEARCHES
from tests.conformance.test_kept_types import KINDS, TABLE, WORDS
from tests.labels import labels_of
from tests.spark.session import NEEDS_SPARK, spark_session
from tests.unit.formats.test_read_back import PEOPLE, ROWS
from tests.unit.formats.test_read_back import WORDS as CLUSTER_WORDS

import incrowd
from incrowd.engines.spark.source import moved
from incrowd.engines.spark.write import SparkOutput
from incrowd.errors import NotAnonymousError, OutputError
from incrowd.formats.registry import open_source

F = pytest.importorskip("pyspark.sql.functions")
pytestmark = NEEDS_SPARK
PAIRS = [
    ("nulls and dates", "tdr"),
    ("nulls and dates", "cover"),
    ("decimals, not a number, categories", "mondrian"),
    ("missing values by name", "bug"),
    ("complete rows", "cover"),
    ("truth and a target", "kaca"),
    ("several", "datafly"),
    ("people", "cover"),
    ("people", "tds"),
    ("sensitive", "tdr"),
    ("other models", "mondrian"),
    ("trees and rules", "bug, in groups"),
    ("trees and rules", "cover, leaving out"),
]


@pytest.fixture(scope="module")
def odd():
    """The table as a Spark data frame."""
    return _frame(ODD)


def texts(table):
    """The cells as text, so that not-a-number equals itself."""
    return {name: [str(value) for value in table[name].to_pylist()] for name in table.column_names}


@pytest.mark.parametrize(("policy", "method"), PAIRS)
def test_the_release_is_that_of_arrow_cell_for_cell(policy, method, odd, tmp_path):
    words = {**POLICIES[policy], "method": method, "identifiers": ["note"], **SEARCHES[method]}
    expected = incrowd.anonymize(ODD, **words)
    release = incrowd.anonymize(odd, **words)
    assert release.engine.name == "spark"
    assert release.recoding == expected.recoding
    assert release.measures.to_json() == expected.measures.to_json()
    rows = release.data
    assert type(rows) is type(odd)
    assert texts(rows.toArrow()) == texts(expected.data)
    path = tmp_path / "release.parquet"
    release.write(path)
    assert texts(pa.parquet.read_table(path)) == texts(expected.data)
    assert sorted(file.name for file in tmp_path.iterdir() if file.name.startswith(".")) == []


@pytest.mark.parametrize("method", ["tdr", "cover"])
def test_rows_can_keep_their_order(method, odd):
    words = {**POLICIES["complete rows"], "method": method, "identifiers": ["note"], "keep_order": True}
    expected = incrowd.anonymize(ODD, **words)
    release = incrowd.anonymize(odd, **words)
    assert texts(release.data.toArrow()) == texts(expected.data)
    before, after = release.preview(4)
    told = expected.preview(4)
    assert {name: list(map(str, cells)) for name, cells in after.items()} == {
        name: list(map(str, cells)) for name, cells in told[1].items()
    }
    assert list(before) == list(told[0])


def test_a_file_that_is_read_in_pieces_keeps_its_order(tmp_path):
    path, session = tmp_path / "people.parquet", spark_session()
    table = pa.table({"age": [place * 7 % 90 for place in range(2000)], "row": list(range(2000))})
    pa.parquet.write_table(table, path, row_group_size=100)
    before = session.conf.get("spark.sql.files.maxPartitionBytes")
    session.conf.set("spark.sql.files.maxPartitionBytes", "4096")
    try:
        words = {"quasi_identifiers": ["age"], "k": 30, "keep_order": True, "method": "tdr", "keep": ["row"]}
        release = incrowd.anonymize(path, engine="spark", **words)
        assert release.source.rows().rdd.getNumPartitions() > 2
        release.write(tmp_path / "release.parquet", sidecars=False)
        written = pa.parquet.read_table(tmp_path / "release.parquet")
    finally:
        session.conf.set("spark.sql.files.maxPartitionBytes", before)
    assert texts(written) == texts(incrowd.anonymize(path, **words).data)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("method", ["tdr", "cover"])
def test_a_path_gives_the_release_of_the_same_file(suffix, method, tmp_path):
    path = tmp_path / f"people [1].{suffix}"
    table = ODD.select(["age", "born", "wage", "job", "diagnosis", "who"])
    table = table.set_column(3, "job", pa.array(["a, b", 'say "no"', None, "two\nlines"] * 30))
    (pa.csv.write_csv if suffix == "csv" else pa.parquet.write_table)(table, path)
    words = {"quasi_identifiers": ["age", "job", "born"], "k": 3, "target": "diagnosis", "method": method}
    expected = incrowd.anonymize(path, **words)
    spark_session()
    release = incrowd.anonymize(path, engine="spark", **words)
    assert release.recoding == expected.recoding
    assert texts(release.data.toArrow()) == texts(expected.data)
    folder = tmp_path / f"release.{suffix}"
    release.write(folder)
    assert release.source.fingerprint() == expected.source.fingerprint()
    written = [open_source(part).batches() for part in sorted(folder.glob("part-*"))]
    rows = pa.Table.from_batches([batch for batches in written for batch in batches])
    assert [cell or "None" for cell in texts(rows)["job"]] == texts(expected.data)["job"]
    verified = incrowd.verify(release.data, quasi_identifiers=words["quasi_identifiers"], k=3)
    assert verified.holds
    assert verified.records == len(table)


@pytest.mark.parametrize("most_distinct", [2, 40])
def test_the_order_is_the_same_however_many_rows_are_numbered_at_once(most_distinct, odd, monkeypatch):
    monkeypatch.setattr("incrowd.engines.row_order.MOST_DISTINCT", most_distinct)
    monkeypatch.setattr("incrowd.engines.spark.shuffle._ROWS", 10)  # several parts
    words = {"quasi_identifiers": ["age"], "k": 10, "identifiers": ["note"]}
    assert texts(incrowd.anonymize(odd, **words).data.toArrow()) == texts(incrowd.anonymize(ODD, **words).data)


def test_new_rows_are_recoded_alike():
    words = {"quasi_identifiers": ["age", "job"], "k": 5, "identifiers": ["note"], "method": "cover"}
    recoding = incrowd.anonymize(ODD, **words).recoding
    fewer = ODD.slice(10, 70)
    expected = incrowd.apply(recoding, fewer)
    found = incrowd.apply(recoding, _frame(fewer))
    assert texts(found.toArrow()) == texts(expected)


def _frame(table):
    return moved(table, spark_session()).toDF(*table.column_names)


def test_names_of_columns_may_be_anything():
    odd_names = {"a.b": [1, 1, 2, 2] * 5, "A": ["x", "y"] * 10, "a": [dt.date(2020, 1, 1)] * 20, "say `no`": [1.5] * 20}
    table = pa.table(odd_names)
    words = {"quasi_identifiers": ["a.b", "A", "say `no`"], "k": 2}
    expected = incrowd.anonymize(table, **words)
    assert texts(incrowd.anonymize(_frame(table), **words).data.toArrow()) == texts(expected.data)


@pytest.mark.parametrize("words", [{"target": "diagnosis"}, {"missing": "drop", "method": "tds"}])
def test_tuples_may_stay_on_the_cluster(words, odd, monkeypatch):
    """A search that sees only counts of classes takes the same steps; few answers are listed, many are joined."""
    words = {"quasi_identifiers": ["age", "weight", "zero"], "k": 3, "identifiers": ["note"], "method": "tdr", **words}
    monkeypatch.setattr("incrowd.engines.spark.out_of_core._LISTED", 5)
    expected = incrowd.anonymize(ODD, **words)
    release = incrowd.anonymize(odd, most_tuples=1, **words)
    assert any("distinct combinations stayed in the engine 'spark'" in note for note in release.notes)
    assert release.table.incomplete == expected.table.incomplete
    assert [step.to_json() for step in release.steps] == [step.to_json() for step in expected.steps]
    assert release.recoding.to_json() == expected.recoding.to_json()
    assert release.measures.to_json() == expected.measures.to_json()
    assert texts(release.data.toArrow()) == texts(expected.data)


def test_decimal_commas_in_a_csv_file(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(
        "weight;sex\n" + "".join(f"{50 + place % 17},{place % 7};{'fm'[place % 2]}\n" for place in range(80))
    )
    words = {"quasi_identifiers": ["weight", "sex"], "k": 4, "method": "tdr"}
    expected, release = incrowd.anonymize(path, **words), incrowd.anonymize(path, engine="spark", **words)
    assert release.recoding.to_json() == expected.recoding.to_json()
    assert release.recoding.to_json()["attributes"][0]["scale"]["comma"]


CLUSTER_FAULTS = {
    "a cell": lambda rows: rows.withColumn("note", F.regexp_replace("note", "^text 3$", "text 4")),
    "a row less": lambda rows: rows.limit(ROWS - 1),
    "a row twice": lambda rows: rows.union(rows.limit(1)),
    "columns swapped": lambda rows: rows.select("age", "job", "note", "ill", "wage", "born", "married").toDF(
        *rows.columns
    ),
}
FOLDERS = ("release.csv", "release.parquet", "release.json", "release.orc")


def cluster_release(**words):
    return incrowd.anonymize(_frame(PEOPLE), **{**CLUSTER_WORDS, **words})


@pytest.mark.parametrize("name", FOLDERS)
def test_what_a_cluster_writes_right_appears(name, tmp_path):
    assert cluster_release().write(tmp_path / name, sidecars=False).verification["records"] == ROWS


@pytest.mark.parametrize(
    ("name", "words", "faults"),
    [
        ("release.csv", {}, ["a cell", "columns swapped"]),
        ("release.parquet", {}, list(CLUSTER_FAULTS)),
        ("release.parquet", {"identifiers": [], "unit": "name"}, ["a cell", "a row twice"]),
        ("release.json", {}, ["a cell", "a row twice"]),
        ("release.orc", {}, ["a row less"]),
    ],
)
def test_what_a_cluster_writes_wrong_never_appears(name, words, faults, tmp_path, monkeypatch):
    made, save = cluster_release(**words), SparkOutput.save
    for fault in faults:
        wrong = CLUSTER_FAULTS[fault]
        monkeypatch.setattr(SparkOutput, "save", lambda self, rows, wrong=wrong: save(self, wrong(rows)))
        with pytest.raises(OutputError, match="does not hold what was to be written"):
            made.write(tmp_path / name)
        assert list(tmp_path.iterdir()) == [], fault


def test_what_does_not_hold_is_not_written(odd, tmp_path):
    """The count over the written rows decides, and not the search: here the recoding is that of another policy."""
    words = {"quasi_identifiers": ["age", "wage"], "identifiers": ["note"], "method": "tdr"}
    weak, strong = (incrowd.anonymize(odd, k=k, **words) for k in (2, 30))
    with pytest.raises(NotAnonymousError):
        replace(strong, found=weak.found).write(tmp_path / "release.parquet")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("method", ["incognito", "cover"])
def test_columns_that_are_left_as_they_are_keep_their_type(method, tmp_path):
    expected = incrowd.anonymize(TABLE, method=method, **WORDS)
    release = incrowd.anonymize(_frame(TABLE), method=method, **WORDS)
    rows = release.data.toArrow()
    release.write(tmp_path / "out.parquet")
    written = pa.parquet.read_table(tmp_path / "out.parquet")
    for name, values in KINDS.items():
        kind = values.type if name != "moment" else pa.timestamp("us", rows.schema.field(name).type.tz)
        assert rows.schema.field(name).type == kind
        assert pa.types.is_string(written.schema.field(name).type) is False
        assert labels_of(rows, name) == labels_of(expected.data, name)
        found = labels_of(written, name)  # Spark writes moments without their zone
        assert found == [text.removesuffix("Z") for text in labels_of(expected.data, name)]
    release.write(tmp_path / "text.csv")
    (part,) = (tmp_path / "text.csv").glob("part-*")
    assert {line.split(",")[4] for line in part.read_text().splitlines()[1:]} == {
        "2020-01-01 12:00:00Z",
        "2020-01-01 12:00:00.005Z",
    }
