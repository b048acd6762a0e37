"""What released labels stand for, label by label, and candidates against a slow reference."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.attacks.covers import cover_of
from incrowd.attacks.crowds import Crowds
from incrowd.attacks.problem import Released, Table
from incrowd.run import Run
from incrowd.taxonomies.rules import Calendar, Intervals, Prefix
from incrowd.taxonomies.taxonomy import Taxonomy

AGES = (None, "18", "20", "24", "25", "30", "65", "70")
ZIPS = (None, "12345", "12399", "1239", "99999")
JOBS = (None, "nurse", "clerk, senior", "smith", "guard")
DAYS = (None, "1984-05-17", "1984-05-30", "1984-06-01", "1990-01-01")
TREE = Taxonomy.from_tree({"*": {"care": ["nurse"], "other": ["clerk, senior", "smith", "guard"]}})


def covered(values, label, **known):
    """The values that a label stands for, None for missing ones."""
    cover = cover_of("x", values, (None, label), **known)
    held = cover.holds(np.array([1]), cover.atom_of)
    assert (not held.any()) == (cover.unread == (label,))
    return {value for value, holds in zip(values, held, strict=True) if holds}


@pytest.mark.parametrize(
    ("values", "label", "meant"),
    [
        (AGES, "*", {*AGES}),
        (AGES, "known", {*AGES[1:]}),
        (AGES, "25", {"25"}),
        (AGES, "25.0", {"25"}),
        (AGES, "26", set()),
        (AGES, "[20-25)", {"20", "24"}),
        (AGES, "[20-25]", {"20", "24", "25"}),
        (AGES, "[20, 25[", {"20", "24"}),
        (AGES, "]20, 25]", {"24", "25"}),
        (AGES, "(20, 25]", {"24", "25"}),
        (AGES, "(18.0, 25.0]", {"20", "24", "25"}),
        (AGES, "[-5 to 19)", {"18"}),
        (AGES, "20-24", {"20", "24"}),
        (AGES, "20 - 24", {"20", "24"}),
        (AGES, "20..24", {"20", "24"}),
        (AGES, "<20", {"18"}),
        (AGES, "<=20", {"18", "20"}),
        (AGES, "≤ 20", {"18", "20"}),
        (AGES, ">65", {"70"}),
        (AGES, ">=65", {"65", "70"}),
        (AGES, "65+", {"65", "70"}),
        (AGES, "{18, 70}", {"18", "70"}),
        (AGES, "{18, missing}", {"18", None}),
        (ZIPS, "123**", {"12345", "12399"}),
        (ZIPS, "123*", {"1239"}),
        (ZIPS, "1*", {"12345", "12399", "1239"}),
        (ZIPS, "*****", {*ZIPS}),
        (JOBS, "{clerk, senior, nurse}", {"clerk, senior", "nurse"}),
        (JOBS, "healer", set()),
        (DAYS, "1984-05", {"1984-05-17", "1984-05-30"}),
        (DAYS, "1984", {"1984-05-17", "1984-05-30", "1984-06-01"}),
        (DAYS, "[1984-05-30 to 1985-01-01)", {"1984-05-30", "1984-06-01"}),
    ],
)
def test_a_label_means(values, label, meant):
    assert covered(values, label) == meant


def test_a_codebook_is_believed_before_a_taxonomy_and_that_before_the_grammar():
    assert covered(JOBS, "care", tree=TREE) == {"nurse"}
    assert covered(JOBS, "other", tree=TREE) == {"clerk, senior", "smith", "guard"}
    assert covered(JOBS, "care", tree=TREE, meanings={"care": frozenset({"smith"})}) == {"smith"}
    assert covered(AGES, "young", meanings={"young": frozenset({"18", "20", "99"})}) == {"18", "20"}


def test_rules_say_what_their_labels_mean():
    assert covered(AGES, "[20-25)", tree=Intervals((5, 10))) == {"20", "24"}
    assert covered(ZIPS, "12***", tree=Prefix((3, 2))) == {"12345", "12399"}
    assert covered(DAYS, "1984-Q2", tree=Calendar(("quarter", "year"))) == {"1984-05-17", "1984-05-30", "1984-06-01"}


@pytest.mark.parametrize(("empty_is_any", "meant"), [(False, {None}), (True, {*AGES})])
def test_an_empty_cell_is_a_missing_value_or_a_suppressed_one(empty_is_any, meant):
    cover = cover_of("age", AGES, (None,), empty_is_any=empty_is_any)
    held = cover.holds(np.array([0]), cover.atom_of)
    assert {value for value, holds in zip(AGES, held, strict=True) if holds} == meant


def test_shares_count_the_records_that_a_label_stands_for():
    cover = cover_of("age", AGES, (None, "[20-25)", "{18, 70}", "*"))
    counts = np.array([2.0, 1, 3, 4, 0, 0, 0, 5])
    assert cover.shares(counts).tolist() == [2 / 15, 7 / 15, 6 / 15, 1.0]


LABELS = ("1", "2", "3", "5", "[1-3)", "[2-6]", "{1, 5}", "*", "known", ">=3")
NUMBERS = (None, "1", "2", "3", "4", "5")


@st.composite
def tables(draw):
    columns = ("a", "b", "c")[: draw(st.integers(1, 3))]
    kinds = draw(st.sampled_from([LABELS, LABELS[:4]]))  # with exact labels alone, crowds are found by grouping
    people, rows = draw(st.integers(1, 8)), draw(st.integers(1, 12))
    originals = {c: draw(st.lists(st.integers(0, 5), min_size=people, max_size=people)) for c in columns}
    released = {c: draw(st.lists(st.integers(0, len(kinds)), min_size=rows, max_size=rows)) for c in columns}
    return columns, kinds, originals, released


@settings(max_examples=150, deadline=None)
@given(tables())
def test_candidates_are_those_of_a_slow_reference(drawn):
    columns, kinds, originals, released = drawn
    covers = {c: cover_of(c, NUMBERS, (None, *kinds)) for c in columns}
    texts = dict.fromkeys(columns, (None, *kinds))
    table = Table("release", {c: np.array(codes, np.intp) for c, codes in released.items()}, texts)
    crowds = Crowds.of(Released(table, covers), columns)
    people = [np.array(originals[c], np.intp) for c in columns]
    expected, crowds_of = [], []
    for person in zip(*(originals[c] for c in columns), strict=True):
        fitting = [
            row
            for row in zip(*(released[c] for c in columns), strict=True)
            if all(
                NUMBERS[value] in meant(texts[c][label]) for c, value, label in zip(columns, person, row, strict=True)
            )
        ]
        expected.append(len(fitting))
        crowds_of.append(len(set(fitting)))
    assert crowds.candidates(people, Run()).tolist() == expected
    assert (crowds.only_crowd(people, Run()) >= 0).tolist() == [number == 1 for number in crowds_of]


def meant(label):
    """What the labels above mean, by hand."""
    if label is None:
        return {None}
    return {
        "[1-3)": {"1", "2"},
        "[2-6]": {"2", "3", "4", "5"},
        "{1, 5}": {"1", "5"},
        "*": {*NUMBERS},
        "known": {*NUMBERS[1:]},
        ">=3": {"3", "4", "5"},
    }.get(label, {label})


def test_many_values_take_little_memory():
    """A column that passes untouched is not a square of its values."""
    values = (None, *map(str, range(30_000)))
    cover = cover_of("id", values, values)
    assert cover.sets.nbytes < 100_000
    assert cover.label_of is not None
    assert pa.total_allocated_bytes() < 1 << 30
