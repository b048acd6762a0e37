from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.witnesses import witness_of

from incrowd.errors import DataError, NotAnonymousError
from incrowd.policy.policy import QuasiIdentifier
from incrowd.privacy.l_diversity import EntropyLDiversity, LDiversity, RecursiveLDiversity
from incrowd.privacy.likeness import AlphaAnonymity, BetaLikeness, DeltaDisclosure, EnhancedBetaLikeness
from incrowd.privacy.t_closeness import TCloseness
from incrowd.privacy.units import KUnits
from incrowd.table.class_counts import ClassCounts, Histogram
from incrowd.taxonomies.taxonomy import Taxonomy
from incrowd.verification import witness as module
from incrowd.verification.verify import verify

TREE = Taxonomy.from_tree({"*": {"low": ["1", "2"], "high": [{"some": ["3"]}, "4"]}})

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
    witness = witness_of(qids)
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
            assert (finding.attributes, finding.k) == (qid.attributes, qid.k)
            assert finding.anonymity == min(sizes)
            assert finding.classes == len(sizes)
            (model,) = finding.models
            assert (model.model, model.threshold, model.worst) == (f"k={qid.k}", qid.k, min(sizes))
            assert (model.bad_classes, model.bad_records) == (len(small), sum(small))
            assert finding.holds == (not small)

    @given(rows, st.lists(st.integers(0, 10), max_size=5))
    def test_are_the_same_where_there_may_be_too_many_classes_for_a_table_of_all(self, rows, sizes):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_SMALL", -(10**6))
            found = see(rows, sizes=sizes)
        assert found == see(rows, sizes=sizes)

    @given(rows, st.lists(st.integers(0, 5), max_size=10))
    def test_are_the_same_when_merged_on_the_way(self, rows, sizes):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_BUFFER", 0)
            assert see(rows, sizes=sizes) == see(rows)

    def test_dictionaries_with_a_value_twice(self):
        column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["*", "*", None]))
        witness = witness_of([QuasiIdentifier(["a"], 2)])
        witness.see(pa.RecordBatch.from_arrays([column], names=["a"]))
        witness.see(pa.RecordBatch.from_arrays([pa.array(["*", None])], names=["a"]))
        finding = witness.verdict().findings[0]
        assert (finding.classes, finding.anonymity) == (2, 2)

    def test_empty_batches_do_not_count(self):
        witness = witness_of(QIDS)
        witness.see(batch([("x", 0, 0.5, True)]).slice(0, 0))
        with pytest.raises(DataError, match="no rows to verify"):
            witness.verdict()

    def test_it_looks_at_the_columns_of_the_quasi_identifiers_only(self):
        assert witness_of(QIDS).columns == ("a", "b", "c")

    def test_lists_cannot_be_counted(self):
        with pytest.raises(DataError, match="column 'a' has type list"):
            witness_of([QuasiIdentifier(["a"], 2)]).see(pa.RecordBatch.from_arrays([pa.array([[1]])], names=["a"]))


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
        model |= {"name": "k-anonymity", "column": None}
        finding |= {"models": [model]}
        assert found == {"holds": False, "records": 2, "quasi_identifiers": [finding]}


class TestModels:
    """Every privacy model, counted from rows, agrees with the model that searches ask, and with its definition."""

    MODELS = (
        LDiversity("s", 2),
        LDiversity("s", 3, ("1",)),
        EntropyLDiversity("s", 1.8),
        EntropyLDiversity("s", 2, ("1",)),
        RecursiveLDiversity("s", 2, 2),
        RecursiveLDiversity("s", 1.5, 3, ("4",)),
        TCloseness("s", 0.25, "equal"),
        TCloseness("s", 0.2, "ordered"),
        TCloseness("s", 0.2),
        TCloseness("s", 0.3, "hierarchical", TREE),
        AlphaAnonymity("s", 0.5),
        AlphaAnonymity("s", 0.5, ("1", "2")),
        BetaLikeness("s", 1),
        EnhancedBetaLikeness("s", 1),
        DeltaDisclosure("s", 1),
        KUnits("s", 2),
    )

    @given(
        st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from("1234")), min_size=2, max_size=40), st.integers(1, 9)
    )
    def test_agree_with_those_that_searches_ask(self, rows, size):
        values = tuple(sorted({value for _, value in rows}))
        groups = sorted({group for group, _ in rows})
        matrix = np.array([[rows.count((group, value)) for value in values] for group in groups])
        classes, codes = np.nonzero(matrix)
        histogram = Histogram(values, classes, codes, matrix[classes, codes], len(groups))
        counts = ClassCounts(matrix.sum(axis=1), {"s": histogram})
        models = [model for model in self.MODELS if getattr(model, "l", 0) <= len(values)]
        witness = witness_of([QuasiIdentifier(["a"], 2)], models)
        for start in range(0, len(rows), size):
            part = list(zip(*rows[start : start + size], strict=True))
            witness.see(pa.RecordBatch.from_arrays([pa.array(part[0]), pa.array(part[1])], names=["a", "s"]))
        (finding,) = witness.verdict().findings
        for model, found in zip(models, finding.models, strict=True):
            good = model.fitted(histogram).levels(counts) >= model.threshold
            assert (found.bad_classes, found.bad_records) == ((~good).sum(), counts.records[~good].sum()), model

    def test_worst_is_told_in_the_words_of_the_model(self):
        witness = witness_of([QuasiIdentifier(["a"], 2)], (TCloseness("s", 0.1), AlphaAnonymity("s", 0.5)))
        batch = pa.RecordBatch.from_arrays([pa.array(list("xxyy")), pa.array(list("1122"))], names=["a", "s"])
        witness.see(batch)
        closeness, alpha = witness.verdict().findings[0].models
        assert (closeness.threshold, closeness.worst, closeness.bad_records) == (0.1, 0.5, 4)
        assert (alpha.threshold, alpha.worst, alpha.column) == (0.5, 1.0, "s")

    def test_without_thresholds_everything_is_reported_and_nothing_refused(self):
        table = pa.table({"a": list("xxxyyz"), "s": list("112343")})
        found = verify(table, quasi_identifiers=["a"], sensitive=["s"])
        assert found.holds
        levels = {model.model: model.worst for model in found.findings[0].models}
        assert levels["k-anonymity"] == 1
        assert levels["distinct l-diversity of s"] == 1
        assert levels["alpha-anonymity of s"] == 1.0
        assert found.findings[0].models[1].bad_classes == 1


@pytest.mark.parametrize("failing", range(3))
def test_every_quasi_identifier_is_required_not_the_first_alone(failing):
    rows = pa.table({name: ["x"] * 5 + ["y" if place == failing else "x"] for place, name in enumerate("abc")})
    verification = verify(rows, quasi_identifiers=[["a"], ["b"], ["c"]], k=3)
    assert [finding.holds for finding in verification.findings] == [place != failing for place in range(3)]
    assert not verification.holds
    with pytest.raises(NotAnonymousError, match=f"does not hold for {'abc'[failing]}: 1 of 6 records"):
        verification.require()
