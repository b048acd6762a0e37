"""Tuples that are counted while rows come: the same as all at once."""

import random

import pyarrow as pa
import pytest

import incrowd
from incrowd.engines.arrow import compress

DRAW = random.Random(2)
FEW = {name: pa.array([DRAW.choice(["x", "y", "?", None]) for _ in range(900)]) for name in ("a", "b")}
MANY = {f"c{place}": pa.array([DRAW.randint(0, 700) for _ in range(900)]) for place in range(8)}  # 2**75 combinations
SOME = {f"c{place}": pa.array([DRAW.randint(0, 700) for _ in range(900)]) for place in range(4)}
LABELS = {"label": pa.array([DRAW.choice(["low", "high"]) for _ in range(900)])}


@pytest.mark.parametrize("columns", [FEW, SOME, MANY], ids=["four bytes", "eight bytes", "more"])
def test_tuples_are_the_same_however_often_they_are_collapsed(columns, monkeypatch):
    table = pa.table({**columns, **LABELS})
    table = pa.concat_tables([table, table.slice(100, 400)])
    policy = {"quasi_identifiers": list(columns), "k": 3, "target": "label", "method": "tdr", "missing_values": ["?"]}
    expected = incrowd.anonymize(table, **policy).table
    monkeypatch.setattr(compress, "_BUFFER_ROWS", 100)
    monkeypatch.setattr("incrowd.formats.frames.BATCH_ROWS", 90)
    found = incrowd.anonymize(table, **policy).table
    assert [codes.tolist() for codes in found.codes] == [codes.tolist() for codes in expected.codes]
    assert found.counts.tolist() == expected.counts.tolist()
    assert found.target.counts.tolist() == expected.target.counts.tolist()
    assert found.target.codes.tolist() == expected.target.codes.tolist()
