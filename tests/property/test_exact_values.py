"""Values are exact: of every numeric and temporal type, through every kind of table, whatever stands beside them."""

import datetime as dt
import subprocess
import sys
from decimal import Decimal

import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.labels import labels_of
from tests.methods import ANY_TABLE as METHODS

import incrowd
from incrowd.errors import DataError, TaxonomyError
from incrowd.table.scales import scale_of, text_of
from incrowd.taxonomies.labels import parse_interval
from incrowd.taxonomies.taxonomy import Taxonomy

BIG = 1 << 53
UINT = st.one_of(st.integers(0, 9), st.integers(BIG - 2, BIG + 3), st.integers((1 << 63) - 2, (1 << 64) - 1))
INT = st.one_of(st.integers(-9, 9), st.integers(BIG - 2, BIG + 3), st.integers(-(1 << 63), (1 << 63) - 1))
FINE = st.decimals(-(10**20), 10**20, places=4)
COLUMNS = {
    pa.int64(): INT,
    pa.uint64(): UINT,
    pa.float64(): st.floats(-1e300, 1e300, allow_subnormal=False),
    pa.float32(): st.floats(width=32, allow_nan=False, allow_infinity=False, allow_subnormal=False),
    pa.decimal128(9, 2): st.decimals(-9999, 9999, places=2),
    pa.decimal128(30, 4): st.one_of(FINE, st.decimals(-9, 9, places=4)),
    pa.date32(): st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31)),
    pa.timestamp("us"): st.datetimes(dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31)),
    pa.timestamp("ns", "UTC"): st.integers(-(2**60), 2**60),
    pa.timestamp("ns"): st.integers(-(2**60), 2**60),
}


@st.composite
def columns(draw):
    """Distinct values of one type, as an Arrow array."""
    kind = draw(st.sampled_from(list(COLUMNS)))
    values = pa.array(draw(st.lists(COLUMNS[kind], min_size=2, max_size=6)), kind)
    places = {text: place for place, text in enumerate(text_of(values).to_pylist())}
    return values.take(pa.array(sorted(places.values()))) if len(places) > 1 else draw(columns())


def released(table, method="mondrian", k=2, **words):
    return incrowd.anonymize(table, quasi_identifiers=["x"], k=k, method=method, keep_order=True, **words)


def labels(release):
    return labels_of(release.data, "x")


def twice(values):
    return pa.table({"x": pa.concat_arrays([values, values])})


def shown(values):
    """Each value as a release shows it."""
    scale = scale_of(values, "x")
    return [scale.text(number) for number in scale.numbers(values, "x").tolist()]


@examples(60)
@given(columns())
def test_a_value_that_is_frequent_enough_is_released_as_itself_whatever_stands_beside_it(values):
    alone = [shown(values.slice(place, 1))[0] for place in range(len(values))]
    assert labels(released(twice(values))) == alone * 2
    assert len(set(alone)) == len(values)


@examples(20)
@given(columns(), st.randoms(use_true_random=False))
def test_the_release_of_a_value_does_not_depend_on_the_order_of_rows(values, random):
    table = pa.table({"x": pa.concat_arrays([values, values, values.slice(0, 1)])})
    order = list(range(len(table)))
    random.shuffle(order)
    texts = [str(text) for text in shown(table["x"].combine_chunks())]
    mixed = [texts[place] for place in order]
    for method in ("bug", "cover", "mondrian"):
        before, after = (labels(released(rows, method, k=3)) for rows in (table, table.take(order)))
        assert sorted(zip(texts, before, strict=True)) == sorted(zip(mixed, after, strict=True)), method


@examples(15)
@given(columns())
def test_every_kind_of_table_gives_the_same_release(tmp_path_factory, values):
    folder = tmp_path_factory.mktemp("tables")
    table = twice(values)
    pq.write_table(table, folder / "x.parquet")
    (folder / "x.csv").write_text("x\n" + "".join(f"{text}\n" for text in shown(values) * 2))
    expected = shown(values) * 2
    for source in (table, folder / "x.parquet", folder / "x.csv", polars.from_arrow(table)):
        assert labels(released(source)) == expected, type(source)
    if values.type != pa.timestamp("us"):  # those of pandas are of nanoseconds, and do not reach that far
        assert labels(released(table.to_pandas())) == expected


@examples(15)
@given(columns())
def test_a_recoding_takes_new_rows_as_text_to_the_same_released_values(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("recodings") / "release.csv"
    table = pa.table({"x": pa.concat_arrays([values, values, values.slice(0, 1)])})
    for method in ("tdr", "bug", "cover", "mondrian"):
        release = released(table, method)
        release.recoding.write(path.with_suffix(".recoding.json"))
        new = pa.table({"x": shown(values)})
        found = incrowd.apply(path.with_suffix(".recoding.json"), new, keep_order=True)["x"].to_pylist()
        assert found == labels(release)[: len(values)], method


@pytest.mark.parametrize("method", list(METHODS))
@pytest.mark.parametrize(
    "values",
    [
        pa.array([0, BIG, BIG + 1, 1 << 63, (1 << 64) - 1], pa.uint64()),
        pa.array(["-5", str(BIG), str(BIG + 1), str((1 << 64) - 1), "9" * 30]),
        pa.array([Decimal("12345678901234567.89"), Decimal("12345678901234567.90"), Decimal("0.5"), Decimal(-3)]),
        pa.array(["0.1", "0.10000000000000000001", "0.2", "7"]),
    ],
    ids=["above int64", "beyond uint64", "long decimals", "long texts"],
)
def test_every_method_keeps_neighbouring_numbers_apart(method, values):
    k = 2 + (len(method) + len(values)) % 2
    table = pa.table({"x": pa.concat_arrays([values, values, values.slice(0, 1)])})
    release = released(table, method, k)
    for text, label in zip(text_of(table["x"].combine_chunks()).to_pylist(), labels(release), strict=False):
        assert contains(label, Decimal(text)), (text, label)


def contains(label, number):
    if label.startswith("{"):
        return number in map(Decimal, label.strip("{}").split(", "))
    interval = parse_interval(label)
    if interval is None:
        return Decimal(label) == number
    low, high = (None if bound is None else Decimal(bound) for bound in (interval.low, interval.high))
    return (low is None or low <= number) and (high is None or number < high or (interval.closed and number == high))


def test_zeros_are_one_value_of_a_taxonomy_in_any_order():
    taxonomy = Taxonomy.from_paths([("0", "*"), ("1", "*"), ("1.5", "*")], "numbers")
    for values in ([0.0, -0.0, 1.0, 1.0], [0.0, -0.0, 1.5, 1.5], [1.5, -0.0, 1.5, 0.0]):
        found = labels(released(pa.table({"x": values}), taxonomies={"x": taxonomy}))
        assert found.count("0") == 2


def test_an_impossible_date_is_named_and_not_a_valid_one():
    days = ["2020-01-01", "2020-01-02", "2021-02-30", "2020-01-03"]
    with pytest.raises(DataError, match="'2021-02-30', which is not a date;") as failure:
        released(pa.table({"x": days * 2}))
    assert "2020-01" not in str(failure.value)


def test_a_taxonomy_error_names_one_value():
    taxonomy = Taxonomy.from_paths([("a", "*"), ("b", "*")], "letters")
    with pytest.raises(
        TaxonomyError, match=r"3 values of column 'x' are not leaves of its taxonomy, such as 'ann'"
    ) as e:
        released(pa.table({"x": ["a", "b", "bob", "ann", "eve"]}), taxonomies={"x": taxonomy})
    assert "bob" not in str(e.value)
    assert "eve" not in str(e.value)


def test_nanoseconds_need_no_pandas():
    code = """
import sys
class Without:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] == 'pandas':
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Without())
import warnings; warnings.simplefilter('ignore')  # y tells x
import incrowd, pyarrow as pa
moments = pa.array([1577836800123456789 + i for i in (0, 0, 1, 1)], pa.timestamp('ns'))
table = pa.table({'x': moments, 'y': moments})
assert incrowd.verify(table, quasi_identifiers=['x'], k=2).holds
for method in ('tdr', 'cover'):
    release = incrowd.anonymize(table, quasi_identifiers=['x'], k=2, method=method, keep=['y'], keep_order=True)
    assert release.certificate.verification['holds']
    release.preview()
print(release.data['x'].cast(pa.string())[0])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stderr, done.stdout) == ("", "2020-01-01 00:00:00.123456789\n")
