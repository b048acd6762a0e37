"""What a release is still good for: every method at several k on real tables, beside ARX and the proven bound.

    python -m benchmarks.utility --shared ../shared/data             # all; writes results/utility.md and .svg
    python -m benchmarks.utility --shared ../shared/data --tables mgm,cmc --methods cover,mondrian --dry

Measured are NCP, DM, C_AVG, CM, the error of a decision tree (trained on two thirds of the released rows, tested on the
rest, all released together) and CPU seconds. Finished runs are noted in the file of results, so that a benchmark that
was interrupted goes on where it was; the page is made from what there is, and says what is not.

ARX's figures are those of its local recoding on Adult with the same attributes and hierarchies, measured once. The
proven bound is what no local recoding can be below (prices per record, see docs/local-recoding.md).
"""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.many_tables import Results, Table, columns_of, outcome, scratch
from incrowd.search.registry import METHODS

RESULTS = Path(__file__).parent / "results"
BOUND = "bound"  # stands for a run that proves one
STOPPED = {"optimal": 10}  # seconds after which a search that could go on for long gives the best that it has
KS = (5, 10, 50, 200)
CENSUS = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")
CLIENT = ("LIMIT_BAL", "SEX", "EDUCATION", "MARRIAGE", "AGE")
CITIZEN = ("age", "familysize", "gender", "married", "race", "religion")
VICTIM = ("CASE_STATE", "AGE", "SEX", "PERSON_TYPE", "HISPANIC_ORIGIN", "RACE", "SEATING_POSITION", "TAKEN_TO_HOSPITAL")
PLACE = ("longitude", "latitude", "housing_median_age", "median_income")
TABLES = {
    "mgm": Table("mgm.csv", ("ID",), target="severity", hierarchies="mgm"),
    "cmc": Table("cmc.csv", ("ID",), ("age", "Weducation", "children"), "method", "cmc"),
    "adult": Table("adult.data.csv", ("fnlwgt",), CENSUS, "income", "adult_arx", complete=True),
    "creditcard": Table("creditcard_int.csv.gz", (), CLIENT, "default-payment-next-month", "creditcard_int"),
    "cahousing": Table("cahousing.csv.gz", ("ID",), PLACE, "ocean_proximity", "cahousing"),
    "mach2019": Table("mach2019_int.csv.gz", (), CITIZEN, "Q1A", "mach2019_int"),
    "fars": Table("fars_pmlb.csv.gz", (), VICTIM, "target"),
}
# of ARX's local recoding on Adult, by k: NCP, DM, records left out
ARX = {5: (0.0569, 253_100, 0), 10: (0.0790, 438_252, 0), 50: (0.1503, 1_961_084, 64)}
# bounds that prices per record have proven once; that took longer than a run may
LONG_PROOFS = {("adult", 5): 0.0399, ("adult", 10): 0.0604, ("adult", 50): 0.1251}
HEAD = ("| method | NCP | DM | C_AVG | CM | error | left out | CPU s |", f"| --- |{' ---: |' * 7}")
ABOUT = """# Utility

`python -m benchmarks.utility --shared FOLDER`: every method at k = 5, 10, 50 and 200. The target is told to
the methods (`auto` is then a top-down search). *Error* is that of a decision tree on a third of the released rows,
after training on the others; it may use columns that are not quasi-identifying too. A run may take {limit} CPU seconds,
and a trial as many again; `optimal` is stopped after 10 s and gives the best that it has.
*ARX, local* are figures of ARX, measured once on the same rows, attributes and hierarchies.
"""


def words_of(table: Table, path: Path, shared: Path, method: str, k: int) -> dict[str, Any]:
    """The words of `anonymize` for one run."""
    columns = columns_of(table, path)
    words = {
        "path": str(path),
        "quasi_identifiers": list(columns),
        "identifiers": list(table.drop),
        "target": table.target,
        "k": k,
        "method": method,
        **({"time_limit": STOPPED[method]} if method in STOPPED else {}),
        **table.words,
    }
    if table.hierarchies is None:
        return words
    files = {file.name.partition(".")[0]: str(file) for file in (shared / "hierarchies" / table.hierarchies).iterdir()}
    return {**words, "taxonomies": {name: files[name] for name in columns if name in files}}


def rows_of(runs: dict[str, dict[str, Any]]) -> list[str]:
    """The lines of one table and one k, the one that loses least in bold."""
    lines = []
    best = min((run["ncp"] for run in runs.values() if "ncp" in run and not run["left_out"]), default=None)
    for method, run in runs.items():
        if "problem" in run:
            lines.append(f"| {method} | | | | | | | {run['problem']} |")
            continue
        ncp = f"**{run['ncp']:.4f}**" if run["ncp"] == best else f"{run['ncp']:.4f}"
        error = f"{run['error']:.3f}" if "error" in run else ""
        cells = f"{ncp} | {run['dm']:,} | {run['c_avg']:.2f} | {run['cm']:.4f} | {error} | {run['left_out']:,}"
        title = f"auto ({run['method']})" if method == "auto" else method
        lines.append(f"| {title} | {cells} | {run['seconds']:.1f} |")
    return lines


def page(known: dict[tuple[Any, ...], dict[str, Any]], limit: int, *, plotted: bool) -> str:
    """The page of results."""
    lines = [ABOUT.format(limit=limit), *map(_about, TABLES), ""]
    if plotted:
        lines += ["![loss against k, a panel per table](utility.svg)", ""]
    for name in TABLES:
        for k in KS:
            runs = {method: known[name, method, k] for method in METHODS if (name, method, k) in known}
            if not runs:
                continue
            proof = _proof(known, name, k)
            lines += [f"## {name}, k = {k}", "", *HEAD, *rows_of(runs)]
            if name == "adult" and k in ARX:
                ncp, dm, gone = ARX[k]
                lines += [f"| *ARX, local* | {ncp:.4f} | {dm:,} | | | | {gone} | |"]
            lines += ["", *_told(runs, proof), ""]
    if missing := _missing(known):
        lines += ["## Not run", "", *(f"- {text}" for text in missing)]
    return "\n".join(lines).rstrip() + "\n"


def _missing(known: dict[tuple[Any, ...], dict[str, Any]]) -> list[str]:
    """What was not run, a line per table."""
    lines = []
    for name in TABLES:
        lacking = {k: [method for method in METHODS if (name, method, k) not in known] for k in KS}
        told = [f"k = {k}: {'all' if len(lacks) == len(METHODS) else ', '.join(lacks)}" for k, lacks in lacking.items()]
        told = [text for text, lacks in zip(told, lacking.values(), strict=True) if lacks]
        if told:
            every = all(len(lacks) == len(METHODS) for lacks in lacking.values())
            lines.append(f"*{name}*" if every else f"*{name}*, {'; '.join(told)}")
    return lines


def _about(name: str) -> str:
    """A line on one table."""
    table = TABLES[name]
    columns, trees = ", ".join(table.quasi_identifiers) or "all other columns", table.hierarchies
    return f"- *{name}*: {columns}; target {table.target}; {'with' if trees else 'without'} hierarchies"


def _told(runs: dict[str, dict[str, Any]], proof: dict[str, Any]) -> list[str]:
    """What else is known of a table and a k: what was proven, and the error on the original."""
    lines = []
    made = {m: run["ncp"] for m, run in runs.items() if METHODS[m].local and "ncp" in run and not run["left_out"]}
    if made and (least := _proven(runs, proof)):
        best = min(made, key=lambda method: made[method])
        over = f"{best} is {made[best] / least - 1:.1%} above"
        lines.append(f"Proven: no local recoding in these hierarchies has an NCP below {least:.4f}; {over}.")
    original = [run["error_original"] for run in runs.values() if "error_original" in run]
    if original:
        lines.append(f"The tree errs {original[0]:.3f} on the original.")
    return lines


def _proof(known: dict[tuple[Any, ...], dict[str, Any]], name: str, k: int) -> dict[str, Any]:
    """A run that proved a bound, or one that is known to have been proven."""
    run = known.get((name, BOUND, k), {})
    return run if run.get("bound") else {"bound": LONG_PROOFS.get((name, k))}


def _proven(runs: dict[str, dict[str, Any]], proof: dict[str, Any]) -> float | None:
    """The highest of the bounds that were proven of local recodings; each holds for all of them."""
    found = [proof, *(run for method, run in runs.items() if METHODS[method].local)]
    return max((run["bound"] for run in found if run.get("bound")), default=None)


def plot(known: dict[tuple[Any, ...], dict[str, Any]], path: Path) -> None:
    """Loss against k, a panel per table, a line per method, and the bound."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "incrowd"
    names = [name for name in TABLES if any(key[0] == name and "ncp" in run for key, run in known.items())]
    figure, axes = plt.subplots(-(-len(names) // 3), 3, figsize=(12, 3.6 * -(-len(names) // 3)), squeeze=False)
    for axis, name in zip(axes.flat, names, strict=False):
        for number, method in enumerate(METHODS):
            points = [(k, known[name, method, k]["ncp"]) for k in KS if "ncp" in known.get((name, method, k), {})]
            style = {"color": f"C{number % 10}", "linestyle": "-" if number < 10 else "--", "marker": "."}
            axis.plot([k for k, _ in points], [ncp for _, ncp in points], label=method, **style)
        proven = []
        for k in KS:
            runs = {method: known[name, method, k] for method in METHODS if (name, method, k) in known}
            if least := _proven(runs, _proof(known, name, k)):
                proven.append((k, least))
        axis.plot([k for k, _ in proven], [least for _, least in proven], "k:", label="proven bound")
        if name == "adult":
            axis.plot(list(ARX), [ncp for ncp, _, _ in ARX.values()], "kx", label="ARX, local")
        axis.set(xscale="log", xlabel="k", ylabel="NCP", title=name, ylim=(0, 1.02))
        axis.set_xticks(KS, [str(k) for k in KS])
        axis.grid(visible=True, alpha=0.3)
    for axis in axes.flat[len(names) :]:
        axis.axis("off")
    handles = {label: line for axis in axes.flat for line, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    figure.tight_layout(rect=(0, 0, 0.87, 1))
    figure.legend(handles.values(), handles.keys(), loc="center right", fontsize=8)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shared", type=Path, required=True, help="folder with the tables and hierarchies")
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--methods", default=",".join((*METHODS, BOUND)), help="'bound' proves what none can be below")
    parser.add_argument("--ks", default=",".join(map(str, KS)))
    parser.add_argument("--limit", type=int, default=60, help="CPU seconds per run")
    parser.add_argument("--results", type=Path, default=Path("utility.jsonl"), help="what was run, one line each")
    parser.add_argument("--dry", action="store_true", help="write no page")
    arguments = parser.parse_args()
    results, made = Results(arguments.results), scratch()
    known = results.known()
    for name in filter(None, arguments.tables.split(",")):
        path = TABLES[name].path(arguments.shared, made)
        assert path is not None
        for k in map(int, arguments.ks.split(",")):
            for method in arguments.methods.split(","):
                if (name, method, k) not in known:
                    words = words_of(TABLES[name], path, arguments.shared, method, k)
                    if method == BOUND:
                        words |= {"method": "cover", "effort": 0, "proof": "bound"}
                    known[name, method, k] = outcome(words, arguments.limit, trial=method != BOUND)
                    results.add((name, method, k), known[name, method, k])
                    print(name, k, *rows_of({method: known[name, method, k]}), flush=True)
    if not arguments.dry:
        plotted = find_spec("matplotlib") is not None
        (RESULTS / "utility.md").write_text(page(known, arguments.limit, plotted=plotted), encoding="utf-8")
        if plotted:
            plot(known, RESULTS / "utility.svg")


if __name__ == "__main__":
    main()
