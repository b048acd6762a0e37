"""What a steward gets who says nothing of methods: loss and time of the default beside every other method.

    python -m benchmarks.defaults --shared ../shared/data            # all tables
    python -m benchmarks.defaults --shared ../shared/data --tables cmc,mgm

Every table is released at k = 5 without a target, over all its columns but ids and labels, without a taxonomy: the
naive path. Printed are the loss (NCP), CPU seconds, columns that became stars, and what was left out, per method; a
method that takes longer than the limit, or refuses, is named so. Each run is a process of its own, and is noted in the
file of results, so that a benchmark that was interrupted goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

from incrowd.search.registry import METHODS

K = 5
TABLES: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "adult": ("adult.data.csv", {"missing_values": ["?"]}, ("fnlwgt", "income")),
    "german": ("german.csv", {}, ("credit", "class")),
    "cmc": ("cmc.csv", {}, ("ID", "method")),
    "mgm": ("mgm.csv", {}, ("ID", "severity")),
    "cahousing": ("cahousing.csv.gz", {}, ("ID",)),
    "creditcard": ("creditcard_int.csv.gz", {}, ()),
    "mach2019": ("mach2019_int.csv.gz", {}, ()),
    "fars": ("fars_pmlb.csv.gz", {}, ("target",)),
}

RUN = """
import json, sys, time
import incrowd
from incrowd.formats.registry import open_source
words = json.loads(sys.argv[1])
path, skip = words.pop("path"), words.pop("skip")
columns = [name for name in open_source(path).columns if name not in skip]
began = time.process_time()
dropped = [name for name in open_source(path).columns if name in skip]
release = incrowd.anonymize(path, quasi_identifiers=columns, identifiers=dropped, **words)
rows = release.to_rows()
stars = sum(row["values_after"] == 1 and row["values_before"] > 1 for row in rows)
seconds = time.process_time() - began
total = release.measures.total
print(json.dumps({"columns": len(columns), "records": release.measures.records, "ncp": total.ncp, "stars": stars,
                  "left_out": total.suppressed, "seconds": seconds, "method": release.policy.method}))
"""


def outcome(path: Path, words: dict[str, Any], skip: tuple[str, ...], method: str, limit: int) -> dict[str, Any]:
    """What one method gives, or why it gives nothing."""
    given = json.dumps({"path": str(path), "skip": list(skip), "k": K, "method": method, **words})
    command = [sys.executable, "-W", "ignore", "-c", RUN, given]
    at_most = lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))  # noqa: E731
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=at_most)
    if done.returncode < 0:
        return {"problem": f"over {limit} s"}
    if done.returncode:
        return {"problem": done.stderr.strip().splitlines()[-1].partition(": ")[2][:60]}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def rows_of(name: str, runs: dict[str, dict[str, Any]]) -> list[str]:
    """The lines of one table."""
    best = min((found["ncp"] for found in runs.values() if "ncp" in found and not found["left_out"]), default=0.0)
    lines = []
    for method, found in runs.items():
        if "problem" in found:
            lines.append(f"| {name} | | {method} | | | | | {found['problem']} |")
            continue
        size, ratio = f"{found['records']:,} x {found['columns']}", found["ncp"] / best if best else 1.0
        title = f"**auto** ({found['method']})" if method == "auto" else method
        cells = f"{found['ncp']:.4f} | {ratio:.2f} | {found['stars']} | {found['left_out']:,} | {found['seconds']:.1f}"
        lines.append(f"| {name} | {size} | {title} | {cells} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shared", type=Path, required=True, help="folder with the tables")
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--limit", type=int, default=120, help="CPU seconds per run")
    parser.add_argument("--results", type=Path, default=Path("defaults.jsonl"), help="what was run, one line each")
    arguments = parser.parse_args()
    noted = [json.loads(line) for line in arguments.results.open()] if arguments.results.exists() else []
    known = {(run.pop("table"), run.pop("of")): run for run in noted}
    print("| table | records x columns | method | NCP | over the best | stars | left out | CPU s |")
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    for name in arguments.tables.split(","):
        file, words, skip = TABLES[name]
        for method in arguments.methods.split(","):
            if (name, method) not in known:
                known[name, method] = outcome(arguments.shared / file, words, skip, method, arguments.limit)
                with arguments.results.open("a") as results:
                    results.write(json.dumps({"table": name, "of": method, **known[name, method]}) + "\n")
        runs = {method: known[name, method] for method in arguments.methods.split(",")}
        print(*rows_of(name, runs), sep="\n", flush=True)


if __name__ == "__main__":
    main()
