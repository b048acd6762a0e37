"""What has to work with every version that incrowd depends on: each kind of file, frame, engine and command, once."""

import random
import subprocess
import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import incrowd

DRAW = random.Random(1)
PEOPLE = {
    "age": [DRAW.randrange(20, 50) for _ in range(60)],
    "sex": [DRAW.choice("fm") for _ in range(60)],
    "born": [f"19{DRAW.randrange(60, 90)}-0{DRAW.randrange(1, 10)}-1{DRAW.randrange(10)}" for _ in range(60)],
    "wage": [1000.5 + DRAW.randrange(7) for _ in range(60)],
    "ill": [DRAW.choice(("flu", "cough", "cold")) for _ in range(60)],
}
ASKED = {"quasi_identifiers": ["age", "sex", "born"], "k": 5, "sensitive": {"ill": {"l": 2}}, "keep": ["wage"]}
OUTPUTS = ("csv", "parquet", "arrow", "jsonl", "xlsx", "dta", "sav", "sqlite", "duckdb")


@pytest.mark.parametrize("suffix", OUTPUTS)
def test_every_kind_of_file_is_written_and_verified(suffix, tmp_path):
    release = incrowd.anonymize(pa.table(PEOPLE), **ASKED, method="mondrian")
    release.write(tmp_path / f"release.{suffix}")
    verified = incrowd.verify(tmp_path / f"release.{suffix}", quasi_identifiers=["age", "sex", "born"], k=5)
    assert verified.holds


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("method", ["tdr", "cover", "mondrian", "bug", "optimal"])
def test_every_frame_and_family_of_methods(frame, method):
    release = incrowd.anonymize(
        frame(PEOPLE), **{**ASKED, "quasi_identifiers": ["age", "sex"], "identifiers": ["born"]}, method=method
    )
    assert type(release.data) is type(frame(PEOPLE))
    assert release.measures.total.anonymity >= 5


def test_engines_agree(tmp_path):
    pq.write_table(pa.table(PEOPLE), tmp_path / "people.parquet")
    key = incrowd.key.Key.for_experiments(0)
    rows = [
        incrowd.anonymize(tmp_path / "people.parquet", **ASKED, engine=engine, key=key).to_frame().to_string()
        for engine in ("arrow", "duckdb")
    ]
    assert rows[0] == rows[1]


def test_commands_run(tmp_path):
    pd.DataFrame(PEOPLE).to_csv(tmp_path / "people.csv", index=False)
    asked = ["--qi", "age,sex", "--keep", "born,wage,ill"]
    for command in (
        ["-h"],
        ["inspect", "people.csv"],
        ["anonymize", "people.csv", "-o", "release.csv", *asked, "--k", "5", "--report", "report.html"],
        ["verify", "release.csv", "--qi", "age,sex", "--k", "5"],
        ["risk", "people.csv", "--qi", "age,sex"],
        ["evaluate", "people.csv", *asked, "--k", "5", "--target", "ill"],
        ["studio", "-h"],
    ):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "incrowd", *command], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
