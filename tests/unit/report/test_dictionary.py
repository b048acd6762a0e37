"""Data dictionaries describe the released rows, are written as their standards ask, and say no more than rows do."""

import csv
import datetime
import json
import re
import xml.etree.ElementTree as ET
from decimal import Decimal

import jsonschema
import pyarrow as pa
import pytest
from tests.command_line import GOOD, POLICY, anonymize, run

import incrowd
from incrowd.errors import PolicyError
from incrowd.policy.dictionary import DICTIONARIES
from incrowd.policy.toml import read_policy
from incrowd.report.dictionary.ddi import NAMESPACE, ddi_text
from incrowd.report.dictionary.described import described
from incrowd.report.dictionary.formats import WRITERS
from incrowd.report.dictionary.frictionless import schema_text
from incrowd.report.public import Published
from incrowd.verification.certificate import Certificate

pytestmark = pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")  # risks are not the point here

PEOPLE = pa.table(
    {
        "name": [f"Person {row}" for row in range(48)],
        "age": [20, 21, 30, 31] * 12,
        "sex": ["f", "m"] * 24,
        "ill": ["flu", "cold", "?", ""] * 12,
        "ward, main": ["<b>A</b>", 'B & "C"\x01'] * 24,
        "code": ["007", "08"] * 24,
        "stay": ["1", "-2", "10", "3"] * 12,
        "dose": ["1.5", "-0.25", "1e3", "10"] * 12,
        "seen": ["2026-01-31", "2025-12-01"] * 24,
        "not a day": ["2026-02-31", "2025-12-01"] * 24,
        "rest": [None] * 48,
    }
)
ROLES = {
    "quasi_identifiers": ["age", "sex"],
    "k": 4,
    "identifiers": ["name"],
    "sensitive": ["ill"],
    "keep": ["ward, main"],
    "insensitive": ["stay"],
    "missing_values": ["?"],
    "method": "tdr",
}
# What Table Schema 2.0 lets each type of field have; `categories` are for whole numbers and texts alone.
_COMMON, _ORDERED = ("required", "enum"), ("required", "enum", "minimum", "maximum")
ALLOWED = {"string": _COMMON, "integer": _ORDERED, "number": _ORDERED, "date": _ORDERED}
ALLOWED |= {"datetime": ("required",), "boolean": ("required",), "any": ("required",)}
_VALUE = {"type": ["string", "integer"]}
FIELD = {
    kind: {
        "required": ["name", "type"],
        "additionalProperties": False,
        "properties": {
            "name": {"type": "string"},
            "type": {"const": kind},
            "description": {"type": "string"},
            **({"format": {"const": "any"}} if kind == "datetime" else {}),
            **(
                {
                    "categories": {
                        "type": "array",
                        "items": {
                            "required": ["value", "label"],
                            "additionalProperties": False,
                            "properties": {"value": {"type": "string"}, "label": {"type": "string"}},
                        },
                    }
                }
                if kind == "string"
                else {}
            ),
            "constraints": {
                "additionalProperties": False,
                "properties": {
                    "required": {"type": "boolean"},
                    "enum": {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"type": "string"}},
                    "minimum": _VALUE,
                    "maximum": _VALUE,
                },
                "propertyNames": {"enum": list(allowed)},
            },
        },
    }
    for kind, allowed in ALLOWED.items()
}
TABLE_SCHEMA = {
    "type": "object",
    "required": ["$schema", "fields"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"const": "https://datapackage.org/profiles/2.0/tableschema.json"},
        "title": {"type": "string"},
        "description": {"type": "string"},
        "fields": {"type": "array", "minItems": 1, "items": {"oneOf": list(FIELD.values())}},
        "missingValues": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    },
}
# The children of each element of DDI-Codebook 2.5 that are written, in the order of its schema, and its attributes.
CHILDREN = {
    "codeBook": "docDscr stdyDscr fileDscr dataDscr otherMat",
    "stdyDscr": "citation studyAuthorization stdyInfo studyDevelopment method dataAccs othrStdyMat notes",
    "citation": "titlStmt rspStmt prodStmt distStmt serStmt verStmt biblCit holdings notes",
    "titlStmt": "titl subTitl altTitl parTitl IDNo",
    "stdyInfo": "studyBudget subject abstract sumDscr qualityStatement notes exPostEvaluation",
    "fileDscr": "fileTxt locMap notes",
    "fileTxt": (
        "fileName fileCitation dataFingerprint fileCont fileStrc dimensns fileType format filePlac dataChck ProcStat "
        "dataMsng software verStmt"
    ),
    "dataFingerprint": "digitalFingerprintValue algorithmSpecification algorithmVersion",
    "dimensns": "caseQnty varQnty logRecL recPrCas recNumTot",
    "dataDscr": "varGrp nCubeGrp var nCube notes",
    "var": (
        "location labl imputation security embargo respUnit anlysUnit qstn valrng invalrng undocCod universe TotlResp "
        "sumStat txt stdCatgry catgryGrp catgry codInstr verStmt concept derivation varFormat geoMap catLevel notes"
    ),
    "valrng": "item range key notes",
    "catgry": "catValu labl txt catStat mrow",
}
ATTRIBUTES = {
    "codeBook": {"version": {"2.5"}},
    "fileDscr": {"ID": None},
    "dataFingerprint": {"type": {"data", "dataFile"}},
    "var": {"ID": None, "name": None, "files": None, "intrvl": {"contin", "discrete"}},
    "range": {"min": None, "max": None},
    "sumStat": {"type": {"mean", "medn", "mode", "vald", "invd", "min", "max", "stdev", "other"}},
    "catStat": {"type": {"freq", "percent", "crosstab", "other"}},
    "varFormat": {"type": {"numeric", "character"}, "category": {"date", "time", "currency", "other"}},
}
READ = {
    "string": str,
    "integer": int,
    "number": Decimal,
    "date": datetime.date.fromisoformat,
}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dictionary")
    incrowd.anonymize(PEOPLE, **ROLES, dictionary="all").write(folder / "release.csv")
    return folder


@pytest.fixture(scope="module")
def schema(written):
    return json.loads((written / "release.dictionary.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def book(written):
    return ET.parse(written / "release.dictionary.xml").getroot()


def cells(folder):
    with open(folder / "release.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def named(element):
    return element.tag.removeprefix(f"{{{NAMESPACE}}}")


def texts(element, name):
    return [each.text or "" for each in element.findall(f"{{{NAMESPACE}}}{name}")]


def test_every_format_has_a_file_and_a_writer():
    assert DICTIONARIES.keys() == WRITERS.keys()


class TestFrictionless:
    def test_it_is_a_table_schema(self, schema):
        jsonschema.Draft202012Validator(TABLE_SCHEMA).validate(schema)

    def test_its_fields_are_the_columns_of_the_file(self, schema, written):
        assert [field["name"] for field in schema["fields"]] == list(cells(written)[0])

    def test_types_are_those_of_the_values(self, schema):
        found = {field["name"]: field["type"] for field in schema["fields"]}
        special = {"stay": "integer", "dose": "number", "seen": "date"}
        assert found == {name: special.get(name, "string") for name in PEOPLE.column_names if name != "name"}

    def test_every_cell_of_the_file_satisfies_it(self, schema, written):
        rows = cells(written)
        for field in schema["fields"]:
            read, asked = READ[field["type"]], field.get("constraints", {})
            found = [row[field["name"]] for row in rows if row[field["name"]] not in schema["missingValues"]]
            assert (len(found) == len(rows)) == asked.get("required", False), field
            assert {read(cell) for cell in found} == {read(value) for value in asked.get("enum", ())}, field
            if "minimum" in asked:
                bounds = [read(str(asked[end])) for end in ("minimum", "maximum")]
                assert bounds == [min(map(read, found)), max(map(read, found))]

    def test_generalized_values_say_what_they_stand_for(self, written):
        certificate = Certificate.read(written / "release.certificate.json")
        rows = pa.table({"age": ["[20-22)", "*", "40"], "sex": ["f", "m", "m"]})
        found = json.loads(schema_text(described(Published.of(rows, certificate), "x.csv")))
        labels = {each["value"]: each["label"] for each in found["fields"][0]["categories"]}
        assert labels["[20-22)"] == "from 20 up to, but not including, 22"
        assert labels["*"] == "any value"
        assert labels["40"] == "40"


class TestDdi:
    def test_elements_are_where_the_standard_has_them(self, book):
        seen = set()
        for element in book.iter():
            name = named(element)
            order = CHILDREN.get(name, "").split()
            places = [order.index(named(child)) for child in element]  # raises for one that may not be there
            assert places == sorted(places), name
            allowed = ATTRIBUTES.get(name, {})
            for attribute, value in element.attrib.items():
                assert allowed[attribute] is None or value in allowed[attribute], (name, attribute)
            seen.add(name)
        assert {*CHILDREN} <= seen

    def test_ids_are_distinct_and_those_referred_to_exist(self, book):
        ids = [element.attrib["ID"] for element in book.iter() if "ID" in element.attrib]
        assert len({*ids}) == len(ids)
        assert {each.attrib["files"] for each in book.iter(f"{{{NAMESPACE}}}var")} <= {*ids}

    def test_counts_are_those_of_the_file(self, book, written):
        rows = cells(written)
        variables = list(book.iter(f"{{{NAMESPACE}}}var"))
        assert texts(book.find(f".//{{{NAMESPACE}}}dimensns"), "caseQnty") == [str(len(rows))]
        assert [each.attrib["name"] for each in variables] == list(rows[0])
        for variable in variables:
            found = [row[variable.attrib["name"]] for row in rows]
            found = ["\ufffd".join(value.split("\x01")) for value in found if value not in ("", "?")]
            assert texts(variable, "sumStat") == [str(len(found)), str(len(rows) - len(found))]
            counted = {
                texts(each, "catValu")[0]: int(texts(each, "catStat")[0])
                for each in variable.iter(f"{{{NAMESPACE}}}catgry")
            }
            assert counted == {value: found.count(value) for value in counted}
            assert sum(counted.values()) == len(found)

    def test_what_xml_cannot_hold_is_replaced_and_all_else_is_escaped(self, written):
        text = (written / "release.dictionary.xml").read_text(encoding="utf-8")
        assert "<b>" not in text
        assert "\x01" not in text
        assert re.search('<catValu>B &amp; "C"\ufffd</catValu>', text)


def test_the_released_file_and_its_certificate_are_enough_to_write_both(written):
    """So neither says more than these two, which go out."""
    published = Published.of(written / "release.csv", Certificate.read(written / "release.certificate.json"))
    known = described(published, "release.csv")
    assert schema_text(known) == (written / "release.dictionary.json").read_text(encoding="utf-8")
    assert ddi_text(known) == (written / "release.dictionary.xml").read_text(encoding="utf-8")


def test_rows_in_another_order_have_the_same_dictionaries(written):
    published = Published.of(written / "release.csv", Certificate.read(written / "release.certificate.json"))
    table = pa.Table.from_batches(published.rows.batches(list(published.rows.columns)))
    turned = Published.of(table.take(list(reversed(range(len(table))))), published.certificate)
    for write in (schema_text, ddi_text):
        assert write(described(published, "x.csv")) == write(described(turned, "x.csv"))


def test_of_a_column_with_many_values_or_long_ones_none_is_listed(tmp_path):
    rows = 404
    columns = {"age": [20, 30] * (rows // 2), "many": [str(row % 101) for row in range(rows)]}
    columns["long"] = ["x" * 201, "y"] * (rows // 2)
    settings = {"quasi_identifiers": ["age"], "k": 4, "keep": ["many", "long"], "dictionary": "frictionless"}
    incrowd.anonymize(pa.table(columns), **settings).write(tmp_path / "release.csv")
    _, many, long = json.loads((tmp_path / "release.dictionary.json").read_text(encoding="utf-8"))["fields"]
    assert many["constraints"] == {"required": True, "minimum": 0, "maximum": 100}
    assert long["constraints"] == {"required": True}


def test_columns_of_files_with_types_keep_their_kind(tmp_path):
    day = datetime.date(2026, 1, 31)
    columns = {
        "age": [20, 30] * 8,
        "well": [True, None] * 8,
        "at": [datetime.datetime(2026, 1, 31, 8, 5)] * 16,
        "seen": [day] * 16,
        "dose": [3.0, 1.5] * 8,
        "huge": [float("inf"), 1.0] * 8,
        "later": [datetime.time(8)] * 16,
        "count": pa.array([None] * 16, pa.int64()),
        "ward": pa.array(["a", "b"] * 8).dictionary_encode(),
    }
    settings = {"quasi_identifiers": ["age"], "k": 4, "keep": [name for name in columns if name != "age"]}
    incrowd.anonymize(pa.table(columns), **settings, dictionary=["frictionless", "ddi"]).write(tmp_path / "r.parquet")
    fields = json.loads((tmp_path / "r.dictionary.json").read_text(encoding="utf-8"))["fields"]
    jsonschema.Draft202012Validator(TABLE_SCHEMA["properties"]["fields"]).validate(fields)
    kinds = {field["name"]: field["type"] for field in fields[1:]}
    expected = {"well": "boolean", "at": "datetime", "seen": "date", "dose": "number", "huge": "any", "later": "any"}
    assert kinds == expected | {"count": "integer", "ward": "string"}
    assert "required" not in fields[1].get("constraints", {})
    ET.parse(tmp_path / "r.dictionary.xml")


class TestFaces:
    def test_the_shell_a_policy_file_and_python_write_the_same(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "people.csv").write_text(GOOD)
        assert run(*anonymize(*POLICY, "--dictionary", "frictionless,ddi", output="shell.csv")).exit_code == 0
        lines = ['quasi_identifiers = ["age", "sex", "job"]', "k = 5", 'target = "income"', 'identifiers = ["name"]']
        (tmp_path / "release.toml").write_text("\n".join([*lines, 'dictionary = ["ddi", "frictionless"]', ""]))
        key = ("--key", "shell.confidential/key.json")
        told = run(*anonymize("--policy", "release.toml", *key, output="file.csv"))
        assert "file.dictionary.xml" in told.output
        settings = read_policy("release.toml")[0]
        settings |= settings.pop("options")
        incrowd.anonymize("people.csv", **settings, key=key[1]).write("python.csv")
        for ending in DICTIONARIES.values():
            shell = (tmp_path / f"shell.{ending}").read_text()
            for name in ("file", "python"):
                assert (tmp_path / f"{name}.{ending}").read_text() == shell.replace("shell.csv", f"{name}.csv")

    def test_what_would_be_written_is_said(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "people.csv").write_text(GOOD)
        told = run(*anonymize(*POLICY, "--dictionary", "ddi", "--dry-run"))
        assert "out.dictionary.xml" in told.output
        assert "out.dictionary.json" not in told.output

    def test_another_format_is_refused(self, tmp_path):
        with pytest.raises(PolicyError, match=r"'dictionary' parameter must be all, or some of frictionless, ddi"):
            incrowd.anonymize(PEOPLE, **ROLES, dictionary="sdmx")


class TestFiles:
    def test_without_the_option_there_is_none_and_one_of_other_rows_goes(self, tmp_path):
        asked = incrowd.anonymize(PEOPLE, **ROLES, dictionary="ddi")
        asked.write(tmp_path / "release.csv")
        assert (tmp_path / "release.dictionary.xml").exists()
        assert not (tmp_path / "release.dictionary.json").exists()
        incrowd.anonymize(PEOPLE, **ROLES).write(tmp_path / "release.csv", overwrite=True)
        assert not (tmp_path / "release.dictionary.xml").exists()

    def test_where_a_release_does_not_appear_neither_does_its_dictionary(self, tmp_path):
        release = incrowd.anonymize(PEOPLE, **ROLES, dictionary="all")
        with pytest.raises(KeyError):
            release.write(tmp_path / "release.csv", before=lambda: {}["no"])
        assert list(tmp_path.iterdir()) == []

    def test_the_dictionary_is_not_in_the_certificate(self, written):
        certificate = json.loads((written / "release.certificate.json").read_text(encoding="utf-8"))
        assert "dictionary" not in certificate["policy"]

    def test_with_a_ledger_it_is_about_the_rows_that_left(self, tmp_path):
        def people(count):
            columns = {"pid": [f"p{row}" for row in range(count)], "age": [20 + row % 10 for row in range(count)]}
            return pa.table({**columns, "sex": ["fm"[row % 2] for row in range(count)]})

        settings = {"quasi_identifiers": ["age", "sex"], "k": 4, "unit": "pid", "ledger": tmp_path / "ledger"}
        for name, count in (("first", 60), ("second", 80)):
            incrowd.anonymize(people(count), **settings, dictionary="all").write(tmp_path / f"{name}.csv")
            fields = json.loads((tmp_path / f"{name}.dictionary.json").read_text(encoding="utf-8"))["fields"]
            assert [field["name"] for field in fields] == ["age", "sex"]
            left = len((tmp_path / f"{name}.csv").read_text().splitlines()) - 1
            assert f"<caseQnty>{left}</caseQnty>" in (tmp_path / f"{name}.dictionary.xml").read_text(encoding="utf-8")
