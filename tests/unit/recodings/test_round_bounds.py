"""Bounds of ranges are rounded outward: round, around every value of their class, and no dearer than they may be."""

from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conformance.tables import covers
from tests.examples import examples
from tests.property.test_mondrian import requirements, united
from tests.strategies import problems

import incrowd
from incrowd.measures.measures import measure
from incrowd.recodings.by_tuple import ByTuple
from incrowd.recodings.grids import Grid, grids
from incrowd.run import Run
from incrowd.search.mondrian.mondrian import mondrian
from incrowd.table.attributes import NumberAttribute
from incrowd.table.scales import Scale

SHARES = st.sampled_from([0.05, 0.3, 0.9])
NUMBERS = {
    "integer": st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=30, unique=True),
    "number": st.lists(st.integers(-(10**6), 10**6).map(lambda n: n / 1000), min_size=2, max_size=30, unique=True),
    "date": st.lists(st.integers(-40_000, 40_000), min_size=2, max_size=30, unique=True),
}


@pytest.mark.parametrize("kind", NUMBERS)
@examples(80)
@given(st.data())
def test_cells_of_a_grid_hold_their_numbers(kind, data):
    numbers = np.array(sorted(data.draw(NUMBERS[kind])), np.float64 if kind == "number" else np.int64)
    for grid in grids(NumberAttribute("x", Scale(kind), numbers)):
        cells = grid.cells(numbers).tolist()
        assert cells == sorted(cells)
        for cell, number in zip(cells, numbers.tolist(), strict=True):
            assert grid.bound(cell) <= number < grid.bound(cell + 1)
        if kind != "date":
            width = Fraction(grid.digit) * Fraction(10) ** grid.power
            assert all((Fraction(repr(grid.bound(cell))) / width).denominator == 1 for cell in cells)
        assert Grid.named(grid.name, grid.scale) == grid


def test_dates_are_rounded_to_months_and_years():
    scale = Scale("date")
    day = scale.number("2021-08-17", "x")
    for months, low, high in (1, "2021-08-01", "2021-09-01"), (3, "2021-07-01", "2021-10-01"), (120, "2020", "2030"):
        grid = Grid(scale, months)
        (cell,) = grid.cells(np.array([day])).tolist()
        assert scale.text(grid.bound(cell)).startswith(low)
        assert scale.text(grid.bound(cell + 1)).startswith(high)


@examples(80)
@given(problems(), SHARES, st.booleans())
def test_the_loss_rises_by_no_more_than_it_may_and_classes_only_merge(problem, share, relaxed):
    table, required = problem.table(), requirements(problem)
    plain, rounded = (
        mondrian(table, required, Run(), relaxed=relaxed, round_bounds=most).recoding for most in (0.0, share)
    )
    before, after = (measure(table, recoding, required).total for recoding in (plain, rounded))
    assert before.ncp - 1e-12 <= after.ncp <= (1 + share) * before.ncp + 1e-12
    rows, wider = (
        list(
            map(tuple, (row.values() for row in recoding.apply(pa.table(problem.batch()), keep_order=True).to_pylist()))
        )
        for recoding in (plain, rounded)
    )
    assert min(Counter(wider).values()) >= united(problem)[0].k
    assert after.classes == len(set(wider))
    if not relaxed:  # else who goes where is dealt anew
        of = defaultdict(set)
        for narrow, wide in zip(rows, wider, strict=True):
            of[narrow].add(wide)
        assert all(len(found) == 1 for found in of.values())
    assert ByTuple.from_json(rounded.to_json()) == rounded


@examples(80)
@given(problems(), SHARES)
def test_every_value_lies_in_its_range(problem, share):
    table = problem.table()
    recoding = mondrian(table, requirements(problem), Run(), round_bounds=share).recoding
    rows = recoding.apply(pa.table(problem.batch()), keep_order=True).to_pylist()
    for original, row in zip(problem.rows, rows, strict=True):
        for column in problem.columns:
            if column.kind == "number":
                assert covers(row[column.name], original[column.name], None, True), (original, row)


def test_round_ages_come_out():
    """The four classes are 31 + 7 + 9 + 34 years wide; on multiples of two 83, of five 92, of ten 117 years."""
    ages = [23, 24, 31, 37, 41, 44, 52, 53, 61, 66, 73, 79]
    table = pa.table({"age": ages})
    words = {"quasi_identifiers": ["age"], "k": 3, "ranges": {"age": (0, 100)}, "method": "mondrian"}
    labels = {s: incrowd.anonymize(table, round_bounds=s, **words).recoding.labels("age") for s in (0, 0.05, 0.2)}
    assert labels[0] == ("[0-31]", "[37-44]", "[52-61]", "[66-100]")
    assert labels[0.05] == ("[0-32)", "[36-46)", "[52-62)", "[66-100]")
    assert labels[0.2] == ("[0-35)", "[35-45)", "[50-65)", "[65-100]")


def test_exact_ends_are_kept_where_rounding_would_cost_too_much():
    table = pa.table({"age": [1, 2, 3, 4] * 5})
    words = {"quasi_identifiers": ["age"], "k": 10, "method": "mondrian"}
    assert incrowd.anonymize(table, **words).recoding.labels("age") == ("<=2", ">=3")
