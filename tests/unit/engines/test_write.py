"""Written rows are read back while those before are counted, and what was lost is counted meanwhile."""

import threading

import pyarrow as pa
import pyarrow.parquet as pq

import incrowd
from incrowd.formats.read_back import RowDigest
from incrowd.release import release as releases


def noting(function, noted):
    def noting_thread(*words, **named):
        noted.append(threading.current_thread())
        return function(*words, **named)

    return noting_thread


def test_rows_are_read_back_and_losses_counted_beside_the_thread_that_writes(tmp_path, monkeypatch):
    rows = pa.table({"age": [place * 7 % 90 for place in range(900)], "sex": ["f", "m", "m"] * 300})
    pq.write_table(rows, tmp_path / "rows.parquet")
    release = incrowd.anonymize(tmp_path / "rows.parquet", quasi_identifiers=["age", "sex"], k=5, method="tdr")
    read, measured = [], []
    monkeypatch.setattr(RowDigest, "require", noting(RowDigest.require, read))
    monkeypatch.setattr(releases, "measure", noting(releases.measure, measured))
    release.write(tmp_path / "out.parquet")
    assert read
    assert threading.main_thread() not in read
    assert len(measured) == 1
    assert threading.main_thread() not in measured
