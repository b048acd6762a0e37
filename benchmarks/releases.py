"""Several releases about the same people, without and with a ledger: what whoever has all of them finds, and the loss.

    python -m benchmarks.releases --data ../shared/data    # writes results/releases.md
    python -m benchmarks.releases --only loss

Without a ledger is with one in which every release goes to a recipient of its own, so that none is joined; so it is
known whose each row is. Tables that are not there are left out.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

import incrowd
from incrowd.errors import InfeasibleError
from incrowd.ledger.store import PERSONS, Entry, Ledger

K = 5
ROWS = 3_000  # of a table for the attacks
JOINING = 7  # people per table, each joining alone
WAITS = (0, 1, 2, 3)
AIM = 1.3  # times the loss of releasing all anew, at most
RESULTS = Path(__file__).parent / "results" / "releases.md"


@dataclass(frozen=True)
class Table:
    """A table.

    Args:
        file: Where it is, in the folder of tables, or what the package calls it.
        views: Three quasi-identifiers.
        secret: What passes.
        grows: The quasi-identifier of a table that grows.
    """

    name: str
    file: str
    views: tuple[tuple[str, ...], ...]
    secret: str
    grows: tuple[str, ...]

    def read(self, folder: Path) -> pa.Table | None:
        """Its rows, shuffled, as text; None if it is not there."""
        path = {"adult": incrowd.datasets.adult(), "german": incrowd.datasets.german()}.get(
            self.file, folder / self.file
        )
        if not Path(path).exists():
            return None
        delimiter = "," if self.file in ("adult", "german", "fars_pmlb.csv.gz") else ";"
        table = pa.csv.read_csv(path, parse_options=pa.csv.ParseOptions(delimiter=delimiter))
        table = table.select(sorted({self.secret, *self.grows, *(name for view in self.views for name in view)}))
        table = table.filter(np.all([table[name].is_valid().to_numpy() for name in table.column_names], axis=0))
        rows = list(range(table.num_rows))
        random.Random(1).shuffle(rows)
        table = table.take(rows)
        return table.append_column("person", pa.array([str(row) for row in range(table.num_rows)]))


TABLES = (
    Table(
        "Adult",
        "adult",
        (
            ("age", "education", "sex"),
            ("age", "marital-status", "race"),
            ("education", "marital-status", "native-country"),
        ),
        "occupation",
        ("age", "education", "marital-status", "race", "sex", "native-country"),
    ),
    Table(
        "German",
        "german",
        (
            ("age", "housing", "job"),
            ("age", "employment", "property"),
            ("personal-status-sex", "employment", "duration"),
        ),
        "purpose",
        ("age", "personal-status-sex", "housing", "job", "employment"),
    ),
    Table(
        "Contraception",
        "cmc.csv",
        (("age", "religion", "children"), ("age", "Weducation", "Heducation"), ("children", "solindex", "Heducation")),
        "occupation",
        ("age", "Weducation", "Heducation", "children", "religion"),
    ),
    Table(
        "Accidents",
        "fars_pmlb.csv.gz",
        (("AGE", "SEX", "RACE"), ("CASE_STATE", "AGE"), ("CASE_STATE", "SEX", "PERSON_TYPE")),
        "SEATING_POSITION",
        ("AGE", "SEX", "CASE_STATE", "RACE", "HISPANIC_ORIGIN"),
    ),
    Table(
        "Housing",
        "cahousing.csv.gz",
        (("longitude", "population"), ("latitude", "households"), ("housing_median_age", "median_income")),
        "ocean_proximity",
        ("longitude", "latitude", "housing_median_age", "population", "households"),
    ),
)


def release(table: pa.Table, ledger: Path, columns: Sequence[str], **words: Any) -> Entry | None:
    """Make a release; gives what the ledger says of it, or None if there is none."""
    dropped = [name for name in table.column_names if name not in (*columns, *words.get("shown", ()), "person")]
    shown, l = words.pop("shown", ()), words.pop("l", None)
    own = {"sensitive": {name: {"l": l} for name in shown}} if l else {"keep": list(shown)}
    try:
        made = incrowd.anonymize(
            table, quasi_identifiers=columns, k=K, unit="person", identifiers=dropped, ledger=ledger, **own, **words
        )
        with tempfile.TemporaryDirectory() as folder:
            made.write(Path(folder) / "release.csv")
    except InfeasibleError:
        return None
    return Ledger.read(ledger).releases[-1]


@dataclass(frozen=True)
class Told:
    """What whoever has several releases finds: the shares of people below k, and of secrets that are certain.

    Args:
        alone: Secrets that some release tells alone, since a whole class has one value.
    """

    below: float
    certain: float
    alone: float


def told(ledger: Path, entries: Sequence[Entry], secret: str) -> Told:
    """Lay releases side by side: a row can be hers if each class of hers has its value."""
    book = Ledger.read(ledger)
    classes: dict[tuple[int, Any], Counter[Any]] = defaultdict(Counter)
    own: dict[bytes, list[tuple[int, Any]]] = defaultdict(list)
    for place, entry in enumerate(entries):
        labels = entry.policy["quasi_identifiers"][0]["attributes"]
        for row in book.rows(entry.number).to_pylist():
            number = place, tuple(row[name] for name in labels)
            classes[number][row[secret]] += 1
            own[row[PERSONS]].append(number)
    below = certain = alone = several = 0
    for numbers in own.values():
        if len(numbers) < 2:
            continue
        several += 1
        values = set.intersection(*(set(classes[number]) for number in numbers))
        below += min(sum(classes[number][value] for value in values) for number in numbers) < K
        certain += len(values) == 1
        alone += any(len(classes[number]) == 1 for number in numbers)
    return Told(*(number / max(several, 1) for number in (below, certain, alone)))


def views(table: pa.Table, about: Table, folder: Path, apart: bool) -> tuple[Told, list[float]]:
    """Three releases of other columns: what they tell, and their losses."""
    entries = [
        release(table, folder, view, shown=(about.secret,), method="mondrian", recipient=str(place) if apart else "")
        for place, view in enumerate(about.views)
    ]
    made = [entry for entry in entries if entry is not None]
    return told(folder, made, about.secret), [loss(folder, entry) for entry in made]


def samples(table: pa.Table, about: Table, folder: Path, apart: bool) -> tuple[Told, list[float]]:
    """Three overlapping samples, with l = 3."""
    draw, entries = random.Random(2), []
    for place in range(3):
        rows = sorted(draw.sample(range(table.num_rows), table.num_rows * 7 // 10))
        words: Mapping[str, Any] = {"shown": (about.secret,), "l": 3, "method": "mondrian"}
        entries.append(release(table.take(rows), folder, about.grows, recipient=str(place) if apart else "", **words))
    made = [entry for entry in entries if entry is not None]
    return told(folder, made, about.secret), [loss(folder, entry) for entry in made]


def joins(table: pa.Table, about: Table, folder: Path, apart: bool) -> tuple[int, int]:
    """How often the difference of two releases is the row of the one person who came, and how often it was tried."""
    found = 0
    for number in range(JOINING):
        ledger = folder / str(number)
        before = table.slice(number, table.num_rows - JOINING - 1)
        after = table.slice(number, table.num_rows - JOINING)
        for place, rows in enumerate((before, after)):
            release(rows, ledger, about.views[0], shown=(about.secret,), method="tdr", recipient="01"[place * apart])
        book = Ledger.read(ledger)
        counts = [Counter(map(str, book.rows(e.number).select(e.columns).to_pylist())) for e in book.releases]
        found += len(counts) == 2 and not counts[0] - counts[1] and (counts[1] - counts[0]).total() == 1
    return found, JOINING


def loss(ledger: Path, entry: Entry) -> float:
    """The generalized loss of a release."""
    return Ledger.read(ledger).loss(entry.number)


def growing(table: pa.Table, about: Table, folder: Path, wait: int, **method: Any) -> tuple[float, int]:
    """After a release of seven tenths of a table, three times a tenth, and nobody more until all are released.

    Returns:
        The loss, and who waits.
    """
    last = Ledger.read(folder).releases[-1]
    for tenths in (8, 9, *[10] * (wait + 1)):
        rows = table.slice(0, table.num_rows * tenths // 10)
        last = release(rows, folder, about.grows, wait=wait, **method) or last
    return loss(folder, last), last.waiting


def together(table: pa.Table, about: Table, folder: Path, before: float, **method: Any) -> tuple[float, float | None]:
    """The loss of a table if the last three tenths are released at once, and one that it cannot be below.

    What leaves again loses what it lost; of newcomers alone, no release as good loses less than what `cover` proves.
    """
    cut = table.num_rows * 7 // 10
    share, new = cut / table.num_rows, table.slice(cut)
    entry = release(new, folder, about.grows, **method)
    assert entry is not None
    bound = None
    if method["method"] == "cover":
        dropped = [name for name in table.column_names if name not in about.grows]
        known = {"quasi_identifiers": about.grows, "k": K, "identifiers": dropped, "method": "cover", "effort": 0}
        facts = incrowd.anonymize(new, proof="bound", **known).found.facts
        bound = share * before + (1 - share) * float(facts["bound"])
    return share * before + (1 - share) * loss(folder, entry), bound


def attacks(tables: Mapping[str, tuple[Table, pa.Table]]) -> list[str]:
    """A table of the three attacks."""
    lines = [
        "| table | | views: below k | certain | by one alone | losses | samples, l=3: certain | losses | one joins |",
        "| --- | --- | ---: | ---: | ---: | --- | ---: | --- | ---: |",
    ]
    for name, (about, rows) in tables.items():
        few = rows.slice(0, ROWS)
        for apart in (True, False):
            with tempfile.TemporaryDirectory() as made:
                folder = Path(made)
                seen, losses = views(few, about, folder / "views", apart)
                sampled, own = samples(few, about, folder / "samples", apart)
                (folder / "joins").mkdir()
                found, tried = joins(few.slice(0, 800), about, folder / "joins", apart)
            cells = [
                name, "without" if apart else "with a ledger",
                f"{seen.below:.1%}", f"{seen.certain:.1%}", f"{seen.alone:.1%}",
                ", ".join(f"{each:.2f}" for each in losses), f"{sampled.certain:.1%}",
                ", ".join(f"{each:.2f}" for each in own), f"{found} of {tried}",
            ]  # fmt: skip
            lines.append("| " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
    return lines


def missed(found: float, least: float | None) -> str:
    """By how much a loss is above the aim, and how much of that is proven; of rounded figures, as they are printed."""
    above, proven = (max(round(each, 2) - AIM, 0) for each in (found, least or 0))
    if not above:
        return "no"
    return f"{above:.2f}" if least is None else f"{above:.2f}, of which {proven:.2f} proven"


def curve(tables: Mapping[str, tuple[Table, pa.Table]]) -> list[str]:
    """A table of loss against delay."""
    waits = " | ".join(f"wait {wait}" for wait in WAITS)
    lines = [
        f"| table | rows | method | all anew | at least | at once | {waits} | above {AIM} |",
        "| --- | ---: | --- | ---: | ---: | ---: |" + " ---: |" * len(WAITS) + " --- |",
    ]
    for name, (about, rows) in tables.items():
        for method in ({"method": "mondrian"}, {"method": "cover"}):
            with tempfile.TemporaryDirectory() as made:
                folder = Path(made)
                anew = release(rows, folder / "anew", about.grows, **method)
                first = release(rows.slice(0, rows.num_rows * 7 // 10), folder / "first", about.grows, **method)
                assert anew is not None
                assert first is not None
                whole, before = loss(folder / "anew", anew), loss(folder / "first", first)
                once, bound = together(rows, about, folder / "new", before, **method)
                least = "" if bound is None else f"{bound / whole:.2f}"
                cells = [name, f"{rows.num_rows:,}", method["method"], f"{whole:.3f}", least, f"{once / whole:.2f}"]
                for wait in WAITS:
                    shutil.copytree(folder / "first", folder / str(wait))
                    found, waiting = growing(rows, about, folder / str(wait), wait, **method)
                    cells.append(f"{found / whole:.2f} ({waiting:,})")
                cells.append(missed(found / whole, None if bound is None else bound / whole))
            lines.append("| " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
    return lines


def main() -> None:
    """Measure, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--only", choices=["attacks", "loss"])
    parser.add_argument("--tables", nargs="*")
    parser.add_argument("--rows", type=int, default=3_000, help="of a table at most, for the loss")
    arguments = parser.parse_args()
    read = ((about, about.read(arguments.data)) for about in TABLES if about.name in (arguments.tables or about.name))
    tables = {about.name: (about, rows.slice(0, arguments.rows)) for about, rows in read if rows is not None}
    parts = []
    if arguments.only != "loss":
        parts += ["## Attacks", "", *attacks(tables), ""]
    if arguments.only != "attacks":
        parts += ["## Loss against delay", "", *curve(tables), ""]
    if arguments.only is None and not arguments.tables:
        RESULTS.write_text("\n".join([*HEAD, *parts]), encoding="utf-8")


HEAD = [
    "# Several releases",
    "",
    "By `python -m benchmarks.releases`. Attacks, on 3,000 rows of each table, k=5, `mondrian`: three views with other",
    "columns of the same people, three overlapping samples, and one person who joins (`tdr`, 800 rows). People below",
    "k, and certain secrets, are shares of those who are in several releases. *By one alone*: secrets that a single",
    "release tells, since all of a crowd share the value and nothing but k was promised (neighbours are all near the",
    "same ocean). What is certain with a ledger is only that; to prevent it, promise an l, as in the samples.",
    "",
    "Loss: seven tenths of a table are released, then a tenth is added three times, then nobody until all are",
    "released; the loss of the last release, as a multiple of that of releasing all anew, and in brackets who still",
    "waits, by how many releases anyone may wait. *At once*: the same if the three tenths are released together, which",
    "is what waiting can reach. *At least*: the same with the bound that `cover` proves for newcomers among newcomers",
    "in place of what they lose; no choice of who goes first, and no search in its hierarchies, gets below it, since",
    "rows that left",
    "before leave as they were, and who joins can hide only among others who join. What newcomers lose is measured",
    "against the values that newcomers have.",
    "",
    "*Above 1.3*: by how much the loss after waits of three is above the aim of 1.3 times, and how much of that is",
    "proven by *at least*: no choice saves it. It is the price of newcomers among newcomers: seven tenths lose what",
    "they lost before, and three tenths lose what so small a table loses alone.",
    "",
]

if __name__ == "__main__":
    main()
