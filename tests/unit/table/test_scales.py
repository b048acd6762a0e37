import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from incrowd.errors import DataError
from incrowd.table.scales import Scale, has_commas, scale_of, text_of

DAY = dt.date(2020, 2, 29)
MOMENT = dt.datetime(2020, 2, 29, 13, 45)


def texts(*values):
    return pa.array(values, pa.string())


class TestDetection:
    @pytest.mark.parametrize(
        ("values", "scale"),
        [
            (texts("1", "2"), Scale("integer")),
            (texts("1", "1.0"), Scale("number")),
            (texts("-1.5", "+2", ".5", "1e3"), Scale("number")),
            (texts("01234", "10115"), None),
            (texts("a", "b"), None),
            (texts("1", "a", "b"), None),
            (texts("2020-02-29"), Scale("date")),
            (texts("2020-02-29 13:45", "2020-02-29T13:45:01.5"), Scale("timestamp", "us")),
            (texts("2020-02-29T13:45:00Z"), Scale("timestamp", "us", "UTC")),
            (texts(), None),
            (pa.array([1, 2]), Scale("integer")),
            (pa.array([1.0, 2.0]), Scale("integer")),
            (pa.array([1.0, 2.5]), Scale("number")),
            (pa.array([Decimal("1.10")]), Scale("number")),
            (pa.array([Decimal("2.00")]), Scale("integer")),
            (pa.array([True, False]), None),
            (pa.array([DAY]), Scale("date")),
            (pa.array([MOMENT], pa.timestamp("ms")), Scale("timestamp", "ms")),
            (pa.array([MOMENT], pa.timestamp("ns", "Europe/Berlin")), Scale("timestamp", "ns", "Europe/Berlin")),
        ],
    )
    def test_what_a_column_holds(self, values, scale):
        assert scale_of(values, "x") == scale

    def test_a_declared_type_wins(self):
        assert scale_of(texts("1", "2"), "x", "text") is None
        assert scale_of(pa.array([1, 2]), "x", "text") is None
        assert scale_of(texts("01234", "10115"), "x", "number") == Scale("integer")

    def test_text_among_numbers_is_an_error_that_shows_one_value(self):
        with pytest.raises(DataError, match=r"column 'x' holds 'ten', which is not a number \(2 such values\)"):
            scale_of(texts("1", "2", "3", "ten", "eleven"), "x")

    def test_a_decimal_comma_is_named(self):
        message = r"'65,4', which is not a number; write it with a decimal point, .* 'x' as comma or text"
        with pytest.raises(DataError, match=message):
            Scale("number").numbers(pa.array(["65,4", "1.5"]), "x")

    @pytest.mark.parametrize("values", [pa.array([b"a"]), pa.array([dt.time(1)]), pa.array([dt.timedelta(1)])])
    def test_types_without_order_or_text(self, values):
        with pytest.raises(DataError, match="cannot be in a quasi-identifier"):
            scale_of(values, "x")


class TestNumbers:
    @pytest.mark.parametrize(
        ("scale", "values", "numbers"),
        [
            (Scale("integer"), texts("1", "1.0", "007"), [1, 1, 7]),
            (Scale("number"), texts("1", "1.5"), [1.0, 1.5]),
            (Scale("integer"), texts("18446744073709551615"), [2**64 - 1]),
            (Scale("integer"), pa.array([1e300]), [1e300]),
            (Scale("number"), pa.array([Decimal("1.25")]), [1.25]),
            (Scale("date"), texts("1970-01-02"), [1]),
            (Scale("date"), pa.array([dt.date(1970, 1, 2)], pa.date64()), [1]),
            (Scale("timestamp", "s"), texts("1970-01-01 00:01"), [60]),
            (Scale("timestamp", "s", "UTC"), texts("1970-01-01T00:01:00Z", "1970-01-01 00:01"), [60, 60]),
            (Scale("timestamp", "ms"), pa.array([dt.datetime(1970, 1, 1, 0, 1)]), [60_000]),
        ],
    )
    def test_numbers(self, scale, values, numbers):
        assert scale.numbers(values, "x").tolist() == numbers

    def test_no_negative_zero(self):
        assert np.signbit(Scale("number").numbers(pa.array([-0.0, 0.5]), "x")).tolist() == [False, False]

    @pytest.mark.parametrize(
        ("scale", "values"),
        [
            (Scale("integer"), texts("x")),
            (Scale("date"), texts("2020-02-30")),
            (Scale("date"), texts("yesterday")),
            (Scale("timestamp", "us"), texts("2020-02-29")),
            (Scale("number"), pa.array([float("inf")])),
            (Scale("date"), pa.array([1])),
            (Scale("number"), pa.array([DAY])),
            (Scale("integer"), pa.array([True])),
        ],
    )
    def test_values_that_do_not_belong(self, scale, values):
        with pytest.raises(DataError, match="column 'x'"):
            scale.numbers(values, "x")


class TestCommas:
    @pytest.mark.parametrize(
        ("values", "are_numbers"),
        [
            (["3,5", "4,25", "-1,0"], True),
            (["3,5", "4"], True),
            (["1,5E+03", "2"], True),
            (["1.234,50", "950,00"], True),
            (["1.234", "950,00"], False),  # which of them is large?
            (["1.23,50", "950,00"], False),
            (["1,234", "2,345"], True),  # the same order, whatever the comma stands for
            (["1,234", "2,345", "7,5"], True),
            (["0,125", "950"], True),  # no thousands begin with 0
            (["1,234", "950"], False),
            (["3", "4"], False),
            (["3,5", "4.5"], False),
            (["1,2,3", "4,5"], False),
            (["3,5", "x"], False),
            (["01,5", "02,5"], False),
        ],
    )
    def test_where_they_are_expected(self, values, are_numbers):
        values = pa.array(values)
        assert has_commas(values, None, expected=True) == are_numbers
        assert has_commas(values, "number", expected=True) == are_numbers
        assert not has_commas(values, None, expected=False)
        assert not has_commas(values, "text", expected=True)
        assert has_commas(values, "comma", expected=False)

    def test_declared(self):
        found = scale_of(pa.array(["1,234", "950"]), "x", "comma")
        assert found == Scale("number", comma=True)
        assert found.numbers(pa.array(["1,234", "950"]), "x").tolist() == [1.234, 950]
        assert found.numbers(pa.array(["1.234,50"]), "x").tolist() == [1234.5]
        assert found.text(1.25) == "1,25"
        assert found.number(1.25, "x") == found.number("1,25", "x") == 1.25
        with pytest.raises(DataError, match=r"'1\.5', which is not a number"):
            scale_of(pa.array(["1.5", "2,5"]), "x", "comma")

    def test_json(self):
        assert Scale(**Scale("number", comma=True).to_json()) == Scale("number", comma=True)
        assert "comma" not in Scale("number").to_json()


class TestText:
    @pytest.mark.parametrize(
        ("scale", "value", "text"),
        [
            (Scale("integer"), 7, "7"),
            (Scale("number"), 7.0, "7"),
            (Scale("number"), 0.1, "0.1"),
            (Scale("date"), DAY, "2020-02-29"),
            *((Scale("timestamp", unit), MOMENT, "2020-02-29 13:45:00") for unit in ("s", "ms", "us", "ns")),
            (Scale("timestamp", "us"), MOMENT.replace(microsecond=500_000), "2020-02-29 13:45:00.5"),
            (Scale("timestamp", "us", "UTC"), MOMENT, "2020-02-29 13:45:00Z"),
        ],
    )
    def test_a_bound_and_back(self, scale, value, text):
        number = scale.number(value, "x")
        assert scale.text(number) == text
        assert scale.number(text, "x") == number

    def test_a_bound_in_another_zone(self):
        scale = Scale("timestamp", "s", "Europe/Berlin")
        noon = dt.datetime(2020, 2, 29, 12, tzinfo=dt.timezone(dt.timedelta(hours=1)))
        assert scale.text(scale.number(noon, "x")) == "2020-02-29 11:00:00Z"

    @pytest.mark.parametrize(
        ("values", "shown"),
        [
            (pa.array([1.0, 2.0]), ["1", "2"]),
            (pa.array([1.0, 2.5]), ["1", "2.5"]),
            (pa.array([True, None]), ["true", None]),
            (pa.array(["a"], pa.large_string()), ["a"]),
        ],
    )
    def test_text_of_values(self, values, shown):
        assert text_of(values).type == pa.string()
        assert text_of(values).to_pylist() == shown


def test_unsigned_integers_beyond_the_signed_ones_stay_exact():
    found = Scale("integer").numbers(pa.array([2**63 + 1, 5], pa.uint64()), "x").tolist()
    assert found == [2**63 + 1, 5]
