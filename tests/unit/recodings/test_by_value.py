import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
from incrowd.errors import DataError, TaxonomyError, UnknownNameError
from incrowd.recodings.attributes.cut import Cut, RuleCut
from incrowd.recodings.attributes.disclosure import Disclosure
from incrowd.recodings.attributes.intervals import Intervals
from incrowd.recodings.by_value import ByValue
from incrowd.recodings.reading import read_recoding
from incrowd.table.scales import Scale
from incrowd.taxonomies.taxonomy import Taxonomy

TREE = Taxonomy.from_tree({"ANY": {"Secondary": ["9th", "10th"], "University": ["Masters", "Doctorate"]}})
EDUCATION = Cut("education", TREE, (TREE.node("Secondary"), TREE.node("Masters"), TREE.node("Doctorate")))
AGE = Intervals("age", Scale("integer"), (18, 65))
JOB = Disclosure("job", ("clerk",))
ZIP = RuleCut("zip", incrowd.Prefix([3, 1]), ("1****", "201**", "202**"))


def apply(attribute, values, **words):
    column = pa.array(values) if not isinstance(values, pa.Array) else values
    return (
        incrowd.apply(ByValue((attribute,), **words), pa.table({attribute.name: column}), keep_order=True)
        .column(0)
        .to_pylist()
    )


class TestUnseenValues:
    def test_of_a_suppressed_attribute_are_suppressed(self):
        assert apply(JOB, ["clerk", "astronaut"]) == ["clerk", "*"]
        assert apply(Disclosure("job", ()), ["astronaut"]) == ["*"]

    @pytest.mark.parametrize(
        "values", [[-5, 18, 64, 65, 10**9], ["-5", "18", "64.9", "65.0", "1e300"], [-5.5, 18.0, 64.9, 65.0, 1e300]]
    )
    def test_numbers_outside_fall_in_the_outermost_intervals(self, values):
        assert apply(AGE, values) == ["<18", "[18-65)", "[18-65)", ">=65", ">=65"]

    def test_that_the_taxonomy_does_not_know_are_an_error_with_a_hint(self):
        with pytest.raises(TaxonomyError, match=r"a value of column 'education' .*: 'Master'; did you mean 'Masters'"):
            apply(EDUCATION, ["9th", "Master"])

    def test_under_a_rule(self):
        assert apply(ZIP, ["10115", "20199"]) == ["1****", "201**"]
        with pytest.raises(TaxonomyError, match=r"are not covered by any released value, such as .20300"):
            apply(ZIP, ["10115", "20300"])

    @pytest.mark.parametrize("attribute", [EDUCATION, AGE, ZIP])
    @pytest.mark.parametrize("kind", ["null", "token"])
    def test_missing_where_none_was_is_an_error(self, attribute, kind):
        values = pa.array([None if kind == "null" else "?"], pa.string())
        with pytest.raises(DataError, match=f"column '{attribute.name}' has missing values, but had none"):
            apply(attribute, values, missing_values=("?",))

    def test_missing_is_a_value_that_was_not_shown(self):
        assert apply(JOB, pa.array([None, "?"], pa.string()), missing_values=("?",)) == ["*", "*"]

    def test_a_column_that_is_not_there(self):
        with pytest.raises(UnknownNameError, match="no column 'age' in the table; did you mean 'agee'"):
            incrowd.apply(ByValue((AGE,)), pa.table({"agee": [1]}))

    def test_k_is_verified_on_request(self):
        new, qid = pa.table({"age": [1, 2, 70]}), incrowd.QuasiIdentifier(["age"], 2)
        assert incrowd.apply(ByValue((AGE,)), new).num_rows == 3
        with pytest.raises(incrowd.NotAnonymousError, match="1 of 3 records"):
            incrowd.apply(ByValue((AGE,)), new, require=[qid])


class TestLabels:
    @pytest.mark.parametrize(
        ("bounds", "domain", "missing", "labels"),
        [
            ((), None, "none", ("*",)),
            ((), None, "apart", ("known", None)),
            ((), None, "merged", ("*",)),
            ((), (0, 9), "none", ("[0-9]",)),
            ((5,), None, "none", ("<5", ">=5")),
            ((5, 6, 8), None, "apart", ("<5", "5", "[6-8)", ">=8", None)),
            ((5,), (0, 9), "none", ("[0-5)", "[5-9]")),
            ((9,), (8, 9), "none", ("8", "9")),
            ((-5, 3), (-9, 9), "none", ("[-9 to -5)", "[-5 to 3)", "[3-9]")),
        ],
    )
    def test_of_intervals(self, bounds, domain, missing, labels):
        assert Intervals("x", Scale("integer"), bounds, domain, missing).labels == labels

    @given(st.lists(st.integers(100, 120), min_size=4, max_size=40), st.integers(2, 4))
    def test_tell_neither_the_lowest_value_nor_a_rare_highest_one(self, ages, k):
        release = incrowd.anonymize(pa.table({"age": ages}), quasi_identifiers=["age"], k=k, method="tdr")
        labels = release.recoding.labels("age")
        if len(set(ages)) == 1:  # the same for all, so that it tells nobody apart
            assert labels == (str(ages[0]),)
            return
        lowest, highest = str(min(ages)), str(max(ages))
        assert not any(lowest in label for label in labels)
        assert ages.count(max(ages)) >= k or not any(highest in label for label in labels)
        if len(labels) > 1:
            assert labels[0].startswith("<")
            assert labels[-1].startswith(">=")
        shown = json.dumps([step.to_json()["children"] for step in release.steps]) + release.recoding.codebook()
        assert lowest not in shown


class TestRows:
    TABLE = pa.table({"name": ["ann", "bob", "eve"], "age": pa.array(["17", None, "70"]), "wage": [1, 1, 3]})

    def test_dropped_identifiers_and_untouched_columns(self):
        found = incrowd.apply(
            ByValue((Intervals("age", Scale("integer"), (18,), missing="apart"),), dropped=("name",)),
            self.TABLE,
            keep_order=True,
        )
        assert found.to_pydict() == {"age": ["<18", None, ">=18"], "wage": [1, 1, 3]}
        assert found.schema.field("wage") == self.TABLE.schema.field("wage")

    def test_rows_with_missing_values_are_dropped(self):
        found = incrowd.apply(ByValue((AGE,), missing="drop", missing_values=("70",)), self.TABLE, keep=["name"])
        assert found.to_pydict() == {"name": ["ann"], "age": ["<18"], "wage": [1]}

    def test_missing_values_are_an_error(self):
        with pytest.raises(DataError, match="1 row lacks a value in a quasi-identifier"):
            incrowd.apply(ByValue((AGE,), missing="error"), self.TABLE, keep=["name"])

    def test_a_leaf_that_looks_missing_is_a_value(self):
        tree = Taxonomy.flat(["?", "x"])
        assert apply(Cut("job", tree, (1, 2)), ["?", "x"], missing="error", missing_values=("?",)) == ["?", "x"]

    def test_a_missing_value_is_shown_as_it_was_written(self):
        attribute = Disclosure("job", ("clerk",), missing_shown=True)
        assert apply(attribute, ["?", "clerk"], missing_values=("?", ""), missing_label="?") == ["?", "clerk"]

    @given(st.lists(st.tuples(st.integers(0, 99), st.sampled_from(["clerk", "x", None])), min_size=1), st.data())
    def test_rows_in_no_released_class_are_dropped(self, rows, data):
        attributes = (AGE, Disclosure("job", ("clerk",), missing_shown=True))
        cells = st.tuples(st.integers(0, 2), st.integers(0, 2))
        classes = tuple(data.draw(st.sets(cells)))
        table = pa.table({"age": [a for a, _ in rows], "job": pa.array([j for _, j in rows], pa.string())})
        everyone = incrowd.apply(ByValue(attributes), table)
        shown = {(AGE.labels[age], attributes[1].labels[job]) for age, job in classes}
        expected = [row for row in everyone.to_pylist() if (row["age"], row["job"]) in shown]
        assert incrowd.apply(ByValue(attributes, classes=classes), table).to_pylist() == expected


DATES = Intervals("born", Scale("date"), (18262,), (0, 20000), "apart")
MOMENTS = Intervals("seen", Scale("timestamp", "us", "UTC"), (1_577_836_800_000_000,))
WHOLE = ByValue(
    (EDUCATION, Cut("sex", Taxonomy.flat(["F", "M"]).with_missing(), (1, 2, 3)), ZIP, AGE, DATES, MOMENTS, JOB),
    dropped=("name",),
    missing="category",
    missing_values=("?", ""),
    missing_label="?",
    classes=((0,) * 7, (2, 2, 1, 2, 1, 1, 1)),
)


class TestJson:
    def test_round_trip(self, tmp_path):
        assert ByValue.from_json(json.loads(json.dumps(WHOLE.to_json()))) == WHOLE
        WHOLE.write(tmp_path / "x.recoding.json")
        assert read_recoding(tmp_path / "x.recoding.json") == WHOLE

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "[]",
            "5",
            "{}",
            '{"incrowd": "certificate"}',
            '{"incrowd": "recoding", "format": 2}',
            '{"incrowd": "recoding", "format": 2, "dropped": [], "attributes": [{"kind": "magic"}]}',
            "\xff",
        ],
    )
    def test_a_file_that_is_no_recoding(self, tmp_path, text):
        (tmp_path / "x.json").write_bytes(text.encode("latin-1"))
        with pytest.raises(DataError, match=r"x\.json is not a recoding written by incrowd"):
            read_recoding(tmp_path / "x.json")

    def test_a_recoding_of_the_future(self, tmp_path):
        (tmp_path / "x.json").write_text('{"incrowd": "recoding", "format": 99}')
        with pytest.raises(DataError, match="format 99; this version reads format 2"):
            read_recoding(tmp_path / "x.json")

    def test_a_file_that_is_not_there(self, tmp_path):
        with pytest.raises(DataError, match=r"cannot read the recoding .*No such file"):
            read_recoding(tmp_path / "x.json")


def test_the_codebook_says_what_every_released_value_stands_for():
    small = ByValue((EDUCATION, AGE, Disclosure("job", ("clerk",), missing_shown=True)), missing_label="?")
    lines = [line.split(maxsplit=1) for line in str(small).splitlines()]
    assert lines == [
        ["education"],
        ["Secondary", "9th, 10th"],
        ["Masters"],
        ["Doctorate"],
        ["age"],
        ["<18"],
        ["[18-65)"],
        [">=65"],
        ["job"],
        ["clerk", "itself"],
        ["*", "any value not shown"],
        ["?", "missing"],
    ]
