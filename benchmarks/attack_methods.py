"""What attackers get from releases of every method: quasi-identifiers and one secret, nothing else.

    python -m benchmarks.attack_methods --shared ../shared/data     # five tables; writes results/attack_methods.md
    python -m benchmarks.attack_methods                             # the two tables that are shipped

At most 3,000 records of each table, k = 5. What each attack is, `docs/attack.md` says.
"""

from __future__ import annotations

import argparse
import random
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

import incrowd
from incrowd.errors import IncrowdError
from incrowd.search.registry import METHODS

K = 5
RECORDS = 3_000
ATTACKS = ("linking", "fuzzy", "background", "inference", "homogeneity", "skewness", "definetti")
SHOWN = ("inference", "homogeneity", "skewness", "definetti")
OPTIONS: dict[str, dict[str, Any]] = {"optimal": {"time_limit": 5}, "genetic": {"evaluations": 300}}
SHARED = {
    "cmc": ("cmc.csv", ["age", "Weducation", "children", "religion", "working"], "method"),
    "mgm": ("mgm.csv", ["age", "shape", "margin", "density"], "severity"),
    "fars": ("fars_pmlb.csv.gz", ["AGE", "SEX", "CASE_STATE", "RACE"], "target"),
}


def tables(shared: Path | None) -> Iterator[tuple[str, pa.Table, list[str], str]]:
    """Each table with its quasi-identifier and its secret."""
    census = ["age", "education", "marital-status", "race", "sex"]
    yield "census", _read(incrowd.datasets.adult(), [*census, "income"]), census, "income"
    credit = ["age", "job", "housing", "purpose"]
    yield "credit", _read(incrowd.datasets.german(), [*credit, "credit"]), credit, "credit"
    for name, (file, columns, secret) in SHARED.items() if shared else ():
        assert shared is not None
        yield name, _read(shared / file, [*columns, secret]), columns, secret


def _read(path: Path, columns: list[str]) -> pa.Table:
    for separator in (",", ";"):
        table = pa.csv.read_csv(path, parse_options=pa.csv.ParseOptions(delimiter=separator))
        if table.num_columns > 1:
            break
    rows = random.Random(1).sample(range(len(table)), min(RECORDS, len(table)))
    return table.select(columns).take(rows)


def cell(table: pa.Table, columns: list[str], secret: str, method: str) -> str:
    """The smallest number of candidates, and each excess that is shown, in percent; a leak is bold."""
    words = {"quasi_identifiers": columns, "k": K, "sensitive": [secret], "method": method, **OPTIONS.get(method, {})}
    try:
        found = incrowd.anonymize(table, **words).attack(only=ATTACKS)
    except IncrowdError as error:
        return type(error).__name__
    fewest = f"{found['linking'].scores[0].facts['smallest']:.0f}"
    told = [fewest if not found["linking"].is_leak else f"**{fewest}**"]
    for name in SHOWN:
        result = next((each for each in found.results if each.attack.name == name), None)
        text = "-" if result is None else f"{100 * result.excess.value:+.1f}"
        told.append(f"**{text}**" if result is not None and result.is_leak else text)
    return " / ".join(told)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--shared", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = {method: [method] for method in METHODS if method != "auto"}
    names, began = [], time.process_time()
    for name, table, columns, secret in tables(given.shared):
        names.append(name)
        for method, cells in rows.items():
            cells.append(cell(table, columns, secret, method))
            print(f"{time.process_time() - began:7.1f} {name} {method}: {cells[-1]}", flush=True)
    lines = [f"| method | {' | '.join(names)} |", f"| --- |{' --- |' * len(names)}"]
    lines += [f"| `{method}` | {' | '.join(cells[1:])} |" for method, cells in rows.items()]
    print("\n".join(lines))
    if given.shared:
        (Path(__file__).parent / "results" / "attack_methods.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
