"""From a table to an inspection: counts, combinations, the policy file, and what is printed."""

import json
import random
import shlex
import sqlite3
import tomllib
from collections import Counter
from datetime import date
from itertools import combinations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.command_line import GOOD, contents, only_line, run

import incrowd
from incrowd import datasets
from incrowd.errors import CancelledError, PolicyError, UnknownNameError
from incrowd.formats.registry import open_source
from incrowd.inspection import counting
from incrowd.inspection.first_look import look_at
from incrowd.inspection.inspection import inspection_of
from incrowd.inspection.uniqueness import Combination, count_uniques, worst_combinations
from incrowd.policy.making import make_policy
from incrowd.run import Run

FIRST = ("Anna", "Ben", "Karen", "Thomas", "Maria", "Peter", "Olga", "Omar")
LAST = ("Abbott", "Becker", "Chen", "Diaz", "Fischer", "Huber", "Ito", "Novak")


def visits(rows=600, people=250):
    """A messy table: several rows per person, dates in another order, junk among numbers."""
    draw = random.Random(7)
    known = [
        {
            "MRN": f"MRN-{100000 + 7 * i}",
            "Full Name": f"{draw.choice(FIRST)} {draw.choice(LAST)}",
            "dob": f"{1930 + draw.randrange(80)}-{1 + draw.randrange(12):02}-{1 + draw.randrange(28):02}",
            "zip": f"{draw.randrange(1000, 99999):05}",
            "sex": draw.choice("FM"),
        }
        for i in range(people)
    ]
    return [
        {
            **draw.choice(known),
            "phone": f"212-555-{draw.randrange(10000):04}",
            "seen on": f"{1 + draw.randrange(28):02}.{1 + draw.randrange(12):02}.2021",
            "icd": draw.choice(["E11.9", "I10", "J45.0", "F32.1"]),
            'ward, "old"': draw.choice(["A1", "A2", "?", f"rare{draw.randrange(400)}"]),
            "cost": str(round(draw.lognormvariate(6, 1.4), 2)),
            "visits": draw.choice([str(draw.randrange(1, 60)), "unknown"]),
        }
        for _ in range(rows)
    ]


@pytest.fixture(scope="module")
def messy():
    return pd.DataFrame(visits())


@pytest.fixture(scope="module")
def found(messy):
    return incrowd.inspect(messy)


class TestColumns:
    def test_roles(self, found):
        roles = {column.name: column.role.name for column in found.columns}
        assert roles == {
            "MRN": "identifier",
            "Full Name": "identifier",
            "dob": "quasi-identifier",
            "zip": "quasi-identifier",
            "sex": "quasi-identifier",
            "phone": "identifier",
            "seen on": "quasi-identifier",
            "icd": "sensitive",
            'ward, "old"': "quasi-identifier",
            "cost": "insensitive",
            "visits": "insensitive",
        }

    def test_types_and_counts(self, found, messy):
        assert [found.column(name).kind for name in ("dob", "cost", "visits", "sex")] == [
            "date",
            "number",
            "whole number",
            "text",
        ]
        assert found.column("visits").missing == (messy["visits"] == "unknown").sum()
        assert found.missing_values == ("?", "unknown")
        costs = messy["cost"].value_counts()
        assert found.column("cost").distinct == len(costs)
        assert found.column("cost").once == (costs == 1).sum()
        assert found.column("sex").top == tuple(sorted(Counter(messy["sex"]).items(), key=lambda item: -item[1]))

    def test_quantiles(self, found, messy):
        numbers = sorted(float(value) for value in messy["visits"] if value != "unknown")
        assert [float(value) for _, value in found.column("visits").quantiles] == [
            numbers[(len(numbers) - 1) * percent // 100] for percent in (0, 5, 25, 50, 75, 95, 100)
        ]

    def test_hierarchies(self, found):
        words = {column.name: column.hierarchy.words for column in found.columns}
        assert words["dob"] == {"calendar": ["month", "quarter", "year", "decade"]}
        assert words["seen on"] == {"calendar": ["month", "quarter", "year"], "order": "dmy"}
        assert words["zip"] == {"prefix": [4, 3, 2, 1]}
        assert words['ward, "old"']["frequent"][:2] in (["A1", "A2"], ["A2", "A1"])
        assert words["cost"] is None
        assert words["sex"] is None
        assert words["MRN"] is None

    def test_warnings_name_the_column(self, found):
        warned = [text.split("'")[1] for text in found.warnings]
        assert warned == ["MRN", "Full Name", "dob", "zip", "phone", "seen on", 'ward, "old"', "cost"]
        assert "several rows per person" in found.warnings[0]

    def test_unknown_column(self, found):
        with pytest.raises(UnknownNameError, match="did you mean 'zip'"):
            found.column("zipp")

    def test_types_of_arrow(self):
        table = pa.table(
            {
                "day": pa.array([date(2020, 1, 1 + i % 28) for i in range(40)]),
                "flag": pa.array([True, False] * 20),
                "whole": pa.array([1.0, 2.0, None, float("nan")] * 10),
                "list": pa.array([[1]] * 40),
                "bytes": pa.array([b"x"] * 40),
                "nothing": pa.nulls(40),
                "category": pa.array(["a", "b"] * 20).dictionary_encode(),
                "infinite": pa.array([1.5, float("inf")] * 20),
            }
        )
        found = incrowd.inspect(table)
        kinds = [column.kind for column in found.columns]
        assert kinds == ["date", "boolean", "whole number", "structure", "structure", "nothing", "text", "text"]
        assert found.column("whole").missing == 20
        assert [column.role.name for column in found.with_role("identifier")] == ["identifier"] * 2
        assert found.column("infinite").declared == "text"

    def test_unused_categories_are_no_values(self):
        frame = pd.DataFrame({"x": pd.Categorical(["a", "b"] * 10, categories=["a", "b", "secret"])})
        found = incrowd.inspect(frame)
        assert found.column("x").distinct == 2
        assert "secret" not in str(found) + found.policy_toml()

    def test_namibia_is_no_missing_value(self):
        assert incrowd.inspect(pa.table({"c": ["NA", "DE", "FR", "US"] * 5})).column("c").missing == 0
        assert incrowd.inspect(pa.table({"c": ["NA", "red", "blue", "tan"] * 5})).column("c").missing == 5


def _like_nobody_else(messy, names):
    """People with a record whose values on some columns nobody else has."""
    rows, owners = list(map(tuple, messy[list(names)].values.tolist())), {}
    for values, person in zip(rows, messy["MRN"], strict=True):
        owners.setdefault(values, set()).add(person)
    return len({person for people in owners.values() if len(people) == 1 for person in people})


class TestCombinations:
    def test_uniques_are_those_of_a_plain_count(self, found, messy):
        assert found.unit == "MRN"
        assert found.together.uniques == _like_nobody_else(messy, found.together.columns)

    @pytest.mark.parametrize("size", [2, 3])
    def test_worst_combinations(self, found, messy, size):
        counted = {}
        for names in combinations(found.together.columns, size):
            counted[names] = _like_nobody_else(messy, names)
        worst = found.pairs if size == 2 else found.triples
        assert [each.uniques for each in worst] == sorted(counted.values(), reverse=True)[:3]
        assert all(counted[each.columns] == each.uniques for each in worst)

    def test_many_wide_columns_do_not_fit_into_one_number(self):
        columns = [np.arange(40) % (3 + i) for i in range(5)]
        expected = Counter(zip(*[column.tolist() for column in columns], strict=True))
        found = count_uniques(columns, [1 << 20] * 5)
        assert found == sum(count == 1 for count in expected.values())

    def test_records_of_one_person_do_not_hide_each_other(self):
        """Of each person one row twice, which nobody else has, and a third one that all have."""
        visits = [(f"MRN-{100000 + n // 3}", str(20 + n // 3 % 60), "fm"[n % 3 == 2]) for n in range(180)]
        rows = [(patient, "50" if sex == "m" else age, sex) for patient, age, sex in visits]
        table = pa.table(dict(zip(("patient_id", "age", "sex"), map(list, zip(*rows, strict=True)), strict=True)))
        found = incrowd.inspect(table)
        assert found.unit == found.to_json()["unit"] == "patient_id"
        assert found.together.columns == ("age", "sex")
        assert found.together.uniques == found.pairs[0].uniques == 60
        assert "60 of 60 people (100.0 %), by patient_id" in str(found)
        assert incrowd.inspect(table.drop_columns("patient_id")).together.uniques == 0

    def test_a_unit_that_nothing_shows_can_be_named(self):
        """Twenty people are called by words, with twelve rows each: a trade of their own in five, and a common one."""
        rows = [(f"gate {n // 12}", "fm"[n % 2], f"trade {n // 12 if n % 12 < 5 else 0}") for n in range(240)]
        table = pa.table(dict(zip(("house", "sex", "trade"), map(list, zip(*rows, strict=True)), strict=True)))
        plain, found = incrowd.inspect(table), incrowd.inspect(table, unit="house")
        assert (plain.unit, found.unit) == (None, "house")
        assert plain.column("trade").once == 0
        assert (found.column("trade").once, found.column("trade").alone) == (19, 95 / 240)
        assert (found.column("house").role.name, found.column("house").hierarchy.words) == ("identifier", None)
        assert "39 % of the records have a value that no other person has" in found.column("trade").warning
        assert found.together == Combination(("sex", "trade"), 19, 20)
        policy = tomllib.loads(found.policy_toml())
        assert (policy["unit"], policy["identifiers"]) == ("house", ["house"])
        assert incrowd.anonymize(table, **policy).risk().after.question.unit == "house"

    def test_no_value_of_one_person_is_named_in_a_policy(self):
        """Ward C has nine records of one person, ward D five of as many people, and ten others one each."""
        wards = ["A"] * 100 + ["B"] * 90 + ["C"] * 9 + ["D"] * 5 + [f"E{n}" for n in range(10)]
        table = pa.table({"who": [f"p{190 if ward == 'C' else n}" for n, ward in enumerate(wards)], "ward": wards})
        proposed = [incrowd.inspect(table, unit=unit).column("ward").hierarchy.words for unit in (None, "who")]
        assert proposed == [{"frequent": ["A", "B", "C", "D"]}, {"frequent": ["A", "B", "D"]}]

    def test_a_unit_that_is_named_goes_before_one_that_is_found(self, messy):
        found = incrowd.inspect(messy, unit="phone")
        assert found.unit == tomllib.loads(found.policy_toml())["unit"] == "phone"
        assert 'unit = "MRN"' not in found.policy_toml()

    def test_records_without_an_owner_are_one_persons(self):
        table = pa.table({"who": [None] * 20 + ["a", "b"] * 10, "town": ["x"] * 20 + ["y"] * 20})
        assert incrowd.inspect(table, unit="who").column("town").single == 20

    def test_people_are_not_counted_where_not_all_were_kept(self, monkeypatch):
        monkeypatch.setattr("incrowd.inspection.counting.KEPT_ROWS", 30)
        table = pa.table({"who": [f"p{n // 2}" for n in range(40)], "town": [f"t{n // 2}" for n in range(40)]})
        found = incrowd.inspect(table, unit="who")
        assert (found.unit, found.column("town").once) == ("who", 0)

    @pytest.mark.parametrize(("unit", "message"), [("hous", "did you mean 'house'"), ("tags", "tells nobody apart")])
    def test_a_unit_that_is_none(self, unit, message):
        table = pa.table({"house": ["a", "b"] * 9, "tags": [["x"], []] * 9})
        with pytest.raises(PolicyError, match=message):
            incrowd.inspect(table, unit=unit)

    def test_work_is_bounded(self, monkeypatch):
        monkeypatch.setattr("incrowd.inspection.uniqueness.WORK", 1000)
        names = [f"c{i}" for i in range(10)]
        columns = [np.arange(100) % (i + 1) for i in range(10)]
        pairs, triples = worst_combinations(names, columns, [10] * 10, Run())
        chosen = {name for each in (*pairs, *triples) for name in each.columns}
        assert chosen <= {"c6", "c7", "c8", "c9"}


class Pieces:
    """A source that gives its rows in batches of 50."""

    name = "the table"
    missing_values = ()

    def __init__(self, table):
        self.table, self.schema, self.columns = table, table.schema, tuple(table.column_names)

    def batches(self, columns=None, encoded=()):
        yield from self.table.select(columns).to_batches(50)

    def check_unchanged(self):
        pass


class TestCounting:
    def test_in_small_pieces_it_is_the_same(self, monkeypatch, messy):
        whole = incrowd.inspect(messy).to_json()
        monkeypatch.setattr(counting, "_WAITING_ROWS", 7)
        pieces = Pieces(pa.Table.from_pandas(messy, preserve_index=False).combine_chunks())
        assert inspection_of(pieces, Run()).to_json() == whole

    def test_a_column_with_too_many_values_is_described_by_the_records_so_far(self, monkeypatch):
        monkeypatch.setattr(counting, "_WAITING_ROWS", 50)
        monkeypatch.setattr(counting, "MOST_DISTINCT", 100)
        monkeypatch.setattr(counting, "KEPT_ROWS", 100)
        table = pa.table({"key": [f"k{i:04}" for i in range(400)], "sex": ["F", "M"] * 200})
        found = inspection_of(Pieces(table), Run())
        assert found.records == 400
        assert found.column("key").records == 150
        assert found.column("key").role.name == "identifier"
        assert found.column("sex").records == 400
        assert found.together.records == 100

    def test_it_is_told_and_cancelled(self, messy):
        events = []
        incrowd.inspect(messy, progress=events.append)
        assert {type(event).__name__ for event in events} == {"Stage", "Rows", "Amount"}
        run = Run()
        run.cancel()
        with pytest.raises(CancelledError):
            inspection_of(open_source(messy), run)


class TestPolicyFile:
    def test_it_holds_no_value_of_few(self, found, messy):
        text = found.policy_toml()
        for name in messy.columns:
            counts = Counter(messy[name])
            rare = [value for value, count in counts.items() if count < 5 and len(value) > 3]
            assert not [value for value in rare if f'"{value}"' in text]

    def test_it_is_the_policy_that_was_proposed(self, found):
        policy = tomllib.loads(found.policy_toml())
        assert policy["k"] == 5
        assert policy["quasi_identifiers"] == ["dob", "zip", "sex", "seen on", 'ward, "old"']
        assert policy["insensitive"] == ["cost", "visits"]
        assert policy["keep"] == ["cost"]  # nearly unique
        assert policy["identifiers"] == ["MRN", "Full Name", "phone"]
        assert policy["sensitive"] == ["icd"]
        assert policy["missing_values"] == ["?", "unknown"]
        assert '\nunit = "MRN"\n' in found.policy_toml()

    def test_names_of_columns_that_need_care(self):
        names = ["a\nb", 'say "x"', "back\\slash", "# no comment", "käse", "x\x7fy"]
        table = pa.table({name: [f"v{i % 3}" for i in range(20)] for name in names})
        policy = tomllib.loads(incrowd.inspect(table).policy_toml())
        assert policy["quasi_identifiers"] == names

    def test_a_table_of_ids_alone_says_what_is_lacking(self):
        text = incrowd.inspect(pa.table({"key": [f"k{i:04}" for i in range(50)]})).policy_toml()
        assert "A release needs at least one" in text
        assert tomllib.loads(text)["quasi_identifiers"] == []


class TestCommand:
    def inspect_and_release(self, table, *more, method="auto"):
        inspected = run("inspect", table, "--write", "release.toml", *more)
        assert inspected.exit_code == 0, inspected.stderr
        released = run("anonymize", table, "-o", "release.csv", "--policy", "release.toml", "--method", method)
        assert released.exit_code == 0, released.stderr
        return inspected, pd.read_csv("release.csv", dtype=str, keep_default_na=False)

    def test_the_written_policy_runs_as_it_is(self, workplace, messy):
        messy.to_csv("visits.csv", index=False)
        inspected, released = self.inspect_and_release("visits.csv")
        assert "visits.csv: 600 records, 11 columns" in inspected.stdout
        assert "wrote release.toml" in inspected.stderr
        assert list(released.columns) == ["dob", "zip", "sex", "seen on", "icd", 'ward, "old"', "cost", "visits"]
        sizes = released.groupby(["dob", "zip", "sex", "seen on", 'ward, "old"']).size()
        assert sizes.min() >= 5

    def test_the_policy_says_what_to_type(self, workplace, messy):
        with sqlite3.connect(workplace / "my visits.db") as database:
            messy.to_sql("visits", database, index=False)
        inspected = run("inspect", "my visits.db", "--query", "select * from visits", "--write", "own.toml")
        assert inspected.stderr.endswith("incrowd anonymize 'my visits.db' -o release.csv --policy own.toml\n")
        (line,) = [line for line in (workplace / "own.toml").read_text().splitlines() if "incrowd anonymize" in line]
        assert line == "#   incrowd anonymize 'my visits.db' -o release.csv --policy own.toml"
        typed = shlex.split(line.lstrip("# "))[1:]
        assert run(*typed, "--method", "tdr").exit_code == 0

    def test_a_unit_is_typed(self, workplace, messy):
        messy.to_csv("visits.csv", index=False)
        inspected, _ = self.inspect_and_release("visits.csv", "--unit", "Full Name")
        assert "by Full Name" in inspected.stdout
        assert tomllib.loads((workplace / "release.toml").read_text())["unit"] == "Full Name"
        wrong = run("inspect", "visits.csv", "--unit", "name")
        assert wrong.exit_code == 2
        assert "no column 'name' in visits.csv" in only_line(wrong.stderr)

    @pytest.mark.parametrize("name", ["adult", "german"])
    def test_shipped_data(self, workplace, name):
        _, released = self.inspect_and_release(getattr(datasets, name)(), method="tdr")
        assert len(released) in (45_222, 1_000)

    def test_another_dialect_is_written_down(self, workplace, messy):
        messy.to_csv("visits.csv", index=False, sep="|", header=False, encoding="cp1252")
        self.inspect_and_release("visits.csv", "--separator", "|", "--no-header", "--encoding", "cp1252")
        assert tomllib.loads((workplace / "release.toml").read_text())["csv"] == {
            "separator": "|",
            "encoding": "cp1252",
            "header": False,
        }

    def test_parquet(self, workplace, messy):
        pyarrow.parquet.write_table(pa.Table.from_pandas(messy, preserve_index=False), "visits.parquet")
        self.inspect_and_release("visits.parquet")

    def test_a_tiny_table(self, workplace):
        (workplace / "people.csv").write_text(GOOD)
        _, released = self.inspect_and_release("people.csv")
        assert "name" not in released.columns

    def test_json_is_all_that_is_on_stdout(self, workplace):
        (workplace / "people.csv").write_text(GOOD)
        result = run("inspect", "people.csv", "--json")
        assert result.stderr == ""
        assert json.loads(result.stdout)["result"] == incrowd.inspect("people.csv").to_json()

    def test_nothing_is_overwritten_by_accident(self, workplace):
        (workplace / "people.csv").write_text(GOOD)
        (workplace / "release.toml").write_text("mine")
        before = contents(workplace)
        result = run("inspect", "people.csv", "--write", "release.toml")
        assert result.exit_code == 1
        assert "release.toml already exists" in only_line(result.stderr)
        assert contents(workplace) == before
        assert run("inspect", "people.csv", "--write", "release.toml", "--overwrite").exit_code == 0
        assert (workplace / "release.toml").read_text() != "mine"

    @pytest.mark.parametrize("path", ["release.csv", "no/release.toml"])
    def test_where_it_cannot_be_written(self, workplace, path):
        (workplace / "people.csv").write_text(GOOD)
        assert run("inspect", "people.csv", "--write", path).exit_code == 1

    def test_an_unknown_file(self, workplace):
        assert "no file nope.csv" in only_line(run("inspect", "nope.csv").stderr)


class TestShown:
    def test_a_line_per_column(self, found):
        lines = str(found).splitlines()
        assert lines[0] == "the table: 600 records, 11 columns"
        assert len([line for line in lines[2:13] if line.endswith(("sure", "likely", "guess"))]) == 11
        assert "insensitive: cost: an amount or an account that the data holder keeps" in lines
        assert any(line.startswith("unique on all 5 quasi-identifiers: 229 of 229 people") for line in lines)
        assert max(map(len, lines[:14])) <= 110

    def test_values_that_occur_once_are_not_listed(self):
        found = incrowd.inspect(pa.table({"key": [f"k{i:04}" for i in range(50)]}))
        assert "k0001" not in str(found)
        assert "every value once" in str(found)

    def test_markup_is_text(self):
        found = incrowd.inspect(pa.table({"[red]x[/]": ["[/b]", "[bold]", ":smile:"] * 10}))
        assert "[red]x[/]" in str(found)
        assert ":smile:" in str(found)

    def test_json(self, found):
        data = json.loads(json.dumps(found.to_json()))
        assert data["records"] == 600
        assert data["columns"][2]["hierarchy"] == {"calendar": ["month", "quarter", "year", "decade"]}
        assert data["warnings"] == found.warnings


@pytest.mark.parametrize(
    ("numbers", "far"),
    [
        ([*range(90, 180), *[999] * 6], "999"),
        ([*range(90, 180), *[999] * 4], None),  # too few to be named
        ([*range(15, 90), *[99] * 20], None),  # somebody may be 99
        ([*range(15, 90), *[555] * 20], None),
        ([*range(90, 999), *[999] * 20], None),
        (["1.5", "2.5", "3.5", "4.5", *["9999"] * 5], "9999"),
    ],
)
def test_a_number_that_may_stand_for_a_missing_one(numbers, far):
    found = incrowd.inspect(pa.table({"x": numbers, "y": ["a", "b", *["c"] * (len(numbers) - 2)]}))
    assert found.column("x").far == found.to_json()["columns"][0]["may_be_missing"] == far
    told = f"{far} in column 'x' is far from all other numbers"
    assert [told in text for text in (found.policy_toml(), str(found))] == [far is not None] * 2
    tomllib.loads(found.policy_toml())
    by_one = pa.table({"x": numbers, "who": ["same" if number == numbers[-1] else str(number) for number in numbers]})
    assert incrowd.inspect(by_one, unit="who").column("x").far is None


def test_columns_that_would_leave_as_they_are_look_as_in_an_inspection(messy, found):
    words = {"quasi_identifiers": ["sex"], "k": 2}
    look = look_at(open_source(messy), make_policy(**words, unit="MRN"), Run())
    passing = [column for column in found.columns if column.name not in ("sex", "MRN")]
    assert look.findings == {column.name: column.findings for column in passing}
    plain = look_at(open_source(messy), make_policy(**words), Run())
    assert plain.findings["zip"] == (found.column("zip").findings[0],)  # one for each person, who has many rows


def test_many_codes_have_a_hierarchy_and_many_numbers_have_none(monkeypatch):
    monkeypatch.setattr("incrowd.inspection.proposals.MOST_LEAVES", 50)
    zips = [f"{i:05}" for i in range(0, 60_000, 600)] * 3
    found = incrowd.inspect(pa.table({"zip": zips, "cost": [i * 3.7 for i in range(100)] * 3}))
    assert found.column("zip").hierarchy.words == {"prefix": [4, 3, 2, 1]}
    assert found.column("cost").hierarchy.words is None


def test_a_text_that_was_read_as_one_column_is_noted(tmp_path):
    (tmp_path / "prose.txt").write_text("This is prose.\nIt has lines of text\nand no table\n")
    notes = incrowd.inspect(tmp_path / "prose.txt").notes
    assert "prose.txt was read as one column; if it has several, say what separates them (--separator)" in notes
    assert not [note for note in incrowd.inspect(pa.table({"age": [1, 2, 3]})).notes if "one column" in note]
