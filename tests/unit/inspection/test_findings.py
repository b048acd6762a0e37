"""What columns look like and which role they get: values decide, names help."""

import random

import pyarrow as pa
import pytest

import incrowd
from incrowd.inspection.findings import Facts, findings_of
from incrowd.inspection.proposals import role_of
from incrowd.inspection.words import suggests, words_of

DRAW = random.Random(1)
FIRST = ("Anna", "Ben", "Karen", "Thomas", "Maria", "Peter", "Olga", "Omar")
LAST = ("Abbott", "Becker", "Chen", "Diaz", "Fischer", "Huber", "Ito", "Novak", "Okafor", "Patel")


def facts(name, values, kind="text", records=None):
    distinct = list(dict.fromkeys(values))
    records = len(values) if records is None else records
    once = sum(values.count(value) == 1 for value in distinct) if records == len(values) else 0
    largest = max(map(values.count, distinct), default=0)
    numbers = [float(value) for value in distinct] if kind in ("whole number", "number") else [0]
    return Facts(name, kind, records, len(distinct), once, largest, tuple(distinct), min(numbers), max(numbers))


def looks(*args, **more):
    found = facts(*args, **more)
    findings = findings_of(found)
    return [finding.kind for finding in findings], role_of(found, findings).name


PEOPLE = [f"{first} {last}" for first in FIRST for last in LAST]
NUMBERS = list(map(str, range(1, 101)))


def test_names_of_people_whatever_the_column_is_called():
    assert looks("salary", PEOPLE) == (["name", "near-unique"], "identifier")
    assert looks("first_name", list(FIRST) * 20) == (["name"], "identifier")


def test_surnames_are_known_by_the_name_of_the_column():
    surnames = [f"{last}{end}" for last in LAST for end in ("s", "son", "mann")]
    assert looks("last_name", surnames)[0][0] == "name"
    assert "name" not in looks("town", surnames)[0]


def test_a_column_of_product_codes_that_is_called_the_name_of_a_product():
    assert looks("product name", ["SKU-1001", "SKU-1002"] * 50) == ([], "quasi-identifier")


@pytest.mark.parametrize(
    "name",
    [
        *(
            "name",
            "fake_first_name",
            "lastName",
            "SURNAME",
            "patient name",
            "maiden-name",
            "Vorname",
            "Prénom",
            "apellidos",
        ),
        *("ssn", "SSN_hash", "mrn", "Passport No", "patient_id", "PersonID", "id", "account number", "case_no", "IBAN"),
        *("email", "E-Mail address", "home_phone", "Telefonnummer", "street address", "Anschrift", "homepage", "url"),
    ],
)
def test_what_is_called_after_what_names_people_is_an_identifier_whatever_its_values(name):
    for values in (["a", "b", "c"] * 50, ["17", "18", "19"] * 50, ["Jordan", "Israel", "Chad"] * 50):
        findings, role = looks(name, values, "whole number" if values[0] == "17" else "text")
        assert role == "identifier", findings


@pytest.mark.parametrize(
    "name",
    [
        *(
            "school_name",
            "native-country",
            "nombre_enfants",
            "account_balance",
            "education-num",
            "housing",
            "card type",
        ),
        *("number of cases", "hours-per-week", "tel_bill", "personal status", "passenger class", "sin_x", "mailing"),
    ],
)
def test_what_is_not_called_after_people(name):
    assert looks(name, ["a", "b", "c"] * 50)[1] != "identifier"


def test_whether_there_is_one_names_nobody():
    assert looks("telephone", ["none", "yes"] * 50) == ([], "quasi-identifier")
    assert looks("passport", ["0", "1"] * 50, "whole number") == ([], "quasi-identifier")
    assert looks("surname", ["redacted"] * 50) == ([], "insensitive")


def test_web_addresses_and_addresses_of_houses():
    assert looks("link", [f"https://example.org/{n}" for n in range(50)])[0][0] == "URL"
    streets = [f"{n} {street}" for n in range(1, 20) for street in ("Main Street", "Oak Ave", "Church Rd.")]
    assert looks("where", streets)[0][0] == "address"
    assert (
        looks("where", [f"{street} {n}a" for n in range(1, 20) for street in ("Hauptstraße", "Am Weg")])[0][0]
        == "address"
    )
    assert "address" not in looks("dose", [f"{n} mg twice" for n in range(60)])[0]


def test_categories_are_no_names():
    assert looks("status", ["Never Married", "Married", "Divorced"] * 30) == ([], "quasi-identifier")


def test_running_numbers_whatever_the_column_is_called():
    assert looks("age", NUMBERS, "whole number") == (["age", "near-unique"], "quasi-identifier")  # 1 to 100 could be
    longer = list(map(str, range(1, 1001)))
    assert looks("age", longer, "whole number") == (["id", "near-unique"], "identifier")


def test_a_column_of_ages_that_is_called_a_number():
    ages = [str(DRAW.randrange(18, 90)) for _ in range(1000)]
    assert looks("no", ages, "whole number") == ([], "quasi-identifier")


def test_amounts_are_no_ids():
    amounts = list({str(DRAW.randrange(100, 1_000_000)) for _ in range(500)})
    assert looks("amount", amounts, "whole number") == (["near-unique"], "insensitive")
    assert looks("x", amounts, "whole number") == (["near-unique"], "quasi-identifier")


def test_ids_that_repeat_are_people_with_several_rows():
    visits = [f"MRN-{100000 + DRAW.randrange(300)}" for _ in range(600)]
    kinds, role = looks("anything", visits)
    assert kinds[0] == "id"
    assert kinds[-1] == "repeats"
    assert role == "identifier"


def test_numbers_of_patients_that_repeat():
    visits = [str(DRAW.randrange(1_000_000) // 2500 * 2500) for _ in range(600)]
    assert looks("patient_id", visits, "whole number")[0][0] == "id"
    assert "repeats" in looks("patient_id", visits, "whole number")[0]


@pytest.mark.parametrize(
    ("name", "values", "kind", "finding", "role"),
    [
        ("contact", [f"p{i}@mail.org" for i in range(50)], "text", "e-mail", "identifier"),
        ("contact", [f"212-555-{i:04}" for i in range(50)], "text", "phone", "identifier"),
        ("born", [f"{1950 + i}-03-{1 + i % 28:02}" for i in range(50)], "date", "date of birth", "quasi-identifier"),
        ("seen", [f"{1 + i % 28:02}.05.2020" for i in range(50)], "text", "exact date", "quasi-identifier"),
        ("x", [f"{1940 + i}-03-17" for i in range(60)], "date", "date of birth", "quasi-identifier"),
        ("month", [f"2020-{1 + i % 12:02}-01" for i in range(50)], "date", "month", "quasi-identifier"),
        ("x", [f"{i:05}" for i in range(0, 99999, 777)], "text", "zip code", "quasi-identifier"),
        ("zip", ["12345", "23456", "34567"] * 9, "whole number", "zip code", "quasi-identifier"),
        ("x", ["DE", "FR", "US"] * 9, "text", "country", "quasi-identifier"),
        ("x", ["E11.9", "I10.1", "S72.0"] * 9, "text", "diagnosis", "sensitive"),
        ("age", ["17", "30", "90"] * 9, "whole number", "age", "quasi-identifier"),
        ("birth_year", ["1930", "1990", "2001"] * 9, "whole number", "year", "quasi-identifier"),
        ("isco", [str(2000 + i) for i in range(20)] * 9, "whole number", "code", "quasi-identifier"),
        ("notes", [f"came in with {i} broken arms" for i in range(50)], "text", "free text", "identifier"),
    ],
)
def test_what_columns_look_like(name, values, kind, finding, role):
    found = looks(name, values, kind)
    assert found[0][0] == finding
    assert found[1] == role


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("zip", ["0.123", "9.871"] * 9, "number"),
        ("state", ["CA", "DE", "IN"] * 9, "text"),
        ("code", ["A12", "B13", "C14"] * 9, "text"),
        ("age", ["1000", "2000"] * 9, "whole number"),
        ("comment", ["no comment was given by them", "they said that all was well"] * 50, "text"),
        ("phone", ["A191", "A192"] * 50, "text"),
    ],
)
def test_misleading_names(name, values, kind):
    assert looks(name, values, kind)[0] == []


def test_sensitive_columns_and_targets():
    diagnosis = facts("diagnosis", ["flu", "cold"] * 20)
    assert role_of(diagnosis, findings_of(diagnosis)).name == "sensitive"
    income = facts("income", ["<=50K", ">50K"] * 20)
    assert role_of(income, ()).may_be_target
    assert not role_of(facts("credit-history", ["a", "b"] * 20), ()).may_be_target


def test_numbers_that_are_nearly_unique_have_the_role_of_their_name_and_texts_have_not():
    salaries = list({str(DRAW.randrange(20_000, 200_000)) for _ in range(300)})
    assert looks("salary", salaries, "whole number") == (["near-unique"], "sensitive")
    rare = [f"{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(120)]
    assert looks("disease", [*rare, *["flu"] * 200]) == (["near-unique"], "quasi-identifier")


def test_columns_that_say_nothing():
    assert looks("x", ["same"] * 30) == ([], "insensitive")
    assert looks("x", [], "nothing") == ([], "insensitive")
    assert looks("x", [], "structure", 30) == (["structure"], "identifier")


def test_one_value_that_only_some_records_have_tells_them_apart():
    flag = incrowd.inspect(pa.table({"age": [30] * 40, "transplant": ["yes"] * 2 + [None] * 38})).column("transplant")
    assert (flag.distinct, flag.missing, flag.role.name) == (1, 38, "quasi-identifier")


def test_a_single_record_is_not_like_others():
    assert looks("x", ["same"]) == ([], "quasi-identifier")


def test_who_is_alone_is_counted_among_records_with_a_value():
    numbers = incrowd.inspect(pa.table({"x": [*map(str, range(30)), *[None] * 70]})).column("x")
    assert "100 % of the records with a value have a unique value" in numbers.findings[-1].reason
    assert numbers.alone == 0.3


def test_findings_never_show_a_value():
    for values in (PEOPLE, [f"p{i}@mail.org" for i in range(50)], [f"MRN-{i}" for i in range(100, 200)]):
        for finding in findings_of(facts("x", values)):
            assert not [value for value in values if value in finding.reason]


def test_words_of_names():
    assert words_of("patientID") == ("patient", "id")
    assert words_of("Date of Birth") == ("date", "of", "birth")
    assert suggests("FirstName", "name")
    assert not suggests("product_name", "name")
    assert not suggests("number of children", "id")
