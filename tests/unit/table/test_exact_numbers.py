"""Numbers without rounding: what is read, in which order it stands, and how it is written."""

import json
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

from incrowd.table.exact_numbers import NumberRangeError, array_of, as_json, from_json, parse, places
from incrowd.table.exact_numbers import text_of_number as text
from incrowd.table.scales import Scale, scale_of, text_of

BIG = 1 << 53
EXACT = st.one_of(
    st.integers(-10, 10),
    st.integers(-(1 << 70), 1 << 70),
    st.integers(BIG - 3, BIG + 3),
    st.integers((1 << 63) - 2, (1 << 64) + 2),
    st.decimals(-10, 10, places=2),
    st.decimals(-(10**18), 10**18, places=6),
    st.floats(allow_nan=False, allow_infinity=False),
)


def texts(*values):
    return pa.array(values, pa.string())


def written(number):
    return Decimal(repr(number)) if isinstance(number, float) else Decimal(number)


class TestReading:
    @pytest.mark.parametrize(
        ("values", "dtype"),
        [
            (["1", "+2", "-3", "007"], "int64"),
            ([str(BIG + 1), "-1"], "int64"),
            ([str(1 << 63), "-1"], "object"),
            (["9" * 40], "object"),
            (["0.5", "1"], "float64"),
            (["0.30000000000000004", "1e-7"], "float64"),
            (["0.5", str(BIG + 1)], "object"),
            (["12345678901234567.89", "0.5"], "object"),
        ],
    )
    def test_what_machine_numbers_tell_apart_stays_one(self, values, dtype):
        found = parse(texts(*values))
        assert found.dtype == dtype
        assert [written(number) for number in found.tolist()] == [Decimal(value) for value in values]

    @pytest.mark.parametrize("value", ["1e400", "-1e400", "1e-400", "9" * 5000])
    def test_what_is_too_large_or_too_small_is_named_by_its_place(self, value):
        with pytest.raises(NumberRangeError) as failure:
            parse(texts("1", "2.5" if "e" in value else "2", value))
        assert failure.value.args == (2,)

    @examples(300)
    @given(st.lists(EXACT, min_size=1, max_size=8))
    def test_every_number_is_read_as_it_is_written_whatever_stands_beside_it(self, numbers):
        shown = [text(number) for number in numbers]
        assert [written(number) for number in parse(texts(*shown)).tolist()] == [written(n) for n in numbers]


class TestOrder:
    @examples(300)
    @given(st.lists(EXACT, max_size=6), st.lists(EXACT, min_size=1, max_size=6))
    def test_places_are_those_of_exact_numbers(self, known, sought):
        known = parse(texts(*map(text, sorted(known, key=written))))
        found = places(known, parse(texts(*map(text, sought))), side="right")
        assert found.tolist() == [sum(written(k) <= written(s) for k in known.tolist()) for s in sought]


class TestWriting:
    @pytest.mark.parametrize(
        ("number", "shown"),
        [
            (-0.0, "0"),
            (3.0, "3"),
            (1e15, "1000000000000000"),
            (1e16, "10000000000000000"),
            (1e22, "1e+22"),
            (1e-7, "1e-07"),
            (0.1, "0.1"),
            (Decimal("1.890"), "1.89"),
            (Decimal("-0.00"), "0"),
            (Decimal("12345678901234567.890"), "12345678901234567.89"),
            (1 << 70, str(1 << 70)),
        ],
    )
    def test_one_form_for_each_number(self, number, shown):
        assert text(number) == shown

    @pytest.mark.parametrize("kind", [pa.float64(), pa.float32()])
    def test_the_text_of_a_float_does_not_depend_on_its_neighbours(self, kind):
        values = [0.0, -0.0, 1.0, 1.5, 1e15, 1e16, 1e20, 1e-7, None]
        alone = [text_of(pa.array([value], kind))[0].as_py() for value in values]
        assert text_of(pa.array(values, kind)).to_pylist() == alone
        assert alone[:4] == ["0", "0", "1", "1.5"]

    def test_the_text_of_a_decimal_does_not_depend_on_its_type(self):
        for places_ in (2, 5, 12):
            values = pa.array([Decimal("1.89"), Decimal("-0.00"), Decimal("12.00"), None], pa.decimal128(30, places_))
            assert text_of(values).to_pylist() == ["1.89", "0", "12", None]

    @examples(200)
    @given(st.lists(EXACT, max_size=8))
    def test_numbers_survive_json(self, numbers):
        found = array_of(numbers).tolist()
        assert list(from_json(json.loads(json.dumps(as_json(found))))) == found


class TestScales:
    @pytest.mark.parametrize(
        "values",
        [
            pa.array([0, BIG, BIG + 1, 1 << 63, (1 << 64) - 1], pa.uint64()),
            pa.array([Decimal("1.89"), Decimal("1.90"), Decimal("-0.01")]),
            pa.array([Decimal("12345678901234567.89"), Decimal("12345678901234567.90"), Decimal("0.5")]),
            pa.array([0.1, 0.25, 3.0], pa.float32()),
            pa.array([0.1, 0.25, -0.0], pa.float64()),
            pa.array([0, 1, 2], pa.timestamp("ns")),
            pa.array([0, 1, 2], pa.timestamp("us", "UTC")),
            pa.array([0, 1, 2], pa.date32()),
        ],
        ids=str,
    )
    def test_a_column_as_it_is_and_as_text_gives_the_same_numbers(self, values):
        scale = scale_of(values, "x")
        numbers = scale.numbers(values, "x")
        shown = texts(*map(scale.text, numbers))
        assert len(set(shown.to_pylist())) == len(values)
        assert scale.numbers(shown, "x").tolist() == numbers.tolist()

    def test_nanoseconds_in_text(self):
        values = texts("2020-01-01 00:00:00.123456789", "2020-01-01 00:00:00.12345679")
        scale = scale_of(values, "x")
        assert scale == Scale("timestamp", "ns")
        assert [scale.text(number) for number in scale.numbers(values, "x")] == values.to_pylist()


def test_a_large_whole_number_is_compared_with_a_fraction_without_rounding():
    assert places([BIG + 1], [float(BIG)], "right").tolist() == [0]
