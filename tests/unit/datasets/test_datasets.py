import csv
import gzip

import pytest
from tests.shared_data import SHARED_DATA, needs_shared_data

from incrowd import datasets
from incrowd.errors import UnknownNameError
from incrowd.taxonomies.taxonomy import Taxonomy

CATEGORICAL = {
    "adult": {
        *("workclass", "education", "marital-status", "occupation", "relationship"),
        *("race", "sex", "native-country"),
    },
    "german": {
        *("status", "credit-history", "purpose", "savings", "employment", "personal-status-sex", "other-debtors"),
        *("property", "other-installments", "housing", "job", "telephone", "foreign-worker"),
    },
}


def read(path):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_adult_holds_the_complete_records():
    records = read(datasets.adult())
    assert (len(records), len(records[0])) == (45_222, 15)
    assert not any("?" in record.values() for record in records)
    assert sum(record["income"] == ">50K" for record in records) == 11_208


def test_german_holds_all_records():
    records = read(datasets.german())
    assert (len(records), len(records[0])) == (1_000, 21)
    assert sum(record["credit"] == "bad" for record in records) == 300


@pytest.mark.parametrize(("name", "table"), [("adult", datasets.adult), ("german", datasets.german)])
def test_every_categorical_value_is_a_leaf(name, table):
    files = datasets.taxonomies(name)
    assert set(files) == CATEGORICAL[name]
    records = read(table())
    for column, file in files.items():
        taxonomy = Taxonomy.read(file)
        assert {record[column] for record in records} <= set(taxonomy.leaf_codes), column
        assert taxonomy.labels[0] == "*"
        assert all(len(below) != 1 for below in taxonomy.children), f"{column}: a group of one value hides nothing"


def test_leaves_that_occur_only_in_incomplete_records():
    files = datasets.taxonomies("adult")
    assert "Never-worked" in Taxonomy.read(files["workclass"]).leaf_codes
    assert "?" not in Taxonomy.read(files["workclass"]).leaf_codes


def test_an_unknown_name_is_an_error():
    with pytest.raises(UnknownNameError, match="no data set 'adults'; did you mean 'adult'"):
        datasets.taxonomies("adults")


@needs_shared_data
def test_the_shipped_tables_are_the_sources_cleaned():
    parts = read(SHARED_DATA / "adult.data.csv") + read(SHARED_DATA / "adult.test.csv")
    assert read(datasets.adult()) == [record for record in parts if "?" not in record.values()]
    assert read(datasets.german()) == read(SHARED_DATA / "german.csv")
    for column, file in datasets.taxonomies("adult").items():
        assert {record[column] for record in parts} - {"?"} == set(Taxonomy.read(file).leaf_codes)
