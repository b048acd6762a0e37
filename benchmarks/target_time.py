"""How long the default takes for a target, on all 48,842 records of Adult; writes `results/target_time.md`.

    python -m benchmarks.target_time --shared ../shared/data --case plain

Twelve columns; the same with two records a person, distinct l = 2 and a target; and with a date of birth that has no
taxonomy in place of the age. Seconds are CPU seconds of the whole process, so a busy machine does not change them much.
Each case is a run of its own; the page has all that are in the file of figures.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import incrowd
from incrowd.key import Key

K = 5
LEFT_OUT = ("fnlwgt", "education-num")
TARGET, SENSITIVE, PERSON = "income", "occupation", "person"
RESULTS = Path(__file__).parent / "results" / "target_time.md"
ABOUT = f"""# How long the default takes for a target

`python -m benchmarks.target_time --shared FOLDER --case CASE`: the 48,842 records of Adult, k = {K},
the target {TARGET}, no taxonomies. CPU seconds of one process from the start of Python; one core.

| what | columns | CPU s | taken | loss (NCP) |
| --- | ---: | ---: | --- | ---: |
"""


def records(shared: Path) -> pd.DataFrame:
    """All records of Adult, as text."""
    files = [pd.read_csv(shared / f"adult.{part}.csv", dtype=str) for part in ("data", "test")]
    rows = pd.concat(files, ignore_index=True).drop(columns=list(LEFT_OUT))
    rows[TARGET] = rows[TARGET].str.rstrip(".")
    return rows


def plain(rows: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Twelve columns and the target."""
    return rows, {}


def people(rows: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Two records a person, as if neighbours were one, and a promise for the occupation."""
    numbers = (np.arange(len(rows)) // 2).astype(str)
    words = {"unit": PERSON, "sensitive": [SENSITIVE], "l": 2}
    return rows.assign(**{PERSON: numbers}), words


def births(rows: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Any]]:
    """A day of birth, drawn within the year of each age."""
    days = np.random.default_rng(0).integers(0, 365, len(rows)) + 365 * rows["age"].astype(int).to_numpy()
    dates = pd.Timestamp("1994-12-31") - pd.to_timedelta(days, unit="D")
    return rows.drop(columns="age").assign(birth=dates.strftime("%Y-%m-%d")), {}


CASES: Mapping[str, tuple[str, Callable[[pd.DataFrame], tuple[pd.DataFrame, dict[str, Any]]]]] = {
    "plain": ("the default", plain),
    "people": ("two records a person, l = 2 for the occupation", people),
    "births": ("a date of birth in place of the age", births),
}


def run(case: str, shared: Path) -> dict[str, Any]:
    """The CPU seconds of one case, and what was taken."""
    about, made = CASES[case]
    rows, words = made(records(shared))
    names = [name for name in rows.columns if name not in (TARGET, words.get("unit"), *words.get("sensitive", ()))]
    key = Key.for_experiments(0)
    known = {"quasi_identifiers": names, "k": K, "target": TARGET, "missing_values": ["?"], "key": key}
    release = incrowd.anonymize(rows, **known, **words)
    facts = release.found.facts
    shown = {name: value for name, value in release.policy.options.items() if name in ("objective", "restarts")}
    taken = " ".join([release.policy.method, *(f"{name}={value}" for name, value in shown.items())])
    figures = {"columns": len(names), "taken": taken, "loss": release.measures.total.ncp, "why": facts.get("why")}
    return {"case": case, "about": about, "seconds": time.process_time(), **figures}


def page(noted: list[dict[str, Any]]) -> str:
    """The figures as a page."""
    line = "| {about} | {columns} | {seconds:.0f} | {taken} | {loss:.2f} |\n"
    found = {each["case"]: each for each in noted}
    return ABOUT + "".join(line.format(**found[case]) for case in CASES if case in found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, required=True, help="folder of tables")
    parser.add_argument("--case", required=True, choices=CASES)
    parser.add_argument("--notes", type=Path, default=Path("target_time.jsonl"), help="file of figures, added to")
    arguments = parser.parse_args()
    found = run(arguments.case, arguments.shared)
    print(json.dumps(found), flush=True)
    with arguments.notes.open("a") as file:
        file.write(json.dumps(found) + "\n")
    RESULTS.write_text(page([json.loads(line) for line in arguments.notes.read_text().splitlines()]), encoding="utf-8")


if __name__ == "__main__":
    main()
