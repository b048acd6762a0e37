"""How columns are read of which the user says nothing, and what is promised about those that are sensitive."""

import random

import pyarrow as pa
import pytest

import incrowd
from incrowd.inspection.readings import CODES, rule_for
from incrowd.taxonomies.rules import Calendar, Domain

ZIPS = [f"{area}{place}" for area in ("021", "100", "606", "941") for place in range(10, 40)]
DATES = Calendar(("month", "quarter", "year", "decade"), "dmy")


def people(rows=300):
    draw = random.Random(1)
    return pa.table(
        {
            "age": [draw.randrange(18, 90) for _ in range(rows)],
            "zip": [draw.choice(ZIPS) for _ in range(rows)],
            "diagnosis": [draw.choice(["flu", "cold", "gout"]) for _ in range(rows)],
            "ward": ["A"] * rows,
        }
    )


TABLE = people()
POLICY = {"quasi_identifiers": ["age", "zip"], "k": 5, "insensitive": ["ward"]}


@pytest.mark.parametrize(
    ("name", "values", "rule"),
    [
        ("zip", ZIPS, CODES),
        ("plz", [10115, 10117, 80331, 99084], CODES),
        ("home", ["SW1A 1AA", "EC1A 1BB", "W1A 0AX", "M1 1AE"], CODES),
        ("zipcode", ["12345", "12345-6789", "54321"], CODES),
        ("born", ["17.05.1984", "03.12.1990", "28.02.2001"], DATES),
        ("visit", [19840517, 19901203, 20010228], Calendar(DATES.levels, "ymd")),
        ("land", ["FR", "DE", "US", "JP"], Domain("country")),
        ("icd", ["E11.9", "I10", "J45.0", "K21.9"], Domain("icd10")),
        ("age", [17, 23, 45, 88], None),
        ("hours", ["20", "40", "60"], None),
        ("wage", [1200, 3400, 5600, 12000], None),
        ("score", ["1.5", "2.25", "-3"], None),
        ("born", ["1984-05-17", "1990-12-03", "2001-02-28"], None),
        ("born", pa.array([5000, 6000, 7000], pa.date32()), None),
        ("job", ["nurse", "clerk", "baker"], None),
        ("zip", ["12345", "54321"], None),
    ],
)
def test_values_are_read_as_what_they_are(name, values, rule):
    assert rule_for(name, values if isinstance(values, pa.Array) else pa.array(values)) == rule


def test_neither_the_order_of_rows_nor_how_many_have_a_value_plays_a_part():
    codes = [f"{number:05}" for number in range(0, 99_999, 9)]
    odd = [*codes, *(f"x{number}" for number in range(len(codes) // 20))]
    for values in (codes, odd):
        found = {rule_for("zip", pa.array(random.Random(seed).sample(values, len(values)))) for seed in range(4)}
        assert found == {CODES}


def test_a_release_shows_areas_and_says_so():
    release = incrowd.anonymize(TABLE, **POLICY, keep=["diagnosis"])
    labels = set(release.data["zip"].to_pylist())
    assert any(len(label) == 5 and label.endswith("*") for label in labels)
    assert not any(label.startswith((">", "[")) for label in labels)
    assert sum("column 'zip' is read as codes" in note for note in release.notes) == 1
    assert not any("'age'" in note for note in release.notes)
    assert release.policy.taxonomies == {"zip": CODES}
    assert release.settled.asked.taxonomies == {}
    assert incrowd.verify(release.data, quasi_identifiers=["age", "zip"], k=5).holds


@pytest.mark.parametrize(
    "given", [{"types": {"zip": "text"}}, {"taxonomies": {"zip": {"prefix": [2]}}}, {"types": {"zip": "number"}}]
)
def test_what_the_user_gives_wins(given):
    release = incrowd.anonymize(TABLE, **POLICY, keep=["diagnosis"], **given)
    assert release.settled.readings == {}
    assert not any("is read as" in note for note in release.notes)


def test_a_public_range_wins():
    numbers = TABLE.set_column(1, "zip", pa.array([int(text) for text in TABLE["zip"].to_pylist()]))
    release = incrowd.anonymize(numbers, **POLICY, keep=["diagnosis"], ranges={"zip": [0, 99999]})
    assert release.settled.readings == {}


def test_a_rule_that_does_not_fit_all_values_is_not_taken():
    """A value that looks like one of its groups."""
    zips = ["0211*", *TABLE["zip"].to_pylist()[1:]]
    table = TABLE.set_column(1, "zip", pa.array(zips))
    assert incrowd.anonymize(table, **POLICY, keep=["diagnosis"]).settled.readings == {}


@pytest.mark.parametrize("method", ["cover", "mondrian", "tdr"])
def test_engines_read_alike(tmp_path, method):
    pytest.importorskip("duckdb")
    from incrowd.key import Key

    settings = {**POLICY, "keep": ["diagnosis"], "method": method, "key": Key.for_experiments(1)}
    found = [incrowd.anonymize(TABLE, **settings, engine=engine) for engine in ("arrow", "duckdb")]
    assert found[0].settled.readings == found[1].settled.readings == {"zip": CODES}
    assert found[0].data.equals(found[1].data)


class TestPromise:
    def test_a_sensitive_column_gets_the_least_one(self):
        release = incrowd.anonymize(TABLE, **POLICY, sensitive=["diagnosis"])
        assert [str(model) for model in release.policy.requirements[0].models] == ["k=5", "l=2 of diagnosis"]
        assert release.settled.asked.protections == ()
        assert sum("at least 2 different values of 'diagnosis'" in n for n in release.notes) == 1
        assert not any("nothing is promised" in warning for warning in release.warnings)
        found = incrowd.verify(release.data, quasi_identifiers=["age", "zip"], k=5, sensitive=["diagnosis"], l=2)
        assert found.holds

    @pytest.mark.parametrize("given", [{"l": 3}, {"t": 0.9}, {"alpha": 0.9}])
    def test_another_one_takes_its_place(self, given):
        release = incrowd.anonymize(TABLE, **POLICY, sensitive=["diagnosis"], **given)
        assert release.settled.promised == ()
        assert release.policy.protections == release.settled.asked.protections

    def test_one_says_none_on_purpose(self):
        with pytest.warns(incrowd.errors.ReleaseWarning, match="nothing is promised about the sensitive column"):
            release = incrowd.anonymize(TABLE, **POLICY, sensitive=["diagnosis"], l=1)
        assert [str(model) for model in release.policy.requirements[0].models] == ["k=5"]
        assert release.certificate.policy["protections"] == {"diagnosis": {"l": 1}}

    def test_groups_stay_when_it_is_given(self):
        groups = {"groups": {"mild": ["flu", "cold"]}}
        release = incrowd.anonymize(TABLE, **POLICY, sensitive={"diagnosis": groups})
        assert release.policy.protections[0].options == {"l": 2, "groups": {"mild": ("flu", "cold")}}

    @pytest.mark.parametrize(
        "given", [{"sensitive": ["ward"], "insensitive": []}, {"sensitive": ["diagnosis"], "relaxed": True}]
    )
    def test_what_is_not_feasible_stays_unpromised(self, given):
        settings = {**POLICY, "keep": ["diagnosis"], **given}
        settings |= {"method": "mondrian"} if "relaxed" in given else {}
        with pytest.warns(incrowd.errors.ReleaseWarning, match="nothing is promised about the sensitive column"):
            release = incrowd.anonymize(TABLE, **settings)
        assert release.settled.promised == ()
        assert len(release.policy.requirements[0].models) == 1

    def test_one_of_two_columns_may_be_feasible(self):
        settings = {**POLICY, "insensitive": []}
        with pytest.warns(incrowd.errors.ReleaseWarning, match="nothing is promised about the sensitive column 'ward'"):
            release = incrowd.anonymize(TABLE, **settings, sensitive=["diagnosis", "ward"])
        assert release.settled.promised == ("diagnosis",)
        assert "ward" not in release.table.protected
