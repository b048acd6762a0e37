"""A recoding file with one field changed is refused in one line, or means exactly what it says.

The digest is renewed after every change, so that the schema is what is tried and not the digest.
"""

import datetime as dt
import json
import random
from functools import cache
from itertools import islice

import pyarrow as pa
import pytest
from tests.conformance.tables import REGIONS
from tests.faults.mutations import mutations
from tests.faults.processes import MORE
from tests.labels import labels_of

import incrowd
from incrowd.errors import DataError, IncrowdError
from incrowd.recodings.reading import read_recoding
from incrowd.schemas.documents import digest_of

pytestmark = pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")  # risks are not the point here

ROWS = 120
STRIDE = 4 if MORE == 1 else 1  # every fourth change, where there is no time for all


def people():
    draw = random.Random(11)
    return pa.table(
        {
            "name": [f"person {number}" for number in range(ROWS)],
            "age": [draw.choice([None, *range(20, 40)]) for _ in range(ROWS)],
            "region": [draw.choice(["n1", "n2", "n3", "c1", "c2", "h1"]) for _ in range(ROWS)],
            "zip": [f"{draw.choice([123, 124, 200])}{draw.randrange(4)}" for _ in range(ROWS)],
            "job": [draw.choice(["clerk", "nurse", "smith", None]) for _ in range(ROWS)],
            "born": [dt.date(1990, 1, 1) + dt.timedelta(draw.randrange(40) * 20) for _ in range(ROWS)],
            "seen": [dt.datetime(2024, 1, 1) + dt.timedelta(hours=draw.randrange(9)) for _ in range(ROWS)],
            "score": [draw.choice([0.5, 1.25, 2.0, 7.75]) for _ in range(ROWS)],
            "income": [draw.choice(["high", "low"]) for _ in range(ROWS)],
        }
    )


TABLE = people()
WORDS = {
    "identifiers": ["name"],
    "taxonomies": {"region": REGIONS, "zip": incrowd.Prefix((3, 1))},
    "k": 4,
}
MADE = {
    "cut, rule, intervals and disclosure": (["age", "region", "zip", "job"], {"method": "tdr", "target": "income"}),
    "dates, times and fractions": (["born", "seen", "score"], {"method": "tdr", "target": "income"}),
    "public ranges": (["age", "born"], {"method": "tdr", "target": "income", "ranges": {"age": (0, 99)}}),
    "classes and exact numbers": (["age", "zip", "job"], {"method": "bug", "suppress": 0.2}),
    "levels": (["age", "region", "zip"], {"method": "datafly"}),
    "partition": (["age", "region", "job"], {"method": "optimal", "scheme": "sps", "time_limit": 2, "suppress": 0.1}),
    "hierarchies": (["age", "region", "zip", "job", "born"], {"method": "cover"}),
    "times of day": (["seen", "score"], {"method": "kaca"}),
    "ranges": (["age", "region", "born"], {"method": "mondrian", "ranges": {"age": (0, 99)}}),
    "cells": (["age", "region", "job"], {"method": "argus"}),
}


@cache
def release_of(name):
    columns, words = MADE[name]
    used = {**WORDS, **words, "taxonomies": {c: tree for c, tree in WORDS["taxonomies"].items() if c in columns}}
    return incrowd.anonymize(TABLE, quasi_identifiers=columns, keep={"born"} - {*columns}, **used)


LOCAL = "hierarchies", "times of day", "ranges", "cells"
FILES = [*((name, False) for name in MADE), *((name, True) for name in LOCAL)]


def document_of(name, public):
    """The recoding of a release, or what goes out of a local one."""
    recoding = release_of(name).recoding
    return (recoding.for_new_rows if public else recoding).to_json()


def sealed(document):
    """The document with its digest renewed, where that can be computed."""
    try:
        return {**document, "digest": digest_of(document)} if "digest" in document else document
    except UnicodeEncodeError:
        return document


def problem_of(document, path, original):
    """What is wrong with how a changed file is taken; None where it is refused, or harmless."""
    path.write_text(json.dumps(document), encoding="utf-8")
    try:
        recoding = read_recoding(path)
    except DataError as error:
        text = str(error)
        return None if "\n" not in text and len(text) < 600 + len(str(path)) else f"message: {text[:200]}"
    if recoding.to_json() != document:
        return "it means something else than it says"
    if {*recoding.names, *recoding.dropped} != set(original["columns"]) or recoding.dropped != tuple(
        original["dropped"]
    ):
        return "a column would pass through"
    assert isinstance(recoding.codebook(), str)
    try:
        rows = incrowd.apply(recoding, TABLE, keep={"born"} - {*recoding.names})
    except IncrowdError as error:
        return None if "\n" not in str(error) else f"message: {error}"
    if set(rows.column_names) != set(TABLE.column_names) - set(document["dropped"]):
        return f"columns: {rows.column_names}"
    for attribute in document["attributes"]:
        kept = {None} if recoding.unchanged(attribute["name"]) else set()  # for what fits nothing released
        if not set(labels_of(rows, attribute["name"])) - kept <= set(recoding.all_labels(attribute["name"])):
            return f"column {attribute['name']} holds more than the recoding releases"
    return None


@pytest.mark.parametrize(("name", "public"), FILES)
def test_a_changed_field_is_refused_or_means_what_it_says(name, public, tmp_path):
    original = document_of(name, public)
    tried, problems = 0, []
    for what, document in islice(mutations(original), STRIDE // 2, None, STRIDE):
        tried += 1
        document = document if what[0] == "digest" else sealed(document)
        try:
            problem = problem_of(document, tmp_path / "x.recoding.json", original)
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
        if problem:
            problems.append((what, problem))
    assert tried > 500 // STRIDE
    assert not problems, f"{len(problems)} of {tried}: {problems[:5]}"


@pytest.mark.parametrize(("name", "public"), FILES)
def test_without_a_new_digest_every_change_is_noticed(name, public, tmp_path):
    original, path = document_of(name, public), tmp_path / "x.recoding.json"
    taken = []
    for number, (what, document) in enumerate(mutations(original)):
        if number % (7 * STRIDE):
            continue
        path.write_text(json.dumps(document), encoding="utf-8")
        try:
            read_recoding(path)
            taken.append(what)
        except DataError:
            pass
    assert taken == []
