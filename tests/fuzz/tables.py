"""Random tables of every kind, and random policies for them."""

import csv
import datetime as dt
import random
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from tests.fuzz.recount import NOT_UPWARD_CLOSED, PROMISES
from tests.methods import ANY_TABLE as METHODS

import incrowd
from incrowd.key import Key

NESTED = {"north": ["n1", "n2", "n3"], "south": {"coast": ["c1", "c2"], "hills": ["h1"]}}
ABOVE = {leaf: {"north", "*"} for leaf in NESTED["north"]}
ABOVE |= {"c1": {"coast", "south", "*"}, "c2": {"coast", "south", "*"}, "h1": {"hills", "south", "*"}}
SEVERAL = [name for name, method in METHODS.items() if method.several]
FRAMES = ("arrow", "pandas", "polars", "csv", "parquet", "dictionary")
DAY = dt.date(1990, 1, 1)
VALUES = {
    "small": lambda draw: draw.randrange(6),
    "age": lambda draw: draw.randrange(18, 80),
    "negative": lambda draw: draw.randrange(-9, 9),
    "unique": lambda draw: draw.randrange(10**6),
    "huge": lambda draw: draw.choice([2**53, 2**63]) + draw.randrange(-2, 3),
    "decimal": lambda draw: Decimal(draw.randrange(0, 900)) / 100,
    "float": lambda draw: draw.choice([0.1, 1.89, 2.5, -0.0, 0.0, 3.25, 1e-7, 7.0]),
    "date": lambda draw: DAY + dt.timedelta(draw.randrange(5000)),
    "time": lambda draw: dt.datetime(2020, 1, 1) + dt.timedelta(hours=draw.randrange(400)),
    "word": lambda draw: draw.choice(["clerk", "nurse", "ä b", "-", "x/y", "O'Neil"]),
    "tree": lambda draw: draw.choice(list(ABOVE)),
    "prefix": lambda draw: f"{draw.choice([123, 124, 201])}{draw.randrange(10, 14)}",
    "flag": lambda draw: draw.random() < 0.3,
    "constant": lambda draw: 5,
}
TYPES = {"huge": pa.uint64(), "decimal": pa.decimal128(12, 2), "float": pa.float64()}
FEW = ("small", "word", "flag", "tree", "constant")  # kinds with few values, for searches that try all recodings


@dataclass
class Case:
    """A table as plain rows, and what is asked for."""

    method: str
    kinds: dict
    rows: list
    quasi_identifiers: list
    promise: str = "nothing more"
    suppress: Fraction = Fraction(0)
    missing: str = "category"
    unit: str | None = None
    target: str | None = None
    frame: str = "arrow"
    output: str | None = None
    options: dict = field(default_factory=dict)

    @property
    def columns(self):
        """All columns of a quasi-identifier."""
        return list(dict.fromkeys(name for qid, _ in self.quasi_identifiers for name in qid))

    @property
    def kept(self):
        """The columns that pass through."""
        gone = {*self.columns, "name", self.unit}
        return [name for name in self.rows[0] if name not in gone]

    @property
    def budget(self):
        """How many records may be left out; the genetic algorithm leaves out as many as it likes, see its docs."""
        return len(self.rows) if self.method == "genetic" else int(self.suppress * len(self.rows))

    @property
    def trees(self):
        """What stands above each value of a column with a taxonomy."""
        return {name: ABOVE for name, kind in self.kinds.items() if kind == "tree"}

    @property
    def _kept(self):
        """The columns that leave as they are, whatever they look like."""
        others = (*self.kinds, "row", "ill", "income", "person")
        return [name for name in others if name not in self.columns and name != self.unit]

    @property
    def words(self):
        """The arguments of `anonymize`."""
        promised, _ = PROMISES[self.promise]
        taxonomies = {
            name: incrowd.Taxonomy.from_tree({"*": NESTED}) if kind == "tree" else incrowd.Prefix((3, 1))
            for name, kind in self.kinds.items()
            if kind in ("tree", "prefix") and name in self.columns
        }
        return {
            "quasi_identifiers": [{"attributes": qid, "k": k} for qid, k in self.quasi_identifiers],
            "identifiers": ["name"],
            "keep": self._kept,
            "key": Key.for_experiments(0),
            "unit": self.unit,
            "target": self.target,
            "taxonomies": taxonomies,
            "types": {name: "text" for name in self.columns if self.kinds[name] == "prefix"},
            "missing": self.missing,
            "method": self.method,
            **({"sensitive": {"ill": promised}} if promised else {"sensitive": ["ill"]}),
            **({"suppress": float(self.suppress)} if "suppress" in METHODS[self.method].options else {}),
            **self.options,
        }

    def data(self, folder):
        """The table in its format, shown to the product."""
        names = list(self.rows[0])
        if self.frame == "csv":
            with open(folder / "people.csv", "w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows([names, *([_written(row[name]) for name in names] for row in self.rows)])
            return folder / "people.csv"
        columns = {name: pa.array([row[name] for row in self.rows], TYPES.get(self.kinds.get(name))) for name in names}
        if self.frame == "dictionary":
            for name in names:
                if pa.types.is_string(columns[name].type):
                    columns[name] = pa.chunked_array([columns[name].dictionary_encode()])
        table = pa.table(columns)
        if self.frame == "parquet":
            pq.write_table(table, folder / "people.parquet")
            return folder / "people.parquet"
        if self.frame == "pandas":  # with types of its own, whole numbers stay whole beside missing values
            return table.to_pandas(types_mapper={pa.uint64(): pd.UInt64Dtype(), pa.int64(): pd.Int64Dtype()}.get)
        if self.frame == "polars":
            import polars

            return polars.from_arrow(table)
        return table


def _written(value):
    return "" if value is None else str(value).lower() if isinstance(value, bool) else value


def draw_case(seed):
    """A random case, always the same for a seed."""
    draw = random.Random(seed)
    method = draw.choice(list(METHODS))
    width = draw.randrange(1, 3 if method == "optimal" else 5)
    kinds = {f"q{place}": draw.choice(FEW if method == "optimal" else list(VALUES)) for place in range(width)}
    holes = {name: draw.choice([0, 0, 0.15]) for name in kinds}
    size = draw.choice([draw.randrange(1, 8), draw.randrange(8, 40), draw.randrange(40, 120)])
    rows = [_row(draw, number, kinds, holes) for number in range(size)]
    rows = [dict(draw.choice(rows), row=number) if draw.random() < 0.4 else row for number, row in enumerate(rows)]
    if draw.random() < 0.3:
        name = draw.choice(list(kinds))
        rows.sort(key=lambda row: str(row[name]))
        rows = [dict(row, row=number) for number, row in enumerate(rows)]
    qids = [(list(kinds), draw.choice([2, 2, 3, 5, 9]))]
    if width > 1 and method in SEVERAL and draw.random() < 0.3:
        qids = [(draw.sample(list(kinds), draw.randrange(1, width)), draw.choice([2, 3, 5])) for _ in range(2)]
    case = Case(method, kinds, rows, qids, missing=draw.choice(["category", "category", "drop"]))
    case.promise = draw.choice(["nothing more"] * 8 + list(PROMISES))
    case.unit = draw.choice([None, None, None, "person"])
    case.target = draw.choice([None, "income"])
    case.frame = draw.choice(FRAMES)
    case.output = draw.choice([None, "csv", "tsv", "parquet", "parquet", "arrow", "jsonl", "sqlite"])
    if case.output in ("sqlite", "jsonl") and "huge" in kinds.values():
        case.output = "csv"  # the others have no such numbers
    case.options = _options(draw, method)
    leaves = "suppress" in METHODS[method].options and (method != "optimal" or case.promise not in NOT_UPWARD_CLOSED)
    case.suppress = draw.choice([Fraction(0), Fraction(1, 20), Fraction(1, 5)]) if leaves else Fraction(0)
    return case


def _row(draw, number, kinds, holes):
    row = {name: None if draw.random() < holes[name] else VALUES[kind](draw) for name, kind in kinds.items()}
    ill = draw.choice(["flu", "flu", "cold", "lung", "skin"])
    return {**row, "row": number, "ill": ill, "income": draw.choice(["low", "high"]), "name": f"p{number}",
            "person": draw.randrange(1, 40)}  # fmt: skip


def _options(draw, method):
    if method == "genetic":
        return {"population": 6, "patience": 4, "evaluations": draw.choice([10, 30])}
    if method == "optimal":
        return {"time_limit": 1, "scheme": draw.choice(["ops", "sps"])}
    if method == "kaca2":
        return {"max_inconsistency": draw.choice([0.1, 0.5, 1.0])}
    if method in ("mondrian", "argus") and draw.random() < 0.5:
        return {"bounds": draw.choice(["round", "exact"])}
    if method == "bug":
        ways = {"partial": draw.random() < 0.5, "suppress_values": draw.choice([0, 0.1, 0.5])}
        return {"tighten": draw.random() < 0.5, **ways}
    if method in ("tdr", "tds"):
        return {"partial": draw.random() < 0.5, "restarts": draw.choice([0, 0, 1])}
    return {}
