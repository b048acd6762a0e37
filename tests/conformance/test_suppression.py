"""What every method promises that may leave out records. A method with the option is run through all of it."""

import json
from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from tests.conformance.tables import cases, covers

import incrowd
from incrowd.cli.methods import explained
from incrowd.recodings.attributes.disclosure import Disclosure
from incrowd.recodings.attributes.intervals import Intervals
from incrowd.recodings.recoding import read_recoding
from incrowd.search.method import SUPPRESS
from incrowd.search.registry import METHODS

CASES = cases()
ABLE = [name for name, method in METHODS.items() if method.options.get("suppress") == SUPPRESS]
EVERY = pytest.mark.parametrize("method", ABLE)
ANYWHERE = pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
SHARE = 0.2


def made(case, method, **words):
    """The release of a case by a method that may leave out some."""
    limits = {"time_limit": 20} if method == "optimal" else {}
    return incrowd.anonymize(case.table, method=method, suppress=SHARE, **{**case.words, **limits, **words})


@EVERY
@ANYWHERE
def test_everyone_who_is_released_stands_in_a_crowd_and_the_budget_is_kept(method, case):
    release = made(case, method)
    crowds = Counter(zip(*(release.data.column(name).to_pylist() for name in case.columns), strict=True))
    assert min(crowds.values()) >= case.words["k"]
    total, records = release.measures.total, release.table.records
    assert total.suppressed == records - sum(crowds.values()) <= int(Fraction(str(SHARE)) * records)
    assert release.found.facts.get("suppressed_records", 0) == total.suppressed
    assert total.anonymity == min(crowds.values())


@EVERY
@ANYWHERE
def test_every_released_value_stands_for_the_original_one(method, case):
    release = made(case, method, identifiers=(), keep=case.kept)
    if "name" not in case.table.column_names:
        return
    before = {row["name"]: row for row in case.table.to_pylist()}
    numeric = {field.name for field in case.table.schema if not pa.types.is_string(field.type)}
    trees = case.words.get("taxonomies", {})
    for row in release.data.to_pylist():
        for name in case.columns:
            assert covers(row[name], before[row["name"]][name], trees.get(name), name in numeric), (name, row)


@EVERY
@ANYWHERE
def test_the_recoding_survives_json_and_leaves_out_the_same_rows(method, case, tmp_path):
    release = made(case, method)
    release.recoding.write(tmp_path / "x.recoding.json")
    again = read_recoding(tmp_path / "x.recoding.json")
    assert again == release.recoding
    first, second = (
        Counter(map(repr, table.to_pylist()))
        for table in (incrowd.apply(again, case.table, keep=case.words.get("keep", ())), release.data)
    )
    assert first == second


@EVERY
@ANYWHERE
def test_what_goes_out_is_made_of_released_values_alone(method, case):
    """Bounds of intervals are released numbers, or right above one; shown categories are released ones."""
    release = made(case, method, identifiers=(), keep=case.kept)
    if release.recoding.is_confidential or "name" not in case.table.column_names:
        return
    released = {row["name"] for row in release.data.to_pylist()}
    if len(released) == len(case.table):
        return
    kept = case.table.filter(pa.array([name in released for name in case.table.column("name").to_pylist()]))
    told = json.dumps(release.recoding.to_json())
    for recoding in release.recoding.attributes:
        values = [value for value in kept.column(recoding.name).to_pylist() if value is not None]
        if isinstance(recoding, Disclosure):
            assert set(recoding.shown) <= set(values)
        if isinstance(recoding, Intervals):
            numbers = [recoding.scale.number(str(value), recoding.name) for value in values]
            above = [np.nextafter(n, np.inf) if recoding.scale.kind == "number" else n + 1 for n in numbers]
            assert set(recoding.bounds) <= {*numbers, *above}, told
            assert set(recoding.exact) <= set(numbers)


@EVERY
def test_every_step_of_a_search_from_the_top_is_a_release(method):
    for case in (CASES["with a target"], CASES["mixed"]):
        release = made(case, method)
        if release.found.begins != "general":
            return
        for number in range(len(release.steps)):
            at = release.at(number)
            crowds = Counter(zip(*(at.data.column(name).to_pylist() for name in case.columns), strict=True))
            assert min(crowds.values()) >= case.words["k"]
            assert len(case.table) - len(at.data) == at.measures.total.suppressed <= SHARE * len(case.table)
            if number:
                assert at.measures.total.anonymity >= min(release.steps[number - 1].anonymity)


@EVERY
def test_several_quasi_identifiers_hold(method):
    if not METHODS[method].several:
        return
    case = CASES["with a target"]
    qids = [incrowd.QuasiIdentifier(["age", "job"], 4), incrowd.QuasiIdentifier(["region", "job"], 9)]
    released = made(case, method, quasi_identifiers=qids, k=None).data
    assert len(case.table) - len(released) <= SHARE * len(case.table)
    for qid in qids:
        crowds = Counter(zip(*(released.column(name).to_pylist() for name in qid.attributes), strict=True))
        assert min(crowds.values()) >= qid.k


@EVERY
@pytest.mark.parametrize("promise", [{"t": 0.4}, {"alpha": 0.7}])
def test_models_that_are_not_exact_then_are_refused(method, promise):
    with pytest.raises(incrowd.errors.PolicyError, match=r"left out|leave out"):
        made(CASES["with a target"], method, sensitive={"note": promise})


@pytest.mark.parametrize("method", METHODS)
def test_the_help_of_a_method_says_whether_it_leaves_out_records_unasked(method):
    """Leaving out one record in 61 would save all others from being coarsened."""
    table = pa.table({"age": [30] * 30 + [40] * 30 + [99], "job": ["nurse"] * 60 + ["smith"]})
    release = incrowd.anonymize(table, quasi_identifiers=["age", "job"], k=5, method=method)
    (line,) = [line for line in explained(method) if line.startswith("  records may be left out")]
    assert (len(release.data) < len(table)) == ("yes" in line)
