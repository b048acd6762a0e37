"""Releases with a ledger: whoever has all of them still finds everyone in a crowd, recounted from what was written."""

import csv
import random
from collections import Counter
from shutil import copytree, rmtree

import pyarrow as pa
import pytest
from pyarrow.csv import write_csv
from pyarrow.feather import write_feather
from pyarrow.parquet import write_table
from tests.command_line import run

import incrowd
from incrowd.errors import DataError, InfeasibleError, NotAnonymousError, OutputError, PolicyError
from incrowd.ledger.store import PERSONS, Ledger
from incrowd.privacy.history import SharedHistory

QI = ("age", "sex")
METHODS = ("mondrian", "tdr", "cover", "kaca")


class Table:
    """A small table that people join, leave and change in, drawn by a seed."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.people = 0
        self.rows = [self.person() for _ in range(self.draw.randrange(8, 24))]

    def person(self):
        self.people += 1
        return [str(self.people), str(self.draw.randrange(6)), self.draw.choice("ab"), self.draw.choice("xyz")]

    def change(self):
        share = self.draw.choice([0, 0.1, 0.3, 0.7])
        rows = [row for row in self.rows if self.draw.random() >= share * self.draw.random()]
        rows = [[row[0], *self.person()[1:]] if self.draw.random() < share / 2 else row for row in rows]
        self.rows = rows + [self.person() for _ in range(self.draw.randrange(0, 12))]

    def arrow(self):
        return pa.table([pa.array(column) for column in zip(*self.rows, strict=True)], ["id", "age", "sex", "illness"])


def released(path):
    with open(path) as file:
        return [tuple(row.values()) for row in csv.DictReader(file)]


def histories(ledger):
    """Who shares which history, straight from the definition: what was released of each in each release."""
    found = {}
    for place, entry in enumerate(ledger.releases):
        rows = ledger.rows(entry.number)
        of_row = zip(*(rows[name].to_pylist() for name in QI), strict=True)
        for person, label, illness in zip(rows[PERSONS].to_pylist(), of_row, rows["illness"].to_pylist(), strict=True):
            found.setdefault(person, {}).setdefault(place, []).append((label, illness))
    groups = {}
    for released_of in found.values():
        key = tuple(sorted((place, tuple(sorted(row[0] for row in rows))) for place, rows in released_of.items()))
        groups.setdefault(key, []).append(released_of)
    return groups


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(6))
def test_everyone_shares_her_history_with_enough_others(tmp_path, method, seed):
    table, draw = Table(seed), random.Random(seed)
    k, l, unit, wait = draw.choice([2, 3]), draw.choice([None, 2]), draw.random() < 0.5, draw.choice([0, 2])
    role = {"unit": "id"} if unit else {"identifiers": ["id"]}
    shown = {"sensitive": {"illness": {"l": l}}} if l else {}
    files = []
    for number in range(4):
        try:
            release = incrowd.anonymize(
                table.arrow(), quasi_identifiers=QI, k=k, method=method, keep=["illness"],
                ledger=tmp_path / "ledger", wait=wait, **role, **shown,
            )  # fmt: skip
            release.write(tmp_path / f"{number}.csv")
            files.append(tmp_path / f"{number}.csv")
        except InfeasibleError:
            pass
        table.change()
    ledger = Ledger.read(tmp_path / "ledger")
    for entry, path in zip(ledger.releases, files, strict=True):
        rows = ledger.rows(entry.number)
        known = zip(*(rows[name].to_pylist() for name in (*QI, "illness")), strict=True)
        assert Counter(released(path)) == Counter(known)
    for group in histories(ledger).values():
        assert len(group) >= k
        for place in group[0] if l else ():
            assert len({illness for person in group for _, illness in person[place]}) >= l


def test_rows_that_left_before_leave_as_they_did(tmp_path):
    table = Table(1)
    first, second = table.arrow(), None
    table.rows += [table.person() for _ in range(9)]
    second = table.arrow()
    for number, rows in enumerate((first, second)):
        make(rows, tmp_path).write(tmp_path / f"{number}.csv")
    before, after = (Counter(released(tmp_path / f"{number}.csv")) for number in range(2))
    assert not before - after
    assert sum((after - before).values()) == 9


def make(rows, folder, **more):
    return incrowd.anonymize(
        rows, quasi_identifiers=QI, k=2, unit="id", keep=["illness"],
        **{"ledger": folder / "ledger", **more},
    )  # fmt: skip


def test_too_few_newcomers_wait(tmp_path):
    table = Table(1)
    make(table.arrow(), tmp_path).write(tmp_path / "1.csv")
    table.rows.append(table.person())
    with pytest.raises(
        InfeasibleError, match="1 newcomer of at least 2 that a crowd needs; release again when 1 more have come"
    ):
        make(table.arrow(), tmp_path)
    table.rows.append(table.person())
    assert make(table.arrow(), tmp_path).write(tmp_path / "2.csv").releases == {
        "number": 2,
        "recipient": "",
        "continues": [1],
        "beside": [],
    }


def test_whoever_comes_back_is_no_newcomer(tmp_path):
    """Of four who left together one comes back: she waits, and is not hidden among newcomers, until there are two."""

    def table(*people):
        rows = [[str(person), "30", "ab"[person % 2], "xyz"[person % 3]] for person in people]
        return pa.table([pa.array(column) for column in zip(*rows, strict=True)], ["id", "age", "sex", "illness"])

    here, found = set(range(12)), []
    for leave, come in ((set(), set()), ({0, 2, 4, 6}, set(range(20, 26))), (set(), {0, *range(30, 36)}), (set(), {2})):
        here = (here - leave) | come
        make(table(*sorted(here)), tmp_path).write(tmp_path / f"{len(found)}.csv")
        ledger = Ledger.read(tmp_path / "ledger")
        found.append((ledger.releases[-1].records, ledger.releases[-1].waiting))
    assert found == [(12, 0), (14, 0), (20, 1), (22, 0)]
    assert min(len(group) for group in histories(ledger).values()) >= 2


def test_of_two_runs_on_one_ledger_one_wins(tmp_path):
    one, two = make(Table(1).arrow(), tmp_path), make(Table(1).arrow(), tmp_path)
    one.write(tmp_path / "1.csv")
    with pytest.raises(OutputError, match="another release was entered"):
        two.write(tmp_path / "2.csv")
    assert not (tmp_path / "2.csv").exists()


def test_a_damaged_ledger_stops_the_run(tmp_path):
    make(Table(1).arrow(), tmp_path).write(tmp_path / "1.csv")
    (tmp_path / "ledger" / "rows-0001.parquet").write_bytes(b"")
    with pytest.raises(DataError, match="was changed"):
        make(Table(1).arrow(), tmp_path)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"t": 0.2}, "t=0.2 of illness cannot be kept over several releases: those who join or leave together"),
        ({"entropy_l": 1.5}, "cannot be kept over several releases: those who join or leave together"),
        ({"quasi_identifiers": [["age"], ["sex"]]}, "a ledger takes one quasi-identifier"),
    ],
)
def test_what_cannot_be_kept_over_several_releases_is_refused(tmp_path, more, why):
    with pytest.raises(PolicyError, match=why):
        incrowd.anonymize(
            Table(1).arrow(),
            **{"quasi_identifiers": QI, "k": 2, "sensitive": ["illness"], "ledger": tmp_path / "ledger", **more},
        )


def views(tmp_path, seed, method, recipients=("", "")):
    """Two releases about the same people, with other columns; both show the illness."""
    draw = random.Random(seed)
    tmp_path.mkdir(exist_ok=True)
    columns = {name: [str(draw.randrange(size)) for _ in range(60)] for name, size in (("a", 9), ("b", 9), ("c", 4))}
    rows = pa.table({"id": [str(person) for person in range(60)], **columns, "illness": draw.choices("xyz", k=60)})
    for number, (shown, other) in enumerate((("a", "b"), ("b", "a"))):
        release = incrowd.anonymize(
            rows, quasi_identifiers=[shown, "c"], k=3, unit="id", identifiers=[other],
            keep=["illness"], method=method, ledger=tmp_path / "ledger", recipient=recipients[number],
        )  # fmt: skip
        release.write(tmp_path / f"{number}.csv")
    ledger = Ledger.read(tmp_path / "ledger")
    return [
        {row[PERSONS]: (row[shown], row["c"], row["illness"]) for row in ledger.rows(number).to_pylist()}
        for number, shown in ((1, "a"), (2, "b"))
    ]


def smallest_joint_crowd(first, second):
    """The fewest rows that could be anyone's in either release, given the other; from the definition."""
    found = []
    for person, own in first.items():
        other = second[person]
        here = [row for row in first.values() if row[:2] == own[:2]]
        there = [row for row in second.values() if row[:2] == other[:2]]
        linked = {row[2] for row in here} & {row[2] for row in there}
        found += [sum(row[2] in linked for row in rows) for rows in (here, there)]
    return min(found)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(3))
def test_two_views_of_the_same_people_leave_everyone_a_crowd(tmp_path, method, seed):
    assert smallest_joint_crowd(*views(tmp_path, seed, method)) >= 3


def test_recipients_who_do_not_share_are_not_joined(tmp_path):
    crowds = [smallest_joint_crowd(*views(tmp_path / str(seed), seed, "cover", ("one", "two"))) for seed in range(3)]
    assert min(crowds) < 3


def test_nobody_waits_longer_than_allowed(tmp_path):
    draw = random.Random(3)
    rows, waited = [], {}
    for number in range(1, 9):
        rows += [[f"{number}.{person}", str(draw.randrange(60)), draw.choice("ab"), "x"] for person in range(12)]
        table = pa.table([pa.array(column) for column in zip(*rows, strict=True)], ["id", "age", "sex", "illness"])
        make(table, tmp_path, wait=2, method="mondrian").write(tmp_path / f"{number}.csv")
        for person in Ledger.read(tmp_path / "ledger").waiting(number):
            waited[person] = waited.get(person, 0) + 1
    assert max(waited.values()) == 2
    assert [path.name for path in tmp_path.glob("*.recoding.json")] == ["1.recoding.json"]  # of people who may wait


@pytest.mark.parametrize("recipient", ["", "one"])
def test_what_would_help_is_tried_out(tmp_path, recipient):
    """Too few of every crowd of the first view stay away from the second, unless nothing links the two."""
    rows = pa.table({"id": [*range(12)], "a": [*"xxxyyyxxxyyy"], "b": [*"uuvvuuvvuuvv"], "illness": [*"pqpq" * 3]})
    words = {"k": 3, "unit": "id", "method": "mondrian", "ledger": tmp_path / "ledger", "recipient": recipient}
    first = {"quasi_identifiers": ["a"], "identifiers": ["b"], "keep": ["illness"]}
    incrowd.anonymize(rows, **words, **first).write(tmp_path / "1.csv")
    other = {"quasi_identifiers": ["b"], "identifiers": ["a"], "keep": ["illness"]}
    few = rows.take([0, 1, 3, 4])  # of every crowd of six, two are in the table
    with pytest.raises(InfeasibleError) as refused:
        incrowd.anonymize(few, **words, **other)
    assert str(refused.value).startswith("beside release 1 of the ledger, 4 people of this table would stand out")
    elsewhere = ", name a recipient who gets nothing else with --recipient (4 rows)" if recipient else ""
    assert str(refused.value).endswith(f"tried out, these would help: drop the column illness (4 rows){elsewhere}")
    helped = {**words, "quasi_identifiers": ["b"], "identifiers": ["a", "illness"]}
    assert incrowd.anonymize(few, **helped).sent.new.num_rows == 4
    again = {**words, **first, "quasi_identifiers": ["a"], "k": 4}
    with pytest.raises(InfeasibleError, match=r"would stand out.*drop the column illness"):
        incrowd.anonymize(few, **again)


def test_a_larger_k_than_that_of_earlier_crowds_is_refused_before_the_search(tmp_path):
    rows = pa.table({"id": [*range(12)], "a": [*"xxxyyyzzzwww"], "b": [*"uuvv" * 3], "illness": [*"pqpq" * 3]})
    words = {"unit": "id", "method": "mondrian", "ledger": tmp_path / "ledger", "keep": ["illness"]}
    first = incrowd.anonymize(rows, quasi_identifiers=["a"], k=3, identifiers=["b"], **words)
    first.write(tmp_path / "1.csv")
    with pytest.raises(InfeasibleError) as refused:
        incrowd.anonymize(rows, quasi_identifiers=["b"], k=4, identifiers=["a"], **words)
    assert str(refused.value).startswith(
        "beside release 1 of the ledger, 12 people would share what was released of them with fewer than 4; tried out, "
        "these would help: drop the column illness (12 rows), ask for a k of 3 (12 rows)"
    )
    incrowd.anonymize(rows, quasi_identifiers=["b"], k=3, identifiers=["a"], **words).write(tmp_path / "2.csv")


def test_dropping_a_column_that_an_earlier_release_shows_as_it_is_is_tried(tmp_path):
    """The second release recodes `sex`, which the first one shows; nothing else links them."""
    rows = pa.table({"id": [*range(12)], "a": [*"xxxyyyxxxyyy"], "b": [*"uuvvuuvvuuvv"], "sex": [*"fm" * 6]})
    words = {"k": 3, "unit": "id", "method": "mondrian", "ledger": tmp_path / "ledger"}
    incrowd.anonymize(rows, quasi_identifiers=["a"], identifiers=["b"], keep=["sex"], **words).write(tmp_path / "1.csv")
    few = rows.take([0, 1, 3, 4])  # of every crowd of six, two are in the table
    with pytest.raises(InfeasibleError, match=r"4 people .* would help: drop the column sex \(4 rows\)"):
        incrowd.anonymize(few, quasi_identifiers=["b", "sex"], identifiers=["a"], **words)
    incrowd.anonymize(few, quasi_identifiers=["b"], identifiers=["a", "sex"], **words).write(tmp_path / "2.csv")


def test_people_of_another_view_wait_where_too_few_of_their_crowd_stay_away(tmp_path):
    draw = random.Random(4)
    people = {name: [str(draw.randrange(3)) for _ in range(40)] for name in "ab"}
    rows = pa.table({"id": [str(person) for person in range(40)], **people, "illness": draw.choices("xyz", k=40)})
    for number, (shown, other) in enumerate((("a", "b"), ("b", "a"))):
        incrowd.anonymize(
            rows.slice(number), quasi_identifiers=[shown], k=3, unit="id", identifiers=[other], keep=["illness"],
            method="mondrian", ledger=tmp_path / "ledger",
        ).write(tmp_path / f"{number}.csv")  # fmt: skip
    ledger = Ledger.read(tmp_path / "ledger")
    first, second = (set(ledger.rows(number)[PERSONS].to_pylist()) for number in (1, 2))
    labels = dict(zip(ledger.rows(1)[PERSONS].to_pylist(), ledger.rows(1)["a"].to_pylist(), strict=True))
    away = Counter(labels[person] for person in first - second)
    assert sum(away.values()) > 1
    assert min(away.values()) >= 3
    assert ledger.releases[1].waiting == sum(away.values()) - 1


def test_the_witness_refuses_what_the_search_overlooked(tmp_path, monkeypatch):
    monkeypatch.setattr(SharedHistory, "threshold", 0)
    with pytest.raises(NotAnonymousError, match="does not hold for several releases together"):
        views(tmp_path, 0, "mondrian")
    assert not (tmp_path / "1.csv").exists()
    assert len(Ledger.read(tmp_path / "ledger").releases) == 1


@pytest.mark.parametrize("engine", ["arrow", "duckdb"])
@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow"])
def test_files_of_every_kind_are_continued(tmp_path, kind, engine):
    draw = random.Random(5)
    rows = {"id": [str(person) for person in range(60)], "age": [draw.randrange(20, 60) for _ in range(60)]}
    table = pa.table({**rows, "sex": draw.choices("ab", k=60), "illness": draw.choices("xyz", k=60)})
    for number, people in ((1, 40), (2, 60)):
        path = tmp_path / f"{number}.{kind}"
        {"csv": write_csv, "parquet": write_table, "arrow": write_feather}[kind](table.slice(0, people), path)
        make(path, tmp_path, engine=engine).write(tmp_path / f"release-{number}.{kind}")
    assert Ledger.read(tmp_path / "ledger").releases[1].records == 60


@pytest.mark.real_keys
def test_a_lost_ledger_is_noticed_where_a_release_of_the_table_lies_beside(tmp_path):
    table = tmp_path / "people.csv"
    write_csv(Table(1).arrow(), table)
    for number in (1, 2):
        arguments = ("anonymize", table, "-o", tmp_path / f"{number}.csv", "--qi", "age,sex", "--k", 2, "--unit", "id")
        done = run(*arguments, "--keep", "illness", "--ledger", tmp_path / "ledger")
        assert done.exit_code == 0, done.output
        rmtree(tmp_path / "ledger")
        said = " ".join(done.output.split())
        assert ("this table was released before, as 1" in said) == (number == 2)


@pytest.mark.parametrize(
    "recipients",
    [("", "two"), ("one", ""), ("Ministry", " ministry "), ("Amt  für X", "amt fu\u0308r x"), ("one", " ")],
)
def test_what_anyone_or_the_same_recipient_has_is_joined(tmp_path, recipients):
    for seed in range(3):
        assert smallest_joint_crowd(*views(tmp_path / str(seed), seed, "cover", recipients)) >= 3


def test_a_release_to_anyone_is_continued_by_those_to_anybody(tmp_path):
    table, found = Table(4), []
    for number, recipient in enumerate(("", "one", "", "two", "one")):
        table.rows += [table.person() for _ in range(12)]
        release = make(table.arrow(), tmp_path, recipient=recipient)
        found.append(release.write(tmp_path / f"{number}.csv").releases["continues"])
    assert found == [[], [1], [1, 2], [1, 2, 3], [1, 2, 3]]
    table.rows += [table.person() for _ in range(12)]
    with pytest.raises(InfeasibleError) as refused:  # anyone would tie together what one and two got apart
        make(table.arrow(), tmp_path)  # nothing is searched
    assert str(refused.value) == (
        "releases 4, 5 of the ledger went to different recipients, and whoever gets this one may have them all: beside "
        "each other, the crowd of 9 people would be too small; tried out, these would help: drop the column illness "
        "(87 rows), name a recipient who gets nothing else with --recipient (87 rows), give it to one alone with "
        "--recipient (87 rows), give it to two alone with --recipient (87 rows)"
    )


def test_rows_of_a_ledger_leave_by_write_alone(tmp_path):
    release = make(Table(1).arrow(), tmp_path)
    with pytest.raises(PolicyError, match="entered in it"):
        _ = release.data
    assert not (tmp_path / "ledger").exists()
    table = Table(1)
    release.write(tmp_path / "1.csv")
    table.rows += [table.person() for _ in range(6)]
    later = make(table.arrow(), tmp_path)
    assert later.attack(trials=10).people == len(table.rows)


@pytest.mark.real_keys
def test_people_must_be_known_by_the_same(tmp_path):
    table = Table(1)
    make(table.arrow(), tmp_path).write(tmp_path / "1.csv")
    table.rows += [table.person() for _ in range(6)]
    whole = {"quasi_identifiers": QI, "k": 2, "keep": ["illness"], "identifiers": ["id"], "ledger": tmp_path / "ledger"}
    with pytest.raises(PolicyError, match="knows people by 'id', and this one by whole records"):
        incrowd.anonymize(table.arrow(), **whole)
    whole["ledger"] = tmp_path / "other"
    incrowd.anonymize(table.arrow(), **whole).write(tmp_path / "2.csv")
    written = pa.array([f"0{row[0]}" for row in table.rows])
    with pytest.raises(PolicyError, match="known by 'id': a column 'id' that is written differently"):
        make(table.arrow().set_column(0, "id", written), tmp_path)
    rows = table.arrow().append_column("new", pa.array(["y"] * len(table.rows)))
    with pytest.raises(PolicyError, match="nobody of release 1 of the ledger is in this table"):
        incrowd.anonymize(rows, **{**whole, "identifiers": ["id", "new"]})


@pytest.mark.real_keys
def test_an_older_copy_of_a_ledger_is_noticed_where_a_release_that_it_lacks_lies_beside(tmp_path):
    table = Table(1)
    for number in range(1, 4):
        if number == 2:
            copytree(tmp_path / "ledger", tmp_path / "backup")
        make(table.arrow(), tmp_path).write(tmp_path / f"{number}.csv")
        table.rows += [table.person() for _ in range(6)]
    rmtree(tmp_path / "ledger")
    (tmp_path / "backup").rename(tmp_path / "ledger")
    with pytest.raises(DataError, match=r"2 in .* is release 2 of this ledger, which does not know it"):
        make(table.arrow(), tmp_path).write(tmp_path / "4.csv")
    assert not (tmp_path / "4.csv").exists()
    assert len(Ledger.read(tmp_path / "ledger").releases) == 1
    make(table.arrow(), tmp_path, ledger=tmp_path / "another").write(tmp_path / "4.csv")


def test_a_new_ledger_is_noticed(tmp_path):
    first = make(Table(1).arrow(), tmp_path, recipient="one")
    first.write(tmp_path / "1.csv")
    later = make(Table(1).arrow(), tmp_path, recipient="two")
    news = [any("check its folder's name" in note for note in each.notes) for each in (first, later)]
    assert news == [True, False]


def test_releases_to_others_are_named(tmp_path):
    make(Table(1).arrow(), tmp_path, recipient="one").write(tmp_path / "1.csv")
    notes = make(Table(1).arrow(), tmp_path, recipient="two").notes
    assert any("release 1 of the ledger went to others" in note for note in notes)


@pytest.mark.filterwarnings("ignore:nothing is promised")
@pytest.mark.parametrize("illness", [["flu"], ["flu", "cold"]])
def test_what_is_promised_unasked_holds_for_later_releases(tmp_path, illness):
    """A sensitive column gets l = 2 unless it has a single value; the next release continues either way."""
    for name, number in ("january", 40), ("february", 60):
        rows = {"id": [*range(number)], "age": [20 + i % 6 for i in range(number)], "illness": (illness * 60)[:number]}
        words = {"quasi_identifiers": ["age"], "k": 5, "unit": "id", "sensitive": ["illness"]}
        release = incrowd.anonymize(pa.table(rows), **words, ledger=tmp_path / "ledger")
        release.write(tmp_path / f"{name}.csv")
        assert ("l=2 of illness" in map(str, release.policy.requirements[0].models)) == (len(illness) > 1)
    assert [entry.continues for entry in Ledger.read(tmp_path / "ledger").releases] == [None, 1]
