from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd import witness as module
from incrowd.errors import DataError, NotAnonymousError
from incrowd.policy.policy import QuasiIdentifier
from incrowd.witness import Witness

QIDS = (QuasiIdentifier(["a", "b"], 3), QuasiIdentifier(["c"], 2), QuasiIdentifier(["c", "a"], 2))
SCHEMA = pa.schema([("a", pa.string()), ("b", pa.int64()), ("c", pa.float64()), ("other", pa.bool_())])
NAN = float("nan")

rows = st.lists(
    st.tuples(
        st.sampled_from(["x", "y", "", "NaN", None]),
        st.sampled_from([0, 1, 2**60, None]),
        st.sampled_from([0.5, 1.0, NAN, None]),
        st.booleans(),
    ),
    min_size=1,
    max_size=40,
)


def batch(rows, encoded=False):
    columns = [pa.array(column, field.type) for column, field in zip(zip(*rows, strict=True), SCHEMA, strict=True)]
    if encoded:
        columns = [column.dictionary_encode() for column in columns]
    return pa.RecordBatch.from_arrays(columns, names=SCHEMA.names)


def see(rows, qids=QIDS, sizes=(), encoded=False):
    witness = Witness(qids)
    start = 0
    for size in (*sizes, len(rows)):
        if part := rows[start : start + size]:
            witness.see(batch(part, encoded))
        start += size
    return witness.verdict()


def classes(rows, qid):
    """The size of each class, by definition: rows are alike if they show the same, null and not-a-number too."""
    return Counter(tuple(repr(row[SCHEMA.names.index(name)]) for name in qid.attributes) for row in rows)


class TestCounts:
    @given(rows, st.lists(st.integers(0, 10), max_size=5), st.booleans())
    def test_are_those_of_a_counter_in_any_batches(self, rows, sizes, encoded):
        found = see(rows, sizes=sizes, encoded=encoded)
        assert found.records == len(rows)
        for finding, qid in zip(found.findings, QIDS, strict=True):
            sizes = classes(rows, qid).values()
            small = [size for size in sizes if size < qid.k]
            assert finding.quasi_identifier == qid
            assert finding.anonymity == min(sizes)
            assert finding.classes == len(sizes)
            (model,) = finding.models
            assert (model.model, model.threshold, model.worst) == (f"k={qid.k}", qid.k, min(sizes))
            assert (model.bad_classes, model.bad_records) == (len(small), sum(small))
            assert finding.holds == (not small)

    @given(rows, st.lists(st.integers(0, 5), max_size=10))
    def test_are_the_same_when_merged_on_the_way(self, rows, sizes):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_BUFFER", 0)
            assert see(rows, sizes=sizes) == see(rows)

    def test_dictionaries_with_a_value_twice(self):
        column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["*", "*", None]))
        witness = Witness([QuasiIdentifier(["a"], 2)])
        witness.see(pa.RecordBatch.from_arrays([column], names=["a"]))
        witness.see(pa.RecordBatch.from_arrays([pa.array(["*", None])], names=["a"]))
        finding = witness.verdict().findings[0]
        assert (finding.classes, finding.anonymity) == (2, 2)

    def test_empty_batches_do_not_count(self):
        witness = Witness(QIDS)
        witness.see(batch([("x", 0, 0.5, True)]).slice(0, 0))
        with pytest.raises(DataError, match="no rows to verify"):
            witness.verdict()

    def test_it_looks_at_the_columns_of_the_quasi_identifiers_only(self):
        assert Witness(QIDS).columns == ("a", "b", "c")

    def test_lists_cannot_be_counted(self):
        with pytest.raises(DataError, match="column 'a' has type list"):
            Witness([QuasiIdentifier(["a"], 2)]).see(pa.RecordBatch.from_arrays([pa.array([[1]])], names=["a"]))


class TestRequire:
    def test_gives_itself_where_all_holds(self):
        found = see([("x", 0, 0.5, True)] * 3)
        assert found.require() is found
        assert found.holds

    def test_says_which_quasi_identifier_fails_and_by_how_much(self):
        found = see([("x", 0, 0.5, True)] * 4 + [("y", 0, 0.5, True)] * 2 + [("z", 0, 0.5, True)])
        assert not found.holds
        with pytest.raises(NotAnonymousError) as error:
            found.require()
        assert str(error.value) == (
            "k=3 does not hold for a, b: 3 of 7 records are in 2 classes that fall short; the worst reaches 1"
        )

    def test_as_json(self):
        found = see([("x", 0, 0.5, True)] * 2, QIDS[:1]).to_json()
        finding = {"attributes": ["a", "b"], "k": 3, "holds": False, "anonymity": 2, "classes": 1}
        model = {"model": "k=3", "threshold": 3, "worst": 2, "bad_classes": 1, "bad_records": 2, "holds": False}
        finding |= {"models": [model]}
        assert found == {"holds": False, "records": 2, "quasi_identifiers": [finding]}
