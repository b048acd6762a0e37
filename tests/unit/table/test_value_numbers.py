"""Values numbered as they come: the same however they are looked up."""

import numpy as np
import pyarrow as pa
import pytest

from incrowd.table.value_numbers import ValueNumbers, WholeNumbers

FAR = (1 << 63) - 1


def values_of(numbered, column):
    """What the numbers of a column mean."""
    return [None if number < 0 else numbered.values[int(number)].as_py() for number in numbered.codes(column)]


@pytest.mark.parametrize("kind", [pa.int8(), pa.int64(), pa.uint8(), pa.uint64()])
def test_whole_numbers_are_found_where_all_are_known(kind):
    known = WholeNumbers.of(pa.array([7, 3, 100], kind))
    assert known.find(pa.array([3, 3, 100, 7], kind)).tolist() == [1, 1, 2, 0]
    for unknown in ([4], [2], [101], [3, None], []):
        assert known.find(pa.array(unknown, kind)) is None
    assert known.find(pa.array(["3"])) is None


def test_numbers_that_are_too_far_apart_or_too_far_away_are_not_looked_up():
    assert WholeNumbers.of(pa.array([0, 1 << 21])) is None
    assert WholeNumbers.of(pa.array([0, (1 << 21) - 1])) is not None
    assert WholeNumbers.of(pa.array([FAR - 1, FAR])) is None
    assert WholeNumbers.of(pa.array([-FAR])) is None
    assert WholeNumbers.of(pa.array([FAR + 1], pa.uint64())) is None
    assert WholeNumbers.of(pa.array([], pa.int64())) is None
    assert WholeNumbers.of(pa.array([0.5])) is None
    assert WholeNumbers.of(pa.array([5, 6])).find(pa.array([FAR + 1], pa.uint64())) is None


def test_batches_mean_what_they_say_whatever_came_before():
    draws, numbered = np.random.default_rng(3), ValueNumbers("a", ())
    for _ in range(30):
        column = pa.array(
            draws.integers(-50, draws.integers(-40, 300), 40), mask=draws.random(40) < draws.choice([0, 0.1])
        )
        assert values_of(numbered, column) == column.to_pylist()


def test_a_number_that_stands_for_missing_values_is_never_looked_up():
    numbered, some, all_there = ValueNumbers("a", ("-9",)), pa.array([1, -9, 2]), pa.array([1, 2, 2])
    for column, exact in ((some, False), (all_there, True), (some, False), (some, False), (all_there, True)):
        assert values_of(numbered, column) == [None if value == -9 else value for value in column.to_pylist()]
        assert numbered.exact is exact
        numbered.look_at(numbered.codes(column))
    assert numbered.used()[1] is True
