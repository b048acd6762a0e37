"""Results print as short tables and convert to dataframes of every kind."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import incrowd
from incrowd.display import Displayed, Tabular
from incrowd.errors import IncrowdError, PolicyError

QI = ["age", "job", "housing"]
GERMAN = incrowd.datasets.german()


def released(**words):
    return incrowd.anonymize(GERMAN, quasi_identifiers=QI, k=5, keep=["credit-amount"], **words)


RESULTS = {
    "changes": lambda: released(target="credit", method="tdr").changes(),
    "local": lambda: released(method="mondrian").changes(),
    "attacks": lambda: released(method="tdr").attack(trials=50, again=None),
    "why": lambda: released(method="tdr").why("age"),
    "certificate": lambda: released(method="tdr").certificate,
    "risk": lambda: incrowd.assess(GERMAN, quasi_identifiers=QI),
    "release risk": lambda: released().risk(),
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
    assert repr(result) == f"<{type(result).__name__}: {result.headline()}>"
    assert len(result.headline()) <= 200
    lines = str(result).splitlines()
    assert 3 <= len(lines) <= (60 if name == "attacks" else 40)  # of which each is explained
    assert max(map(len, lines)) <= (400 if name == "attacks" else 160)
    rows = result.to_rows()
    assert rows
    assert len({tuple(row) for row in rows}) == 1
    for kind, frame in {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}.items():
        made = result.to_frame(kind)
        assert isinstance(made, frame)
        assert len(made) == len(rows)
    assert isinstance(result.to_frame(), pd.DataFrame)


def kinds_of(kind):
    return [kind, *(each for below in kind.__subclasses__() for each in kinds_of(below))]


def test_every_result_is_one_line_in_a_list_and_nothing_prints_itself(capsys):
    for kind in kinds_of(Displayed):
        assert kind.__repr__ is Displayed.__repr__, kind
        assert kind is Displayed or kind is Tabular or kind.headline is not Displayed.headline or kind.__subclasses__()
    result = released(method="tdr")
    assert len(f"{[result, result.recoding, result.certificate]}".splitlines()) == 1
    assert len(str(result).splitlines()) > 3
    assert capsys.readouterr() == ("", "")


def test_a_release_tells_what_became_of_each_column():
    release = released(target="credit")
    assert [row["column"] for row in release.changes().to_rows()] == QI
    assert release.headline().startswith("german.csv.gz: 1,000 records released in crowds of at least ")
    assert "1,000 records released" in str(release)
    assert "kept on purpose, though they may name people: credit-amount" in release.summary()


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_released_rows_as_any_kind_of_frame(kind):
    release = incrowd.anonymize(GERMAN, quasi_identifiers=["age"], k=5, keep=["credit-amount"], method="mondrian")
    whole = release.to_frame(kind)
    assert len(whole) == 1_000
    assert type(whole).__module__.startswith(kind)
    assert [str(label) for label in whole["age"]] == [str(label) for label in release.data["age"]]
    bounds = release.to_frame(kind, intervals="bounds")
    ends = [[str(value).removesuffix(".0") for value in bounds[end]] for end in ("age_low", "age_high")]
    for label, *found in zip(map(str, whole["age"]), *ends, strict=True):
        expected = [label, label] if label[0] != "[" else label[1:-1].split("-")
        assert label[0] in "<>" or found == expected
    for form in ("interval", "category", "midpoint"):
        assert len(release.to_frame(kind, intervals=form)["age"]) == 1_000


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
    assert "2 -> 2" in str(release)
    assert release.to_json()["released_values"]["sex"] == ["F", "M"]
