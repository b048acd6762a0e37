"""CM against its definition, counted on the released rows one by one, for every method that there is."""

from collections import Counter, defaultdict

import pyarrow as pa
import pyarrow.csv as csv
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.methods import ANY_TABLE as METHODS
from tests.strategies import columns

import incrowd
from incrowd.key import Key

pytestmark = pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")  # small tables tell a lot

LOCAL = ["kaca", "kaca2", "cover", "mondrian", "argus"]
OPTIONS = {
    "genetic": {"population": 8, "patience": 20, "evaluations": 60},
    "optimal": {"time_limit": 5},
    "mondrian": {"relaxed": True},
}
LABELS = st.sampled_from(["Y", "N", "M", None])


@st.composite
def tables(draw):
    """A table with many small crowds, a target with missing values, a column besides, and names to drop."""
    crowds = draw(st.lists(st.sampled_from([1, 2, 1, 3, 7, 12]), min_size=2, max_size=10))
    names = ["age", "job", "zip"][: draw(st.integers(1, 3))]
    drawn = [draw(columns(name, crowds)) for name in names]
    rows = sum(crowds)
    data = {column.name: column.array(column.values) for column in drawn}
    data["income"] = pa.array(draw(st.lists(LABELS, min_size=rows, max_size=rows)), pa.string())
    data["note"] = pa.array(draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows)))
    data["name"] = pa.array([f"person {row}" for row in range(rows)])
    taxonomies = {column.name: column.taxonomy for column in drawn if column.taxonomy is not None}
    words = {"quasi_identifiers": names, "taxonomies": taxonomies, "k": draw(st.integers(2, min(5, rows)))}
    words["keep"] = ["income", "note"]
    return pa.table(data), words


def misfits(rows, names):
    """Released records whose label is not the most frequent one among those with the same released values."""
    labels = defaultdict(Counter)
    for row in rows:
        labels[tuple(row[name] for name in names)][row["income"]] += 1
    return sum(counter.total() - max(counter.values()) for counter in labels.values())


def check(release, rows, records):
    """Compare the metric of the whole quasi-identifier and of each attribute with their definition."""
    for part in (release.measures.total, *release.measures.quasi_identifiers, *release.measures.attributes):
        expected = (records - len(rows) + misfits(rows, part.attributes)) / records
        assert part.cm == pytest.approx(expected)
        assert part.suppressed == records - len(rows)


@pytest.mark.parametrize("method", METHODS)
@examples(25)
@given(table=tables(), seed=st.integers(0, 3))
def test_the_metric_is_that_of_the_released_rows(method, table, seed):
    data, words = table
    options = {**words, **OPTIONS.get(method, {})}
    release = incrowd.anonymize(
        data, target="income", identifiers=["name"], method=method, key=Key.for_experiments(seed), **options
    )
    check(release, release.data.to_pylist(), len(data))


@pytest.mark.parametrize("method", LOCAL)
def test_the_metric_of_a_file_with_rows_to_drop(method, tmp_path):
    """Nine in ten rows have an age; tuples are split, and labels are spread over them."""
    rows = [(None if i % 10 == 9 else i % 7, "xyz"[i % 3], "YN"[i * i % 11 < 5], i) for i in range(200)]
    data = pa.table(dict(zip(("age", "job", "income", "note"), map(list, zip(*rows, strict=True)), strict=True)))
    csv.write_csv(data, tmp_path / "people.csv")
    words = {"quasi_identifiers": ["age", "job"], "k": 20, "target": "income", "keep": ["note"], "missing": "drop"}
    release = incrowd.anonymize(tmp_path / "people.csv", method=method, **words, **OPTIONS.get(method, {}))
    check(release, release.data.to_pylist(), 180)
    release.write(tmp_path / "release.csv")
    written = csv.read_csv(tmp_path / "release.csv").to_pylist()
    assert misfits(written, ["age", "job"]) / 180 == pytest.approx(release.measures.total.cm)


def test_without_a_target_there_is_no_metric():
    data = pa.table({"age": [1, 1, 1, 2, 2, 3, 3], "job": list("aabbaab")})
    release = incrowd.anonymize(data, quasi_identifiers=["age", "job"], k=3, method="kaca")
    assert release.measures.total.cm is None
