"""The roles that are proposed for real tables are those that stewards would sign."""

import math
import random
import tomllib

import pandas as pd
import pyarrow as pa
import pytest
from tests.roles.verdicts import HALVES, LABELS, PRIVACY, UTILITY, verdicts

import incrowd
from incrowd.errors import NamesPeopleError


@pytest.mark.parametrize("half", HALVES)
def test_few_roles_of_real_tables_are_wrong(half):
    found = [each for name, about in LABELS.items() if about["half"] == half for each in verdicts(name)]
    wrong = [sum(each.harm == harm for each in found) / len(found) for harm in (PRIVACY, UTILITY)]
    assert wrong[0] <= 0.1
    assert wrong[1] <= 0.2


def role(name, values, **others):
    column = incrowd.inspect(pa.table({name: values, **others})).column(name)
    return column.role


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("famincr", [1, 2, 3, 4], ("sensitive", "likely", "what somebody earns")),  # family income
        ("heducation", [8, 10, 12, 16], ("quasi-identifier", "likely", "education, which others know")),  # husband's
        ("Hepatitis", ["a", "b"], ("sensitive", "sure", "about an illness, an injury or a state of health")),
        ("rec_ver_tat", [1.5, 2.5], ("insensitive", "likely", "a length of time that was measured or agreed")),
        ("verified_income", ["a", "b"], ("insensitive", "likely", "kept for the study")),  # not what somebody earns
        ("price of house", [10, 20], ("insensitive", "likely", "an amount or an account")),  # not a household
        ("q1", ["white", "Black", "asian"], ("quasi-identifier", "likely", "race, ethnicity")),
        ("anything", [1.25, 2.5, 7.75], ("sensitive", "guess", "its numbers have decimals")),
        ("anything", ["x", "y"], ("quasi-identifier", "guess", "nothing suggests")),
        ("trace", ["x", "y"], ("quasi-identifier", "guess", "nothing suggests")),  # has no race
        ("weight", [60.5, 71.5, 2000.5], ("insensitive", "sure", "a weight of the survey")),
        ("weight", [60, 71, 200], ("quasi-identifier", "sure", "a trait that others can see")),
        ("grade", ["A1", "B2"], ("sensitive", "sure", "a grade or a credit class")),
        ("grade", [9, 10, 11], ("quasi-identifier", "sure", "education")),
    ],
)
def test_what_columns_are_about(name, values, expected):
    found = role(name, values * 40)
    assert (found.name, found.certainty) == expected[:2]
    assert found.reason.startswith(expected[2])


def test_a_label_says_what_a_cryptic_name_does_not(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pd.DataFrame({"v17": [1.0, 2.0] * 20, "v18": [1.0, 2.0, 2.0, 1.0] * 10})
    pyreadstat.write_dta(frame, tmp_path / "t.dta", column_labels={"v17": "Ever had cancer?"})
    found = incrowd.inspect(tmp_path / "t.dta")
    assert [column.role.name for column in found.columns] == ["sensitive", "quasi-identifier"]
    assert found.column("v17").role.certainty == "likely"


def test_what_is_not_known_is_sensitive_among_what_is():
    flags = {name: [0, 1] * 30 for name in ("hiv", "cancer", "stroke")}
    assert role("xq", [1, 1, 0] * 20).name == "quasi-identifier"
    found = role("xq", [1, 1, 0] * 20, **flags)
    assert (found.name, found.certainty, found.reason) == ("sensitive", "guess", "its table is about health")
    answers = {f"q{n}": [1 + (n * i + i // 7) % 5 for i in range(60)] for n in range(1, 7)}
    found = incrowd.inspect(pa.table(answers))
    assert {column.role.reason for column in found.columns} == {"one of several answers on the same scale"}


DRAW = random.Random(3)
AGES = [DRAW.randrange(18, 90) for _ in range(300)]


def test_columns_that_follow_from_others_have_their_role():
    scores = [round(DRAW.gauss(50, 9), 3) for _ in AGES]
    table = pa.table(
        {
            "age": AGES,
            "x1": [age >= 65 for age in AGES],  # an unknown flag
            "x2": [math.log(age) for age in AGES],  # the same with decimals
            "score": scores,
            "x3": [score / 7 for score in scores],
            "x4": [DRAW.random() for _ in AGES],
        }
    )
    found = incrowd.inspect(table)
    told = {column.name: (column.role.name, column.role.reason) for column in found.columns}
    assert told["x2"] == ("quasi-identifier", "it says the same as 'age'")
    assert told["x3"][0] == "sensitive"
    assert told["x4"] == ("sensitive", "its numbers have decimals, which outsiders hardly know")
    assert found.notes == [
        "columns 'age', 'x2' say the same",
        "columns 'score', 'x3' say the same",
        "column 'age' determines 'x1'",
    ]


def test_who_knows_a_quasi_identifier_knows_what_follows_from_it():
    wards = [DRAW.randrange(12) for _ in range(400)]
    table = pa.table({"clinic": [f"c{ward}" for ward in wards], "cost": [1.5 * (ward % 4) for ward in wards]})
    cost = incrowd.inspect(table).column("cost").role
    assert (cost.name, cost.reason, cost.certainty) == ("quasi-identifier", "it follows from 'clinic'", "likely")


def test_a_number_that_repeats_and_tells_sex_and_more_is_a_persons():
    people = [(100 + 7 * n, "fm"[n * 5 % 7 % 2], 1930 + n * 11 % 60) for n in range(60)]
    rows = [person for person in people for _ in range(3)]
    table = pa.table(dict(zip(("zq", "sex", "born"), map(list, zip(*rows, strict=True)), strict=True)))
    found = incrowd.inspect(table)
    assert (found.unit, tomllib.loads(found.policy_toml())["unit"]) == ("zq", "zq")
    assert found.column("zq").role.name == "identifier"


def test_the_number_of_an_advertisement_is_no_person():
    ads = [n // 4 for n in range(400)]
    table = {"job_ad_id": ads, "person_id": [n // 2 for n in range(400)], "sex": ["f", "m"] * 200}
    found = incrowd.inspect(pa.table(table))
    assert found.unit == "person_id"
    assert incrowd.inspect(pa.table({"job_ad_id": ads, "sex": ["f", "m"] * 200})).unit is None
    assert "100 values in 400 records" in found.column("job_ad_id").role.reason


@pytest.mark.parametrize("code", [999, -9])
def test_ages_with_a_number_for_missing_ones_are_ages(code):
    found = incrowd.inspect(pa.table({"age": [*AGES, *[code] * 9], "sex": ["f", "m", "m"] * 103}))
    assert [finding.kind for finding in found.column("age").findings] == ["age"]
    assert found.column("age").far == str(code)


def test_numbers_that_are_nearly_unique_leave_on_purpose_and_stop_a_run_without():
    table = pa.table({"sex": ["f", "m"] * 100, "cost": [n + 0.5 for n in range(200)]})
    policy = tomllib.loads(incrowd.inspect(table).policy_toml())
    assert (policy["insensitive"], policy["keep"]) == (["cost"], ["cost"])
    assert len(set(incrowd.anonymize(table, **policy).data["cost"].to_pylist())) == 200
    del policy["keep"]
    with pytest.raises(NamesPeopleError, match="nearly unique"):
        incrowd.anonymize(table, **policy)


def test_a_total_and_its_parts_are_named_and_parts_of_what_is_known_are_known():
    rent, wage = ([DRAW.randrange(100, 900) for _ in AGES] for _ in range(2))
    both = [one + other for one, other in zip(rent, wage, strict=True)]
    found = incrowd.inspect(pa.table({"wage": wage, "debt": both, "cost": rent, "age": AGES}))
    assert "column 'debt' is the sum of 'wage', 'cost'" in found.notes
    cost = found.column("cost").role
    assert (cost.name, cost.reason) == ("sensitive", "it follows from 'debt', 'wage'")
    both[7] += 1
    assert (
        incrowd.inspect(pa.table({"wage": wage, "debt": both, "cost": rent})).column("cost").role.name == "insensitive"
    )


def test_records_of_one_person_say_nothing_about_what_follows_from_what():
    people = [(f"MRN-{100 + n}", 10_000 + 37 * n, "fm"[n % 2]) for n in range(80)]
    rows = [person for person in people for _ in range(4)]
    found = incrowd.inspect(pa.table(dict(zip(("MRN", "zip", "sex"), map(list, zip(*rows, strict=True)), strict=True))))
    assert (found.unit, found.notes) == ("MRN", [])


def test_values_that_differ_only_in_blanks_are_named():
    found = incrowd.inspect(
        pa.table({"hiv": ["No ", "No", "Yes", "   "] * 20, "sex": ["f ", "m ", "m "] * 26 + ["f "] * 2})
    )
    assert found.notes == ["column 'hiv' has values that differ only in blanks around them, and count as different"]
    assert found.missing_values == ("   ",)
