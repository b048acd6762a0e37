"""What stops a column that would leave as it is, what only warns, and that nothing of it is read after a release."""

import os
import pickle
import random

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from tests.command_line import run

import incrowd
from incrowd.errors import NamesPeopleError, ReleaseWarning
from incrowd.formats.atomic_files import AtomicFiles
from incrowd.formats.registry import open_source
from incrowd.inspection import first_look
from incrowd.inspection.first_look import look_at
from incrowd.policy.making import make_policy
from incrowd.run import Run

DRAW = random.Random(5)
ROWS = 200
PLAIN = {"age": [20 + n % 4 for n in range(ROWS)], "sex": ["fm"[n % 2] for n in range(ROWS)]}
WORDS = {"quasi_identifiers": ["age", "sex"], "k": 5}
STREETS = ("Main Street", "Oak Avenue", "Church Road", "Hill Lane")
NAMING = {  # a column, its values, and what is said of it
    "who": (
        [f"{first} {last}" for first in ("Anna", "Carl", "Eva", "Tom") for last in "ABCDE"] * 10,
        "names of people",
    ),
    "fake_last_name": (["Xu", "Yu"] * 100, "called a name of a person"),
    "contact": ([f"x{n}@example.org" for n in range(ROWS)], "e-mail"),
    "call": ([f"+49 30 {n:07}" for n in range(ROWS)], "phone"),
    "file": ([f"P-{n:06}" for n in range(ROWS)], "ids or case numbers"),
    "ssn": ([n % 3 for n in range(ROWS)], "called a number or id of a person"),
    "home": ([f"{n} {STREETS[n % 4]}" for n in range(ROWS)], "addresses"),
    "link": ([f"https://example.org/people/{n}" for n in range(ROWS)], "web addresses"),
    "remark": ([f"came in with pain number {n} again" for n in range(ROWS)], "free text"),
    "cost": ([n * 3.7 for n in range(ROWS)], "nearly unique"),
    "since": ([f"{1930 + n % 60}-0{1 + n % 9}-1{n % 10}" for n in range(ROWS)], "dates of birth"),
    "visits": ([[n % 2] for n in range(ROWS)], "lists, structures or bytes"),
    "scan": ([b"x", b"y"] * 100, "lists, structures or bytes"),
}


@pytest.mark.parametrize("name", NAMING)
def test_what_may_name_people(name):
    values, why = NAMING[name]
    table = pa.table({**PLAIN, name: values})
    with pytest.raises(NamesPeopleError, match=why) as stopped:
        incrowd.anonymize(table, **WORDS)
    assert list(stopped.value.columns) == [name]
    assert name in incrowd.anonymize(table, **WORDS, keep=[name]).data.column_names
    assert name not in incrowd.anonymize(table, **WORDS, identifiers=[name]).data.column_names


def test_what_may_leave():
    harmless = {
        "job": ["clerk", "nurse", "smith", "?"] * 50,
        "hours": [n % 60 for n in range(ROWS)],
        "telephone": ["none", "yes"] * 100,
        "passport": [True, False] * 100,
        "surname": [None] * ROWS,
        "product name": ["A 12", "B 34"] * 100,
        "seen": ["2024-01-03", "2024-05-09"] * 100,
    }
    table = pa.table({**PLAIN, **harmless})
    with pytest.warns(ReleaseWarning, match="column 'seen' contains exact dates") as warned:
        release = incrowd.anonymize(table, **WORDS)
    assert [str(each.message) for each in warned] == list(release.warnings)  # each once
    assert release.untouched == tuple(harmless)


def test_wages_of_which_a_fifth_are_alone(tmp_path):
    """As in a survey: 4,147 of 7,425 people said what they earn, and 889 of them earn what nobody else does."""
    shared = [n // 2 for n in range(4147 - 889)]
    wages = [*shared, *range(100_000, 100_889), *[None] * (7425 - 4147)]
    table = pa.table({"age": [20 + n % 5 for n in range(7425)], "wages": wages})
    words = {"quasi_identifiers": ["age"], "k": 5, "sensitive": ["wages"], "l": 2}
    with pytest.raises(NamesPeopleError, match=r"'wages' is nearly unique \(21 % of the records with a value"):
        incrowd.anonymize(table, **words)
    assert incrowd.anonymize(table, **words, keep=["wages"]).policy.sensitive == ("wages",)


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl", "sqlite", "pandas", "polars"])
def test_in_every_kind_of_table(kind, tmp_path):
    table = pa.table({**PLAIN, "mail": [f"x{n}@example.org" for n in range(ROWS)]})
    if kind in ("pandas", "polars"):
        data = table.to_pandas() if kind == "pandas" else __import__("polars").from_arrow(table)
    else:
        data = tmp_path / f"people.{kind}"
        if kind == "csv":
            pa.csv.write_csv(table, data)
        elif kind == "parquet":
            pq.write_table(table, data)
        else:
            data = f"{data}#people" if kind == "sqlite" else data
            incrowd.anonymize(table, **WORDS, keep=["mail"]).write(data)
    with pytest.raises(NamesPeopleError, match="'mail'"):
        incrowd.anonymize(data, **WORDS)


def test_a_drafted_policy_passes(tmp_path):
    table = {**PLAIN, **{name: values for name, (values, _) in NAMING.items()}, "wages": [n * 7 for n in range(ROWS)]}
    pq.write_table(pa.table(table), tmp_path / "people.parquet")
    inspected = run("inspect", str(tmp_path / "people.parquet"), "--write", str(tmp_path / "release.toml"))
    assert inspected.exit_code == 0, inspected.stderr
    arguments = ("--policy", str(tmp_path / "release.toml"), "--method", "tdr")
    done = run("anonymize", str(tmp_path / "people.parquet"), "-o", str(tmp_path / "out.csv"), *arguments)
    assert done.exit_code == 0, done.stderr


def test_a_long_table_is_looked_at_in_its_first_rows(monkeypatch):
    monkeypatch.setattr(first_look, "KEPT_ROWS", 100)
    monkeypatch.setattr(first_look, "LEAST_ROWS", 50)
    table = pa.table({**PLAIN, "cost": [n if n < 100 else 0 for n in range(ROWS)]})
    policy = make_policy(**WORDS)
    assert first_look.look_at(open_source(table), policy, Run()).findings["cost"][-1].reason.startswith("100 %")
    monkeypatch.setattr(first_look, "MOST_CODES", 150)  # of a wide one in fewer
    table = pa.table({**PLAIN, "cost": [n if n < 50 else 0 for n in range(ROWS)]})
    assert first_look.look_at(open_source(table), policy, Run()).findings["cost"][-1].reason.startswith("100 %")


def test_an_inspection_judges_a_long_table_alike(monkeypatch):
    """Else a drafted policy might not run: many wages are alone in the first rows, and few in all of them."""
    monkeypatch.setattr("incrowd.inspection.counting.KEPT_ROWS", 100)
    table = pa.table({**PLAIN, "cost": [n % 100 for n in range(ROWS)]})
    found = [each.kind for each in incrowd.inspect(table).column("cost").findings]
    assert "near-unique" in found


@pytest.mark.parametrize("data", ["frame", "file"])
def test_nobody_gets_rows_of_an_evaluation_or_a_comparison(data, tmp_path):
    draw = random.Random(1)
    columns = {**PLAIN, "name": [f"p{n}" for n in range(ROWS)], "income": [draw.choice("hl") for _ in range(ROWS)]}
    table = pa.table(columns)
    if data == "file":
        pa.csv.write_csv(table, tmp_path / "people.csv")
        table = tmp_path / "people.csv"
    words = {"quasi_identifiers": ["age", "sex"], "target": "income"}
    assert incrowd.evaluate(table, **words, k=5, method="tdr", classifiers=["tree"]) is not None
    assert incrowd.compare(table, **words, methods=["tdr"], ks=[5]).runs[0].status == "done"


def test_the_message_travels_and_stays_short():
    table = pa.table({**PLAIN, **{f"a, {n}": [f"x{m}@example.org" for m in range(ROWS)] for n in range(12)}})
    with pytest.raises(NamesPeopleError) as stopped:
        incrowd.anonymize(table, **WORDS)
    told = str(stopped.value)
    assert "and 4 more; drop them" in told
    assert """--identifiers '"a, 0","a, 1",""" in told
    again = pickle.loads(pickle.dumps(stopped.value))
    assert (str(again), again.columns) == (told, stopped.value.columns)


VISITS = {"quasi_identifiers": ["age", "sex"], "k": 3, "unit": "who", "sensitive": ["ill", "mood"], "l": 2}


class TestSteadySecrets:
    """One person's crowds can be intersected: what does not change within a person is learned from several visits."""

    def table(self, changing=0, visits=4):
        people = [n // visits for n in range(ROWS)]
        ill = [("flu", "cold", "skin")[person % 3] for person in people]
        ill[: visits * changing : visits] = ["other"] * changing
        draw = random.Random(3)
        mood = [draw.choice(("good", "bad", "none")) for _ in range(ROWS)]
        return pa.table(
            {"age": [20 + p % 4 for p in people], "sex": PLAIN["sex"], "who": people, "ill": ill, "mood": mood}
        )

    def test_it_is_told_by_name_everywhere(self, tmp_path):
        with pytest.warns(ReleaseWarning, match="column 'ill' hardly ever changes within a person") as warned:
            release = incrowd.anonymize(self.table(), **VISITS)
        assert not any("'mood' hardly ever" in str(each.message) for each in warned)
        (warning,) = release.public_warnings
        assert warning == release.warnings[0]
        release.write(tmp_path / "out.csv", report=tmp_path / "own.md", public_report=tmp_path / "public.html")
        for name in ("out.certificate.json", "own.md", "public.html"):
            assert "hardly ever changes within a person" in (tmp_path / name).read_text()
        assert incrowd.check_certificate(tmp_path / "out.certificate.json", tmp_path / "out.csv").holds

    @pytest.mark.parametrize(("changing", "steady"), [(0, True), (5, True), (6, False), (25, False)])
    def test_nearly_everyone_must_keep_it(self, changing, steady):
        look = look_at(open_source(self.table(changing)), make_policy(**VISITS), Run())
        assert look.steady == (("ill",) if steady else ())

    def test_not_where_everyone_has_one_record(self):
        look = look_at(open_source(self.table(visits=1)), make_policy(**VISITS), Run())
        assert look.steady == ()


class TestNothingFailsAfterwards:
    """All that is said of a release is known before it appears: its source may change or go right after."""

    @pytest.fixture
    def gone(self, workplace, monkeypatch):
        """A table that is replaced as soon as the files of its release have appeared."""
        table = pa.table({**PLAIN, "income": [DRAW.choice("hl") for _ in range(ROWS)]})
        pa.csv.write_csv(table, workplace / "people.csv")
        leave = AtomicFiles.__exit__

        def replaced(self, *error):
            left = leave(self, *error)
            (workplace / "other.csv").write_text("age\n1\n")
            os.replace(workplace / "other.csv", workplace / "people.csv")
            return left

        monkeypatch.setattr(AtomicFiles, "__exit__", replaced)

    @pytest.mark.parametrize("method", ["tdr", "cover", "mondrian"])
    @pytest.mark.parametrize("more", [(), ("--preview",), ("--json",)])
    def test_a_source_that_changes_afterwards(self, gone, workplace, method, more):
        words = ("--qi", "age,sex", "--k", "5", "--target", "income", "--method", method)
        done = run("anonymize", "people.csv", "-o", "out.csv", *words, *more)
        assert done.exit_code == 0, done.stderr
        assert (workplace / "out.certificate.json").exists()

    def test_what_fails_before_the_files_appear_keeps_them_from_it(self, tmp_path):
        release = incrowd.anonymize(pa.table(PLAIN), **WORDS)

        def fail():
            raise RuntimeError("no")

        with pytest.raises(RuntimeError, match="no"):
            release.write(tmp_path / "out.csv", before=fail)
        assert list(tmp_path.iterdir()) == []
