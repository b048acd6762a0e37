"""Random releases against an independent recount.

A trial draws a table, a policy, a method and a kind of file, makes the release, writes it, and recounts what stands in
the file in plain Python, read by what anybody would read it with; one in eight is recounted in memory. Where the
product says that there is no such release, one class of all records must not be one either.
"""

import contextlib
import csv
import json
import random
import sqlite3
import tempfile
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from tests.fuzz.recount import keeps, problems, text_of
from tests.fuzz.tables import draw_case

import incrowd
from incrowd.errors import InfeasibleError, PolicyError

# What may be refused for a good reason: the words of the message.
REFUSALS = (
    "more values than",
    "has a single value",
    "no record has the harmless value",
    "no rows",
    "takes only one",
    "has type null",
    "taxonomy: empty",
    "every row has a missing value",
)


def trial(seed):
    """One trial: what came of it ("released", "refused", "infeasible"), and what is wrong with that."""
    case = draw_case(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            release = incrowd.anonymize(case.data(folder), **case.words)
        except InfeasibleError:
            return "infeasible", _wrongly_infeasible(case)
        except (PolicyError, incrowd.errors.DataError) as error:
            known = any(words in str(error) for words in REFUSALS)
            return "refused", [] if known else [f"refused: {error}"]
        released = _rows(case, release, folder)
        found = problems(case, released)
        if seed % 10 == 0 and not found:
            found = _depends_on_order(case, release, released, folder)
        return "released", found


def _wrongly_infeasible(case):
    """A union of good classes is good: if any release were good, that of everyone in one class would be."""
    rows = [row for row in case.rows if case.missing != "drop" or all(row[name] is not None for name in case.columns)]
    good = rows and all(keeps(case, rows, rows, k) for _, k in case.quasi_identifiers)
    return ["said to be infeasible, but all records in one class are a release"] if good else []


def _rows(case, release, folder):
    """The released rows as dicts: those of the file, or those in memory."""
    if case.output is not None:
        path = folder / f"out.{case.output}"
        release.write(path)
        rows = READERS[case.output](path)
        flags = [name for name, kind in case.kinds.items() if kind == "flag" and case.output == "sqlite"]
        return [{n: bool(v) if n in flags and v in (0, 1) else v for n, v in row.items()} for row in rows]
    data = release.data
    if case.frame == "pandas":
        return [
            {name: None if pd.isna(value) else value for name, value in row.items()} for row in data.to_dict("records")
        ]
    return data.to_dicts() if case.frame == "polars" else data.to_pylist()


def _read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ","))


def _read_json(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _read_arrow(path):
    with pa.OSFile(str(path)) as file:
        return pa.ipc.open_file(file).read_all().to_pylist()


def _read_sqlite(path):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        found = connection.execute("SELECT * FROM release")
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found]


READERS = {
    "csv": _read_csv,
    "tsv": _read_csv,
    "parquet": lambda path: pq.read_table(path).to_pylist(),
    "arrow": _read_arrow,
    "jsonl": _read_json,
    "sqlite": _read_sqlite,
}


def _depends_on_order(case, release, released, folder):
    """The same rows in another order must leave as the same rows in the same order, unless a clock ended the search."""
    random.Random(1).shuffle(case.rows)
    (folder / "again").mkdir()
    other = incrowd.anonymize(case.data(folder), **case.words)
    if any("stopped early" in note for note in (*release.notes, *other.notes)):
        return []
    again = _rows(case, other, folder / "again")
    first, second = ([tuple(map(text_of, row.values())) for row in rows] for rows in (released, again))
    if first == second:
        return []
    same = "the order of released rows" if sorted(first) == sorted(second) else "the release"
    return [f"{same} depends on the order of the original rows"]
