"""The mu-Argus-like method at the edges: every table gives a release that holds, or one line that says why not."""

import datetime

import pyarrow as pa
import pytest

import incrowd
from incrowd.policy.policy import QuasiIdentifier
from incrowd.taxonomies.taxonomy import Taxonomy

PEOPLE = pa.table(
    {
        "age": [None if i % 9 == 4 else 20 + i * i % 37 for i in range(40)],
        "job": [None if i % 7 == 3 else "abcd"[i * i % 4] for i in range(40)],
        "born": pa.array([datetime.date(1980 + i % 11, 1 + i % 12, 1) if i % 8 else None for i in range(40)]),
        "income": ["YN"[i % 3 == 0] for i in range(40)],
    }
)
QI = ["age", "job", "born"]


def argus(data, columns, k, **words):
    keep = [name for name in data.column_names if name == "born" and name not in str(columns)]
    return incrowd.anonymize(data, quasi_identifiers=columns, k=k, method="argus", keep=keep, **words)


@pytest.mark.parametrize(
    ("k", "columns", "suppress"),
    [(2, QI, 0.0), (3, QI, 0.3), (7, QI, 0.99), (39, QI, 0.0), (40, QI, 0.99), (3, ["age"], 0.3), (20, ["job"], 0.0)],
)
def test_missing_values_dates_and_any_k(k, columns, suppress):
    release = argus(PEOPLE, columns, k, suppress=suppress, target="income")
    assert release.certificate.verification["holds"]
    assert release.measures.total.anonymity >= k
    assert release.measures.total.cm is not None
    assert release.data.num_rows == 40
    assert sorted(release.data["income"].to_pylist()) == sorted(PEOPLE["income"].to_pylist())


@pytest.mark.parametrize(
    "data",
    [
        pa.table({"a": ["x"] * 5, "b": [1] * 5}),
        pa.table({"a": pa.array([None] * 5, pa.string()), "b": pa.array([None] * 5, pa.int64())}),
    ],
)
def test_equal_records_stay_as_they_are(data):
    release = argus(data, ["a", "b"], 5)
    assert release.measures.total.ncp == 0
    assert release.found.facts["cells_suppressed"] == 0


def test_nothing_can_be_told_where_everyone_differs_and_all_are_needed():
    release = argus(pa.table({"a": list("abcde"), "b": range(5)}), ["a", "b"], 5, suppress=0.9)
    assert release.data.to_pylist() == [{"a": "*", "b": "*"}] * 5


def test_quasi_identifiers_that_share_attributes_all_hold():
    qids = [QuasiIdentifier(["age", "job"], 6), QuasiIdentifier(["job", "born"], 9), QuasiIdentifier(["born"], 10)]
    release = argus(PEOPLE, qids, None, suppress=0.9)
    assert release.certificate.verification["holds"]
    parts = zip(qids, release.measures.quasi_identifiers, strict=True)
    assert all(part.anonymity >= qid.k for qid, part in parts)


def test_more_attributes_than_all_sets_of_them_could_be_tried():
    data = pa.table({f"c{c:02}": ["abc"[(r * (c + 3) + r * r) % 7 % 3] for r in range(60)] for c in range(20)})
    release = argus(data, data.column_names, 4, length=2, suppress=0.9)
    assert release.certificate.verification["holds"]


def test_argus_alone_is_not_k_anonymous():
    """Every value occurs twice, every record once: mu-Argus with single values is content, and leaves all alone."""
    rows = [(a, b, (a + b) % 2) for a in range(2) for b in range(2)]
    data = pa.table({name: [str(row[i]) for row in rows] for i, name in enumerate("xyz")})
    taxonomies = {name: Taxonomy.flat(["0", "1"]) for name in "xyz"}
    release = incrowd.anonymize(
        data, quasi_identifiers=list("xyz"), k=2, taxonomies=taxonomies, method="argus", length=1, suppress=0.0
    )
    assert release.found.facts["unsafe_combinations"] == 0
    assert release.found.facts["records_in_small_classes_after_argus"] == 4
    assert release.measures.total.anonymity >= 2
