"""What goes out says no more than the released rows: values that no released row has are in no byte of it.

A person is left out, a column is dropped, and categories, metadata, index and attributes hold more than rows do. All of
that has a marker, and whatever a release gives away is searched for it.
"""

import io
import json
import pickle
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from tests.command_line import run
from tests.examples import paired, spread

import incrowd
from incrowd.formats.compression import open_bytes
from incrowd.formats.registry import FORMATS, open_source
from incrowd.taxonomies.labels import parse_interval

MARKER = "Hildegard-of-Bingen-and-nobody-else"
NUMBER = 7_123_456_789_012_345  # of whoever is left out, in columns of numbers
KINDS = ("csv", "parquet", "pandas", "polars", "pyarrow", "pyarrow views")
NAMES = [
    f"out{suffix}{more}"
    for known in FORMATS.values()
    if known.writer
    for suffix in known.suffixes[: 1 if known.compressed or known.libraries[1] else None]
    for more in ("", *known.compressed)
]


def table(rows=60):
    """People, one of whom lacks an age and is left out; the marker is in that row and in what is dropped."""
    last = rows - 1
    texts = [f"a longer text of the kind {number % 4}" for number in range(rows)]
    texts[last] = MARKER
    numbers = [number % 5 for number in range(rows)]
    numbers[last] = NUMBER
    return pa.table(
        {
            "name": [f"{MARKER} {number}" for number in range(rows)],
            "age": [*(20 + number % 7 for number in range(last)), None],
            "job": pa.array([*("clerk" if number % 2 else "nurse" for number in range(last)), MARKER]),
            "note": texts,
            "kind": pa.array(texts).dictionary_encode(),
            "ordered": pa.DictionaryArray.from_arrays(
                pa.array([number % 2 for number in range(last)] + [2], pa.int8()), ["b", "a", MARKER], ordered=True
            ),
            "number": numbers,
            "tags": [[text] for text in texts],
        },
        metadata={"made by": MARKER},
    )


def given(kind, folder, lists):
    rows = table() if lists else table().drop_columns("tags")
    if kind == "csv":
        pa.csv.write_csv(rows, folder / "people.csv")
        return folder / "people.csv"
    if kind == "parquet":
        frame = as_pandas(rows)
        frame.to_parquet(folder / "people.parquet")
        return folder / "people.parquet"
    if kind == "pandas":
        return as_pandas(rows)
    if kind == "polars":
        enum = pl.Enum(["b", MARKER, "a", *(f"{MARKER} {number}" for number in range(3))])
        return pl.from_arrow(rows.drop_columns("ordered")).with_columns(
            pl.Series("ordered", rows["ordered"].to_pylist(), dtype=enum)
        )
    if kind == "pyarrow views":
        place = rows.column_names.index("note")
        rows = rows.set_column(place, "note", rows["note"].cast(pa.string_view()))
    fields = [field.with_metadata({"of": MARKER}) for field in rows.schema]
    return rows.cast(pa.schema(fields, metadata=rows.schema.metadata))


def as_pandas(rows):
    frame = rows.to_pandas()
    frame["kind"] = frame["kind"].cat.add_categories([f"{MARKER} again"])
    frame["arrow"] = pd.Series(pa.array(rows["kind"].combine_chunks()), dtype=pd.ArrowDtype(rows["kind"].type))
    frame.index = pd.Index([f"{MARKER} {number}" for number in range(len(frame))], name="key")
    frame.columns.name = MARKER
    frame.attrs["title"] = MARKER
    return frame


def assert_clean(data, what):
    assert MARKER.encode() not in data, what
    assert NUMBER.to_bytes(8, "little") not in data, what
    assert str(NUMBER).encode() not in data, what


def unfolded(path):
    """All bytes of a file, also of what is compressed in it."""
    with open_bytes(path) as file:
        yield file.read()
    if path.suffix == ".xlsx":
        with zipfile.ZipFile(path) as archive:
            yield from map(archive.read, archive.namelist())
    if path.suffix in (".arrow", ".feather"):
        table = pa.ipc.open_file(path).read_all()
        yield repr(table.schema.metadata).encode()
        for column in table.columns:
            yield from (buffer.to_pybytes() for chunk in column.chunks for buffer in chunk.buffers() if buffer)
            if pa.types.is_dictionary(column.type):
                yield repr(column.chunk(0).dictionary.to_pylist()).encode()


def bytes_of(rows):
    """All bytes that a frame would take to wherever it goes."""
    yield pickle.dumps(rows)
    yield repr(rows).encode()
    if isinstance(rows, pl.DataFrame):
        for write in (rows.write_ipc, rows.write_parquet):
            write(sink := io.BytesIO())
            yield sink.getvalue()
        rows = rows.to_arrow()
    if isinstance(rows, pd.DataFrame):
        rows.to_parquet(sink := io.BytesIO())
        yield sink.getvalue()
        rows = pa.Table.from_pandas(rows)
    with pa.ipc.new_stream(sink := pa.BufferOutputStream(), rows.schema) as stream:
        stream.write_table(rows)
    yield sink.getvalue().to_pybytes()


def release(kind, folder, keep_order, method, *, lists):
    data = given(kind, folder, lists)
    identifiers = ["name", "key"] if kind == "parquet" else ["name"]  # in a file, an index is a column
    return incrowd.anonymize(
        data,
        quasi_identifiers=["age", "job"],
        k=3,
        identifiers=identifiers,
        keep=["tags"] if lists else [],
        missing="drop",
        keep_order=keep_order,
        method=method,
    )


@pytest.mark.parametrize(("kind", "method", "keep_order"), paired(KINDS, ["tdr", "cover", "mondrian"], [False, True]))
def test_the_data_of_a_release(kind, method, keep_order, tmp_path):
    rows = release(kind, tmp_path, keep_order, method, lists=kind.startswith(("py", "pol"))).data
    assert len(rows) == 59
    for data in bytes_of(rows):
        assert_clean(data, kind)
    if isinstance(rows, pd.DataFrame):
        assert rows.index.equals(pd.RangeIndex(59))


@pytest.mark.parametrize(
    ("name", "kind", "keep_order"),
    [*spread(NAMES, KINDS, [False, True]), *(("out.parquet", kind, False) for kind in KINDS)],
)
def test_the_public_files_of_a_release(name, kind, keep_order, tmp_path):
    """The recoding of a global method is public; those of local methods are as confidential as the original."""
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    made = release(kind, tmp_path / "in", keep_order, "tdr", lists=kind == "polars" and name == "out.parquet")
    made.write(tmp_path / "out" / name)
    for path in (tmp_path / "out").rglob("*"):
        if path.is_file():
            for data in unfolded(path):
                assert_clean(data, path.name)
    if name.endswith("parquet"):
        found = pq.ParquetFile(tmp_path / "out" / name)
        assert set(found.schema_arrow.metadata or {}) <= {b"pandas"}
        columns = [found.metadata.row_group(0).column(place) for place in range(found.metadata.num_columns)]
        for column in columns:
            assert MARKER not in str(column.statistics.max if column.statistics else "")
    assert len(list(open_source(tmp_path / "out" / name).batches())) == 1


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_the_order_of_categories_is_not_that_of_rows(kind, tmp_path):
    """A dictionary of distinct texts, numbered as they came, would give the original order away."""
    texts = [f"text {number * 7 % 40}" for number in range(40)]
    rows = pa.table({"age": [20 + number % 4 for number in range(40)], "note": pa.array(texts).dictionary_encode()})
    data = {"pandas": rows.to_pandas, "polars": lambda: pl.from_arrow(rows), "pyarrow": lambda: rows}[kind]()
    made = incrowd.anonymize(data, quasi_identifiers=["age"], k=3, keep=["note"])
    made.write(tmp_path / "out.parquet")
    dictionaries = [pq.read_table(tmp_path / "out.parquet")["note"].chunk(0).dictionary.to_pylist()]
    if kind == "pandas":
        dictionaries.append(made.data["note"].cat.categories.tolist())
    else:
        column = made.data["note"].chunk(0) if kind == "pyarrow" else made.data["note"].to_arrow()
        dictionaries.append(column.dictionary.to_pylist())
    for dictionary in dictionaries:
        assert sorted(dictionary) == sorted(texts)
        assert dictionary != texts


def told_ages(texts):
    """What rows of a table sorted by age say of each other: none is below what came before, nor above what comes.

    Gives the exact age where that leaves one, and None elsewhere.
    """
    low, high = [], []
    for text in texts:
        interval = parse_interval(text)
        start, end = (text, text) if interval is None else (interval.low, interval.high)
        low.append(int(start or 0))
        high.append(int(end or 200) - (interval is not None and end is not None and not interval.closed))
    low, high = np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1]
    return [int(first) if first == last else None for first, last in zip(low, high, strict=True)]


@pytest.mark.filterwarnings("ignore:ranges of:incrowd.errors.ReleaseWarning")  # exact ones
@pytest.mark.parametrize("method", ["cover", "mondrian"])
def test_neighbours_in_a_sorted_table_tell_nothing(method):
    """The attack that undid local recoding: rows of a table sorted by age, between neighbours whose age is known."""
    draw = np.random.default_rng(1)
    ages = np.sort(np.clip(draw.normal(45, 18, 2000), 18, 95).astype(int))
    people = {"age": ages, "sex": draw.choice(["f", "m"], 2000), "town": draw.choice(list("abcdefgh"), 2000)}
    rows = pa.table({**people, "place": range(2000)})
    told = {}
    for keep_order in (True, False):
        words = {
            "quasi_identifiers": ["age", "sex", "town"],
            "k": 5,
            "method": method,
            "keep": ["place"],
            "keep_order": keep_order,
        }
        words |= {"bounds": "exact"} if method == "mondrian" else {}  # where the order of rows would tell most
        released = incrowd.anonymize(rows, **words).data
        true = ages[released["place"].to_numpy()]
        shown = released["age"].to_pylist()
        told[keep_order] = np.mean(np.array(told_ages(shown)) == true)
        meant = np.mean(np.array(shown) == true.astype(str))
    assert told[True] > meant + 0.3
    assert told[False] <= meant + 0.02


def test_the_command_line_keeps_the_order_on_request_and_says_so(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,place\n" + "".join(f"{20 + number // 10},{number}\n" for number in range(80)))
    words = ("anonymize", path, "--qi", "age", "--k", 5, "--method", "tdr", "--keep", "place")
    for name, flags in ("kept", ["--keep-order"]), ("own", []):
        done = run(*words, "-o", tmp_path / f"{name}.csv", *flags)
        assert done.exit_code == 0, done.output
        assert ("keep their order" in " ".join(done.output.split())) == (name == "kept")
        policy = json.loads((tmp_path / f"{name}.certificate.json").read_text())["policy"]
        assert policy["keep_order"] is (name == "kept")
    places = {
        name: [line.split(",")[1] for line in (tmp_path / f"{name}.csv").read_text().splitlines()[1:]]
        for name in ("kept", "own")
    }
    assert places["kept"] == [str(number) for number in range(80)]
    assert places["own"] != places["kept"]
    assert sorted(places["own"]) == sorted(places["kept"])
    recoding = tmp_path / "kept.recoding.json"
    assert run("apply", recoding, path, "-o", tmp_path / "again.csv", "--keep-order", "--keep", "place").exit_code == 0
    assert (tmp_path / "again.csv").read_text() == (tmp_path / "kept.csv").read_text()
