"""What priorities promise in every method that takes them: equal ones change nothing, a high one helps its column."""

import pytest
from tests.conformance.tables import cases

import incrowd
from incrowd.errors import PolicyError
from incrowd.search.registry import METHODS

CASES = cases()
WITH = pytest.mark.parametrize("method", [name for name, method in METHODS.items() if "priorities" in method.options])
# of these the loss of columns is what they optimise, and they draw nothing at random
BY_LOSS = pytest.mark.parametrize(
    "method", [name for name in METHODS if name not in ("auto", "tdr", "tds", "genetic", "kaca2")]
)
QUICK = {"genetic": {"population": 8, "patience": 10, "evaluations": 40}, "cover": {"effort": 1}}


def losses(method, **words):
    case = CASES["mixed"]
    release = incrowd.anonymize(case.table, method=method, **{**case.words, **QUICK.get(method, {}), **words})
    return {row["column"]: row["ncp"] for row in release.to_rows()}


def test_every_method_takes_them():
    assert [name for name, method in METHODS.items() if "priorities" not in method.options] == []


@WITH
def test_equal_ones_change_nothing(method):
    assert losses(method, priorities=dict.fromkeys(CASES["mixed"].columns, 3)) == losses(method)


@BY_LOSS
def test_a_column_that_matters_most_loses_no_more(method):
    column = max((plain := losses(method)), key=plain.__getitem__)
    assert losses(method, priorities={column: 1000})[column] <= plain[column] + 1e-9


@WITH
def test_an_unknown_column_is_refused(method):
    with pytest.raises(PolicyError, match="no quasi-identifier column 'agee'"):
        losses(method, priorities={"agee": 2})
