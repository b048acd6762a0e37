"""Twelve small tables, each with the arguments of `anonymize` that go with it. The same in every run."""

import csv
import datetime as dt
import gzip
import random

import pyarrow as pa

import incrowd

NESTED = {"north": ["n1", "n2", "n3"], "south": {"coast": ["c1", "c2"], "hills": ["h1"]}}
LEAVES = ["n1", "n2", "n3", "c1", "c2", "h1"]
ILLS = ["flu", "flu", "flu", "cough", "cough", "cold", "burn", "ache"]


def tree():
    return incrowd.Taxonomy.from_tree({"*": NESTED})


def tables():
    """Name, table and arguments of each; those with one quasi-identifier first."""
    return {
        "numbers": (numbers(), {"quasi_identifiers": ["age", "height", "children"], "k": 4}),
        "dates": (dates(), {"quasi_identifiers": ["born", "sex"], "k": 3}),
        "codes": (
            codes(),
            {
                "quasi_identifiers": ["region", "zip", "sex"],
                "k": 4,
                "taxonomies": {"region": tree(), "zip": incrowd.Prefix((3, 1))},
                "types": {"zip": "text"},
            },
        ),
        "missing": (
            missing(),
            {
                "quasi_identifiers": ["age", "region", "job"],
                "k": 3,
                "taxonomies": {"region": tree()},
                "missing_values": ["?"],
            },
        ),
        "units": (units(), {"quasi_identifiers": ["age", "region"], "k": 3, "unit": "person", "sensitive": ["ill"]}),
        "sensitive": (
            numbers(),
            {"quasi_identifiers": ["age", "sex"], "k": 3, "sensitive": {"ill": {"l": 2}}},
        ),
        "target": (
            numbers(),
            {"quasi_identifiers": ["age", "height", "sex"], "k": 5, "target": "income", "ranges": {"age": (0, 100)}},
        ),
        "commas": (commas(), {"quasi_identifiers": ["weight", "sex"], "k": 3}),
        "several": (
            codes(),
            {
                "quasi_identifiers": [
                    {"attributes": ["region", "sex"], "k": 5},
                    {"attributes": ["zip", "age"], "k": 3},
                ],
                "taxonomies": {"region": tree(), "zip": incrowd.Prefix((3, 1))},
                "types": {"zip": "text"},
            },
        ),
        "german": (
            packed(incrowd.datasets.german(), 300),
            {
                "quasi_identifiers": ["age", "job", "housing"],
                "k": 5,
                "target": "credit",
                "taxonomies": {"job": incrowd.datasets.taxonomies("german")["job"]},
            },
        ),
        "adult": (
            packed(incrowd.datasets.adult(), 800),
            {
                "quasi_identifiers": ["age", "education", "race", "sex"],
                "k": 8,
                "taxonomies": {name: incrowd.datasets.taxonomies("adult")[name] for name in ("education", "race")},
            },
        ),
        "types": (types(), {"quasi_identifiers": ["word", "flag", "amount"], "k": 3}),
    }


def packed(path, rows):
    """The first rows of a gzipped CSV file."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        read = [row for _, row in zip(range(rows), csv.DictReader(file), strict=False)]
    return pa.table({name: [row[name] for row in read] for name in read[0]})


def numbers(rows=90):
    draw = random.Random(1)
    return pa.table(
        {
            "age": [draw.randrange(18, 80) for _ in range(rows)],
            "height": [draw.randrange(1500, 1990) / 1000 for _ in range(rows)],
            "children": [min(draw.randrange(5), draw.randrange(5)) for _ in range(rows)],
            "sex": [draw.choice("fm") for _ in range(rows)],
            "ill": [draw.choice(ILLS) for _ in range(rows)],
            "income": [draw.choice(["low", "low", "high"]) for _ in range(rows)],
        }
    )


def dates(rows=60):
    draw = random.Random(2)
    return pa.table(
        {
            "born": [dt.date(1960, 1, 1) + dt.timedelta(draw.randrange(15000)) for _ in range(rows)],
            "sex": [draw.choice("fm") for _ in range(rows)],
            "ill": [draw.choice(ILLS) for _ in range(rows)],
        }
    )


def codes(rows=120):
    draw = random.Random(3)
    return pa.table(
        {
            "region": [draw.choice(LEAVES) for _ in range(rows)],
            "zip": [f"{draw.choice([123, 124, 201])}{draw.randrange(10, 14)}" for _ in range(rows)],
            "sex": [draw.choice("fm") for _ in range(rows)],
            "age": [draw.randrange(20, 40) for _ in range(rows)],
            "ill": [draw.choice(ILLS) for _ in range(rows)],
        }
    )


def missing(rows=80):
    draw = random.Random(4)
    return pa.table(
        {
            "age": [draw.choice([None, draw.randrange(18, 60), draw.randrange(18, 60)]) for _ in range(rows)],
            "region": [draw.choice([*LEAVES, None]) for _ in range(rows)],
            "job": [draw.choice(["clerk", "nurse", "?", "cook"]) for _ in range(rows)],
            "ill": [draw.choice([*ILLS, None]) for _ in range(rows)],
        }
    )


def units(rows=90):
    draw = random.Random(5)
    people = [(draw.randrange(20, 60), draw.choice(LEAVES), draw.choice(ILLS)) for _ in range(rows // 2)]
    whose = [draw.randrange(len(people)) for _ in range(rows)]
    return pa.table(
        {
            "person": [f"p{who}" for who in whose],
            "age": [people[who][0] for who in whose],
            "region": [people[who][1] for who in whose],
            "ill": [people[who][2] for who in whose],
        }
    )


def commas(rows=60):
    draw = random.Random(6)
    return pa.table(
        {
            "weight": [f"{draw.randrange(450, 990) / 10:.1f}".replace(".", ",") for _ in range(rows)],
            "sex": [draw.choice("fm") for _ in range(rows)],
        }
    )


def types(rows=60):
    draw = random.Random(7)
    words = ["clerk", "ä b", "-", "x/y", "O'Neil", None, "=1+1", 'say "hi"']
    return pa.table(
        {
            "word": pa.array([draw.choice(words) for _ in range(rows)], pa.large_string()),
            "flag": [draw.choice([True, False, None]) for _ in range(rows)],
            "amount": pa.array([draw.choice([2**53, 2**53 + 1, 7, None]) for _ in range(rows)], pa.int64()),
            "seen": pa.array([dt.datetime(2020, 1, 1 + draw.randrange(3)) for _ in range(rows)], pa.timestamp("s")),
        }
    )
