"""Results print as short tables and convert to dataframes of every kind."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import incrowd
from incrowd.errors import IncrowdError, PolicyError

QI = ["age", "job", "housing"]
GERMAN = incrowd.datasets.german()


def released(**words):
    return incrowd.anonymize(GERMAN, quasi_identifiers=QI, k=5, keep=["credit-amount"], **words)


RESULTS = {
    "release": lambda: released(target="credit", method="tdr"),
    "local": lambda: released(method="mondrian"),
    "risk": lambda: incrowd.assess(GERMAN, quasi_identifiers=QI),
    "release risk": lambda: released().risk,
    "verification": lambda: incrowd.verify(GERMAN, quasi_identifiers=QI, k=5),
    "inspection": lambda: incrowd.inspect(GERMAN),
    "comparison": lambda: incrowd.compare(GERMAN, quasi_identifiers=QI, methods="tdr", ks=[5]),
    "evaluation": lambda: incrowd.evaluate(
        GERMAN, quasi_identifiers=QI, k=5, target="credit", method="tdr", classifiers=["tree"]
    ),
}


@pytest.mark.parametrize("name", RESULTS)
def test_it_prints_as_a_short_table_and_converts(name):
    result = RESULTS[name]()
    lines = repr(result).splitlines()
    assert str(result) == repr(result)
    assert 3 <= len(lines) <= 40
    assert max(map(len, lines)) <= 160
    rows = result.to_rows()
    assert rows
    assert len({tuple(row) for row in rows}) == 1
    for kind, frame in {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}.items():
        made = result.to_frame(kind)
        assert isinstance(made, frame)
        assert len(made) == len(rows)
    assert isinstance(result.to_frame(), pd.DataFrame)


def test_a_release_tells_what_became_of_each_column():
    release = released(target="credit")
    assert [row["column"] for row in release.to_rows()] == QI
    assert "1,000 records released" in repr(release)
    assert "kept on purpose, though they may name people: credit-amount" in release.summary()


def test_unknown_kinds_and_kinds_that_are_not_installed(monkeypatch):
    release = released()
    with pytest.raises(PolicyError, match=r"must be one of pandas, polars, pyarrow. Got 'spark'."):
        release.to_frame("spark")
    monkeypatch.setattr("incrowd.display.find_spec", lambda name: None if name == "pandas" else name)
    assert isinstance(release.to_frame(), pl.DataFrame)
    with pytest.raises(IncrowdError, match="pandas is not installed"):
        release.to_frame("pandas")


def test_only_values_that_the_file_has_are_listed():
    rows = pa.table({"sex": ["F", "M"] * 10, "age": [1] * 20})
    release = incrowd.anonymize(rows, quasi_identifiers=["sex", "age"], k=5)
    assert release.released_values["sex"] == ("F", "M")
    assert "2 -> 2" in repr(release)
    assert release.to_json()["released_values"]["sex"] == ["F", "M"]
