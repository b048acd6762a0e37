"""Closed intervals with room between them: what optimal releases of numbers where records may be left out."""

import datetime as dt
import json

import numpy as np
import pyarrow as pa
import pytest

import incrowd
from incrowd.errors import DataError
from incrowd.recodings.attributes.intervals import ClosedIntervals
from incrowd.recodings.by_value import ByValue
from incrowd.recodings.reading import read_recoding
from incrowd.schemas.documents import digest_of
from incrowd.table.attributes import encode


def attribute_of(values, *, missing=False, domain=None):
    return encode("x", pa.array(values), has_missing=missing, domain=domain)[0]


AGES = attribute_of([10, 13, 15, 17, 32], missing=True)
FOUND = ClosedIntervals("x", AGES.scale, ((13, 15), (32, 32)))


def test_numbers_between_intervals_and_outside_go_to_the_rest():
    assert FOUND.labels == ("[13-15]", "32", "*")
    assert FOUND.cells(pa.array([12, 13, 14, 15, 16, 31, 32, 33])).tolist() == [2, 0, 0, 0, 2, 2, 1, 2]
    assert FOUND.of_codes(AGES).tolist() == [2, 0, 0, 2, 1, 2]
    assert list(FOUND.meanings()) == ["[13-15]", "itself", "any value not shown"]
    assert [FOUND.as_it_is(cell) for cell in range(3)] == [False, True, False]


def test_missing_values_have_a_cell_if_they_are_shown():
    shown = ClosedIntervals("x", AGES.scale, ((13, 15),), missing_shown=True)
    assert shown.labels == ("[13-15]", None, "*")
    assert (shown.missing_cell, FOUND.missing_cell) == (1, 2)
    assert shown.as_it_is(1)
    nobody = ClosedIntervals("x", AGES.scale, (), missing_shown=True)
    assert nobody.of_codes(AGES).tolist() == [1, 1, 1, 1, 1, 0]


def test_an_interval_loses_its_width():
    assert FOUND.losses(AGES).tolist() == [2 / 22, 0, 1]
    assert FOUND.losses(attribute_of([10, 13, 15, 17, 32], domain=(0, 40))).tolist() == [2 / 40, 0, 1]


def test_dates_and_long_decimals():
    days = attribute_of([dt.date(2020, 1, day) for day in (1, 5, 9)])
    of_days = ClosedIntervals("x", days.scale, ((days.number(0), days.number(1)),))
    assert of_days.labels == ("[2020-01-01 to 2020-01-05]", "*")
    numbers = attribute_of(["0.1000000000000000001", "0.1000000000000000002", "0.1000000000000000003"])
    fine = ClosedIntervals("x", numbers.scale, ((numbers.number(0), numbers.number(1)),))
    assert fine.of_codes(numbers).tolist() == [0, 0, 1]
    assert ClosedIntervals.from_json("x", json.loads(json.dumps(fine.to_json()))) == fine


@pytest.mark.parametrize("ends", [[[15, 13]], [[13, 15], [15, 32]], [[20, 32], [10, 15]], [[13.5, 15]]])
def test_a_file_with_intervals_that_do_not_ascend_is_refused(ends, tmp_path):
    recoding = ByValue((FOUND,), classes=((0,), (1,)))
    path = tmp_path / "x.json"
    path.write_text(json.dumps(recoding.to_json()))
    assert read_recoding(path) == recoding
    data = recoding.to_json()
    data["attributes"][0]["ends"] = ends
    data["digest"] = digest_of(data)
    path.write_text(json.dumps(data))
    with pytest.raises(DataError, match="ends"):
        read_recoding(path)


def test_an_optimal_release_with_a_budget_is_applied_to_its_own_rows():
    ages = [13, 17, 10, 32, 32, 17, 32, 15, None, None]
    table = pa.table({"age": ages, "job": ["a", "c", "a", "a", "a", "a", "c", "b", "a", "a"]})
    for cost in ("dm", "ncp"):
        release = incrowd.anonymize(
            table, quasi_identifiers=["age", "job"], k=2, method="optimal", scheme="ops", cost=cost, suppress=0.2
        )
        recoding = ByValue.from_json(json.loads(json.dumps(release.recoding.to_json())))
        assert incrowd.apply(recoding, table).equals(release.data)
        assert release.found.facts["suppressed_records"] == table.num_rows - release.data.num_rows
        assert np.isclose(release.found.facts["cost"], release.measures.total.ncp) or cost == "dm"
