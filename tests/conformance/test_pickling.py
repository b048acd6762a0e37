"""A release is data: it can be pickled, sent to another process, and used there, whatever it was made from."""

import itertools
import pickle
import random
import subprocess
import sys
from dataclasses import replace

import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import incrowd
from incrowd.errors import PolicyError

KINDS = ("csv", "parquet", "pandas", "polars", "pyarrow")
METHODS = {"tdr": "global", "kaca": "local"}
DRAW = random.Random(3)
TABLE = pa.table(
    {
        "name": [f"person {number}" for number in range(120)],
        "age": [str(DRAW.randint(20, 60)) for _ in range(120)],
        "job": [DRAW.choice(["clerk", "nurse", "smith"]) for _ in range(120)],
        "income": [DRAW.choice(["low", "high"]) for _ in range(120)],
    }
)
POLICY = {"quasi_identifiers": ["age", "job"], "k": 4, "target": "income", "identifiers": ["name"]}
CHILD = """
import pickle, sys
release = pickle.load(open(sys.argv[1], "rb"))
release.write(sys.argv[2])
print(release.measures.total.ncp)
"""


@pytest.fixture(scope="module", params=zip(KINDS, itertools.cycle(METHODS)), ids="-".join)
def release(request, tmp_path_factory):
    """A release of one kind of table by a global or a local method."""
    (kind, method), folder = request.param, tmp_path_factory.mktemp("tables")
    pyarrow.csv.write_csv(TABLE, folder / "people.csv")
    pq.write_table(TABLE, folder / "people.parquet")
    frames = {"pandas": TABLE.to_pandas(), "polars": pl.from_arrow(TABLE), "pyarrow": TABLE}
    return incrowd.anonymize(frames.get(kind, folder / f"people.{kind}"), **POLICY, method=method)


def test_all_of_it_comes_back_before_and_after_it_was_used(release):
    again = pickle.loads(pickle.dumps(release))
    for part in ("policy", "recoding", "steps", "notes", "measures"):
        assert getattr(again, part) == getattr(release, part)
    assert again.to_json() == release.to_json()
    assert again.data.equals(release.data)
    # each draws a salt of its own for its commitment to the original
    assert replace(again.certificate, commitment="") == replace(release.certificate, commitment="")
    used = pickle.loads(pickle.dumps(release))
    assert (used.measures, used.certificate) == (release.measures, release.certificate)
    assert used.data.equals(release.data)


def test_an_earlier_step_can_be_had_from_what_came_back(release):
    again = pickle.loads(pickle.dumps(release))
    if METHODS[release.policy.method] == "local":
        with pytest.raises(PolicyError, match="keeps no release at a step"):
            again.at(0)
        return
    assert len(release.steps) > 1
    for step in (0, 1, len(release.steps)):
        assert again.at(step).recoding == release.at(step).recoding
        assert again.at(step).data.equals(release.at(step).data)


def test_another_process_writes_the_same_file(release, tmp_path):
    (tmp_path / "release.pickle").write_bytes(pickle.dumps(release))
    command = [sys.executable, "-c", CHILD, str(tmp_path / "release.pickle"), str(tmp_path / "there.csv")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == release.measures.total.ncp
    release.write(tmp_path / "here.csv")
    assert (tmp_path / "there.csv").read_bytes() == (tmp_path / "here.csv").read_bytes()
