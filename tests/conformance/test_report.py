"""The public report says nothing that the released rows and the certificate do not, whatever the method.

Everything in it is counted again here, in plain Python, from the rows that went out; a number or a text that cannot be
found that way fails the test.
"""

import json
import math
import tomllib
from collections import Counter, defaultdict
from fractions import Fraction
from functools import cache

import pyarrow as pa
import pytest
from tests.conformance.tables import cases
from tests.examples import spread
from tests.methods import ANY_TABLE as METHODS

import incrowd
from incrowd.release.files import ReleaseFiles
from incrowd.report.labels import EMPTY, PEOPLE, RECORDS, meaning, shown
from incrowd.report.markdown import markdown_of
from incrowd.report.page import html_of
from incrowd.report.public import NOT_DIFFERENTIAL, NOT_PROMISED, SEVERAL_PEOPLE, SEVERAL_RECORDS, UNPROTECTED
from incrowd.report.schema import shape_of
from incrowd.report.summary import DOCUMENT, public_summary, summary_of
from incrowd.verification.certificate import Certificate

pytestmark = pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")  # risks are not the point here

CASES = {name: case for name, case in cases().items() if name in ("with a target", "complete rows only")}
EVERY = pytest.mark.parametrize("method", METHODS)
OPTIONS = {"genetic": {"population": 8, "patience": 10, "evaluations": 40}}
FIXED = {
    "public",
    "Release report",
    "incrowd verify release.csv --certificate release.certificate.json",
    "",
    "k-anonymity",
    RECORDS,
}


def released(case, method, **words):
    return incrowd.anonymize(case.table, method=method, **{**case.words, **OPTIONS.get(method, {}), **words})


@cache
def with_a_target(method):
    """A release that several promises look at."""
    return released(CASES["with a target"], method)


def leaves(value, path=()):
    """Every number and text with where it stands, names of fields left out."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from leaves(each, (*path, key))
    elif isinstance(value, list):
        for each in value:
            yield from leaves(each, path)
    elif value is not None and not isinstance(value, bool):
        yield path, value


def everything_in(value):
    """Every text and number of some data, names of fields included."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from everything_in(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from everything_in(each)
    else:
        yield value


class Recount:
    """What anyone can count in released rows."""

    def __init__(self, rows: pa.Table, names, sensitive):
        self.rows, self.names = rows.to_pylist(), names
        self.crowds = Counter(tuple(row[name] for name in names) for row in self.rows)
        self.values = {name: Counter(row[name] for row in self.rows) for name in rows.column_names}
        self.sensitive = sensitive

    def numbers(self):
        sizes, records = sorted(self.crowds.values()), len(self.rows)
        yield from (records, len(sizes), sizes[0], sizes[(len(sizes) - 1) // 2], sizes[-1], 0, 1.0)
        yield from (1 / sizes[0], float(Fraction(len(sizes), records)), records / len(sizes), 0.2, 5)
        yield sum(size * size for size in sizes)
        yield sum(size for size in sizes if Fraction(1, size) > Fraction(1, 5))
        for name in self.names:
            yield len(self.values[name])
            yield from self.values[name].values()
        for column in self.sensitive:
            found = defaultdict(set)
            for row in self.rows:
                found[tuple(row[name] for name in self.names)].add(row[column])
            alike = [crowd for crowd, values in found.items() if len(values) == 1]
            yield from (len(alike), sum(self.crowds[crowd] for crowd in alike))

    def texts(self):
        for name, counted in self.values.items():
            yield name
            for value in counted:
                label = shown(None if value is None else str(value))
                yield from (label, meaning(label))

    def association(self, first, second):
        """Cramér's V with the correction of Bergsma, from its definition; few values only."""
        pairs = Counter((row[first], row[second]) for row in self.rows)
        ours, theirs, records = self.values[first], self.values[second], len(self.rows)
        if min(len(ours), len(theirs)) < 2:
            return 0.0
        phi = sum(
            (pairs[a, b] - ours[a] * theirs[b] / records) ** 2 / (ours[a] * theirs[b] / records)
            for a in ours
            for b in theirs
        )
        rows, columns = len(ours), len(theirs)
        phi = max(0.0, phi / records - (rows - 1) * (columns - 1) / (records - 1))
        room = min(size - (size - 1) ** 2 / (records - 1) for size in (rows, columns)) - 1
        return min(1.0, math.sqrt(phi / room)) if room > 0 else 0.0


def check_public(summary, rows, certificate):
    """Find every number and text of a public summary in the rows or the certificate."""
    shape_of("public").check(summary, "")
    names = certificate.policy["quasi_identifiers"][0]["attributes"]
    recount = Recount(rows, names, certificate.policy["sensitive"])
    certified = set(map(repr, everything_in(certificate.to_json())))
    numbers, texts = (
        set(recount.numbers()),
        {*recount.texts(), *NOT_PROMISED, NOT_DIFFERENTIAL, SEVERAL_RECORDS, UNPROTECTED, *FIXED},
    )
    for path, value in leaves({key: value for key, value in summary.items() if key not in DOCUMENT.head()}):
        if path[-1] in ("digest", "promise", "policy") or "bins" in path or path[-1] == "released":
            continue  # looked at below
        found = value in texts if isinstance(value, str) else value in numbers
        assert found or repr(value) in certified, (path, value)
    check_bins(summary, recount)
    check_associations(summary, recount)
    check_policy(summary["done"]["policy"], certificate)
    words = summary["safe"]["promise"].replace(",", " ").replace(".", " ").split()
    assert {word for word in words if word.isdigit()} <= {str(certificate.policy["quasi_identifiers"][0]["k"])}


def check_bins(summary, recount):
    (sizes,) = summary["safe"]["class_sizes"]
    for each in sizes["bins"]:
        inside = [size for size in recount.crowds.values() if each["from"] <= size <= each["to"]]
        assert (each["crowds"], each["records"]) == (len(inside), sum(inside))
    assert sum(each["crowds"] for each in sizes["bins"]) == len(recount.crowds)


def check_associations(summary, recount):
    told = summary["cost"]["association"]
    for first, row in zip(told["columns"], told["released"], strict=True):
        for second, value in zip(told["columns"], row, strict=True):
            if first != second and len(recount.values[first]) <= 20 and len(recount.values[second]) <= 20:
                assert value == pytest.approx(recount.association(first, second), abs=1e-4)


def check_policy(text, certificate):
    certified = list(everything_in(certificate.policy))
    for value in everything_in(tomllib.loads(text)):
        assert value in certified or value in ("k", "sensitive"), value


@EVERY
@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_the_public_report_says_no_more_than_the_rows_and_the_certificate(method, case):
    release = with_a_target(method) if "target" in case.words else released(case, method, sensitive=["income"])
    summary = summary_of(release, for_public=True)
    check_public(summary, release.data, release.certificate)
    for name in case.table.column("name").to_pylist():
        assert name not in json.dumps(summary)


@EVERY
def test_the_public_report_can_be_made_from_the_files_alone(method, tmp_path):
    release = with_a_target(method)
    path = tmp_path / "out.csv"
    certificate = release.write(path)
    read = Certificate.read(ReleaseFiles.of(path).certificate)
    assert public_summary(path, read) == summary_of(release, for_public=True, certificate=certificate)


@EVERY
def test_every_report_of_the_steward_fits_the_schema_and_is_drawn(method):
    release = with_a_target(method)
    summary = summary_of(release, for_public=False)
    shape_of("steward").check(json.loads(json.dumps(summary)), "")
    page = html_of(summary)
    assert page.count('<svg class="chart"') == page.count("The data of this chart") >= 5
    assert "Is it safe?" in markdown_of(summary)
    for column in summary["cost"]["columns"]:
        bars = column["distribution"]["bars"]
        assert sum(bar["before"] for bar in bars) == pytest.approx(1, abs=1e-4)
        assert sum(bar["after"] for bar in bars) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize(
    ("method", "words"), spread(["tdr", "mondrian", "cover", "optimal"], [{"l": 1}, {"t": 0.5}, {}, {"l": 2}])
)
def test_promises_about_sensitive_columns(method, words):
    case = cases()["mixed"]
    release = released(case, method, sensitive=["income"], k=4, **words)
    for public in (False, True):
        summary = summary_of(release, for_public=public)
        shape_of("public" if public else "steward").check(json.loads(json.dumps(summary)), "")
        bare = words == {"l": 1}
        assert ("Nothing is promised about income." in summary["safe"]["promise"]) == bare
        assert ("of income (" in summary["safe"]["promise"]) != bare
        assert summary["safe"]["unprotected"] == ["income"] * bare
        assert (UNPROTECTED in summary["safe"]["not_promised"]) == bare
        assert len(summary["safe"]["requirements"]) == 2 - bare


def visits(people=20):
    """Visits of people, of whom every second has two with the same age, and one with another."""
    rows = [
        (f"p{n}", 20 + age % 4, "flu" if n % 3 else "cold")
        for n in range(people)
        for age in [n, n, n + 1][: 1 + n % 2 * 2]
    ]
    return pa.table(dict(zip(("who", "age", "diagnosis"), map(list, zip(*rows, strict=True)), strict=True)))


def people_in_crowds(rows, who):
    """Of each crowd by age, the people in it."""
    crowds = defaultdict(set)
    for age, person in zip(rows.column("age").to_pylist(), who, strict=True):
        crowds[age].add(person)
    return crowds


@pytest.mark.parametrize("method", METHODS)
def test_the_steward_reads_of_people_where_they_are_known(method):
    table = visits()
    words = {**OPTIONS.get(method, {}), "method": method, "keep_order": True, "sensitive": ["diagnosis"]}
    release = incrowd.anonymize(table, quasi_identifiers=["age"], k=3, unit="who", **words)
    crowds = people_in_crowds(release.data, table.column("who").to_pylist())
    summary = summary_of(release, for_public=False)
    shape_of("steward").check(json.loads(json.dumps(summary)), "")
    (risk,), (sizes,), (crowd,) = (summary["safe"][part] for part in ("risks", "class_sizes", "crowds"))
    smallest, everyone = min(map(len, crowds.values())), 20
    assert (risk["counted"], risk["records"], risk["smallest_crowd"]) == (PEOPLE, everyone, smallest)
    assert risk["prosecutor_highest"] == 1 / smallest
    assert (sizes["counted"], sizes["smallest"], sizes["largest"]) == (PEOPLE, smallest, max(map(len, crowds.values())))
    assert (crowd["counted"], crowd["smallest"]) == (PEOPLE, smallest)
    assert summary["safe"]["risks_before"][0]["records"] == everyone
    assert sum(each["records"] for each in sizes["bins"]) == everyone  # each in the smallest of their crowds
    assert summary["done"]["dropped"] == ["who"]
    for text in (html_of(summary), markdown_of(summary)):
        assert "Smallest crowd, in people" in text
        assert "Records that are alone" not in text
    assert f"each in a crowd of at least {smallest} people on age" in release.summary()
    for person in crowds[next(iter(crowds))]:
        assert f'"{person}"' not in json.dumps(summary)


def test_the_public_reads_of_records_since_nobody_else_knows_people():
    table = visits()
    release = incrowd.anonymize(table, quasi_identifiers=["age"], k=3, unit="who", keep_order=True)
    summary = summary_of(release, for_public=True)
    sizes = Counter(release.data.column("age").to_pylist()).values()
    (risk,) = summary["safe"]["risks"]
    assert (risk["counted"], risk["records"], risk["smallest_crowd"]) == (RECORDS, len(table), min(sizes))
    assert SEVERAL_RECORDS in summary["safe"]["not_promised"]
    assert SEVERAL_PEOPLE in summary_of(release, for_public=False)["safe"]["not_promised"]
    by_records = incrowd.anonymize(table, quasi_identifiers=["age"], k=3, identifiers=["who"])
    for public in (False, True):
        said = summary_of(by_records, for_public=public)["safe"]["not_promised"]
        assert not {SEVERAL_RECORDS, SEVERAL_PEOPLE} & set(said)


@pytest.mark.parametrize("method", ["tdr", "cover"])
def test_who_is_left_out_changes_nothing_in_the_public_report(method):
    """Two tables that differ in a row that is left out, and in a column that is dropped, have one public report."""
    made = []
    for marker in ("first", "second"):
        ages, jobs = [20 + number % 7 for number in range(59)], ["a", "b"] * 29 + ["a"]
        table = pa.table(
            {
                "id": [f"{marker} {n}" for n in range(60)],
                "age": [*ages, None],
                "job": [*jobs, marker],
                "x": [*jobs, marker],
            }
        )
        release = incrowd.anonymize(
            table, quasi_identifiers=["age", "job"], k=3, identifiers=["id"], missing="drop", method=method
        )
        summary = summary_of(release, for_public=True)
        assert marker not in json.dumps(summary)
        made.append({**summary, "digest": "", "check": {**summary["check"], "commitment": ""}})
    assert made[0] == made[1]


def test_empty_cells_are_told_apart_from_texts():
    assert shown(None) == shown("") == EMPTY


@pytest.mark.parametrize(("section", "field", "value"), [("cost", "crowds", 777), ("done", "method", "person 3")])
def test_the_recount_finds_what_does_not_belong_there(section, field, value):
    release = with_a_target("tdr")
    summary = summary_of(release, for_public=True)
    summary[section][field] = value
    with pytest.raises(AssertionError):
        check_public(summary, release.data, release.certificate)
