"""What every engine promises: the same release, cell for cell. An engine that is registered is tried on all of it."""

from collections import Counter

import pyarrow as pa
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
    whole = engine.recoded(source, release.recoding, Run())
    seen = []
    path = tmp_path / "release.parquet"
    engine.write(source, release.recoding, path, seen.append, Run(), seen=True)
    written = pa.parquet.read_table(path)
    witnessed = pa.Table.from_batches(seen)
    for rows in (streamed, written, witnessed):
        assert rows.to_pylist() == whole.to_pylist()


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
