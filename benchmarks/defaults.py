"""What a steward gets who says nothing of methods: loss and time of the default beside every other method.

    python -m benchmarks.defaults --shared ../shared/data            # all tables
    python -m benchmarks.defaults --shared ../shared/data --tables cmc,mgm

Every table is released at k = 5 without a target, over all its columns but ids and labels, without a taxonomy: the
naive path. Printed are the loss (NCP), seconds of wall time, columns that became stars, and what was left out, per
method; a method that takes longer than the limit, or refuses, is named so. Each run is a process of its own.
"""

from __future__ import annotations

import argparse
import json
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
began = time.perf_counter()
dropped = [name for name in open_source(path).columns if name in skip]
release = incrowd.anonymize(path, quasi_identifiers=columns, identifiers=dropped, **words)
rows = release.to_rows()
stars = sum(row["values_after"] == 1 and row["values_before"] > 1 for row in rows)
seconds = time.perf_counter() - began
total = release.measures.total
print(json.dumps({"columns": len(columns), "records": release.measures.records, "ncp": total.ncp, "stars": stars,
                  "left_out": total.suppressed, "seconds": seconds, "method": release.policy.method}))
"""


def outcome(path: Path, words: dict[str, Any], skip: tuple[str, ...], method: str, limit: float) -> dict[str, Any]:
    """What one method gives, or why it gives nothing."""
    given = json.dumps({"path": str(path), "skip": list(skip), "k": K, "method": method, **words})
    try:
        done = subprocess.run([sys.executable, "-c", RUN, given], capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"problem": f"over {limit:.0f} s"}
    if done.returncode:
        return {"problem": done.stderr.strip().splitlines()[-1].partition(": ")[2][:60]}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shared", type=Path, required=True, help="folder with the tables")
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--limit", type=float, default=120, help="seconds per run")
    arguments = parser.parse_args()
    print("| table | records x columns | method | NCP | over the best | stars | left out | s |")
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    for name in arguments.tables.split(","):
        file, words, skip = TABLES[name]
        runs = {
            method: outcome(arguments.shared / file, words, skip, method, arguments.limit)
            for method in arguments.methods.split(",")
        }
        best = min(found["ncp"] for found in runs.values() if "ncp" in found and not found["left_out"])
        for method, found in runs.items():
            if "problem" in found:
                print(f"| {name} | | {method} | | | | | {found['problem']} |", flush=True)
                continue
            size, chosen = f"{found['records']:,} x {found['columns']}", found["method"]
            title = f"**auto** ({chosen})" if method == "auto" else method
            ratio = found["ncp"] / best if best else 1.0
            cells = (
                f"{found['ncp']:.4f} | {ratio:.2f} | {found['stars']} | {found['left_out']:,} | {found['seconds']:.1f}"
            )
            print(f"| {name} | {size} | {title} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
