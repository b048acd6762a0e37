"""IL1, eigenvalues, pMSE and the overlap of intervals: worked examples by their formulas, and records one by one."""

from math import sqrt

import numpy as np
import pyarrow as pa
import pytest

import incrowd
from incrowd.measures.statistics import eigenvalues, il1, interval_overlap, propensity
from incrowd.recodings.attributes.intervals import Intervals
from incrowd.recodings.by_value import ByValue
from incrowd.table.scales import Scale

INTEGER = Scale("integer")
AGES, HOURS, LABELS = [20, 30, 40, 50, 60, 70, 25, 45], [10, 40, 35, 45, 20, 5, 38, 30], list("yynynnyn")
# the middles of [20-40), [40-71) and of [0-30), [30-50); the last value of the last interval belongs to it
SHOWN_AGES = [29.5 if age < 40 else 55.5 for age in AGES]
SHOWN_HOURS = [14.5 if hours < 30 else 40 for hours in HOURS]


@pytest.fixture(scope="module")
def table():
    rows = pa.table({"age": AGES, "hours": HOURS, "label": LABELS})
    ranges = {"age": (20, 71), "hours": (0, 50)}
    names = ["age", "hours"]
    return incrowd.anonymize(rows, quasi_identifiers=names, k=2, target="label", ranges=ranges).table


def recoding(ages=(40,), hours=(30,), classes=None):
    return ByValue(
        (Intervals("age", INTEGER, ages, (20, 71)), Intervals("hours", INTEGER, hours, (0, 50))), classes=classes
    )


def itself():
    return ByValue(
        (
            Intervals("age", INTEGER, tuple(sorted(AGES)[1:]), (20, 71), exact=tuple(sorted(AGES))),
            Intervals("hours", INTEGER, tuple(sorted(HOURS)[1:]), (0, 50), exact=tuple(sorted(HOURS))),
        )
    )


def test_il1_is_a_distance_in_standard_deviations(table):
    parts = [
        np.abs(np.subtract(first, second)) / (sqrt(2) * np.std(first, ddof=1))
        for first, second in ((AGES, [29.5 if a < 40 else 55.5 for a in AGES]), (HOURS, SHOWN_HOURS))
    ]
    assert il1(table, recoding()) == pytest.approx(np.mean(parts))
    assert il1(table, itself()) == 0


def test_eigenvalues_are_those_of_the_correlations(table):
    first = np.linalg.eigvalsh(np.corrcoef(AGES, HOURS))
    second = np.linalg.eigvalsh(np.corrcoef([29.5 if a < 40 else 55.5 for a in AGES], SHOWN_HOURS))
    assert eigenvalues(table, recoding()) == pytest.approx(np.sum(np.abs(first - second) / first))
    assert eigenvalues(table, itself()) == pytest.approx(0, abs=1e-9)


def test_intervals_overlap_as_much_as_those_of_a_regression_on_records(table):
    def intervals(ages, hours):
        values = np.column_stack([np.ones(8), ages, hours])
        truth = np.array([label == "n" for label in LABELS], float)  # the first of the most frequent labels
        inverse = np.linalg.inv(values.T @ values)
        slopes = inverse @ values.T @ truth
        error = np.sum((truth - values @ slopes) ** 2) / (8 - 3)
        half = 1.959964 * np.sqrt(np.diag(inverse) * error)
        return list(zip((slopes - half)[1:], (slopes + half)[1:], strict=True))

    overlaps = []
    for (low, high), (left, right) in zip(intervals(AGES, HOURS), intervals(SHOWN_AGES, SHOWN_HOURS), strict=True):
        common = min(high, right) - max(low, left)
        overlaps.append((common / (high - low) + common / (right - left)) / 2)
    assert interval_overlap(table, recoding()) == pytest.approx(np.mean(overlaps))
    assert interval_overlap(table, itself()) == pytest.approx(1)
    assert interval_overlap(table, recoding((), ())) is None  # released numbers that are all the same have no slope


def test_propensity_scores_are_those_of_a_logistic_regression(table):
    from sklearn.linear_model import LogisticRegression

    values = np.vstack([np.column_stack([AGES, HOURS]), np.column_stack([SHOWN_AGES, SHOWN_HOURS])]).astype(float)
    model = LogisticRegression(C=1e8, tol=1e-10, max_iter=10_000).fit(values, np.repeat([0, 1], 8))
    expected = np.mean((model.predict_proba(values)[:, 1] - 0.5) ** 2)
    assert propensity(table, recoding()) == pytest.approx(expected, rel=1e-3)
    assert propensity(table, itself()) == pytest.approx(0, abs=1e-12)


def test_a_category_that_is_no_longer_shown_gives_a_release_away():
    rows = pa.table({"job": ["a", "b"] * 6, "age": [20, 30] * 6})
    release = incrowd.anonymize(rows, quasi_identifiers=["job", "age"], k=12, method="cover")
    assert release.measures.total.ncp == 1
    assert propensity(release.table, release.recoding) == pytest.approx(0, abs=1e-9)  # shares of 1/2 are the mean


@pytest.mark.parametrize("method", ["mondrian", "cover", "tdr", "datafly"])
def test_any_release_is_measured(method):
    rows = pa.table({"age": AGES * 2, "hours": HOURS * 2, "job": list("abcd") * 4, "label": LABELS * 2})
    options = {"suppress": 0.2} if method != "cover" else {}
    found = incrowd.anonymize(
        rows, quasi_identifiers=["age", "hours", "job"], k=3, method=method, target="label", **options
    )
    assert il1(found.table, found.recoding) >= 0
    assert 0 <= propensity(found.table, found.recoding) <= 0.25
    overlap = interval_overlap(found.table, found.recoding)
    assert overlap is None or overlap <= 1
