"""Spark in processes of its own: from the shell, through Spark Connect, and killed while it writes."""

import json
import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.spark.session import FAST, NEEDS_SPARK

import incrowd

pytestmark = NEEDS_SPARK

SHELL = """
import os, signal, sys, threading, time
from pathlib import Path
from incrowd.cli import main
from incrowd.engines.spark.write import SparkOutput

def run(*words):
    sys.argv = ["incrowd", *words]
    try:
        main()
        return 0
    except SystemExit as ended:
        return ended.code or 0

def kill():
    from pyspark import SparkContext
    while not list(Path().glob(".incrowd-*/*/_temporary")):
        time.sleep(0.01)
    os.kill(SparkContext._gateway.proc.pid, signal.SIGKILL)

words = ["anonymize", "--engine", "spark", "--master", "local[1]", "people.parquet", "--qi", "age,sex", "--k", "5"]
words += ["--method", "tdr"]
codes = [run(*words, "-o", "release.parquet")]
print("---", file=sys.stderr)
threading.Thread(target=kill, daemon=True).start()
codes.append(run(*words, "-o", "killed.parquet"))
print("codes", *codes)
sys.stdout.flush()
os._exit(0)
"""

CONNECT = """
import json, sys, warnings
warnings.simplefilter("ignore")
import incrowd
from pyspark.sql import SparkSession

spark = SparkSession.builder.remote("local[1]").config("spark.sql.shuffle.partitions", "2").getOrCreate()
people = spark.read.parquet("people.parquet")
found = {}
for method in ("tdr", "cover"):
    release = incrowd.anonymize(people, quasi_identifiers=["age", "sex"], k=5, method=method)
    found[method] = release.data.toArrow().to_pydict()
    release.write(f"{method}.parquet")
kind = type(release.data)
try:
    release.write("hdfs://nowhere/release.parquet", sidecars=False)
except incrowd.IncrowdError as error:
    found["elsewhere"] = str(error)
print(json.dumps({"kind": f"{kind.__module__}", **found}))
"""


def python(script, folder):
    """Run a script in a folder, with a JVM that starts quickly."""
    env = {**os.environ, "JDK_JAVA_OPTIONS": FAST, "PYSPARK_PYTHON": sys.executable}
    return subprocess.run(
        [sys.executable, "-c", script], cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=400
    )


@pytest.fixture
def people(tmp_path):
    table = pa.table(
        {"age": [20 + n % 7 for n in range(200)], "sex": ["f", "m"] * 100, "wage": [n % 3 for n in range(200)]}
    )
    pa.parquet.write_table(table, tmp_path / "people.parquet")
    return table


def test_from_the_shell_and_killed_while_it_writes(people, tmp_path):
    done = python(SHELL, tmp_path)
    assert done.stdout.splitlines()[-1] == "codes 0 1", done.stderr
    well, _, killed = done.stderr.partition("---\n")
    assert "Exception" not in well
    assert "WARN" not in well
    assert killed.splitlines()[-1].startswith("error: Spark ended, and could not write the release of people.parquet")
    assert len(killed.splitlines()) == 1
    expected = incrowd.anonymize(people, quasi_identifiers=["age", "sex"], k=5, method="tdr")
    assert pa.parquet.read_table(tmp_path / "release.parquet").to_pydict() == expected.data.to_pydict()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "people.parquet",
        "release.certificate.json",
        "release.confidential",
        "release.parquet",
        "release.recoding.json",
    ]


def test_through_spark_connect(people, tmp_path):
    pytest.importorskip("grpc")
    done = python(CONNECT, tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["kind"] == "pyspark.sql.connect.dataframe"
    for method in ("tdr", "cover"):
        expected = incrowd.anonymize(people, quasi_identifiers=["age", "sex"], k=5, method=method).data.to_pydict()
        assert found[method] == expected
        assert pa.parquet.read_table(tmp_path / f"{method}.parquet").to_pydict() == expected
    assert found["elsewhere"].startswith("through Spark Connect a release is written to folders that this machine sees")
