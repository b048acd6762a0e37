"""What goes out with a release tells nothing of records that were left out."""

import json

import pyarrow as pa
import pytest

import incrowd

ZIPS = ["01234"] * 40 + ["01235"] * 40 + ["02138"] * 40 + ["00501"]
AGES = ([30] * 20 + [40] * 20) * 3 + [113]
TABLE = pa.table({"zip": ZIPS, "age": AGES})
RULES = {"zip": {"prefix": [3, 2]}, "age": {"widths": [5, 20]}}


@pytest.mark.parametrize("method", ["incognito", "datafly", "samarati", "bug", "optimal"])
@pytest.mark.parametrize("taxonomies", [None, RULES])
def test_values_of_left_out_records_are_not_told(method, taxonomies):
    options = {"suppress": 0.05} | ({"time_limit": 20} if method == "optimal" else {})
    release = incrowd.anonymize(
        TABLE, quasi_identifiers=["zip", "age"], k=5, taxonomies=taxonomies, method=method, **options
    )
    if release.measures.total.suppressed != 1:
        pytest.skip("this method generalized instead")
    told = json.dumps(release.recoding.to_json()) + release.recoding.codebook() + json.dumps(release.to_json())
    assert "00501" not in told
    assert "113" not in told
    assert release.recoding.apply(TABLE).equals(release.data)


@pytest.mark.parametrize("method", ["argus", "kaca", "cover", "mondrian"])
@pytest.mark.parametrize("taxonomies", [None, RULES])
def test_a_codebook_of_local_recoding_does_not_tell_what_is_suppressed(method, taxonomies):
    release = incrowd.anonymize(TABLE, quasi_identifiers=["zip", "age"], k=5, taxonomies=taxonomies, method=method)
    told = release.recoding.codebook() + json.dumps(release.to_json())
    assert "00501" not in told
    assert "113" not in told
