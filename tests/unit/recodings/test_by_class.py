"""New rows after a local recoding, at the edges: engines, files, rules, the calendar, many classes, what is said."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from typer.testing import CliRunner

import incrowd
from incrowd.cli.commands import app
from incrowd.errors import NotAnonymousError, PolicyError, ReleaseWarning, TaxonomyError
from incrowd.recodings.by_class import ByClass
from incrowd.recodings.reading import read_recoding
from incrowd.recodings.released_values import LineValues, TreeValues
from incrowd.table.scales import Scale

pytestmark = pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")


def people(count, seed):
    draws = np.random.default_rng(seed)
    return pa.table(
        {
            "age": draws.integers(20, 60, count),
            "born": pa.array(np.datetime64("1960-01-01") + draws.integers(0, 9000, count)),
            "zip": [f"{number:05}" for number in draws.integers(10000, 10400, count)],
            "town": draws.choice(["Ulm", "Bonn", "Kiel"], count),
        }
    )


QI = ["age", "born", "zip", "town"]
WORDS = {"quasi_identifiers": QI, "k": 5, "taxonomies": {"zip": incrowd.Prefix((4, 3))}, "types": {"zip": "text"}}


@pytest.fixture(scope="module", params=["cover", "mondrian"])
def files(request, tmp_path_factory):
    """The release of a table, new rows, and both as files."""
    folder = tmp_path_factory.mktemp(request.param)
    release = incrowd.anonymize(people(800, 1), method=request.param, **WORDS)
    release.write(folder / "release.csv")
    pa.csv.write_csv(people(300, 2), folder / "new.csv")
    return release, folder


def test_the_engines_and_the_file_agree(files):
    release, folder = files
    recoding = read_recoding(folder / "release.recoding.json")
    assert isinstance(recoding, ByClass)
    assert recoding == release.recoding.for_new_rows
    rows = [
        incrowd.apply(recoding, folder / "new.csv", engine=engine, keep_order=True).to_pylist()
        for engine in ("arrow", "duckdb")
    ]
    rows.append(incrowd.apply(release.recoding, people(300, 2), keep_order=True).to_pylist())
    assert rows[0] == rows[1] == rows[2]


def test_the_command_says_how_many_rows_fit_no_class_and_counts_on_request(files):
    _, folder = files
    words = ["apply", str(folder / "release.recoding.json"), str(folder / "new.csv"), "-o", str(folder / "out.csv")]
    done = CliRunner().invoke(app, [*words, "--overwrite"])
    with pytest.warns(ReleaseWarning) as told:
        incrowd.apply(folder / "release.recoding.json", folder / "new.csv")
    assert done.exit_code == 0, done.output
    said = str(told[0].message)
    assert "of 300 rows fit no released class" in said
    assert said in done.output.replace("\n", "")
    before = (folder / "out.csv").read_bytes()
    done = CliRunner().invoke(app, [*words, "--overwrite", "--qi", ",".join(QI), "--k", "5"])
    assert done.exit_code == 3
    assert (folder / "out.csv").read_bytes() == before
    with pytest.raises(NotAnonymousError):
        incrowd.apply(folder / "release.recoding.json", folder / "new.csv", require=[incrowd.QuasiIdentifier(QI, 5)])


def test_what_goes_out_has_no_value_that_is_not_released(files):
    release, folder = files
    document = json.loads((folder / "release.recoding.json").read_text())
    for attribute in document["attributes"]:
        released = {str(value) for value in release.data[attribute["name"]].to_pylist()}
        assert {*attribute["labels"][1:]} <= released
    assert len(document["classes"]) == release.measures.total.classes
    assert not {"tuples", "key", "confidential"} & document.keys()


def test_others_of_a_population_cannot_be_written_as_in_a_local_release(files):
    _, folder = files
    with pytest.raises(PolicyError, match="local method"):
        incrowd.assess(
            folder / "release.csv", quasi_identifiers=QI, population_table=people(900, 3),
            recoding=folder / "release.recoding.json",
        )  # fmt: skip


@pytest.mark.parametrize("count", [1, 63, 64, 65, 200])
def test_the_first_of_many_classes_is_found_wherever_it_is(count):
    values = tuple(f"v{number:03}" for number in range(count))
    column = TreeValues("x", ("*", *values), (-1, *[0] * count))
    recoding = ByClass((column,), tuple((place + 1,) for place in range(count)))
    (found,), stay = recoding.release([np.arange(count + 1)], np.full(count + 1, -1))
    assert stay is None
    assert found.tolist() == list(range(count + 1))  # what fits no class becomes the root


def test_ties_go_to_the_first_class_and_the_more_specific_one_wins():
    tree = incrowd.Taxonomy.from_tree({"any": {"care": ["nurse", "doctor"], "craft": ["smith", "cook"]}})
    job = TreeValues("job", ("any", "care", "nurse"), (-1, 0, 1), tree)
    age = LineValues("age", ("*", "[20-40)", "[30-40)"), Scale("integer"))
    recoding = ByClass((job, age), ((1, 2), (2, 1)))  # care, [30-40) and nurse, [20-40)
    rows = pa.table({"job": ["nurse", "doctor", "nurse", "cook"], "age": [35, 35, 25, 35]})
    found = incrowd.apply(recoding, rows, keep_order=True).to_pylist()
    assert [tuple(row.values()) for row in found] == [
        ("care", "[30-40)"),  # both cover it, and both leave 1/4 open: of the job or of the age
        ("care", "[30-40)"),
        ("nurse", "[20-40)"),
        ("any", "[30-40)"),
    ]
    finer = ByClass(
        (job, LineValues("age", ("*", "[20-40)", "[30-40)", "50"), Scale("integer"))), ((1, 2), (2, 1), (2, 3))
    )
    assert incrowd.apply(finer, rows, keep_order=True).to_pylist()[0] == {"job": "nurse", "age": "[20-40)"}
    with pytest.raises(TaxonomyError, match="baker"):
        incrowd.apply(recoding, pa.table({"job": ["baker"], "age": [35]}))


def test_pieces_of_numbers_are_told_apart_by_released_bounds_exactly():
    line = LineValues("x", ("*", "0.3", "[0.1-0.3)", "<=0.1", "[0.3-0.5]", None), Scale("number"))
    cells = line.cells(pa.array([0.1, 0.2, 0.3, 0.30000000000000004, 0.5, 0.6])).tolist()
    start, stop = line.spans
    covers = [[line.labels[label] for label in range(6) if start[label] <= cell < stop[label]] for cell in cells]
    assert covers == [
        ["*", "[0.1-0.3)", "<=0.1"],
        ["*", "[0.1-0.3)"],
        ["*", "0.3", "[0.3-0.5]"],
        ["*", "[0.3-0.5]"],
        ["*", "[0.3-0.5]"],
        ["*"],
    ]
    assert start[5] == line.missing_cell == stop[5] - 1
