"""The safe-harbour list as a check of columns."""

import pyarrow as pa
import pytest

from incrowd.inspection.words import words_of
from incrowd.risk.safe_harbour import IDENTIFIERS, SafeHarbour


def found(**columns):
    check = SafeHarbour()
    check.see(pa.RecordBatch.from_pydict(columns))
    return [(each.column, each.number) for each in check.findings()]


def test_the_rule_has_18_kinds():
    assert sorted({each.number for each in IDENTIFIERS.values()}) == list(range(1, 19))


@pytest.mark.parametrize("name", ["patientID", "patient-id", "PATIENT_ID", "patient id2"])
def test_words_in_names(name):
    assert {"patient", "id"} <= {*words_of(name)}


@pytest.mark.parametrize(
    ("name", "value", "number"),
    [
        ("lastName", "Miller", 1),
        ("zip", "12345", 2),
        ("date_of_birth", "31.12.1980", 3),
        ("note", "1980-12-31", 3),
        ("age", "93", 3),
        ("note", "+44 20 7946 0958", 4),
        ("fax", "x", 5),
        ("note", "write to a.b@example.org", 6),
        ("note", "078-05-1120", 7),
        ("mrn", "5", 8),
        ("member_id", "5", 9),
        ("account", "5", 10),
        ("passport", "5", 11),
        ("note", "1M8GDM9AXKP042788", 12),
        ("imei", "5", 13),
        ("note", "see https://example.org", 14),
        ("note", "192.0.2.17", 15),
        ("iris scan", "x", 16),
        ("photo", "x", 17),
        ("id", "5", 18),
    ],
)
def test_each_identifier_is_found(name, value, number):
    assert (name, number) in found(**{name: [value, value, None]})


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("zip", ["123", "123**", "*"]),
        ("birth date", ["1980", "[1980-1990)"]),
        ("age", ["30", "[30-40)", "89"]),
        ("sex", ["f", "m"]),
        ("native-country", ["Peru"]),
        ("name", ["*", None]),
    ],
)
def test_what_may_stay(name, values):
    assert found(**{name: values}) == []


def test_a_column_without_any_value_twice_is_a_code():
    assert found(visit=[f"x{i}" for i in range(30)]) == [("visit", 18)]
    assert found(visit=[f"{i}.5" for i in range(30)]) == []
    assert found(visit=[i / 2 for i in range(30)]) == []


def test_values_are_never_shown():
    check = SafeHarbour()
    check.see(pa.RecordBatch.from_pydict({"note": ["a.b@example.org"]}))
    assert "example" not in str(check.findings())
