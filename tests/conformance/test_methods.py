"""What every method promises. A method that is registered is run through all of it without a test of its own."""

import json
import os
import pickle
import random
import signal
import threading
from collections import Counter
from math import inf

import pyarrow as pa
import pytest
from tests.conformance.tables import cases, covers

import incrowd
from incrowd.engines.reading import compressed
from incrowd.engines.registry import engine_of
from incrowd.errors import CancelledError, PolicyError, TimeLimitError
from incrowd.formats.registry import open_source
from incrowd.key import Key
from incrowd.pipeline import release_of
from incrowd.policy.words import make_policy
from incrowd.recodings.recoding import read_recoding
from incrowd.run import Run, Stage, StepTaken
from incrowd.search.registry import METHODS

CASES = cases()
EVERY = pytest.mark.parametrize("method", METHODS)
ANYWHERE = pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))


def made(case, method, table=None, **words):
    """The release of a case by a method."""
    return incrowd.anonymize(case.table if table is None else table, method=method, **{**case.words, **words})


def rows_of(table):
    """Rows as a multiset."""
    return Counter(map(repr, table.to_pylist()))


@EVERY
@ANYWHERE
def test_everyone_stands_in_a_crowd(method, case):
    """Counted from the released rows in plain Python; records that are left out are counted too."""
    release = made(case, method)
    released = release.data
    crowds = Counter(zip(*(released.column(name).to_pylist() for name in case.columns), strict=True))
    assert not crowds or min(crowds.values()) >= case.words["k"]
    complete = sum(all(row[name] is not None for name in case.columns) for row in case.table.to_pylist())
    expected = complete if case.words.get("missing") == "drop" else len(case.table)
    assert len(released) + release.measures.total.suppressed == expected
    assert release.measures.total.anonymity == min(crowds.values(), default=0)


@EVERY
@ANYWHERE
def test_every_released_value_stands_for_the_original_one(method, case):
    release = made(case, method, identifiers=(), keep=case.kept, keep_order=True)
    before = {repr((row.get("name"), row.get("wage"))): row for row in case.table.to_pylist()}
    numeric = {field.name for field in case.table.schema if not pa.types.is_string(field.type)}
    trees = case.words.get("taxonomies", {})
    rows, originals = release.data.to_pylist(), case.table.to_pylist()
    for place, row in enumerate(rows):
        original = before[repr((row["name"], row["wage"]))] if "name" in row else originals[place]
        for name in case.columns:
            assert covers(row[name], original[name], trees.get(name), name in numeric), (name, row, original)


@EVERY
@ANYWHERE
def test_rows_columns_and_all_else_stay_as_they_are(method, case):
    released = made(case, method, keep_order=True).data
    dropped = case.words.get("identifiers", [])
    assert released.column_names == [name for name in case.table.column_names if name not in dropped]
    untouched = [name for name in released.column_names if name not in case.columns]
    if untouched:
        places = iter(case.table.select(untouched).to_pylist())
        assert all(any(row == other for other in places) for row in released.select(untouched).to_pylist())
        assert released.select(untouched).schema.types == case.table.select(untouched).schema.types


@EVERY
@ANYWHERE
def test_the_recoding_survives_json_and_applies_to_the_same_rows_alike(method, case, tmp_path):
    release = made(case, method)
    release.recoding.write(tmp_path / "x.recoding.json")
    again = read_recoding(tmp_path / "x.recoding.json")
    assert again == release.recoding
    assert json.loads(json.dumps(release.to_json())) is not None
    assert rows_of(incrowd.apply(again, case.table, keep=case.words.get("keep", ()))) == rows_of(release.data)


@EVERY
def test_a_release_can_be_sent_to_another_process(method):
    case = CASES["with a target"]
    release = made(case, method)
    again = pickle.loads(pickle.dumps(release))
    assert again.data.equals(release.data)
    assert again.measures == release.measures
    if release.found.begins is not None:
        assert again.at(0).recoding == release.at(0).recoding


@EVERY
def test_the_release_at_every_step_can_be_measured(method):
    release = made(CASES["with a target"], method)
    if release.found.begins is None:
        with pytest.raises(PolicyError, match="keeps no release at a step"):
            release.at(0)
        return
    for number in range(len(release.steps)):  # the last one may also leave records out
        measures = release.at(number).measures
        if number:
            assert measures.total.anonymity == min(release.steps[number - 1].anonymity)


@EVERY
@ANYWHERE
def test_the_order_of_rows_and_columns_does_not_matter(method, case):
    if len(set(case.words["quasi_identifiers"])) < 2:
        return
    order = list(range(len(case.table)))
    random.Random(3).shuffle(order)
    moved = case.table.take(pa.array(order)).select(case.table.column_names[::-1])
    release, other = made(case, method), made(case, method, moved)
    assert rows_of(other.data.select(release.data.column_names)) == rows_of(release.data)


@EVERY
def test_the_same_key_gives_the_same_release(method):
    case, key = CASES["mixed"], Key.drawn()
    assert made(case, method, key=key).data.equals(made(case, method, key=key).data)


@EVERY
@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_cancelled_run_ends(method, after):
    """Cancelled at the start of the search, and after some events of it."""
    case, seen = CASES["mixed"], []
    run = None

    def watch(event):
        seen.append(event)
        if any(event == Stage("searching") for event in seen) and len(seen) > after + 2:
            run.cancel()

    run = Run(watch)
    policy = make_policy(method=method, **case.words)
    try:
        release_of(open_source(case.table), policy, run)
    except CancelledError:
        return
    assert len(seen) <= after + 3  # it was over before there was anything to say


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
def test_an_interrupt_ends_it(method):
    case = CASES["mixed"]
    policy = make_policy(method=method, **case.words)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            release_of(open_source(case.table), policy, Interrupted())
    finally:
        signal.signal(signal.SIGINT, before)


@EVERY
def test_a_time_limit_ends_it_or_gives_what_there_is(method):
    case = CASES["mixed"]
    policy = make_policy(method=method, **case.words)
    run = Run()
    run.stop("time limit")
    run.anytime = True  # reading and encoding are not what is tried here
    table = compressed(engine_of(), open_source(case.table), policy, run)
    if not METHODS[method].anytime:
        with pytest.raises(TimeLimitError):
            release_of(open_source(case.table), policy, _over(), table=table)
        return
    release = release_of(open_source(case.table), policy, _over(), table=table)
    assert release.found.facts["stopped"] == "time limit"
    assert any("stopped early" in note for note in release.notes)
    crowds = Counter(zip(*(release.data.column(name).to_pylist() for name in case.columns), strict=True))
    assert min(crowds.values()) >= case.words["k"]


def _over():
    """A run whose time is over when the search begins."""
    run = Run(lambda event: run.stop("time limit") if event == Stage("searching") else None)
    return run


@EVERY
def test_several_quasi_identifiers_hold_or_are_refused_by_name(method):
    case = CASES["with a target"]
    qids = [incrowd.QuasiIdentifier(["age", "job"], 4), incrowd.QuasiIdentifier(["region", "job"], 6)]
    words = {word: value for word, value in case.words.items() if word not in ("quasi_identifiers", "k")}
    if not METHODS[method].several:
        able = ", ".join(name for name, other in METHODS.items() if other.several)
        with pytest.raises(PolicyError, match=f"The method '{method}' takes only one quasi-identifier.*{able}"):
            incrowd.anonymize(case.table, quasi_identifiers=qids, method=method, **words)
        return
    released = incrowd.anonymize(case.table, quasi_identifiers=qids, method=method, **words).data
    for qid in qids:
        crowds = Counter(zip(*(released.column(name).to_pylist() for name in qid.attributes), strict=True))
        assert min(crowds.values(), default=inf) >= qid.k


@EVERY
def test_more_than_there_are_people_is_infeasible(method):
    case = CASES["mixed"]
    with pytest.raises(incrowd.InfeasibleError, match="no release can satisfy k=1000: the table has 90 records"):
        made(case, method, k=1000)


@EVERY
def test_steps_are_told_as_they_happen(method):
    events = []
    release = made(CASES["with a target"], method, progress=events.append)
    told = [event.step for event in events if isinstance(event, StepTaken)]
    assert [event.name for event in events if isinstance(event, Stage)] == ["reading", "searching"]
    if release.steps:
        assert tuple(told) == release.steps
