"""What goes out with a release tells nothing of records that were left out."""

import json
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import incrowd
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.l_diversity import EntropyLDiversity, LDiversity
from incrowd.privacy.likeness import AlphaAnonymity
from incrowd.privacy.model import Requirement
from incrowd.privacy.t_closeness import TCloseness
from incrowd.recodings.attributes.disclosure import Disclosure
from incrowd.recodings.attributes.intervals import Intervals
from incrowd.recodings.by_value import ByValue
from incrowd.search.leaving_out import budget_of, records_left_out, suppressed, withhold
from incrowd.table.attributes import encode
from incrowd.table.compressed import CompressedTable

ZIPS = ["01234"] * 40 + ["01235"] * 40 + ["02138"] * 40 + ["00501"]
AGES = ([30] * 20 + [40] * 20) * 3 + [113]
TABLE = pa.table({"zip": ZIPS, "age": AGES})
RULES = {"zip": {"prefix": [3, 2]}, "age": {"widths": [5, 20]}}


@pytest.mark.parametrize("method", ["incognito", "datafly", "samarati", "bug", "optimal"])
@pytest.mark.parametrize("taxonomies", [None, RULES])
def test_values_of_left_out_records_are_not_told(method, taxonomies):
    options = {"suppress": 0.05} | ({"time_limit": 120} if method == "optimal" else {})
    release = incrowd.anonymize(
        TABLE, quasi_identifiers=["zip", "age"], k=5, taxonomies=taxonomies, method=method, **options
    )
    assert release.measures.total.suppressed == 1
    told = json.dumps(release.recoding.to_json()) + release.recoding.codebook() + json.dumps(release.to_json())
    assert "00501" not in told
    assert "113" not in told
    assert incrowd.apply(release.recoding, TABLE).equals(release.data)


@pytest.mark.parametrize("method", ["argus", "kaca", "cover", "mondrian"])
@pytest.mark.parametrize("taxonomies", [None, RULES])
def test_a_codebook_of_local_recoding_does_not_tell_what_is_suppressed(method, taxonomies):
    release = incrowd.anonymize(TABLE, quasi_identifiers=["zip", "age"], k=5, taxonomies=taxonomies, method=method)
    told = release.recoding.codebook() + json.dumps(release.to_json())
    assert "00501" not in told
    assert "113" not in told


def two_quasi_identifiers():
    """Leaving out the only b1 leaves the other a1 alone: what was good first is not in the end."""
    columns = [
        encode(name, pa.array(values), has_missing=False) for name, values in (("a", ["a1", "a2"]), ("b", ["b1", "b2"]))
    ]
    codes = [np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])]
    table = CompressedTable.build([attribute for attribute, _ in columns], codes, np.ones(4, np.int64))
    return table, [Requirement((name,), (KAnonymity(2),)) for name in "ab"]


def test_records_are_left_out_until_every_quasi_identifier_holds():
    table, requirements = two_quasi_identifiers()
    for order in (slice(None), slice(None, None, -1)):
        out = suppressed(table.codes[order], requirements[order], table)
        assert table.counts[~out].tolist() == [2]


@pytest.mark.parametrize("method", ["bug", "incognito", "samarati", "datafly"])
def test_methods_leave_out_records_until_every_quasi_identifier_holds(method):
    rows = pa.table({"a": ["a1", "a1"] + ["a2"] * 18, "b": ["b1"] + ["b2"] * 19})
    release = incrowd.anonymize(rows, quasi_identifiers=[["a"], ["b"]], k=2, method=method, suppress=0.1)
    for name in "ab":
        assert min(Counter(release.data[name].to_pylist()).values()) >= 2
    assert release.certificate.verification["holds"]


@pytest.mark.parametrize(("share", "records"), [(0.29, 29), (0.07, 7), (0.999, 99), (0, 0), (1, 100)])
def test_a_share_of_the_records_is_counted_exactly(share, records):
    """0.29 * 100 is 28.999999999999996 in floats."""
    attribute, _ = encode("a", pa.array(["x"]), has_missing=False)
    table = CompressedTable.build([attribute], [np.array([0])], np.array([100]))
    assert budget_of(table, share) == records


def who_joins(model):
    """Women of 12 are left out; without them the range that begins at 10 begins at 15, and they fall below it."""
    people = [(3, "f"), (5, "f"), (3, "m"), (5, "m"), (12, "f"), (15, "m"), (16, "m")]
    ages, sexes = zip(*[person for person in people for _ in range(2)], strict=True)
    names = {"age": list(ages), "sex": list(sexes)}
    attributes = [encode(name, pa.array(values), has_missing=False)[0] for name, values in names.items()]
    codes = [np.unique(values, return_inverse=True)[1] for values in names.values()]
    ills = np.array([0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 1, 0, 1])  # those of the women of 12 are alike
    ones = np.ones(len(ages), np.int64)
    table = CompressedTable.build(attributes, codes, ones, protected={"ill": (["cold", "flu"], ills)})
    age, sex = attributes
    recoding = ByValue((Intervals.at(age, [2]), Disclosure.showing(sex, np.ones(2, bool))))
    requirements = [Requirement(("age", "sex"), (model,)).fitted(table.protected)]
    groups = [np.where(table.codes[0] < 2, 0, 2) + table.codes[1]]
    left_out = suppressed(groups, requirements, table)
    assert table.counts[left_out].sum() == 2
    return records_left_out(table, withhold(table, requirements, recoding, left_out)[0])


def test_who_joins_a_class_that_stays_good_is_released_after_all():
    assert who_joins(LDiversity("ill", 2)) == 0


@pytest.mark.parametrize("model", [AlphaAnonymity("ill", 0.5), EntropyLDiversity("ill", 2), TCloseness("ill", 0.09)])
def test_a_class_that_is_bad_with_those_who_join_it_is_left_out_as_well(model):
    assert who_joins(model) == 6


def test_the_rule_compares_with_those_who_stay():
    """8 colds of 12 are near the 44 of 72 of all; once 12 colds of 12 are left out they are far from 32 of 60."""
    attribute, _ = encode("a", pa.array(["p", "q", "r"]), has_missing=False)
    colds, size = [8, 24, 12], [12, 48, 12]
    codes = np.repeat(np.arange(3), size)
    ills = np.concatenate([np.arange(n) >= cold for cold, n in zip(colds, size, strict=True)]).astype(np.int64)
    ones = np.ones(72, np.int64)
    table = CompressedTable.build([attribute], [codes], ones, protected={"ill": (["cold", "flu"], ills)})
    requirement = Requirement(("a",), (TCloseness("ill", 0.12, "equal"),)).fitted(table.protected)
    assert requirement.good(table.class_counts(table.codes[0], 3)).tolist() == [True, True, False]
    assert suppressed([table.codes[0]], [requirement], table).tolist() == [True, False, True]
