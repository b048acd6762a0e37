"""The same release from every kind of table, and what may be relied on in all of them."""

import dataclasses
import datetime as dt
import hashlib
import json
import random
import subprocess
import sys
from collections import Counter

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from tests.examples import EFFORT, check, spread

import incrowd
from incrowd.errors import DataError, NotAnonymousError, PolicyError
from incrowd.recodings.attributes.intervals import Intervals
from incrowd.recodings.by_value import ByValue
from incrowd.recodings.reading import read_recoding
from incrowd.recodings.steps import read_steps
from incrowd.settled import Settled

pytestmark = pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")  # risks are not the point here

JOBS = ["clerk", "nurse", "smith", "?", None]
ATTRIBUTES = ("age", "born", "seen", "zip", "member", "job", "score")
POLICY = {
    "quasi_identifiers": [
        incrowd.QuasiIdentifier(["zip", "member"], k=4),
        incrowd.QuasiIdentifier(["seen", "score"], k=4),
        incrowd.QuasiIdentifier(["age"], k=6),
        incrowd.QuasiIdentifier(["born"], k=5),
        incrowd.QuasiIdentifier(["job"], k=8),
        incrowd.QuasiIdentifier(["zip"], k=3),
    ],
    "target": "income",
    "method": "tdr",
    "identifiers": ["name"],
    "sensitive": ["disease"],
    "l": 1,
    "keep": ["wage"],
    "taxonomies": {"zip": incrowd.Prefix([3, 1])},
    "missing_values": ["?"],
}
KINDS = ("csv", "parquet", "pandas", "polars", "pyarrow")


def people(rows=240):
    """Numbers, dates, timestamps, text, booleans, nulls and '?' of people, that tell of their income."""
    draw = random.Random(7)
    day, noon = dt.date(1990, 1, 1), dt.datetime(2024, 1, 1, 12)

    def person(number):
        rich = draw.random() < 0.5
        return {
            "name": f"person {number}",
            "age": draw.choice([None, *range(18 + 3 * rich, 27 + 3 * rich)]),
            "born": day + dt.timedelta(draw.randrange(20) + 5 * rich),
            "disease": draw.choice(['a "b", c', "flu", ""]),
            "seen": noon + dt.timedelta(hours=draw.randrange(6) + 2 * rich),
            "zip": f"0{draw.randrange(1, 3)}{draw.randrange(2) + rich}99",
            "member": draw.choice([True, False, None, rich]),
            "job": draw.choice([*JOBS, JOBS[rich]]),
            "score": draw.choice([0.5, 1.0, 2.25, float("nan"), None, 3.0 + rich]),
            "income": "high" if rich else "low",
            "wage": draw.random(),
        }

    return pa.Table.from_pylist([person(number) for number in range(rows)])


TABLE = people()


def given(kind, folder, table=TABLE):
    """The table as a user would have it."""
    if kind == "pandas":
        return table.to_pandas()
    if kind == "polars":
        return pl.from_arrow(table)
    if kind == "pyarrow":
        return table
    path = folder / f"people.{kind}"
    if kind == "parquet":
        pq.write_table(table, path)
    else:
        blank = table.set_column(
            8, "score", pa.array([None if s is None or s != s else s for s in table["score"].to_pylist()])
        )
        pyarrow.csv.write_csv(blank, path)
    return path


def as_arrow(rows):
    if isinstance(rows, pl.DataFrame):
        return rows.to_arrow()
    return pa.Table.from_pandas(rows) if isinstance(rows, pd.DataFrame) else rows


def cells(rows, names=ATTRIBUTES):
    return {name: as_arrow(rows)[name].to_pylist() for name in names}


def multiset(rows, names=ATTRIBUTES):
    """Released rows, whatever their order."""
    return Counter(zip(*cells(rows, names).values(), strict=True))


@pytest.fixture(scope="module")
def expected():
    release = incrowd.anonymize(TABLE, **POLICY)
    assert all(len(release.recoding.labels(name)) > 1 for name in ATTRIBUTES)  # something of every column is shown
    return release


def folder_of(tmp_path):
    return sorted(path.name for path in tmp_path.iterdir())


class TestEveryKind:
    @pytest.mark.parametrize("kind", KINDS)
    def test_gives_the_same_release_and_the_same_kind_back(self, tmp_path, kind, expected):
        data = given(kind, tmp_path)
        release = incrowd.anonymize(data, **POLICY)
        assert multiset(release.data) == multiset(expected.data)
        assert release.recoding.codebook() == expected.recoding.codebook()
        assert [step.to_json() for step in release.steps] == [step.to_json() for step in expected.steps]
        assert type(release.data) is (pa.Table if kind in ("csv", "parquet") else type(data))

    @pytest.mark.parametrize("kind", KINDS)
    def test_keeps_untouched_columns_exactly_and_the_order_of_rows_if_asked(self, tmp_path, kind):
        data = given(kind, tmp_path)
        release = incrowd.anonymize(data, **POLICY, keep_order=True)
        assert "rows keep their order" in release.notes[-1]
        assert release.certificate.policy["keep_order"] is True
        rows = release.data
        before = as_arrow(data) if kind not in ("csv", "parquet") else TABLE
        after = as_arrow(rows)
        assert after.column_names == [name for name in TABLE.column_names if name != "name"]
        for name in ("disease", "income", "wage"):
            untouched = before[name].to_pylist()
            assert after[name].to_pylist() == (list(map(str, untouched)) if kind == "csv" else untouched)
            assert kind == "csv" or after[name].type == before[name].type

    @pytest.mark.parametrize("kind", KINDS)
    def test_applies_to_the_training_rows_as_the_release(self, tmp_path, kind, expected):
        data = given(kind, tmp_path)
        assert multiset(incrowd.apply(expected.recoding, data, keep=["wage"])) == multiset(expected.data)
        in_order = dataclasses.replace(expected, settled=Settled(dataclasses.replace(expected.policy, keep_order=True)))
        assert cells(incrowd.apply(expected.recoding, data, keep=["wage"], keep_order=True)) == cells(in_order.data)

    @pytest.mark.parametrize(("kind", "suffix"), spread(KINDS, ["csv", "csv.gz", "parquet"]))
    def test_writes_files_that_verify(self, tmp_path, kind, suffix, expected):
        source = tmp_path / "source"
        source.mkdir()
        release = incrowd.anonymize(given(kind, source), **POLICY)
        path = tmp_path / f"out.{suffix}"
        certificate = release.write(path)
        written = ["out.certificate.json", "out.confidential", f"out.{suffix}", "out.recoding.json", "source"]
        assert folder_of(tmp_path) == sorted(written)
        assert certificate.output == "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()
        assert json.loads((tmp_path / "out.certificate.json").read_text()) == certificate.to_json()
        assert read_recoding(tmp_path / "out.recoding.json") == release.recoding
        assert len(read_steps(tmp_path / "out.confidential" / "steps.json")) == len(release.steps)
        found = incrowd.verify(path, quasi_identifiers=POLICY["quasi_identifiers"][:-1])
        assert found.require().to_json() == certificate.verification
        if kind in ("csv", "parquet"):
            digest = hashlib.sha256((source / f"people.{kind}").read_bytes()).hexdigest()
            assert certificate.commits_to(f"sha256:{digest}", certificate.secret.salt)
            assert digest not in (tmp_path / "out.certificate.json").read_text()


class TestRelease:
    def test_redundant_quasi_identifiers_are_dropped_with_a_note(self, expected):
        assert expected.policy.quasi_identifiers == tuple(POLICY["quasi_identifiers"][:-1])
        assert expected.notes == ("dropped the quasi-identifier {zip} k=3, because another one implies it",)

    def test_at_every_step_it_is_verified_and_equal_to_a_search_that_stops_there(self, expected):
        assert len(expected.steps) > 5
        for step in range(len(expected.steps) + 1) if EFFORT != "test" else (0, 1, 3, len(expected.steps)):
            earlier = expected.at(step)
            stopped = incrowd.anonymize(TABLE, **POLICY, max_steps=step)
            assert earlier.data == stopped.data
            assert earlier.recoding == stopped.recoding
            assert earlier.steps == stopped.steps
            found = earlier.certificate.verification
            assert found["holds"]
            if step:
                smallest = tuple(qid["anonymity"] for qid in found["quasi_identifiers"])
                assert smallest == earlier.steps[-1].anonymity

    @pytest.mark.parametrize("step", [-1, 10_000])
    def test_at_a_step_that_is_not_there(self, expected, step):
        with pytest.raises(PolicyError, match="'step' parameter must be between 0 and"):
            expected.at(step)

    def test_the_measures_agree_with_the_witness(self, expected):
        counted = expected.certificate.verification["quasi_identifiers"]
        for part, finding in zip(expected.measures.quasi_identifiers, counted, strict=True):
            assert (part.anonymity, part.classes) == (finding["anonymity"], finding["classes"])

    def test_the_certificate_says_what_was_asked_and_with_what(self, expected):
        certificate = expected.certificate
        assert certificate.policy["quasi_identifiers"][0] == {"attributes": ["zip", "member"], "k": 4}
        assert "seed" not in certificate.policy
        assert set(certificate.versions) == {"incrowd", "numpy", "pyarrow", "python"}

    @pytest.mark.parametrize("target", ["income", None])
    def test_row_order_changes_nothing(self, expected, target):
        order = random.Random(1).sample(range(len(TABLE)), len(TABLE))
        policy = {**POLICY, "target": target}
        release = incrowd.anonymize(TABLE, **policy)
        shuffled = incrowd.anonymize(TABLE.take(order), **policy)
        assert shuffled.recoding == release.recoding
        assert shuffled.data == release.data
        kept = [incrowd.anonymize(table, **policy, keep_order=True).data for table in (TABLE, TABLE.take(order))]
        assert kept[1] == kept[0].take(order)
        assert release.data != kept[0]

    def test_counts_are_kept_while_batches_are_collapsed(self, tmp_path, monkeypatch):
        policy = {"quasi_identifiers": ["job", "member"], "k": 4, "target": "income", "missing_values": ["?"]}
        policy |= {"identifiers": ["name", "born"], "keep": ["wage"]}
        expected = incrowd.anonymize(TABLE, **policy)
        monkeypatch.setattr("incrowd.formats.csv_reader.BLOCK_BYTES", 2048)
        monkeypatch.setattr("incrowd.engines.arrow.compress._BUFFER_ROWS", 10)
        monkeypatch.setattr("incrowd.verification.witness._BUFFER", 10)
        release = incrowd.anonymize(given("csv", tmp_path), **policy)
        assert len(list(release.source.batches())) > 5
        assert release.table.counts.tolist() == expected.table.counts.tolist()
        assert release.measures == expected.measures
        assert multiset(release.data, ("job", "member")) == multiset(expected.data, ("job", "member"))


class TestMissing:
    MISSING = tuple(
        a is None or j in ("?", None) for a, j in zip(*(TABLE[n].to_pylist() for n in ("age", "job")), strict=True)
    )

    def anonymize(self, missing, data=TABLE, keep=("name", "born", "wage")):
        words = {"target": "income", "missing_values": ["?"], "keep": keep}
        return incrowd.anonymize(data, quasi_identifiers=["age", "job"], k=4, missing=missing, **words)

    def test_a_category_is_shown_with_the_first_token_or_suppressed(self):
        shown = set(zip(*cells(self.anonymize("category").data, ("age", "job")).values(), strict=True))
        assert None not in {cell for pair in shown for cell in pair}
        assert "?" in {job for _, job in shown} | {age for age, _ in shown}

    @pytest.mark.parametrize("kind", KINDS)
    def test_drop_leaves_out_the_rows(self, tmp_path, kind):
        rows = self.anonymize("drop", given(kind, tmp_path)).data
        kept = [name for name, gone in zip(TABLE["name"].to_pylist(), self.MISSING, strict=True) if not gone]
        assert sorted(as_arrow(rows)["name"].to_pylist()) == sorted(kept)

    @pytest.mark.parametrize("kind", KINDS)
    def test_error_raises(self, tmp_path, kind):
        with pytest.raises(
            DataError, match="has missing values in a quasi-identifier, which the policy does not allow"
        ):
            self.anonymize("error", given(kind, tmp_path))

    def test_nothing_is_left(self):
        with pytest.raises(DataError, match="no rows left"):
            self.anonymize("drop", pa.table({"age": [None, 1], "job": ["x", "?"], "income": ["a", "b"]}), ())


class TestNothingUnverifiedLeaves:
    @pytest.fixture
    def careless(self, tmp_path):
        """A release whose recoding tells every age apart, as a broken search might leave it."""
        source = tmp_path / "people.csv"
        source.write_text("age,note\n" + "".join(f"{age},x\n" for age in [*range(20, 40), *range(30, 40)]))
        release = incrowd.anonymize(source, quasi_identifiers=["age"], k=2)
        broken = ByValue((Intervals("age", release.table.attributes[0].scale, tuple(range(21, 40))),))
        return dataclasses.replace(release, found=dataclasses.replace(release.found, recoding=broken))

    @pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.parquet"])
    def test_no_file_appears(self, tmp_path, careless, name):
        with pytest.raises(NotAnonymousError, match="10 of 30 records are in 10 classes that fall short"):
            careless.write(tmp_path / name)
        assert folder_of(tmp_path) == ["people.csv"]

    def test_the_old_file_stays(self, tmp_path, careless):
        (tmp_path / "out.csv").write_text("old")
        with pytest.raises(NotAnonymousError):
            careless.write(tmp_path / "out.csv", overwrite=True)
        assert (tmp_path / "out.csv").read_text() == "old"
        assert folder_of(tmp_path) == ["out.csv", "people.csv"]

    def test_no_rows_and_no_certificate(self, careless):
        with pytest.raises(NotAnonymousError):
            _ = careless.data
        with pytest.raises(NotAnonymousError):
            _ = careless.certificate

    def test_an_input_that_changes_between_reading_and_writing(self, tmp_path):
        source = tmp_path / "people.csv"
        source.write_text("age\n" + "1\n" * 10)
        release = incrowd.anonymize(source, quasi_identifiers=["age"], k=2)
        source.write_text("age\n" + "2\n" * 11)
        with pytest.raises(DataError, match="changed while it was being read"):
            release.write(tmp_path / "out.csv")
        assert folder_of(tmp_path) == ["people.csv"]


PEAK = """
import resource, sys, incrowd
release = incrowd.anonymize(sys.argv[1], quasi_identifiers=["age", "sex", "zip"], k=10, target="income")
release.write(sys.argv[2])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@check
def test_memory_grows_with_the_tuples_and_not_with_the_rows(tmp_path):
    block = "".join(f"{20 + i % 50},{'fm'[i % 2]},{i % 7},{i % 3},{'x' * 60}{i}\n" for i in range(10_000))
    peaks = []
    for times in (20, 150):
        path = tmp_path / f"{times}.csv"
        with path.open("w") as file:
            file.write("age,sex,zip,income,note\n")
            file.writelines(block for _ in range(times))
        command = [sys.executable, "-c", PEAK, str(path), str(tmp_path / f"out{times}.csv")]
        peaks.append(int(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    assert peaks[1] < 2 * peaks[0]  # batches that wait to be collapsed take their room, up to a million rows
