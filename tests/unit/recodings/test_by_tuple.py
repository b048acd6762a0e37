"""Local recoding at the edges: batches, files, duplicates, new rows, dates and numbers, what is refused."""

import json
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import incrowd
from incrowd.errors import PolicyError, ReleaseWarning, TaxonomyError, UnknownNameError
from incrowd.key import Key
from incrowd.recodings.by_tuple import ByTuple
from incrowd.recodings.hierarchies import Hierarchy
from incrowd.recodings.kinds import hierarchy_of
from incrowd.recodings.mapping import TupleLookup, trace
from incrowd.recodings.reading import read_recoding
from incrowd.run import Run
from incrowd.search.clustering.kaca import kaca
from incrowd.search.clustering.rounds import cheapest_first
from incrowd.table.attributes import encode

JOBS = incrowd.Taxonomy.from_tree({"any": {"care": ["nurse", "doctor"], "craft": ["smith", "cook", "tailor"]}})


def people(count=400, seed=1):
    draws = np.random.default_rng(seed)
    return pa.table(
        {
            "job": draws.choice(["nurse", "doctor", "smith", "cook"], count, p=[0.7, 0.2, 0.07, 0.03]),
            "age": draws.integers(20, 60, count),
            "born": pa.array(np.datetime64("1960-01-01") + draws.integers(0, 9000, count)),
            "town": draws.choice(["Ulm", "Bonn", "Kiel"], count, p=[0.8, 0.15, 0.05]),
            "illness": draws.choice(["flu", "cold"], count),
        }
    )


QI = ["job", "age", "town"]


def released(data=None, method="kaca", **words):
    words = {"quasi_identifiers": QI, "k": 5, "taxonomies": {"job": JOBS}, **words}
    data = people() if data is None else data
    if isinstance(data, pa.Table) and "born" in data.column_names and "born" not in words["quasi_identifiers"]:
        words["keep"] = ["born"]
    return incrowd.anonymize(data, method=method, **words)


def rows(table):
    return Counter(map(str, table.to_pylist()))


@pytest.mark.parametrize(("method", "size"), [("kaca", 1), ("cover", 7)])
def test_the_size_of_batches_changes_nothing(monkeypatch, method, size):
    expected = released(method=method).data
    monkeypatch.setattr("incrowd.formats.frames.BATCH_ROWS", size)
    assert released(method=method).data.equals(expected)


@pytest.mark.parametrize("name", ["people.csv", "people.parquet"])
def test_a_file_is_released_verified_and_read_back(tmp_path, name):
    people().to_pandas().to_csv(tmp_path / "people.csv", index=False)
    people().to_pandas().to_parquet(tmp_path / "people.parquet")
    release = released(str(tmp_path / name), method="cover", identifiers=["born"])
    target = tmp_path / name.replace("people", "out")
    assert release.write(target, confidential=True).verification["holds"]
    recoding = read_recoding(tmp_path / "out.confidential" / "recoding.json")
    assert isinstance(recoding, ByTuple)
    assert recoding == release.recoding
    public = read_recoding(tmp_path / "out.recoding.json")
    assert public == recoding.for_new_rows
    assert rows(incrowd.apply(public, str(tmp_path / name))) == rows(incrowd.apply(recoding, str(tmp_path / name)))
    found = incrowd.distortion(str(tmp_path / name), str(target), quasi_identifier=QI, taxonomies={"job": JOBS})
    assert found.distortion == pytest.approx(release.distortion().distortion)
    assert found.inconsistency == pytest.approx(release.distortion().inconsistency)


def test_the_rows_chosen_depend_on_the_key_only():
    data = pa.table({"town": ["Ulm"] * 100 + ["Bonn"], "number": list(range(101))})
    words = {"quasi_identifiers": ["town"], "k": 10, "taxonomies": None, "keep": ["number"]}

    def moved(seed):
        return {
            row["number"]
            for row in released(data, key=Key.for_experiments(seed), **words).data.to_pylist()
            if row["town"] == "*"
        }

    assert moved(1) == moved(1)
    assert len(moved(1)) == 10
    assert moved(1) != moved(2)


def test_new_rows_take_the_most_specific_class_that_covers_them_or_most_of_them():
    data = pa.table({"job": ["nurse"] * 20 + ["doctor"] * 3 + ["cook"] * 10, "town": ["Ulm"] * 33})
    recoding = released(data, quasi_identifiers=["job", "town"], k=5).recoding
    new = pa.table({"job": ["nurse", "doctor", "tailor", "cook"], "town": ["Ulm", "Ulm", "Ulm", "Bonn"]})
    with pytest.warns(ReleaseWarning, match="2 of 4 rows fit no released class"):
        found = incrowd.apply(recoding, new, keep_order=True)
    assert found.to_pylist() == [
        {"job": "nurse", "town": "Ulm"},
        {"job": "care", "town": "Ulm"},
        {"job": "any", "town": "Ulm"},
        {"job": "cook", "town": "*"},
    ]
    with pytest.raises(TaxonomyError, match="barber"):
        incrowd.apply(recoding, pa.table({"job": ["barber"], "town": ["Ulm"]}))
    with pytest.warns(ReleaseWarning, match="1 of 1 row"):
        found = incrowd.apply(recoding, pa.table({"job": ["nurse"], "town": pa.array([None], pa.string())}))
    assert found.to_pylist() == [{"job": "nurse", "town": "*"}]


def test_new_numbers_stand_in_their_interval():
    data = pa.table({"age": [20, 21, 22, 23, 40, 41, 42, 43]})
    release = released(data, quasi_identifiers=["age"], k=4, taxonomies=None)
    assert Counter(release.data["age"].to_pylist()) == {"[20-24)": 4, "[40-44)": 4}
    with pytest.warns(ReleaseWarning, match="1 of 3 rows"):
        new = incrowd.apply(release.recoding, pa.table({"age": [20, 43, 30]}), keep_order=True)
    assert new["age"].to_pylist() == ["[20-24)", "[40-44)", "*"]


def test_numbers_get_round_intervals_and_dates_months_years_and_decades():
    numbers, _ = encode("age", pa.array([17, 18, 90]), has_missing=True)
    hierarchy = hierarchy_of(numbers)
    assert hierarchy.taxonomy.path(0) == ("17", "[15-20)", "[10-20)", "[0-20)", "[0-40)", "*")
    assert hierarchy.taxonomy.labels[hierarchy.missing_cell] is None
    dates, _ = encode("born", pa.array(["1970-03-05", "1999-12-31"]), has_missing=False)
    assert hierarchy_of(dates).taxonomy.path(0) == ("1970-03-05", "1970-03", "1970", "[1970-1980)", "*")
    times, _ = encode("seen", pa.array(["2020-03-05 10:00:00", "2020-03-05 11:00:00"]), has_missing=False)
    assert hierarchy_of(times).taxonomy.path(0)[1:] == ("2020-03-05", "2020-03", "2020", "[2020-2030)", "*")
    for attribute in (numbers, dates, times):
        again = Hierarchy.from_json(json.loads(json.dumps(hierarchy_of(attribute).to_json())))
        assert again == hierarchy_of(attribute)


def test_values_below_a_level_are_generalized_to_it_and_others_stay():
    hierarchy = Hierarchy("job", JOBS)
    nodes = hierarchy.nodes_labelled(["nurse", "craft", "any"])
    for level, labels in {3: ("nurse", "craft", "any"), 2: ("care", "craft", "any"), 1: ("any",) * 3}.items():
        assert tuple(map(hierarchy.label, hierarchy.to_level(nodes, level))) == labels


def test_parts_of_generalized_tuples_are_traced_to_the_original_ones():
    """Tuples 0 and 2 became one of 5 records, of which 4 went one way and 1 another; tuple 1 stayed alone."""
    number, counts = np.array([0, 1, 0]), np.array([3, 2, 2])
    found = trace(number, counts, np.array([1, 0, 0]), np.array([7, 8, 9]), np.array([2, 4, 1]))
    assert list(zip(*map(np.ndarray.tolist, found), strict=True)) == [(0, 8, 3), (2, 8, 1), (2, 9, 1), (1, 7, 2)]


def test_the_codebook_shows_nothing_that_the_release_does_not():
    release = released(quasi_identifiers=["age", "town"], taxonomies=None, k=30)
    shown = {*release.data["age"].to_pylist(), *release.data["town"].to_pylist(), "age", "town"}
    for line in release.recoding.codebook().splitlines():
        assert line.strip().split("  ")[0] in shown
    for name in ("age", "town"):
        assert set(release.data[name].to_pylist()) == set(release.recoding.labels(name))


def test_several_quasi_identifiers_are_refused_with_the_methods_that_take_them():
    qids = [incrowd.QuasiIdentifier(["job"], 3), incrowd.QuasiIdentifier(["age"], 2)]
    with pytest.raises(PolicyError, match=r"one quasi-identifier.*tdr"):
        released(quasi_identifiers=qids)


def test_wrong_options_are_refused():
    with pytest.raises(UnknownNameError, match="jobs"):
        released(priorities={"jobs": 1})
    with pytest.raises(PolicyError, match="priorities"):
        released(priorities={"job": -1})
    with pytest.raises(PolicyError, match="max_inconsistency"):
        released(method="kaca2", max_inconsistency=2)
    with pytest.raises(PolicyError, match="distance"):
        released(distance="far")
    with pytest.raises(PolicyError, match="no release at a step"):
        released().at(0)


def test_a_release_with_other_values_has_no_distortion():
    other = people().set_column(0, "job", [["baker"] * 400])
    with pytest.raises(PolicyError, match="baker"):
        incrowd.distortion(people(), other, quasi_identifier=["job"], taxonomies={"job": JOBS})


@pytest.mark.parametrize("distance", ["height", "ncp"])
def test_the_index_works_on_hierarchies_too_large_for_a_table(distance):
    draws = np.random.default_rng(3)
    data = pa.table({"income": draws.integers(0, 10**6, 5000), "job": draws.choice(["nurse", "cook"], 5000)})
    release = released(data, quasi_identifiers=["income", "job"], distance=distance)
    plain = kaca(release.table, release.policy.requirements, Run(), distance=distance, bucket=10**9)
    assert plain.recoding == release.recoding


def test_tuples_are_found_however_wide_they_are():
    draws = np.random.default_rng(0)
    tuples = np.unique(draws.integers(0, 2**30, (500, 6)), axis=0)
    lookup = TupleLookup(tuples, [2**30] * 6)
    assert lookup(tuples[::-1]).tolist() == list(range(len(tuples)))[::-1]
    assert (lookup(tuples ^ 1) == -1).all()


def test_rounds_come_cheapest_first_and_once():
    losses = [[0.0, 0.5, 1.0], [0.0, 1.0], [0.0, 0.1, 0.2, 1.0]]
    order = list(cheapest_first(losses))
    costs = [sum(column[level] for column, level in zip(losses, choice, strict=True)) for choice in order]
    assert costs == sorted(costs)
    assert len(order) == len(set(order)) == 24
