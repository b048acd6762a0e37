"""Random sequences of releases with a ledger, against somebody who has all of them.

A trial draws a table that people join, leave and change in, and two to five releases of it: of all or of a sample, of
one set of columns or another, to one recipient or another. What was written is what the ledger knows, and for each
recipient an independent reference decides which rows could be whose (`tests.reference.worlds`).
"""

import csv
import random
import tempfile
from collections import Counter
from pathlib import Path

import pyarrow as pa
from tests.reference.worlds import Promise, Stay, below

import incrowd
from incrowd.errors import InfeasibleError, NotAnonymousError, PolicyError
from incrowd.ledger.store import PERSONS, Ledger

METHODS = ("cover", "mondrian", "tdr", "kaca")
COLUMNS = ("id", "age", "sex", "zip", "illness", "job")
VIEWS = (
    (("age", "sex"), ("illness",)),
    (("age", "zip"), ("illness",)),
    (("sex", "zip"), ("illness", "job")),
    (("age", "sex", "zip"), ()),
)  # quasi-identifier, and what passes


class Table:
    """A small table that people join, leave and change in."""

    def __init__(self, draw):
        self.draw, self.people = draw, 0
        self.rows = [self.person() for _ in range(draw.randrange(8, 28))]

    def person(self):
        self.people += 1
        return [str(self.people), *self.known(), self.draw.choice("xyz"), self.draw.choice("pq")]

    def known(self):
        return str(self.draw.randrange(6)), self.draw.choice("ab"), str(self.draw.randrange(4))

    def change(self):
        """Some leave, some change, some come."""
        draw, share = self.draw, self.draw.choice([0, 0.1, 0.3, 0.7])
        rows = [row for row in self.rows if draw.random() >= share * draw.random()]
        rows = [[row[0], *self.known(), *row[4:]] if draw.random() < share / 2 else row for row in rows]
        self.rows = rows + [self.person() for _ in range(draw.randrange(0, 12))]

    def arrow(self):
        rows = self.rows if self.draw.random() < 0.8 else self.draw.sample(self.rows, len(self.rows) * 3 // 4)
        return pa.table([pa.array(column, pa.string()) for column in zip(*rows, strict=True)], COLUMNS)


def trial(seed):
    """One sequence: how many releases there were of how many, and what is wrong with them."""
    draw = random.Random(seed)
    table = Table(draw)
    views = draw.sample(VIEWS, draw.choice([1, 1, 2]))
    recipients = draw.choice([("",), ("",), ("", "one")])
    unit, k, l, method = draw.random() < 0.5, draw.choice([2, 3]), draw.choice([None, 2]), draw.choice(METHODS)
    engine, wait, number = draw.choice(["arrow", "arrow", "duckdb"]), draw.choice([0, 1, 3]), draw.randrange(2, 6)
    with tempfile.TemporaryDirectory() as name:
        folder, files, wrong = Path(name), [], []
        for place in range(number):
            known, shown = draw.choice(views)
            dropped = [each for each in COLUMNS[1:] if each not in (*known, *shown)]
            own = {"unit": "id", "identifiers": dropped} if unit else {"identifiers": ["id", *dropped]}
            if l and "illness" in shown:
                own["sensitive"] = {"illness": {"l": l}}
            try:
                release = incrowd.anonymize(
                    table.arrow(), quasi_identifiers=known, k=k, method=method, engine=engine, wait=wait,
                    keep=[each for each in shown if l is None or each != "illness"], ledger=folder / "ledger",
                    recipient=draw.choice(recipients), **own,
                )  # fmt: skip
                release.write(folder / f"{place}.csv")
                files.append(folder / f"{place}.csv")
            except InfeasibleError:
                pass
            except PolicyError as error:
                if "nobody of release" not in str(error):
                    raise
            except NotAnonymousError as error:
                wrong.append(f"only the witness noticed: {error}")
            if (folder / f"{place}.csv").exists() != (folder / f"{place}.csv" in files):
                wrong.append("a release that was refused was written")
            table.change()
        ledger = Ledger.read(folder / "ledger")
        wrong += problems(ledger, files)
    kinds = {entry.columns for entry in ledger.releases}
    return "one release" if len(files) < 2 else "several views" if len(kinds) > 1 else "several releases", wrong


def problems(ledger, files):
    """What is wrong with the releases of a ledger, which wrote these files."""
    wrong = []
    if len(ledger.releases) != len(files):
        wrong.append(f"{len(files)} releases, but {len(ledger.releases)} in the ledger")
    for entry, path in zip(ledger.releases, files, strict=False):
        with path.open() as file:
            written = Counter(tuple(row) for row in list(csv.reader(file))[1:])
        rows = ledger.rows(entry.number)
        kept = zip(*(rows[name].cast(pa.string()).to_pylist() for name in entry.columns), strict=True)
        if written != Counter(kept):
            wrong.append(f"the ledger does not have what left with release {entry.number}")
    for recipient in {entry.recipient for entry in ledger.releases} - {""} or {""}:  # all have what anyone has
        few, certain = below(*told(ledger, [entry for entry in ledger.releases if entry.recipient in ("", recipient)]))
        if few or certain:
            wrong.append(f"{few} people have too few rows that could be theirs, and {certain} too few secrets")
    return wrong


def told(ledger, entries):
    """What some releases say of everyone, for the reference."""
    stays, promises, since, kind_of = {}, {}, {}, {}
    for entry in entries:
        kind = kind_of[entry.number] = kind_of.get(entry.continues, entry.number)
        quasi = entry.policy["quasi_identifiers"][0]
        shown = tuple(name for name in entry.columns if name not in quasi["attributes"])
        protections = entry.policy.get("protections", {})
        promises[kind] = Promise(shown, quasi["k"], {name: own["l"] for name, own in protections.items()})
        new = set(ledger._table(entry, "rows")[PERSONS].to_pylist())
        for row in ledger.rows(entry.number).to_pylist():
            person = row[PERSONS]
            if person in new:
                since[kind, person] = entry.number
            label = tuple(row[name] for name in quasi["attributes"])
            values = {name: row[name] for name in shown}
            own = stays.setdefault(person, {})
            key = kind, label, since[kind, person]
            own[key] = entry.number, values
    return {
        person: {Stay(*key, last): values for key, (last, values) in own.items()} for person, own in stays.items()
    }, promises
