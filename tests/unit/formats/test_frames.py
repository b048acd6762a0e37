import datetime

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import polars.testing
import pyarrow as pa
import pytest
from tests.files import read

from incrowd.errors import DataError, PolicyError
from incrowd.formats.frames import rebuild
from incrowd.formats.registry import open_source
from incrowd.formats.sources import BATCH_ROWS

ENCODED = pa.dictionary(pa.int32(), pa.string())
DATA = {"name": ["Ann", "Bo", None, "Di"], "age": [31, 42, 53, 64], "sex": ["f", "m", "m", "f"]}
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
KEEP = np.array([True, False, True, True])
ROWS = np.flatnonzero(KEEP)
RANGES = pa.array(["30-49", "30-49", "50-69", "50-69"])


@pytest.fixture(params=FRAMES)
def frame(request):
    return FRAMES[request.param](DATA)


class TestReading:
    def test_batches_are_bounded_and_share_one_dictionary(self):
        rows = BATCH_ROWS * 2 + 5
        half = pa.table({"a": [str(number % 9) for number in range(rows // 2 + 1)]})
        source = open_source(pa.concat_tables([half, half]))
        batches = list(source.batches(encoded=["a"]))
        assert [batch.num_rows for batch in batches] == [BATCH_ROWS, BATCH_ROWS, 2 * (rows // 2 + 1) - 2 * BATCH_ROWS]
        assert all(batch.column(0).dictionary.equals(batches[0].column(0).dictionary) for batch in batches)
        assert sum(batch.num_rows for batch in source.batches()) == 2 * (rows // 2 + 1)

    @pytest.mark.parametrize(
        "values",
        [
            pd.DataFrame({"c": pd.Categorical(["x", "y", "x"])}),
            pl.DataFrame({"c": pl.Series(["x", "y", "x"], dtype=pl.Categorical)}),
            pl.DataFrame({"c": pl.Series(["x", "y", "x"], dtype=pl.Enum(["y", "x"]))}),
        ],
    )
    def test_categories(self, values):
        found = read(values, encoded=["c"]).column("c")
        assert pa.types.is_dictionary(found.type)
        assert (found.type.index_type, found.type.value_type) == (pa.int32(), pa.string())
        assert found.to_pylist() == ["x", "y", "x"]

    def test_missing_values_of_pandas_are_null(self):
        frame = pd.DataFrame(
            {"a": [1.5, np.nan], "b": pd.Series(["x", None], dtype=object), "t": [pd.Timestamp(0), pd.NaT]}
        )
        assert [list(row.values())[:2] for row in read(frame).to_pylist()] == [[1.5, "x"], [None, None]]


class Streamed:
    """Something that gives its rows as an Arrow stream, and is known for nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


class TestRowsThatAreElsewhere:
    def test_a_lazy_frame_is_collected(self):
        for frame in (pl.LazyFrame(DATA), nw.from_native(pl.LazyFrame(DATA))):
            source = open_source(frame)
            assert isinstance(source.frame, pl.DataFrame)
            assert read(frame).to_pydict() == DATA

    def test_anything_with_an_arrow_stream_becomes_an_arrow_table(self):
        table = pa.table(DATA)
        reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
        for given in (Streamed(table), reader, table.to_batches()[0]):
            source = open_source(given)
            assert [pa.Table.from_batches(source.batches()) for _ in range(2)] == [table, table]
            assert isinstance(source.frame, pa.Table)

    def test_a_lazy_frame_that_fails_is_one_line(self):
        with pytest.raises(DataError, match=r"whose query fails when it is run; collect it first") as caught:
            open_source(pl.LazyFrame(DATA).select("nope"))
        assert caught.value.__context__ is None


class TestBadFrames:
    @pytest.mark.parametrize(("thing", "kind"), [({"a": [1]}, "dict"), (3, "int"), (None, "NoneType"), (b"x", "bytes")])
    def test_no_frame(self, thing, kind):
        with pytest.raises(PolicyError, match=f"cannot read a table from {kind};"):
            open_source(thing)

    @pytest.mark.parametrize("labels", [[0, 1], ["a", 1], pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])])
    def test_labels_that_are_no_text(self, labels):
        with pytest.raises(DataError, match=r"column label of type (int|tuple)"):
            open_source(pd.DataFrame([[1, 2]], columns=labels))

    def test_names_given_twice(self):
        for frame in (
            pd.DataFrame([[1, 2]], columns=["a", "a"]),
            pa.Table.from_arrays([pa.array([1])] * 2, names=["a", "a"]),
        ):
            with pytest.raises(DataError, match="same name: 'a'"):
                open_source(frame)

    def test_no_rows_and_no_columns(self, frame):
        with pytest.raises(DataError, match="no rows"):
            open_source(frame[:0] if not isinstance(frame, pa.Table) else frame.slice(0, 0))
        with pytest.raises(DataError, match="no columns"):
            open_source(pd.DataFrame(index=[1, 2]))

    @pytest.mark.parametrize("values", [["Hildegard", 1], [1, "Hildegard"], [{"Hildegard"}, 3], ["Hildegard\ud800"]])
    def test_objects_that_are_no_column(self, values):
        source = open_source(pd.DataFrame({"fine": range(len(values)), "odd": pd.Series(values, dtype=object)}))
        assert sum(len(batch) for batch in source.batches(["fine"])) == len(values)
        with pytest.raises(DataError, match="column 'odd'") as caught:
            list(source.batches())
        assert "Hildegard" not in str(caught.value)

    def test_a_frame_that_changes(self):
        frame = pd.DataFrame(DATA)
        source = open_source(frame)
        frame["more"] = 1
        with pytest.raises(DataError, match="changed"):
            list(source.batches())


class TestRebuilding:
    def test_replaced_in_place_dropped_and_filtered(self, frame):
        found = rebuild(frame, {"age": RANGES}, ["name"], ROWS)
        assert type(found) is type(frame)
        assert read(found).to_pydict() == {
            "age": ["30-49", "50-69", "50-69"],
            "sex": ["f", "m", "f"],
        }
        assert read(frame).to_pydict() == DATA

    def test_a_value_for_every_row(self, frame):
        with pytest.raises(ValueError, match="2 values for 4 rows"):
            rebuild(frame, {"age": RANGES[:2]}, (), ROWS)

    def test_dictionaries_and_chunks_become_plain_text(self, frame):
        encoded = pa.chunked_array([RANGES[:1].dictionary_encode(), RANGES[1:].dictionary_encode()])
        found = nw.from_native(rebuild(frame, {"age": encoded})).get_column("age")
        assert found.dtype == nw.String
        assert found.to_list() == RANGES.to_pylist()

    def test_pandas_types_are_exact_and_nothing_else_goes_along(self):
        frame = pd.DataFrame(
            {
                "id": [1, 2, 3, 4],
                "self": ["a", "b", "c", "d"],
                "int8": np.array([1, 2, 3, 4], dtype=np.int8),
                "Int64": pd.array([1, None, 3, 4], dtype="Int64"),
                "category": pd.Categorical(["x", "y", None, "x"], categories=["z", "y", "x"], ordered=True),
                "when": pd.date_range("2020-01-01", periods=4, tz="Europe/Berlin"),
                "object": pd.Series([[1], {"k": 2}, None, "x"], dtype=object),
                "arrow": pd.array(["p", "q", None, "r"], dtype=pd.ArrowDtype(pa.string())),
            }
        )
        frame.index = pd.MultiIndex.from_tuples([("b", 1), ("a", 1), ("b", 1), ("c", 0)], names=["one", None])
        frame.attrs["title"] = "people"
        before = frame.copy(deep=True)
        frame.columns.name = "register of Hildegard"
        before = frame.copy(deep=True)
        found = rebuild(frame, {"self": RANGES}, {"id"}, ROWS)
        expected = frame.drop(columns="id").loc[KEEP].reset_index(drop=True)
        expected["category"] = expected["category"].cat.remove_unused_categories()
        expected.columns.name = None
        expected["self"] = ["30-49", "50-69", "50-69"]
        pd.testing.assert_frame_equal(found, expected)
        others = ["id", "self", "category"]
        assert list(found.dtypes.drop(others[1:])) == list(frame.dtypes.drop(others))
        assert found["category"].cat.categories.tolist() == ["x"]
        assert list(found.columns) == [name for name in frame.columns if name != "id"]
        assert found.attrs == {}
        assert rebuild(frame, {"self": RANGES}, index=True).index.equals(frame.index)
        pd.testing.assert_frame_equal(frame, before)

    def test_polars_types_are_exact(self):
        frame = pl.DataFrame(
            {
                "age": [1, 2, 3, 4],
                "date": [datetime.date(2020, 1, day) for day in (1, 2, 3, 4)],
                "enum": pl.Series(["a", "b", "a", "b"], dtype=pl.Enum(["c", "b", "a"])),
                "kind": pl.Series(["x", "y", "z", "x"], dtype=pl.Categorical),
                "tags": [["p"], [], None, ["q", "r"]],
                "small": pl.Series([1, 2, 3, None], dtype=pl.UInt8),
            }
        )
        found = rebuild(frame, {"age": RANGES}, (), ROWS)
        used = pl.Enum(["b", "a"])  # no row has c
        expected = frame.filter(KEEP).drop("age").with_columns(pl.col("enum").cast(used))
        polars.testing.assert_frame_equal(found.drop("age"), expected)
        assert found.columns == frame.columns
        assert found.schema["age"] == pl.String

    def test_pyarrow_fields_are_exact_and_metadata_stay_behind(self):
        schema = pa.schema(
            [pa.field("age", pa.int8()), pa.field("kept", pa.int8(), nullable=False, metadata={"unit": "cm"})],
            metadata={"made by": "us"},
        )
        frame = pa.table({"age": [1, 2, 3, 4], "kept": [5, 6, 7, 8]}, schema=schema)
        found = rebuild(frame, {"age": RANGES}, (), ROWS)
        assert found.schema.field("kept").equals(schema.field("kept"))
        assert found.schema.field("age").type == pa.string()
        assert found.schema.metadata is None
        assert found.schema.field("kept").metadata is None
        assert found.column("kept").to_pylist() == [5, 7, 8]

    def test_a_narwhals_frame_comes_back_as_one(self):
        assert isinstance(rebuild(nw.from_native(pl.DataFrame(DATA)), {"age": RANGES}), nw.DataFrame)
