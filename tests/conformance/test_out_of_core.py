"""Engines that keep the tuples: a top-down search that never sees them finds the same release."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conformance.tables import cases
from tests.examples import examples, spread

import incrowd
from incrowd.engines.engine import KeepsTuples
from incrowd.engines.reading import read_plan
from incrowd.engines.registry import ENGINES, engine_of
from incrowd.errors import PolicyError
from incrowd.formats.registry import open_source
from incrowd.policy.making import make_policy
from incrowd.policy.methods import out_of_core_methods
from incrowd.run import Run

CASES = cases()
KEEPING = [
    name
    for name, entry in ENGINES.items()
    if entry.installed and name != "spark" and isinstance(engine_of(name), KeepsTuples)
]
EVERY = pytest.mark.parametrize("engine", KEEPING)


def test_duckdb_keeps_tuples():
    assert "duckdb" in KEEPING
    assert "arrow" not in KEEPING


@EVERY
@pytest.mark.parametrize(("case", "method"), spread(list(CASES.values()), list(out_of_core_methods())))
def test_the_same_steps_and_the_same_release(engine, method, case):
    words = {**case.words, "method": method}
    expected = incrowd.anonymize(case.table, **words)
    release = incrowd.anonymize(case.table, engine=engine, most_tuples=1, **words)
    assert [step.to_json() for step in release.steps] == [step.to_json() for step in expected.steps]
    assert release.recoding.to_json() == expected.recoding.to_json()
    assert release.data.to_pydict() == expected.data.to_pydict()
    assert release.table.incomplete == expected.table.incomplete
    measures, wanted = release.measures.to_json(), expected.measures.to_json()
    assert measures == wanted
    assert release.released_values == expected.released_values
    if len(expected.table.counts) > 1:
        assert any("distinct combinations stayed in the engine" in note for note in release.notes)


@EVERY
def test_several_quasi_identifiers_and_a_table_that_fits(engine):
    words = {**CASES["with a target"].words, "method": "tdr"}
    words["quasi_identifiers"] = [["age", "region"], ["region", "job"], ["job", "age"]]
    table = CASES["with a target"].table
    expected = incrowd.anonymize(table, **words)
    for most in (1, 1_000_000):
        release = incrowd.anonymize(table, engine=engine, most_tuples=most, **words)
        assert release.data.to_pydict() == expected.data.to_pydict()
        assert release.measures.to_json() == expected.measures.to_json()
        assert len(release.table.counts) <= len(expected.table.counts)
    assert (release.table.counts == expected.table.counts).all()


@EVERY
@examples(15)
@given(data=st.data())
def test_the_same_release_of_any_table(engine, data):
    rows = data.draw(st.integers(4, 60))
    draw = np.random.default_rng(data.draw(st.integers(0, 1000)))
    columns = {
        "n": [None if value > 8 else int(value) for value in draw.integers(0, 10, rows)],
        "f": draw.choice(["a", "b", "c", "d"], rows).tolist(),
        "x": (draw.integers(0, 6, rows) / 4).tolist(),
        "t": draw.choice(["yes", "no"], rows).tolist(),
    }
    target = data.draw(st.sampled_from(["t", None]))
    k = data.draw(st.integers(2, min(4, rows)))
    words = {"quasi_identifiers": ["n", "f", "x"], "k": k, "target": target, "method": "tdr"}
    table = pa.table(columns)
    expected = incrowd.anonymize(table, **words)
    release = incrowd.anonymize(table, engine=engine, most_tuples=1, **words)
    assert release.recoding.to_json() == expected.recoding.to_json()
    assert [step.to_json() for step in release.steps] == [step.to_json() for step in expected.steps]


@EVERY
def test_the_tuples_are_gone_in_the_end(engine, tmp_path):
    case = CASES["mixed"]
    words = {**case.words, "method": "tdr", "most_tuples": 1, "engine": engine, "spill_folder": tmp_path}
    release = incrowd.anonymize(case.table, **words)
    assert list(tmp_path.iterdir()) == []
    assert release.at(2).data.num_rows == len(case.table)
    policy = make_policy(**words)
    table = engine_of(engine).out_of_core(rows := open_source(case.table), read_plan(policy, rows), Run())
    table.close()
    with pytest.raises(incrowd.DataError):
        engine_of(engine).out_of_core(rows := open_source(case.table.slice(0, 0)), read_plan(policy, rows), Run())


@EVERY
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"method": "mondrian"}, "is for the methods tdr and tds"),
        ({"method": "auto"}, "is for the methods tdr and tds"),
        ({"method": "tdr", "suppress": 0.1}, "without suppress, restarts and partial"),
        ({"method": "tds", "partial": True}, "without suppress, restarts and partial"),
        ({"method": "tdr", "sensitive": ["wage"], "l": 2}, "is for promises about k alone"),
        ({"method": "tdr", "engine": "arrow"}, "the engine 'arrow' has all tuples in memory"),
        ({"method": "tdr", "most_tuples": 0}, "The 'most_tuples' parameter must be"),
    ],
)
def test_what_needs_all_tuples_is_refused(engine, words, said):
    case = CASES["mixed"]
    with pytest.raises(PolicyError, match=said):
        incrowd.anonymize(case.table, **{**case.words, "engine": engine, "most_tuples": 1, **words})
