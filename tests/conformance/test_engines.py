"""What every engine promises: the same release, cell for cell. An engine that is registered is tried on all of it."""

import datetime as dt
import itertools
import random
import re
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from tests.conformance.tables import cases
from tests.examples import EFFORT, paired, some_of, spread

import incrowd
from incrowd.engines.plan import ReleasePlan
from incrowd.engines.reading import compressed
from incrowd.engines.registry import ENGINES, EngineEntry, engine_of
from incrowd.errors import CancelledError, DataError, InfeasibleError, MissingPackageError, PolicyError
from incrowd.formats.registry import FORMATS, open_source, open_writer
from incrowd.policy.making import make_policy
from incrowd.recodings.attributes.partition import Partition
from incrowd.release.release import release_of
from incrowd.run import Rows, Run
from incrowd.settled import Settled
from incrowd.taxonomies.taxonomy import Taxonomy

pytestmark = pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")  # risks are not the point here

CASES = cases()
HERE = [name for name, entry in ENGINES.items() if entry.installed and name != "spark"]  # for which see tests/spark
EVERY = pytest.mark.parametrize("engine", HERE)
METHODS = ["tdr", "cover", "mondrian", "bug"]
MADE_FROM_THESE_ROWS = ReleasePlan(is_training_data=True)


@cache
def parts(name, engine, method="tdr"):
    """An engine, an open table, the policy, and the release that the engine makes."""
    source, policy = open_source(CASES[name].table), make_policy(method=method, **CASES[name].words)
    return engine_of(engine), source, policy, release_of(source, policy, engine=engine_of(engine))


def values(case):
    """The tuples of a table in plain Python, of complete rows where the policy asks for that."""
    rows = [tuple(row[name] for name in case.columns) for row in case.table.to_pylist()]
    return [row for row in rows if None not in row] if case.words.get("missing") == "drop" else rows


def rows_of(table):
    """The rows of a table, whatever their order."""
    return Counter(tuple(map(str, row.values())) for row in table.to_pylist())


@EVERY
@pytest.mark.parametrize("name", CASES)
def test_the_compressed_table_counts_every_tuple(engine, name):
    case, (engine, source, policy, _) = CASES[name], parts(name, engine)
    table = compressed(engine, source, policy, Run())
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


@pytest.mark.parametrize(("engine", "name", "method"), paired(HERE, list(CASES), METHODS))
def test_all_ways_to_get_the_rows_agree(engine, name, method, tmp_path):
    engine, source, _, release = parts(name, engine, method)
    streamed = pa.Table.from_batches(list(engine.recode(source, release.recoding, Run())))
    for keep_order in (False, True):
        shown, seen = [], []
        whole = engine.recoded(source, release.recoding, Run(), ReleasePlan(keep_order=keep_order), shown.append)
        path = tmp_path / f"release {keep_order}.parquet"
        plan = replace(MADE_FROM_THESE_ROWS, keep_order=keep_order)
        engine.write(source, release.recoding, path, seen.append, Run(), plan)
        for rows in (pa.parquet.read_table(path), pa.Table.from_batches(seen), pa.Table.from_batches(shown)):
            assert rows.to_pylist() == whole.to_pylist()
        if keep_order:
            assert streamed.to_pylist() == whole.to_pylist()
        else:
            assert rows_of(streamed) == rows_of(whole)


@EVERY
@pytest.mark.parametrize("method", METHODS)
def test_labels_are_counted_as_the_released_rows_have_them(engine, method):
    case, (_, _, policy, release) = CASES["with a target"], parts("with a target", engine, method)
    released = release.data.to_pylist()
    majority = Counter()
    for crowd in {tuple(row[name] for name in case.columns) for row in released}:
        members = [row for row in released if tuple(row[name] for name in case.columns) == crowd]
        majority[crowd] = max(Counter(row[policy.target] for row in members).values())
    expected = 1 - sum(majority.values()) / len(case.table)
    assert release.measures.total.cm == pytest.approx(expected)


@EVERY
def test_rows_are_told_and_a_cancelled_run_ends(engine, tmp_path):
    case, events = CASES["mixed"], []
    engine, source, policy, release = parts("mixed", engine)
    compressed(engine, source, policy, Run(events.append))
    assert sum(event.number for event in events if isinstance(event, Rows)) == len(case.table)
    cancelled = Run()
    cancelled.cancel()
    with pytest.raises(CancelledError):
        compressed(engine, source, policy, cancelled)
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
        compressed(engine_of(engine), source, policy, Run())


def cells(rows, text):
    """The rows, with every cell as a CSV file has it where that is asked for."""

    def shown(value):
        return (
            "" if value is None else str(int(value)) if isinstance(value, float) and value == int(value) else str(value)
        )

    found = rows.to_pylist()
    return [{name: shown(value) for name, value in row.items()} for row in found] if text else found


@pytest.mark.parametrize(("engine", "method", "name"), paired(HERE, METHODS, ["release.csv", "release.parquet"]))
def test_a_witness_sees_dropped_columns_that_do_not_leave(engine, method, name, tmp_path):
    table = CASES["mixed"].table
    table = table.append_column("number", pa.array(range(len(table))))
    words = {**CASES["mixed"].words, "identifiers": ["number"], "keep": ["name", "born", "wage"]}
    source, policy, engine = open_source(table), make_policy(method=method, **words), engine_of(engine)
    recoding = release_of(source, policy, engine=engine).recoding
    seen, path = [], tmp_path / name
    plan = ReleasePlan(hidden_columns=("number",))
    engine.write(source, recoding, path, seen.append, Run(), replace(plan, is_training_data=True))
    written = pa.Table.from_batches(list(open_source(path).batches()))
    whole = engine.recoded(source, recoding, Run(), plan, seen.append)
    for rows in (written, whole):
        assert "number" not in rows.column_names
    halves = pa.Table.from_batches(seen[: len(seen) // 2]), pa.Table.from_batches(seen[len(seen) // 2 :])
    for witnessed in halves:
        text = name == "release.csv" and witnessed is halves[0]  # what is read back from a CSV file is text
        assert cells(witnessed.drop_columns("number"), text) == cells(whole, text)
        assert sorted(witnessed["number"].to_pylist()) == list(range(len(table)))
        others = [name for name in table.column_names if name not in policy.attributes]
        original = table.take(witnessed["number"]).select(others)
        assert cells(witnessed.select(others), text) == cells(original, text)


@pytest.mark.parametrize(("engine", "name", "method", "kind"), paired(HERE, list(CASES), METHODS, ["csv", "parquet"]))
def test_the_order_of_rows_follows_from_what_is_released_alone(engine, name, method, kind, tmp_path):
    """The same rows in any order give the same file, byte for byte; nothing can be read from where a row stands."""
    rows, (engine, _, _, release) = CASES[name].table, parts(name, engine, method)
    files = []
    for number, table in enumerate((rows, rows.take(random.Random(5).sample(range(len(rows)), len(rows))))):
        path = tmp_path / f"{number}.{kind}"
        engine.write(open_source(table), release.recoding, path, lambda batch: None, Run(), MADE_FROM_THESE_ROWS)
        files.append(path.read_bytes())
    assert files[0] == files[1]


@pytest.mark.parametrize(("engine", "most_distinct", "held"), paired(HERE, [1 << 18, 40, 2], [1 << 25, 20_000, 500]))
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
    release = release_of(source, make_policy(quasi_identifiers=["age"], k=50, keep=["wage"]))
    wages = engine_of(engine).recoded(source, release.recoding, Run())["wage"].to_numpy()
    assert abs(np.corrcoef(wages, np.arange(4000))[0, 1]) < 0.06
    equal = pa.table({"age": [20] * 500 + [70] * 500})
    release = release_of(open_source(equal), make_policy(quasi_identifiers=["age"], k=50))
    ages = engine_of(engine).recoded(open_source(equal), release.recoding, Run())["age"].to_pylist()
    runs = sum(first != second for first, second in itertools.pairwise(ages))
    assert 400 < runs < 600


ODD = pa.table(
    {
        "age": pa.array([20 + number % 7 if number % 11 else None for number in range(120)], pa.int16()),
        "born": pa.array([dt.date(1990, 1 + number % 3, 1) for number in range(120)]),
        "seen": pa.array([dt.datetime(2020, 1, 1, number % 5) for number in range(120)], pa.timestamp("us")),
        "wage": pa.array([Decimal(number % 6) / 4 for number in range(120)], pa.decimal128(9, 2)),
        "weight": pa.array([float("nan") if number % 9 == 0 else (number % 4) / 8 for number in range(120)]),
        "zero": pa.array([0.0 if number % 2 else -0.0 for number in range(120)]),
        "job": pa.array([["smith", "nurse", None, ""][number % 4] for number in range(120)]).dictionary_encode(),
        "ill": pa.array([number % 5 < 2 for number in range(120)]),
        "who": pa.array([f"p{number // 2}" for number in range(120)]),
        "diagnosis": pa.array([["flu", "cold", "gout", None][number // 3 % 4] for number in range(120)]),
        "note": pa.array([f"n\u00f6te {number}" for number in range(120)]),
    }
)
POLICIES = {
    "nulls and dates": {"quasi_identifiers": ["age", "born", "seen"], "k": 4},
    "decimals, not a number, categories": {"quasi_identifiers": ["wage", "weight", "job", "zero"], "k": 5},
    "missing values by name": {"quasi_identifiers": ["job", "age"], "k": 3, "missing_values": ["", "21"]},
    "complete rows": {"quasi_identifiers": ["age", "weight"], "k": 3, "missing": "drop"},
    "truth and a target": {"quasi_identifiers": ["ill", "age"], "k": 3, "target": "diagnosis"},
    "several": {"quasi_identifiers": [{"attributes": ["age", "job"], "k": 4}, {"attributes": ["born", "age"], "k": 6}]},
    "people": {"quasi_identifiers": ["age", "job"], "k": 3, "unit": "who"},
    "sensitive": {"quasi_identifiers": ["age", "born"], "k": 3, "sensitive": ["diagnosis"], "l": 2, "t": 0.6},
    "other models": {
        "quasi_identifiers": ["age", "job"],
        "k": 3,
        "sensitive": {"diagnosis": {"entropy_l": 1.5, "beta_likeness": 3}, "ill": {"alpha": 0.9}},
    },
    "trees and rules": {
        "quasi_identifiers": ["age", "diagnosis", "who"],
        "k": 4,
        "taxonomies": {
            "diagnosis": Taxonomy.from_tree({"ill": {"airways": ["flu", "cold", "croup"], "gout": {}}}),
            "age": {"widths": [2, 4]},
            "who": {"prefix": [2, 1]},
        },
    },
}
SEARCHES = {
    "tdr": {},
    "bug": {},
    "cover": {},
    "mondrian": {},
    "kaca": {},
    "datafly": {"suppress": 0.1},
    "tds": {"suppress": 0.05},
    "argus": {},
    "cover, leaving out": {"method": "cover", "suppress": 0.1},
    "mondrian, leaving out": {"method": "mondrian", "suppress": 0.1},
    "bug, in groups": {"method": "bug", "partial": True, "suppress_values": 0.3},
    "tdr, one by one": {"method": "tdr", "partial": True},
}


def in_memory(table, folder):
    return table


def in_parquet(table, folder):
    pa.parquet.write_table(table, folder / "people.parquet")
    return folder / "people.parquet"


def in_several_files(table, folder):
    for year, rows in (("2019", table.slice(0, 50)), ("2020", table.slice(50))):
        (folder / "people" / f"year={year}").mkdir(parents=True, exist_ok=True)
        pa.parquet.write_table(rows, folder / "people" / f"year={year}" / "rows.parquet")
    return folder / "people"


def in_duckdb(table, folder):
    import duckdb

    with duckdb.connect(folder / "people.duckdb") as connection:
        connection.register("rows", table)
        connection.execute("CREATE OR REPLACE TABLE people AS SELECT * FROM rows")
    return f"{folder / 'people.duckdb'}#people"


def as_relation(table, folder):
    import duckdb

    return duckdb.connect().from_arrow(table)


# Where an engine may have its data. Every place is tried with every policy, and memory with every method too; in
# `make test` with some of them.
PLACES = {"duckdb": [in_memory, in_parquet, in_several_files, in_duckdb, as_relation]}
TRIED = [
    pytest.param(engine, place, method, policy, id=f"{engine}-{place.__name__}-{method}-{policy}")
    for engine in HERE
    if engine != "arrow"
    for place in PLACES.get(engine, [in_memory])
    for number, method in enumerate(SEARCHES if place is in_memory else ["tdr", "cover"])
    for policy in (some_of(list(POLICIES), 3, number) if EFFORT == "test" else POLICIES)
]


@pytest.mark.parametrize(("engine", "place", "method", "policy"), TRIED)
def test_the_release_is_that_of_arrow_cell_for_cell(engine, place, method, policy, tmp_path):
    words = {**POLICIES[policy], "method": method, "identifiers": ["note"], **SEARCHES[method]}
    table = ODD
    if place is in_several_files:
        table = ODD.append_column("year", pa.array(["2019"] * 50 + ["2020"] * 70))
    elif place is in_duckdb or place is as_relation:
        table = ODD.set_column(ODD.column_names.index("job"), "job", ODD["job"].cast(pa.string()))  # it has no others
    try:
        expected = incrowd.anonymize(table, **words)
    except (PolicyError, InfeasibleError) as refused:
        with pytest.raises(type(refused), match=re.escape(str(refused)[:20])):
            incrowd.anonymize(place(ODD, tmp_path), engine=engine, **words)
        return
    data = place(ODD, tmp_path)
    release = incrowd.anonymize(data, engine=engine, **words)
    assert release.engine.name == engine
    assert release.recoding.to_json() == expected.recoding.to_json()
    assert release.measures.to_json() == expected.measures.to_json()
    kept = incrowd.anonymize(data, engine=engine, keep_order=True, **words)
    for name, made, like in (
        ("shuffled", release, expected),
        ("kept", kept, replace(expected, settled=Settled(replace(expected.policy, keep_order=True)))),
    ):
        path = tmp_path / f"{name}.parquet"
        made.write(path, sidecars=False)
        like.write(tmp_path / "expected.parquet", sidecars=False, overwrite=True)
        rows, wanted = pa.parquet.read_table(path), pa.parquet.read_table(tmp_path / "expected.parquet")
        assert rows.schema.equals(wanted.schema)
        assert repr(rows.to_pydict()) == repr(wanted.to_pydict())  # not-a-number does not equal itself


@EVERY
def test_sets_of_values_are_those_of_arrow(engine):
    """Of numbers, of dates and of categories, with and without a taxonomy."""
    trees = {"diagnosis": Taxonomy.flat(["flu", "cold", "gout"], "ill")}
    for column in ("age", "born", "job", "diagnosis"):
        words = {
            "quasi_identifiers": [column],
            "k": 35,
            "taxonomies": trees if column in trees else {},
            "keep": ["note"],
        }
        expected = incrowd.anonymize(ODD, method="optimal", scheme="sps", **words)
        assert expected.found.facts["optimal"]
        assert isinstance(expected.recoding[column], Partition)
        rows = engine_of(engine).recoded(open_source(ODD), expected.recoding, Run())
        assert repr(rows.to_pydict()) == repr(expected.data.to_pydict())


@pytest.mark.parametrize(
    ("engine", "format_", "method"),
    spread(
        [name for name in HERE if name != "arrow"], [key for key in FORMATS if FORMATS[key].writer], ["tdr", "cover"]
    ),
)
def test_the_release_of_a_file_is_that_of_arrow_whatever_its_format(engine, format_, method, tmp_path):
    case, path = CASES["with a target"], tmp_path / f"people{FORMATS[format_].suffixes[0]}"
    with open_writer(path, case.table.schema, open_source(case.table)) as writer:
        for batch in case.table.to_batches():
            writer.write(batch)
    words = {**case.words, "method": method}
    expected, release = incrowd.anonymize(path, **words), incrowd.anonymize(path, engine=engine, **words)
    assert release.engine.name == engine
    assert release.recoding.to_json() == expected.recoding.to_json()
    assert repr(release.data.to_pydict()) == repr(expected.data.to_pydict())


def test_an_engine_that_is_not_there_is_named_in_one_line(monkeypatch):
    with pytest.raises(PolicyError, match="no engine 'arow'; did you mean 'arrow'"):
        incrowd.anonymize(ODD, quasi_identifiers=["age"], k=2, engine="arow")
    missing = EngineEntry("", "nowhere:None", "duckdb", "no_such_library")
    monkeypatch.setattr("incrowd.engines.registry.ENGINES", {"duckdb": missing})
    with pytest.raises(MissingPackageError, match=re.escape("not installed; run: pip install 'incrowd[duckdb]'")):
        incrowd.anonymize(ODD, quasi_identifiers=["age"], k=2, engine="duckdb")
