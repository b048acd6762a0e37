"""Local recoding beside ARX, the plain quadratic loop beside the index, and growth; writes `results/local_recoding.md`.

    python -m benchmarks.local_recoding HIERARCHIES [LARGE.parquet]

The first 30,162 records of Adult (its training part), eight attributes, the hierarchies of a folder. ARX's figures are
those of its local recoding, measured once on the same data and hierarchies. Seconds
are CPU seconds of the search alone, the faster of two runs. The large file has the
columns of Adult, such as a million records made by variation; growth is measured on random parts of it.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pyarrow.parquet

from incrowd import datasets
from incrowd.engines.reading import compressed as compressed_by
from incrowd.engines.registry import engine_of
from incrowd.formats.registry import open_source
from incrowd.measures.measures import ClassMeasures, measure
from incrowd.policy.making import make_policy
from incrowd.privacy.model import Requirements
from incrowd.recodings.recoding import Recoding
from incrowd.run import Run
from incrowd.search.clustering.kaca import kaca
from incrowd.search.registry import METHODS
from incrowd.table.compressed import CompressedTable

ATTRIBUTES = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"]
TRAINING = 30_162
ARX = {5: (4386, 253_100, 0.0569, 0), 10: (2289, 438_252, 0.0790, 0), 50: (483, 1_961_084, 0.1503, 64)}
OURS: list[tuple[str, dict[str, Any]]] = [
    ("kaca", {}),
    ("kaca", {"distance": "ncp"}),
    ("cover", {"effort": 0}),
    ("cover", {}),
    ("cover", {"objective": "mix"}),
    ("cover", {"objective": "dm"}),
]
RESULTS = Path(__file__).parent / "results" / "local_recoding.md"


def compressed(data: Any, hierarchies: str) -> CompressedTable:
    policy = make_policy(quasi_identifiers=ATTRIBUTES, k=2, taxonomies=hierarchies)
    return compressed_by(engine_of(), open_source(data), policy, Run())


def needed(k: int) -> Requirements:
    return make_policy(quasi_identifiers=ATTRIBUTES, k=k).requirements


def timed(
    table: CompressedTable, k: int, method: str, options: dict[str, Any], runs: int = 2
) -> tuple[float, Recoding]:
    """CPU seconds and what was found."""
    seconds = []
    for _ in range(runs):
        start = time.process_time()
        found = METHODS[method](table, needed(k), options, Run())
        seconds.append(time.process_time() - start)
    return min(seconds), found.recoding


def named(method: str, options: dict[str, Any]) -> str:
    return " ".join([method, *(f"{name}={value}" for name, value in options.items())])


def total(table: CompressedTable, k: int, recoding: Recoding) -> ClassMeasures:
    return measure(table, recoding, needed(k)).total


def beside_arx(table: CompressedTable) -> list[str]:
    lines = [
        "| k | method | classes | DM | C_AVG | NCP | seconds |",
        "| ---: | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for k, (classes, squares, loss, suppressed) in ARX.items():
        average = (TRAINING - suppressed) / classes / k
        lines.append(f"| {k} | ARX | {classes:,} | {squares:,} | {average:.4f} | {loss:.4f} | 10 to 23 |")
        for method, options in OURS:
            seconds, recoding = timed(table, k, method, options)
            found = total(table, k, recoding)
            lines.append(
                f"| {k} | {named(method, options)} | {found.classes:,} | {found.dm:,} | {found.c_avg:.4f} | "
                f"{found.ncp:.4f} | {seconds:.2f} |"
            )
    return lines


def index_beside_loop(table: CompressedTable) -> list[str]:
    lines = ["| distance | index | plain loop | same result |", "| --- | ---: | ---: | --- |"]
    for distance in ("height", "ncp"):
        indexed, recoding = timed(table, 10, "kaca", {"distance": distance})
        start = time.process_time()
        plain = kaca(table, needed(10), Run(), distance=distance, bucket=10**9).recoding
        seconds = time.process_time() - start
        lines.append(f"| {distance} | {indexed:.2f} | {seconds:.2f} | {'yes' if plain == recoding else 'NO'} |")
    return lines


def growth(path: str, hierarchies: str) -> list[str]:
    rows = pyarrow.parquet.read_table(path, columns=ATTRIBUTES)
    order = np.random.default_rng(0).permutation(len(rows))
    methods: list[tuple[str, dict[str, Any]]] = [("kaca", {}), ("kaca", {"distance": "ncp"}), ("cover", {"effort": 0})]
    lines = ["| records | tuples | " + " | ".join(named(*each) for each in methods) + " |"]
    lines.append("| ---: |" + " ---: |" * (1 + len(methods)))
    for part in (32, 8, 1):
        table = compressed(rows.take(np.sort(order[: len(rows) // part])), hierarchies)
        found = [timed(table, 10, method, options, 1) for method, options in methods]
        cells = [f"{s:.1f} s, NCP {total(table, 10, recoding).ncp:.3f}" for s, recoding in found]
        lines.append(f"| {table.records:,} | {len(table.counts):,} | " + " | ".join(cells) + " |")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return [*lines, "", f"Peak memory of all of this: {peak:,} MB."]


def main(hierarchies: str, large: str | None = None) -> None:
    adult = compressed(pyarrow.csv.read_csv(datasets.adult()).slice(0, TRAINING), hierarchies)
    text = ["# Local recoding", "", "`python -m benchmarks.local_recoding HIERARCHIES LARGE.parquet`", ""]
    text += ["## Beside ARX", "", *beside_arx(adult), "", "ARX suppresses 64 records at k = 50; incrowd none.", ""]
    text += ["## The index beside the plain loop, k = 10, CPU seconds", "", *index_beside_loop(adult), ""]
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text("\n".join(text), encoding="utf-8")
    if large is not None:
        text += ["## Growth, k = 10, CPU seconds", "", *growth(large, hierarchies), ""]
        RESULTS.write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
