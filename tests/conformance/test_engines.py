"""What every engine promises: the same release, cell for cell. An engine that is registered is tried on all of it."""

import itertools
import random
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from tests.conformance.tables import cases

from incrowd.engines.engine import ENGINES, engine_of
from incrowd.errors import CancelledError, DataError
from incrowd.formats.registry import open_source
from incrowd.pipeline import release_of
from incrowd.policy.words import make_policy
from incrowd.run import Rows, Run

CASES = cases()
EVERY = pytest.mark.parametrize("engine", ENGINES)
ANYWHERE = pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
METHODS = pytest.mark.parametrize("method", ["tdr", "cover", "mondrian", "bug"])


def parts(case, engine, method="tdr"):
    """An engine, an open table, the policy, and the release that the engine makes."""
    source, policy = open_source(case.table), make_policy(method=method, **case.words)
    return engine_of(engine), source, policy, release_of(source, policy, engine=engine_of(engine))


def values(case):
    """The tuples of a table in plain Python, of complete rows where the policy asks for that."""
    rows = [tuple(row[name] for name in case.columns) for row in case.table.to_pylist()]
    return [row for row in rows if None not in row] if case.words.get("missing") == "drop" else rows


def rows_of(table):
    """The rows of a table, whatever their order."""
    return Counter(tuple(map(str, row.values())) for row in table.to_pylist())


@EVERY
@ANYWHERE
def test_the_compressed_table_counts_every_tuple(engine, case):
    engine, source, policy, _ = parts(case, engine)
    table = engine.compress(source, policy, Run())
    texts = [attribute.values().to_pylist() for attribute in table.attributes]
    found = Counter()
    for place, records in enumerate(table.counts.tolist()):
        found[tuple(text[codes[place]] for text, codes in zip(texts, table.codes, strict=True))] += records
    expected = Counter(tuple(None if value is None else _text(value) for value in row) for row in values(case))
    assert found == expected
    if policy.target:
        labels = Counter()
        for entry, records in enumerate(table.target.counts.tolist()):
            labels[table.labels[table.target.codes[entry]]] += records
        assert labels == Counter(case.table.column(policy.target).to_pylist())


def _text(value):
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


@EVERY
@ANYWHERE
@METHODS
def test_all_ways_to_get_the_rows_agree(engine, case, method, tmp_path):
    engine, source, _, release = parts(case, engine, method)
    streamed = pa.Table.from_batches(list(engine.recode(source, release.recoding, Run())))
    for keep_order in (False, True):
        shown, seen = [], []
        whole = engine.recoded(source, release.recoding, Run(), see=shown.append, keep_order=keep_order)
        path = tmp_path / f"release {keep_order}.parquet"
        engine.write(source, release.recoding, path, seen.append, Run(), seen=True, keep_order=keep_order)
        for rows in (pa.parquet.read_table(path), pa.Table.from_batches(seen), pa.Table.from_batches(shown)):
            assert rows.to_pylist() == whole.to_pylist()
        if keep_order:
            assert streamed.to_pylist() == whole.to_pylist()
        else:
            assert rows_of(streamed) == rows_of(whole)


@EVERY
@ANYWHERE
@METHODS
def test_labels_are_counted_as_the_released_rows_have_them(engine, case, method):
    engine, _, policy, release = parts(case, engine, method)
    if policy.target is None:
        return
    released = release.data.to_pylist()
    majority = Counter()
    for crowd in {tuple(row[name] for name in case.columns) for row in released}:
        members = [row for row in released if tuple(row[name] for name in case.columns) == crowd]
        majority[crowd] = max(Counter(row[policy.target] for row in members).values())
    expected = 1 - sum(majority.values()) / len(case.table)
    assert release.measures.total.cm == pytest.approx(expected)


@EVERY
def test_rows_are_told_and_a_cancelled_run_ends(engine, tmp_path):
    case = CASES["mixed"]
    engine, source, policy, release = parts(case, engine)
    events = []
    engine.compress(source, policy, Run(events.append))
    assert sum(event.number for event in events if isinstance(event, Rows)) == len(case.table)
    cancelled = Run()
    cancelled.cancel()
    with pytest.raises(CancelledError):
        engine.compress(source, policy, cancelled)
    with pytest.raises(CancelledError):
        engine.write(source, release.recoding, tmp_path / "x.csv", lambda batch: None, cancelled)


@EVERY
def test_a_table_that_changes_is_refused(engine, tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age\n" + "".join(f"{20 + number % 4}\n" for number in range(40)))
    source = open_source(path)
    policy = make_policy(quasi_identifiers=["age"], k=2)
    path.write_text("age\n" + "1\n" * 50)
    with pytest.raises(DataError, match="changed while it was being read"):
        engine_of(engine).compress(source, policy, Run())


@EVERY
@METHODS
@pytest.mark.parametrize("name", ["release.csv", "release.parquet"])
def test_a_witness_sees_dropped_columns_that_do_not_leave(engine, method, name, tmp_path):
    table = CASES["mixed"].table
    table = table.append_column("number", pa.array(range(len(table))))
    words = {**CASES["mixed"].words, "identifiers": ["number"]}
    source, policy, engine = open_source(table), make_policy(method=method, **words), engine_of(engine)
    recoding = release_of(source, policy, engine=engine).recoding
    seen, path = [], tmp_path / name
    engine.write(source, recoding, path, seen.append, Run(), seen=True, witnessed=["number"])
    written = pa.Table.from_batches(list(open_source(path).batches()))
    whole = engine.recoded(source, recoding, Run(), see=seen.append, witnessed=["number"])
    for rows in (written, whole):
        assert "number" not in rows.column_names
    halves = pa.Table.from_batches(seen[: len(seen) // 2]), pa.Table.from_batches(seen[len(seen) // 2 :])
    for witnessed in halves:
        assert witnessed.drop_columns("number").to_pylist() == whole.to_pylist()
        assert sorted(witnessed["number"].to_pylist()) == list(range(len(table)))
        others = [name for name in table.column_names if name not in policy.attributes]
        original = table.take(witnessed["number"]).select(others)
        assert witnessed.select(others).to_pylist() == original.to_pylist()


@EVERY
@ANYWHERE
@METHODS
@pytest.mark.parametrize("name", ["release.csv", "release.parquet"])
def test_the_order_of_rows_follows_from_what_is_released_alone(engine, case, method, name, tmp_path):
    """The same rows in any order give the same file, byte for byte; nothing can be read from where a row stands."""
    engine, _, _, release = parts(case, engine, method)
    mixed = random.Random(5).sample(range(len(case.table)), len(case.table))
    files = []
    for number, table in enumerate((case.table, case.table.take(mixed))):
        path = tmp_path / f"{number} {name}"
        engine.write(open_source(table), release.recoding, path, lambda batch: None, Run(), seen=True)
        files.append(path.read_bytes())
    assert files[0] == files[1]


@EVERY
@pytest.mark.parametrize("most_distinct", [1 << 18, 40, 2])
@pytest.mark.parametrize("held", [1 << 25, 20_000, 500])
def test_the_order_is_the_same_however_much_fits_in_memory(engine, most_distinct, held, tmp_path, monkeypatch):
    monkeypatch.setattr("incrowd.engines.row_order.MOST_DISTINCT", most_distinct)
    draw = random.Random(3)
    ages = [draw.randrange(20, 60) for _ in range(3000)]
    table = pa.table({"age": ages, "sex": [draw.choice("fm") for _ in ages], "wage": [age // 9 for age in ages]})
    engine, path = engine_of(engine), tmp_path / "people.csv"
    pa.csv.write_csv(table, path)
    monkeypatch.setattr("incrowd.formats.csv_reader.BLOCK_BYTES", 2048)
    source = open_source(path)
    recoding = release_of(source, make_policy(quasi_identifiers=["age", "sex"], k=20)).recoding
    expected = engine.recoded(source, recoding, Run())
    monkeypatch.setattr("incrowd.engines.arrow.shuffle.HELD_BYTES", held)
    seen = []
    engine.write(source, recoding, tmp_path / "release.csv", seen.append, Run())
    assert pa.Table.from_batches(seen).to_pylist() == expected.to_pylist()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "release.csv"]


@EVERY
def test_where_a_row_was_cannot_be_told(engine, tmp_path):
    """A file sorted by wage: the released order has no correlation with it, and equal rows are spread."""
    table = pa.table({"age": [20 + number // 100 for number in range(4000)], "wage": list(range(4000))})
    source = open_source(table)
    release = release_of(source, make_policy(quasi_identifiers=["age"], k=50))
    wages = engine_of(engine).recoded(source, release.recoding, Run())["wage"].to_numpy()
    assert abs(np.corrcoef(wages, np.arange(4000))[0, 1]) < 0.06
    equal = pa.table({"age": [20] * 500 + [70] * 500})
    release = release_of(open_source(equal), make_policy(quasi_identifiers=["age"], k=50))
    ages = engine_of(engine).recoded(open_source(equal), release.recoding, Run())["age"].to_pylist()
    runs = sum(first != second for first, second in itertools.pairwise(ages))
    assert 400 < runs < 600
