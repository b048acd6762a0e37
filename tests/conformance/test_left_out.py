"""Who was left out stays out of everything that goes out: the release, its recoding, its steps and its certificate.

Tables come in pairs that differ only in a record that is left out of both. What anyone sees of one and of the other
must be the same wherever the released rows are.
"""

import datetime as dt
import json
import random
import re
from functools import cache
from itertools import combinations

import pyarrow as pa
import pytest
from tests.conformance.tables import REGIONS
from tests.examples import EFFORT, some_of

import incrowd
from incrowd.search.registry import METHODS

LEAVING_OUT = [name for name, method in METHODS.items() if "suppress" in method.options]
SECRETS = re.compile(r'"(digest|commitment|output)": "[^"]*"|"(gain|loss|score)": [^,\n]*')

# Values that only a left-out record may have; none of them is part of any other text in the files.
STRANGERS = {
    "age": [777001, 777003, 777005, 12777],
    "wage": [7770.25, 7771.75, 12.777, 7773.125],
    "born": [dt.date(1777, 7, 1), dt.date(1777, 7, 3), dt.date(1977, 1, 17), dt.date(1777, 9, 9)],
    "job": ["zzyzx", "zzyzy", "aazzy", "mmzzy"],
    "zip": ["77991", "77992", "12399", "77871"],
}
TAXONOMIES = {"zip": incrowd.Prefix((3, 2)), "region": REGIONS}


def people(seed, columns, stranger):
    """Crowds of equal people, and one stranger."""
    draw = random.Random(seed)
    day = dt.date(1990, 1, 1)
    rows = []
    for _ in range(12):
        person = {
            "age": draw.randrange(20, 60),
            "wage": draw.randrange(80) / 4,
            "born": day + dt.timedelta(draw.randrange(4000)),
            "job": draw.choice(["clerk", "nurse", "smith", "guard", "baker"]),
            "zip": f"{draw.choice([123, 124, 125, 201])}{draw.randrange(10, 14)}",
            "region": draw.choice(["n1", "n2", "c1", "c2", "h1"]),
        }
        rows += [person] * draw.randrange(4, 9)
    other = {**rows[0], **stranger}
    rows = [*rows, other]
    draw.shuffle(rows)
    kept = {"age", "wage", "born", "job", "zip", "region"} & set(columns)
    return pa.table({name: [row[name] for row in rows] for name in sorted(kept)})


def settings(method, columns):
    words = {"quasi_identifiers": columns, "k": 4, "method": method, "suppress": 0.05}
    words["taxonomies"] = {name: tree for name, tree in TAXONOMIES.items() if name in columns}
    if method == "optimal":
        words |= {"time_limit": 60, **({"scheme": "sps"} if len(columns) < 3 else {})}  # it takes less than one
    return words


@cache
def public(method, seed, columns, number, folder):
    """The released rows of a table with a stranger in it, whether the stranger was left out, and the public files."""
    stranger = {name: values[number] for name, values in STRANGERS.items() if name in columns}
    table = people(seed, columns, stranger)
    release = incrowd.anonymize(table, **settings(method, list(columns)))
    rows = sorted(map(repr, release.data.to_pylist()))
    path = folder / f"{method}-{seed}-{number}-{'-'.join(columns)}.csv"
    release.write(path)
    texts = {}
    for word in ("recoding", "steps", "certificate"):
        file = path.with_name(f"{path.stem}.{word}.json")
        if file.exists() and not (word == "recoding" and release.recoding.is_confidential):
            texts[word] = SECRETS.sub("", file.read_text(encoding="utf-8"))
    texts["codebook"] = str(release.recoding)
    texts["rows"] = path.read_text()
    return len(table) - len(rows), rows, texts


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("left-out")


CASES = [("age",), ("age", "job"), ("wage", "zip"), ("born", "region"), ("job", "zip"), ("age", "job", "region")]


TRIED = [
    (method, seed, columns)
    for place, method in enumerate(LEAVING_OUT)
    for seed in range(3)
    for columns in (some_of(CASES, 1, 2 * seed + place) if EFFORT == "test" else CASES)
]


@pytest.mark.parametrize(("method", "seed", "columns"), TRIED)
def test_public_files_do_not_depend_on_who_was_left_out(method, seed, columns, folder):
    """Nor do they name a value that only a left-out record has."""
    found = [public(method, seed, columns, number, folder) for number in range(4)]
    for number, (left_out, _, texts) in enumerate(found):
        for name in {*columns} & {*STRANGERS} if left_out == 1 else ():
            for word, text in texts.items():
                assert str(STRANGERS[name][number]) not in text, (word, name)
    for (left_out, rows, texts), (others_left_out, others_rows, others_texts) in combinations(found, 2):
        if left_out == others_left_out == 1 and rows == others_rows:
            for word in ("recoding", "certificate", "codebook", "rows"):
                assert texts.get(word) == others_texts.get(word), word


def test_the_pairs_are_there(folder):
    """The test above is about something: in most tables one record is left out, and often the rows are equal."""
    found = [[public("bug", 0, columns, number, folder) for number in range(4)] for columns in CASES]
    assert sum(a[0] == b[0] == 1 and a[1] == b[1] for four in found for a, b in combinations(four, 2)) > 6


@pytest.mark.parametrize("method", LEAVING_OUT)
def test_the_codebook_of_a_gap_between_released_values(method):
    """No `49, 50, 51` where nobody of 50 is in the file."""
    table = pa.table({"age": [49] * 30 + [50] + [51] * 30})
    release = incrowd.anonymize(table, quasi_identifiers=["age"], k=5, method=method, suppress=0.05)
    if len(release.data) == 60:
        assert "50" not in json.dumps(release.recoding.to_json() if not release.recoding.is_confidential else "")
        assert "50" not in str(release.recoding)
