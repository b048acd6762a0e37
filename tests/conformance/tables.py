"""Small tables of every kind that the promises are tried on, and what anyone can read off a release."""

import datetime as dt
import random
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from incrowd.taxonomies.labels import parse_interval
from incrowd.taxonomies.taxonomy import Taxonomy

REGIONS = Taxonomy.from_tree({"*": {"north": ["n1", "n2", "n3"], "south": {"coast": ["c1", "c2"], "hills": ["h1"]}}})


@dataclass(frozen=True)
class Case:
    """A table, and the words of a policy for it."""

    table: pa.Table
    words: dict[str, Any] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """The quasi-identifier."""
        return self.words["quasi_identifiers"]

    @property
    def kept(self) -> list[str]:
        """What is kept on purpose where names are not dropped."""
        return [*self.words.get("keep", ()), *({"name"} & {*self.table.column_names})]


def _people(rows: int, seed: int) -> pa.Table:
    draw = random.Random(seed)
    age = [draw.choice([None, *range(20, 34)]) for _ in range(rows)]
    region = [draw.choice(["n1", "n2", "n3", "c1", "c2", "h1"]) for _ in range(rows)]
    return pa.table(
        {
            "name": [f"person {number}" for number in range(rows)],
            "age": age,
            "note": [draw.choice(["x, y", 'a "b"', ""]) for _ in range(rows)],
            "region": region,
            "job": [draw.choice(["clerk", "nurse", "smith", None]) for _ in range(rows)],
            "born": [dt.date(1990, 1, 1) + dt.timedelta(draw.randrange(40) * 20) for _ in range(rows)],
            "score": [draw.choice([0.5, 1.25, 2.0, 7.75]) for _ in range(rows)],
            "income": [
                "high" if (a or 27) + 4 * r.startswith("n") + draw.randrange(8) > 32 else "low"
                for a, r in zip(age, region, strict=True)
            ],
            "wage": [draw.random() for _ in range(rows)],
        }
    )


def cases() -> dict[str, Case]:
    """The cases by name."""
    plain: dict[str, Any] = {"identifiers": ["name"], "keep": ["wage", "born"]}
    tree = {"taxonomies": {"region": REGIONS}, **plain}
    constant = pa.table({"a": ["x"] * 9, "b": [3] * 9, "c": [1, 1, 1, 2, 2, 2, 3, 3, 3]})
    return {
        "mixed": Case(_people(90, 1), {"quasi_identifiers": ["age", "region", "job"], "k": 4, **tree}),
        "with a target": Case(
            _people(90, 2), {"quasi_identifiers": ["age", "region", "job"], "k": 4, "target": "income", **tree}
        ),
        "dates and fractions": Case(
            _people(80, 3),
            {"quasi_identifiers": ["born", "score", "region"], "k": 5, "target": "income", **tree, "keep": ["wage"]},
        ),
        "one attribute": Case(_people(40, 4), {"quasi_identifiers": ["age"], "k": 3, **plain}),
        "complete rows only": Case(
            _people(90, 5), {"quasi_identifiers": ["age", "job"], "k": 3, "missing": "drop", **plain}
        ),
        "constant columns": Case(constant, {"quasi_identifiers": ["a", "b", "c"], "k": 3}),
        "k of everyone": Case(_people(12, 6), {"quasi_identifiers": ["age", "job"], "k": 12, **plain}),
    }


def covers(label: Any, value: Any, taxonomy: Taxonomy | None, numeric: bool) -> bool:
    """Whether a released value stands for an original one, as anyone would read it."""
    if label == "*" or label == value:
        return True
    if label is None or label == "":
        return value is None
    if value is None:
        return label.startswith("{") and "missing" in label
    if label == "known":
        return True
    if taxonomy is not None:
        return label in taxonomy.path(taxonomy.leaf_code(value)) or value in _members(label)
    if not numeric:
        return label == str(value) or str(value) in _members(label)
    return _within(label, value) or str(value) in _members(label)


def _members(label: str) -> list[str]:
    return label[1:-1].split(", ") if label.startswith("{") else []


def _within(label: str, value: Any) -> bool:
    if label.startswith("{"):
        return False
    read = dt.date.fromisoformat if isinstance(value, dt.date) else float
    if isinstance(value, dt.date) and len(label) in (4, 7):  # a year, or a month of one
        return value.isoformat().startswith(label)
    interval = parse_interval(label)
    if interval is None:
        return read(label) == value
    if isinstance(value, dt.date) and interval.low is not None and len(interval.low) == 4:  # a decade
        return int(interval.low) <= value.year < int(interval.high or 0)
    low, high = (None if bound is None else read(bound) for bound in (interval.low, interval.high))
    below = high is None or value < high or (interval.closed and value == high)
    return (low is None or value >= low) and below
