"""What a recoding leaves as it is keeps the type that it has in the table at hand: every method, frame and way out."""

import datetime as dt
import itertools
from decimal import Decimal

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.examples import spread
from tests.methods import ANY_TABLE as METHODS

import incrowd
from incrowd.engines.arrow.recode import labelled
from incrowd.run import Run
from incrowd.table.scales import text_of

pytestmark = pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")  # risks are not the point here

# Every combination of the first columns occurs six times; no two rows have the same `exact`.
ZONED = pa.timestamp("us", "CET")
KINDS = {
    "whole": pa.array([1, 2], pa.int16()),
    "half": pa.array([0.5, -0.0]),
    "money": pa.array([Decimal("1.25"), Decimal("3.00")], pa.decimal128(8, 2)),
    "day": pa.array([dt.date(2020, 1, 31), dt.date(2021, 5, 1)]),
    "moment": pa.array([dt.datetime(2020, 1, 1, 12), dt.datetime(2020, 1, 1, 12, 0, 0, 5000)], ZONED),
}
PLACES = list(itertools.product((0, 1), repeat=len(KINDS))) * 6
TABLE = pa.table(
    {name: values.take(pa.array([row[place] for row in PLACES])) for place, (name, values) in enumerate(KINDS.items())}
    | {"exact": pa.array(range(len(PLACES)), pa.int64()), "note": pa.array([f"n{n % 7}" for n in range(len(PLACES))])}
)
WORDS = {"quasi_identifiers": [*KINDS, "exact"], "k": 3}
NUMBERED = ("incognito", "mondrian", "cover", "argus")  # these leave all of the first columns as they are
TRIED = [name for name in METHODS if name not in ("auto", "optimal")]
QUICK = {"genetic": {"population": 8, "patience": 10, "evaluations": 40}, "cover": {"effort": 0}}
EVERY = pytest.mark.parametrize("method", TRIED)


def released(table, method, **words):
    words = {**WORDS, **QUICK.get(method, {}), **words}
    there = {"exact", "n"} & {*getattr(table, "column_names", getattr(table, "columns", ()))}
    return incrowd.anonymize(table, method=method, **words, keep=there - {*words["quasi_identifiers"]})


@EVERY
def test_columns_without_a_generalized_value_keep_their_type_and_others_are_text(method):
    release = released(TABLE, method)
    for field in release.data.schema:
        if field.name == "note":
            continue
        originals = {_written(value) for value in TABLE[field.name].to_pylist()}
        found = {_written(value) for value in release.data[field.name].to_pylist()}
        if release.recoding.unchanged(field.name) is None:
            assert field.type == pa.string()
            assert not found <= originals
        else:
            assert field.type == TABLE.schema.field(field.name).type
            assert found <= originals


def _written(value):
    """A value as a label is written."""
    if isinstance(value, str):
        return value
    (text,) = text_of(pa.array([value])).to_pylist()
    return text


@pytest.mark.parametrize("method", NUMBERED)
def test_what_is_left_as_it_is_is_not_text(method):
    schema = released(TABLE, method).data.schema
    assert all(schema.field(name).type == values.type for name, values in KINDS.items())
    assert schema.field("exact").type == pa.string()


@pytest.mark.parametrize(("method", "frame"), spread(TRIED, [pa.table, pa.Table.to_pandas, pl.from_arrow]))
def test_a_recoding_that_is_applied_gives_the_rows_of_the_release(method, frame):
    table = frame(TABLE)
    release = released(table, method)
    again = incrowd.apply(release.recoding, table)
    assert again.equals(release.data) or METHODS[method].local  # which takes training rows for new ones
    assert isinstance(table, pa.Table) or list(again.dtypes) == list(release.data.dtypes)
    assert incrowd.verify(release.data, **WORDS).holds
    assert incrowd.check_certificate(release.certificate, release.data).holds


@pytest.mark.parametrize("method", NUMBERED)
def test_frames_keep_the_types_that_their_library_has(method):
    frame = TABLE.to_pandas().assign(whole=lambda rows: rows["whole"].astype("Int16"))
    frame["half"] = frame["half"].astype("float32")
    kept = released(frame, method).data
    assert [str(kept[name].dtype) for name in KINDS] == [str(frame[name].dtype) for name in KINDS]
    polars = pl.from_arrow(TABLE)
    assert [released(polars, method).data.schema[name] for name in KINDS] == [polars.schema[name] for name in KINDS]


@pytest.mark.parametrize("engine", ["arrow", "duckdb"])
@pytest.mark.parametrize("method", ["incognito", "cover"])
def test_files_with_types_have_them_and_text_is_as_it_was(engine, method, tmp_path):
    pa.parquet.write_table(TABLE, tmp_path / "people.parquet")
    for keep_order in (False, True):
        release = released(tmp_path / "people.parquet", method, engine=engine, keep_order=keep_order)
        release.write(tmp_path / "typed.parquet", overwrite=True)
        written = pa.parquet.read_table(tmp_path / "typed.parquet")
        assert [written.schema.field(name).type for name in KINDS] == [values.type for values in KINDS.values()]
        assert written.to_pylist() == release.data.to_pylist()
        release.write(tmp_path / "out.csv", overwrite=True)
        texts = pa.table({name: column.cast(pa.string()) for name, column in _labels(release).items()})
        rows = (tmp_path / "out.csv").read_text().splitlines()[1:]
        assert sorted(rows) == sorted(",".join(row.values()) for row in texts.to_pylist())
        assert {line.split(",")[1] for line in rows} == {"0.5", "0"}
        assert {line.split(",")[4] for line in rows} == {"2020-01-01 12:00:00Z", "2020-01-01 12:00:00.005Z"}


def _labels(release):
    """The released rows as labels, from the recoding alone."""
    rows = pa.Table.from_batches(list(labelled(release.source, release.recoding, Run())))
    return {name: rows[name] for name in rows.column_names}


def test_a_missing_value_is_null_where_it_was_and_text_where_it_has_a_name():
    some = TABLE.set_column(0, "whole", pa.array([None if n % 4 == 0 else 1 for n in range(len(TABLE))], pa.int16()))
    kept = released(some, "cover", quasi_identifiers=["whole"]).data
    assert kept.schema.field("whole").type == pa.int16()
    assert kept["whole"].null_count == some["whole"].null_count
    named = some.set_column(0, "whole", pa.array([-9 if n % 4 == 0 else 1 for n in range(len(TABLE))], pa.int16()))
    told = released(named, "cover", quasi_identifiers=["whole"], missing_values=["-9"]).data
    assert set(told["whole"].to_pylist()) == {"-9", "1"}


def test_what_fits_nothing_in_new_rows_is_empty_and_types_stay():
    release = released(TABLE, "cover", quasi_identifiers=["whole", "day"])
    new = pa.table({"whole": pa.array([7, 1], pa.int16()), "day": KINDS["day"]})
    for table in (new, new.to_pandas(), pl.from_arrow(new)):
        rows = pa.table(incrowd.apply(release.recoding, table, keep_order=True))
        assert rows["whole"].to_pylist() == [None, 1]
        assert rows["day"].to_pylist()[0] == KINDS["day"].to_pylist()[0]  # a class covers that much of it
        assert pa.types.is_integer(rows["whole"].type)


def test_nothing_of_a_value_goes_out_that_its_label_does_not_say():
    zeros = TABLE.set_column(1, "half", pa.array([0.0 if n % 2 else -0.0 for n in range(len(TABLE))]))
    kept = released(zeros, "cover", quasi_identifiers=["half"]).data
    assert {str(value) for value in kept["half"].to_pylist()} == {"0.0"}
    categories = pd.DataFrame({"kind": pd.Categorical([1, 2] * 8, categories=[1, 2, 3]), "n": range(16)})
    told = released(categories, "cover", quasi_identifiers=["kind"], k=2).data
    assert str(told["kind"].dtype) == "str"


def test_a_population_is_compared_with_values_that_kept_their_type():
    words = {"quasi_identifiers": ["whole", "day", "moment"], "k_map": 3, "population_table": TABLE}
    release = released(TABLE.slice(0, 150), "incognito", **words)
    assert release.data.schema.field("moment").type == KINDS["moment"].type
    assert release.risk().after is not None
