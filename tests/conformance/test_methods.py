"""What every method promises, by itself and with the options that change what it may do.

A method that is registered is run through all of it without a test of its own. A table is released once in each way,
and all promises look at that release.
"""

import json
import os
import pickle
import random
import signal
import threading
import warnings
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import count

import numpy as np
import pyarrow as pa
import pytest
from tests.conformance.tables import Case, cases, covers
from tests.examples import EFFORT, some_of
from tests.methods import ANY_TABLE as METHODS

import incrowd
from incrowd.cli.methods import explained
from incrowd.engines.reading import compressed
from incrowd.engines.registry import engine_of
from incrowd.errors import CancelledError, InfeasibleError, PolicyError, ReleaseWarning, TimeLimitError
from incrowd.formats.registry import open_source
from incrowd.policy.making import make_policy
from incrowd.recodings.attributes.disclosure import Disclosure
from incrowd.recodings.attributes.intervals import Intervals
from incrowd.recodings.attributes.partition import Partition
from incrowd.recodings.reading import read_recoding
from incrowd.release.release import release_of as search_release
from incrowd.run import Run, Stage, StepTaken
from incrowd.search.method import SUPPRESS
from incrowd.settled import Settled
from incrowd.taxonomies.taxonomy import Taxonomy

pytestmark = pytest.mark.filterwarnings("ignore:ranges of:incrowd.errors.ReleaseWarning")  # they fit the target

DRAW = random.Random(7)
NORTH, SOUTH = [f"n{i}" for i in range(7)], [f"s{i}" for i in range(5)]
PEOPLE = pa.table(
    {
        "name": [f"person {number}" for number in range(150)],
        "place": DRAW.choices([*NORTH, *SOUTH, None], range(1, 14), k=150),
        "sex": DRAW.choices("fm", k=150),
        "income": DRAW.choices(["high", "low"], k=150),
        "wage": [DRAW.random() for _ in range(150)],
    }
)
SIBLINGS = {
    "quasi_identifiers": ["place", "sex"],
    "k": 6,
    "taxonomies": {"place": Taxonomy.from_tree({"*": {"north": NORTH, "south": SOUTH}})},
    "identifiers": ["name"],
    "keep": ["wage"],
    "target": "income",
}
CASES = {**cases(), "many siblings": Case(PEOPLE, SIBLINGS)}

SHARE = 0.2
WAYS = {
    **{method: (method, {}) for method in METHODS},
    **{
        f"{name}, leaving out": (name, {"suppress": SHARE})
        for name, method in METHODS.items()
        if method.options.get("suppress") == SUPPRESS
    },
    "bug, in groups": ("bug", {"partial": True}),
    "bug, in groups, leaving out": ("bug", {"partial": True, "suppress": SHARE}),
    "bug, suppressing values": ("bug", {"suppress_values": 0.4}),
    "bug, everything": ("bug", {"partial": True, "suppress_values": 0.4, "tighten": True}),
    "tdr, one by one": ("tdr", {"partial": True}),
    "tdr, one by one, leaving out": ("tdr", {"partial": True, "suppress": SHARE}),
    "tds, one by one, again": ("tds", {"partial": True, "restarts": 1}),
    "cover, for the target": ("cover", {"objective": "target"}),
}
PARTING = [
    way
    for way, (_, options) in WAYS.items()
    if {"partial", "suppress_values"} & {*options} and "suppress" not in options
]


def cases_of(way, number):
    """The tables of a way: all of them in `make check`, and this many in `make test`."""
    named = [name for name, case in CASES.items() if way != "cover, for the target" or "target" in case.words]
    return named if EFFORT != "test" else some_of(named, number, list(WAYS).index(way))


def each(number, plain=None):
    """Every way with some tables, and the methods by themselves with more."""
    tried = [(way, name) for way in WAYS for name in cases_of(way, number if WAYS[way][1] else plain or number)]
    return pytest.mark.parametrize(("way", "name"), tried, ids=[f"{way}-{name}" for way, name in tried])


EVERY = pytest.mark.parametrize("way", WAYS)
EVERYWHERE = each(3, len(CASES))


@contextmanager
def with_options_that_win(options):
    """A search with options that may lose more than one without them keeps what it found with them."""
    with pytest.MonkeyPatch.context() as patch:
        if {"partial", "suppress_values"} & {*options}:
            later = count(0, -1)
            patch.setattr("incrowd.search.bottom_up.bottom_up._Search.loses_less_than", lambda *_: True)
            patch.setattr("incrowd.search.top_down.top_down.cost_of", lambda *_: next(later))
        yield


def made(way, name, table=None, **words):
    """A new release of a table, with the names of people in it."""
    (method, options), case = WAYS[way], CASES[name]
    limit = {"time_limit": 20} if method == "optimal" else {}
    asked = {**case.words, "identifiers": (), "keep": case.kept, **limit, **options, **words}
    with with_options_that_win(options):
        return incrowd.anonymize(case.table if table is None else table, method=method, **asked)


release_of = cache(made)


def one_case(way):
    return "with a target" if way == "cover, for the target" else "mixed"


def rows_of(table):
    """Rows as a multiset."""
    return Counter(map(repr, table.to_pylist()))


def crowds_of(data, columns):
    return Counter(zip(*(data.column(name).to_pylist() for name in columns), strict=True))


@EVERYWHERE
def test_everyone_stands_in_a_crowd_and_few_are_left_out(way, name):
    """Counted from the released rows in plain Python."""
    release, case, (_, options) = release_of(way, name), CASES[name], WAYS[way]
    crowds, total = crowds_of(release.data, case.columns), release.measures.total
    assert not crowds or min(crowds.values()) >= case.words["k"]
    complete = sum(all(row[column] is not None for column in case.columns) for row in case.table.to_pylist())
    records = complete if case.words.get("missing") == "drop" else len(case.table)
    assert release.table.records == records == len(release.data) + total.suppressed
    assert total.anonymity == min(crowds.values(), default=0)
    if "suppress" in options:
        assert total.suppressed <= int(Fraction(str(SHARE)) * records)
        assert release.found.facts.get("suppressed_records", 0) == total.suppressed


@EVERYWHERE
def test_released_values_cover_the_original_ones_and_all_else_stays(way, name):
    release, case = release_of(way, name), CASES[name]
    in_order = replace(release, settled=Settled(replace(release.policy, keep_order=True))).data
    assert rows_of(in_order) == rows_of(release.data)
    assert in_order.column_names == case.table.column_names
    untouched = [column for column in in_order.column_names if column not in case.columns]
    assert in_order.select(untouched).schema.types == case.table.select(untouched).schema.types
    if not untouched and len(in_order) < len(case.table):
        return  # nothing says whose rows these are
    numeric = {field.name for field in case.table.schema if not pa.types.is_string(field.type)}
    trees, originals = case.words.get("taxonomies", {}), iter(case.table.to_pylist())
    for row in in_order.to_pylist():
        original = next(other for other in originals if all(other[column] == row[column] for column in untouched))
        for column in case.columns:
            assert covers(row[column], original[column], trees.get(column), column in numeric), (column, row, original)


@EVERYWHERE
def test_the_recoding_survives_json_and_applies_to_the_same_rows_alike(way, name, tmp_path):
    release, case = release_of(way, name), CASES[name]
    release.recoding.write(tmp_path / "x.recoding.json")
    again = read_recoding(tmp_path / "x.recoding.json")
    assert again == release.recoding
    assert json.loads(json.dumps(release.to_json())) is not None
    if again.by_value:
        assert rows_of(incrowd.apply(again, case.table, keep=case.kept)) == rows_of(release.data)


@EVERYWHERE
def test_rows_are_applied_to_as_new_ones_and_by_what_is_public_alone(way, name, tmp_path):
    """Rows of the release are in a class that has others' labels too; only those left out may fit none."""
    release, case = release_of(way, name), CASES[name]
    if release.recoding.by_value:
        return
    release.recoding.for_new_rows.write(tmp_path / "x.recoding.json")
    public = read_recoding(tmp_path / "x.recoding.json")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", ReleaseWarning)
        new = incrowd.apply(public, case.table, keep=case.kept)
        assert rows_of(incrowd.apply(release.recoding, case.table, keep=case.kept)) == rows_of(new)
    assert len(new) == len(case.table) - release.table.incomplete
    classes = set(rows_of(release.data.select(case.columns)))
    alone = sum(repr(row) not in classes for row in new.select(case.columns).to_pylist())
    assert alone <= release.measures.total.suppressed
    assert bool(told) == (alone > 0)


@each(2)
def test_what_is_written_keeps_what_its_certificate_claims(way, name, tmp_path):
    release_of(way, name).write(tmp_path / "out.csv")
    assert incrowd.check_certificate(tmp_path / "out.certificate.json", tmp_path / "out.csv").holds


@EVERYWHERE
def test_what_goes_out_is_made_of_released_values_alone(way, name):
    """Bounds of intervals are released numbers, or right above one; shown categories are released ones."""
    release, table = release_of(way, name), CASES[name].table
    if release.recoding.is_confidential or not 0 < len(release.data) < len(table) or "name" not in table.column_names:
        return
    released = set(release.data.column("name").to_pylist())
    kept = table.filter(pa.array([person in released for person in table.column("name").to_pylist()]))
    for recoding in release.recoding.attributes:
        values = [value for value in kept.column(recoding.name).to_pylist() if value is not None]
        if isinstance(recoding, Disclosure):
            assert set(recoding.shown) <= set(values)
        if isinstance(recoding, Intervals):
            numbers = [recoding.scale.number(str(value), recoding.name) for value in values]
            above = [np.nextafter(n, np.inf) if recoding.scale.kind == "number" else n + 1 for n in numbers]
            assert set(recoding.bounds) <= {*numbers, *above}
            assert set(recoding.exact) <= set(numbers)


@each(2)
def test_the_order_of_rows_and_columns_does_not_matter(way, name):
    table = CASES[name].table
    order = random.Random(3).sample(range(len(table)), len(table))
    other = made(way, name, table.take(pa.array(order)).select(table.column_names[::-1]))
    assert rows_of(other.data.select(table.column_names)) == rows_of(release_of(way, name).data)


@pytest.mark.parametrize("way", PARTING)
def test_options_that_part_siblings_make_a_difference(way):
    """There is a table here whose release has sets of values, so that all of the above says something of them."""
    recodings = [release_of(way, name).recoding for name in (*cases_of(way, 3), "many siblings")]
    assert any(isinstance(column, Partition) for recoding in recodings for column in recoding.attributes)


@EVERY
def test_the_same_key_gives_the_same_release_and_steps_are_told_as_they_happen(way):
    release, events = release_of(way, "with a target"), []
    again = made(way, "with a target", key=release.key, progress=events.append)
    assert again.data.equals(release.data)
    assert [event.name for event in events if isinstance(event, Stage)] == ["reading", "searching"]
    if release.steps:
        assert tuple(event.step for event in events if isinstance(event, StepTaken)) == release.steps


@EVERY
def test_a_release_can_be_sent_to_another_process(way):
    release = release_of(way, "with a target")
    again = pickle.loads(pickle.dumps(release))
    assert again.data.equals(release.data)
    assert again.measures == release.measures
    if release.found.begins is not None:
        assert again.at(0).recoding == release.at(0).recoding


@EVERY
def test_the_release_at_every_step_can_be_measured(way):
    release, case = release_of(way, "with a target"), CASES["with a target"]
    if release.found.begins is None:
        with pytest.raises(PolicyError, match="keeps no release at a step"):
            release.at(0)
        return
    for number in range(len(release.steps)):  # the last one may also leave records out
        at = release.at(number)
        reached = min(release.steps[number - 1].anonymity) if number else 0
        if "suppress" not in WAYS[way][1]:
            assert not number or at.measures.total.anonymity == reached
        elif release.found.begins == "general":  # every step from the top is a release
            assert min(crowds_of(at.data, case.columns).values()) >= case.words["k"]
            assert len(case.table) - len(at.data) == at.measures.total.suppressed <= SHARE * len(case.table)
            assert at.measures.total.anonymity >= reached


def policy_of(way):
    method, options = WAYS[way]
    return make_policy(method=method, options=options, **CASES[one_case(way)].words)


def searched(way, run, **words):
    with with_options_that_win(WAYS[way][1]):
        return search_release(open_source(CASES[one_case(way)].table), policy_of(way), run, **words)


def cancelled_after(events):
    """A run that is cancelled after that many events of its search, and the events."""
    seen = []

    def watch(event):
        seen.append(event)
        if Stage("searching") in seen and len(seen) > events + 2:
            run.cancel()

    run = Run(watch)
    return run, seen


@EVERY
def test_a_cancelled_run_ends(way):
    for events in (0, 1, 3) if EFFORT != "test" or not WAYS[way][1] else (1,):
        run, seen = cancelled_after(events)
        try:
            searched(way, run)
        except CancelledError:
            continue
        assert len(seen) <= events + 3  # it was over before there was anything to say


class Interrupted(Run):
    """A run in which one interrupt arrives while a search is at work; it waits until another thread has answered."""

    arrived = False

    def __init__(self):
        super().__init__()
        self.answered = threading.Event()

    def cancel(self):
        super().cancel()
        self.answered.set()

    def should_continue(self):
        if self.searching and not self.arrived and threading.current_thread() is not threading.main_thread():
            self.arrived = True
            os.kill(os.getpid(), signal.SIGINT)
            assert self.answered.wait(60)
        return super().should_continue()


@EVERY
def test_an_interrupt_ends_it(way):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            searched(way, Interrupted())
    finally:
        signal.signal(signal.SIGINT, before)


@EVERY
def test_a_time_limit_ends_it_or_gives_what_there_is(way):
    case, method = CASES[one_case(way)], METHODS[WAYS[way][0]]
    run = Run()
    run.stop("time limit")
    run.anytime = True  # reading and encoding are not what is tried here
    table = compressed(engine_of(), open_source(case.table), policy_of(way), run)
    over = Run(lambda event: over.stop("time limit") if event == Stage("searching") else None)
    if not method.anytime:
        with pytest.raises(TimeLimitError):
            searched(way, over, table=table)
        return
    release = searched(way, over, table=table)
    assert release.found.facts["stopped"] == "time limit"
    assert any("stopped early" in note for note in release.notes)
    assert min(crowds_of(release.data, case.columns).values()) >= case.words["k"]


@EVERY
def test_several_quasi_identifiers_hold_or_are_refused_by_name(way):
    method, options = WAYS[way]
    qids = [incrowd.QuasiIdentifier(["age", "job"], 4), incrowd.QuasiIdentifier(["region", "job"], 6)]
    if not METHODS[method].several:
        able = ", ".join(name for name, other in METHODS.items() if other.several)
        with pytest.raises(PolicyError, match=f"The method '{method}' takes only one quasi-identifier.*{able}"):
            made(way, "with a target", quasi_identifiers=qids, k=None)
        return
    released = made(way, "with a target", quasi_identifiers=qids, k=None).data
    for qid in qids:
        assert min(crowds_of(released, qid.attributes).values(), default=qid.k) >= qid.k
    assert "suppress" not in options or 90 - len(released) <= SHARE * 90


@EVERY
def test_more_than_there_are_people_is_infeasible(way):
    with pytest.raises(InfeasibleError, match="no release can satisfy k=1000: the table has 90 records"):
        made(way, one_case(way), k=1000)


def losses(release):
    return {row["column"]: row["ncp"] for row in release.changes().to_rows()}


def test_every_method_takes_priorities():
    assert [name for name, method in METHODS.items() if "priorities" not in method.options] == []


@EVERY
def test_equal_priorities_change_nothing_and_unknown_columns_are_refused(way):
    name = one_case(way)
    equal = made(way, name, priorities=dict.fromkeys(CASES[name].columns, 3))
    assert losses(equal) == losses(release_of(way, name))
    with pytest.raises(PolicyError, match="no quasi-identifier column 'agee'"):
        made(way, name, priorities={"agee": 2})


# of these the loss of columns is what they optimise, and they draw nothing at random
@pytest.mark.parametrize("method", [name for name in METHODS if name not in ("auto", "tdr", "tds", "genetic", "kaca2")])
def test_a_column_that_matters_most_loses_no_more(method):
    plain = losses(release_of(method, "mixed"))
    column = max(plain, key=plain.__getitem__)
    assert losses(made(method, "mixed", priorities={column: 1000}))[column] <= plain[column] + 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_the_help_of_a_method_says_whether_it_leaves_out_records_unasked(method):
    """Leaving out one record in 61 would save all others from being coarsened."""
    table = pa.table({"age": [30] * 30 + [40] * 30 + [99], "job": ["nurse"] * 60 + ["smith"]})
    release = incrowd.anonymize(table, quasi_identifiers=["age", "job"], k=5, method=method)
    (line,) = [line for line in explained(method) if line.startswith("  records may be left out")]
    assert (len(release.data) < len(table)) == ("yes" in line)
