"""Local searches in slices: however the work is cut the result is the same, and an end is noticed between slices."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

import incrowd
from incrowd.key import Key
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Requirement
from incrowd.run import Amount, Run
from incrowd.search.clustering.cover import cover
from incrowd.search.clustering.kaca import kaca
from incrowd.table.attributes import encode
from incrowd.table.class_counts import ClassCounts
from incrowd.table.compressed import CompressedTable

NAMES = ("age", "job", "zip")
SEARCHES = {
    "kaca": kaca,
    "kaca2": lambda *words: kaca(*words, max_inconsistency=0.1),
    "cover": lambda *words: cover(*words, effort=0),
    "cover for dm": lambda *words: cover(*words, objective="dm", effort=0),
    "cover with one round": lambda *words: cover(*words, rounds=1, effort=0),
}


class Cut(Run):
    """A run that cuts work into slices of a fixed amount."""

    def __init__(self, amount, seed=0):
        super().__init__(key=Key.for_experiments(seed))
        self.amounts = amount

    def in_slices(self, work):
        while not work(self.amounts):
            self.check()


def table_of(seed, records=300):
    draws = np.random.default_rng(seed)
    trees = [incrowd.Intervals((2, 6, 18)).build([str(i) for i in range(36)]) for _ in NAMES]
    columns = [draws.integers(0, 36, records) ** 2 // 36 for _ in NAMES]
    encoded = [
        encode(name, pa.array([str(i) for i in range(36)]), has_missing=False, taxonomy=tree)
        for name, tree in zip(NAMES, trees, strict=True)
    ]
    codes = [code_of[column] for (_, code_of), column in zip(encoded, columns, strict=True)]
    return CompressedTable.build([attribute for attribute, _ in encoded], codes, np.ones(records, np.int64))


def needed(k=5):
    return (Requirement(NAMES, (KAnonymity(k),)),)


@pytest.mark.parametrize("search", SEARCHES)
@examples(10)
@given(st.integers(0, 1000), st.integers(2, 20))
def test_how_the_work_is_cut_changes_nothing(search, seed, k):
    table = table_of(seed)
    whole = SEARCHES[search](table, needed(k), Cut(2**60, seed))
    for amount in (1, 7, 1000):
        again = SEARCHES[search](table, needed(k), Cut(amount, seed))
        assert again.recoding == whole.recoding
        assert again.facts == whole.facts


@pytest.mark.parametrize("search", SEARCHES)
def test_progress_is_told_in_amounts_that_do_not_exceed_the_total(search):
    events = []
    SEARCHES[search](table_of(0), needed(), Run(events.append))
    amounts = [event for event in events if isinstance(event, Amount) and event.total is not None]
    assert amounts
    assert all(0 <= amount.done <= amount.total for amount in amounts)


class Stopped(Cut):
    """A run that is asked to stop after some slices of the exchange."""

    def __init__(self, after):
        super().__init__(20)
        self.after, self.slices = after, 0

    def amount(self, done, total, unit):
        if "sweep" in unit:
            assert self.anytime
            self.slices += 1
            if self.slices > self.after:
                self.stop("interrupted")


def test_the_exchange_may_be_stopped_at_any_moment():
    """The longer it goes on the less is lost, and every class is good at any moment."""
    table, wanted = table_of(3, 2000), needed()
    to_the_end = Stopped(10**9)
    cover(table, wanted, to_the_end, rounds=1, effort=0)
    assert not to_the_end.ended_early
    lost = []
    for share in (0, 0.3, 0.5, 0.7, 1):
        run = Stopped(int(share * to_the_end.slices))
        mapping = cover(table, wanted, run, rounds=1, effort=0).recoding.mapping
        assert run.ended_early == ("interrupted" if share < 1 else "")
        records = np.bincount(mapping.part_classes, mapping.part_records)
        assert wanted[0].good(ClassCounts(records)).all()
        assert records.sum() == table.records
        columns = zip(mapping.hierarchies, table.attributes, mapping.classes.T, strict=True)
        lost.append(sum(records @ hierarchy.losses(attribute)[nodes] for hierarchy, attribute, nodes in columns))
    assert lost == sorted(lost, reverse=True)
    assert lost[0] > lost[1] > lost[-1]
