"""Bounds of ranges are rounded outward: round, around every value of their class, and those of nobody."""

from collections import Counter, defaultdict
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from benchmarks.range_bounds import guessed
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.property.test_mondrian import requirements, united
from tests.recoded import released_by
from tests.strategies import problems

import incrowd
from incrowd.measures.measures import measure
from incrowd.recodings.by_tuple import ByTuple
from incrowd.recodings.grids import DAYS, FEWEST_CELLS, MONTHS, PARTS, SECONDS, Grid, cells_of, grid_of
from incrowd.run import Run
from incrowd.search.baselines.argus import argus
from incrowd.search.mondrian.mondrian import mondrian
from incrowd.table.attributes import NumberAttribute
from incrowd.table.exact_numbers import array_of, as_fraction
from incrowd.table.scales import Scale
from incrowd.taxonomies.labels import parse_interval

FAR = 10**30
NUMBERS = {
    "integer": st.integers(-(10**6), 10**6),
    "huge integers": st.integers(-FAR, FAR),
    "number": st.integers(-(10**6), 10**6).map(lambda n: n / 1000),
    "floats": st.floats(-1e300, 1e300, allow_nan=False, allow_subnormal=False).map(lambda n: n + 0.0),
    "decimals": st.integers(-FAR, FAR).map(lambda n: Decimal(n) / 10**20),
    "date": st.integers(-40_000, 40_000),
    "timestamp": st.integers(-(2**62), 2**62),
}
KINDS = {"huge integers": "integer", "floats": "number", "decimals": "number"}

pytestmark = pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")  # exact bounds are warned of


@pytest.mark.parametrize("kind", NUMBERS)
@examples(80)
@given(st.data(), st.integers(10, 2000))
def test_cells_of_a_grid_hold_their_numbers(kind, data, cells):
    drawn = sorted(data.draw(st.lists(NUMBERS[kind], min_size=2, max_size=30, unique=True)))
    numbers, scale = array_of(drawn), Scale(KINDS.get(kind, kind), "us" if kind == "timestamp" else "")
    grid = grid_of(NumberAttribute("x", scale, numbers), np.ones(len(numbers), np.int64), cells)
    found = grid.cells(numbers).tolist()
    assert found == sorted(found)
    for cell, number in zip(found, drawn, strict=True):
        low, high = grid.bound(cell), grid.bound(cell + 1)
        assert as_fraction(low) <= as_fraction(number) < as_fraction(high)
        assert kind == "number" or kind in ("floats", "decimals") or high - low > 1  # more than one value
    if grid.scale.kind in ("integer", "number"):
        width = Fraction(grid.digit) * Fraction(10) ** grid.power
        assert all((as_fraction(grid.bound(cell)) / width).denominator == 1 for cell in found if kind != "floats")
    assert Grid.named(grid.name, grid.scale) == grid


def test_dates_are_rounded_to_months_and_years():
    scale = Scale("date")
    day = scale.number("2021-08-17", "x")
    for months, low, high in (1, "2021-08-01", "2021-09-01"), (3, "2021-07-01", "2021-10-01"), (120, "2020", "2030"):
        grid = Grid(scale, months)
        (cell,) = grid.cells(np.array([day])).tolist()
        assert scale.text(grid.bound(cell)).startswith(low)
        assert scale.text(grid.bound(cell + 1)).startswith(high)


def test_days_and_times_are_rounded_to_mondays_and_hours():
    for scale in Scale("date"), Scale("timestamp", "s"), Scale("timestamp", "ns"):
        moment = scale.number("2021-08-17" if scale.kind == "date" else "2021-08-17 16:20:05", "x")
        week = Grid(scale, 7, 0, "d")
        (cell,) = week.cells(np.array([moment])).tolist()
        assert scale.text(week.bound(cell)).startswith("2021-08-16")
        assert scale.text(week.bound(cell + 1)).startswith("2021-08-23")
    hours = Grid(scale, 21600, 0, "s")
    (cell,) = hours.cells(np.array([moment])).tolist()
    assert scale.text(hours.bound(cell)) == "2021-08-17 12:00:00"


def test_what_a_recoding_file_may_have_as_a_grid_is_what_there_is():
    from incrowd.recodings.schema import _GRID

    moments = [*(Grid(Scale("date"), m) for m in MONTHS), *(Grid(Scale("date"), d, 0, "d") for d in DAYS)]
    moments += [Grid(Scale("timestamp", "s"), s, 0, "s") for s in SECONDS]
    numbers = [Grid(Scale("number"), digit, power) for digit in (1, 2, 5) for power in (-300, -1, 0, 1, 15, 300)]
    for grid in (*moments, *numbers):
        _GRID.check(grid.name, "grid")


@pytest.mark.parametrize(
    ("records", "columns", "k", "cells"),
    [(45_222, 5, 5, 24), (45_222, 2, 5, 380), (1000, 1, 10, 400), (1000, 8, 10, FEWEST_CELLS), (0, 1, 5, FEWEST_CELLS)],
)
def test_k_the_records_and_the_columns_say_how_many_cells_there_are(records, columns, k, cells):
    assert cells_of(records, columns, k) == cells
    assert cells == FEWEST_CELLS or (cells / PARTS) ** columns <= records / k < ((cells + 1) / PARTS) ** columns


def test_a_few_far_away_decide_nothing_and_a_public_range_decides_alone():
    near = np.arange(1000)
    counts = np.ones(1001, np.int64)
    for far in 2000, 10**9, 10**18:
        attribute = NumberAttribute("x", Scale("integer"), np.append(near, far))
        assert grid_of(attribute, counts, 10).name == "50"
    public = NumberAttribute("x", Scale("integer"), near, domain=(0, 100_000))
    assert grid_of(public, counts[:-1], 10).name == "10000"


@pytest.mark.parametrize("method", [mondrian, argus])
@examples(60)
@given(problems())
def test_classes_only_merge_and_the_loss_is_that_of_what_is_released(method, problem):
    table, required = problem.table(), requirements(problem)
    exact, rounded = (method(table, required, Run(), bounds=bounds).recoding for bounds in ("exact", "round"))
    before, after = (measure(table, recoding, required).total for recoding in (exact, rounded))
    assert before.ncp - 1e-12 <= after.ncp <= 1
    rows, wider = (
        [tuple(row.values()) for row in released_by(recoding, pa.table(problem.batch())).to_pylist()]
        for recoding in (exact, rounded)
    )
    assert min(Counter(wider).values()) >= united(problem)[0].k
    assert after.classes == len(set(wider))
    if not rounded.mapping.split.any():  # else who goes where is dealt anew
        of = defaultdict(set)
        for narrow, wide in zip(rows, wider, strict=True):
            of[narrow].add(wide)
        assert all(len(found) == 1 for found in of.values())
    assert ByTuple.from_json(rounded.to_json()) == rounded


def test_round_ages_come_out():
    """Of a public range of 100 years a class of 3 of 12 might have 25: cells have the widest round quarter of that."""
    ages = [23, 24, 31, 37, 41, 44, 52, 53, 61, 66, 73, 79]
    table = pa.table({"age": ages})
    words = {"quasi_identifiers": ["age"], "k": 3, "ranges": {"age": (0, 100)}, "method": "mondrian"}
    labels = {b: incrowd.anonymize(table, bounds=b, **words).recoding.labels("age") for b in ("exact", "round")}
    assert labels["exact"] == ("[0-31]", "[37-44]", "[52-61]", "[66-100]")
    assert labels["round"] == ("[0-35)", "[35-45)", "[50-65)", "[65-100]")


def test_where_two_numbers_are_one_cell_they_are_not_told_apart():
    table = pa.table({"age": [1, 2, 3, 4] * 5})
    words = {"quasi_identifiers": ["age"], "k": 10, "method": "mondrian"}
    assert incrowd.anonymize(table, bounds="exact", **words).recoding.labels("age") == ("<=2", ">=3")
    assert incrowd.anonymize(table, **words).recoding.labels("age") == ("<4", ">=2")


def moments_and_amounts(seed):
    """People without two equal values: admitted at a time, on a date, with an amount and a number of 19 digits."""
    draw = np.random.default_rng(seed)
    size = 400
    times = np.unique(draw.integers(1_600_000_000, 1_650_000_000, size + 50))[:size]
    return pa.table(
        {
            "time": pa.array(times, pa.timestamp("s")),
            "date": pa.array(draw.permutation(20_000)[:size].astype(np.int32), pa.int32()).cast(pa.date32()),
            "amount": draw.permutation(10**6)[:size] / 7,
            "account": draw.permutation(10**6)[:size].astype(np.int64) * 4_000_000_000_037 + 2**60,
        }
    )


@pytest.mark.parametrize("method", ["mondrian", "argus"])
@pytest.mark.parametrize("name", ["time", "date", "amount", "account"])
def test_no_range_begins_or_ends_at_somebody_whatever_the_column(method, name):
    """Every range did, in every column: at times and numbers of 19 digits always, elsewhere at small k."""
    table = moments_and_amounts(1).select([name])
    release = incrowd.anonymize(table, quasi_identifiers=[name], k=5, method=method)
    scale = release.table.attributes[0].scale
    numbers = set(release.table.attributes[0].numbers.tolist())
    bounds = [
        scale.number(bound, name)
        for label in release.recoding.labels(name)
        if (interval := parse_interval(label)) is not None
        for bound in (interval.low, interval.high)
        if bound is not None
    ]
    assert len(bounds) > 20
    assert sum(bound in numbers for bound in bounds) <= len(bounds) // 10


@pytest.mark.parametrize("k", [5, 10])
@pytest.mark.parametrize("method", ["mondrian", "argus"])
def test_a_bound_is_somebodys_value_no_more_often_than_what_lies_between(method, k):
    table = pa.csv.read_csv(incrowd.datasets.adult()).select(["age", "education", "sex", "hours-per-week"])[:10_000]
    words = {"quasi_identifiers": table.column_names, "k": k, "method": method}
    found = {bounds: guessed(incrowd.anonymize(table, bounds=bounds, **words)) for bounds in ("exact", "round")}
    assert method == "argus" or found["exact"].at_bounds == 1  # the ranges of argus belong to several classes
    assert found["round"].ranges > 20
    assert found["round"].at_bounds <= found["round"].elsewhere


@pytest.mark.parametrize("method", ["mondrian", "argus"])
def test_exact_bounds_are_warned_of_and_the_certificate_says_so(method):
    table = moments_and_amounts(2).select(["amount", "date"])
    words = {"quasi_identifiers": ["amount", "date"], "k": 5, "method": method}
    asked, usual = incrowd.anonymize(table, bounds="exact", **words), incrowd.anonymize(table, **words)
    (line,) = [line for line in asked.warnings if "bounds" in line]
    assert "'date'" in line
    assert asked.certificate.to_json()["policy"]["bounds"] == "exact"
    assert not [line for line in usual.warnings if "bounds" in line]
    assert "bounds" not in usual.certificate.to_json()["policy"]
