"""The baselines of the papers on Adult, 8 categorical attributes and age: time and loss.

    python -m benchmarks.baselines

Writes `results/baselines.md`.
"""

import time
from pathlib import Path
from typing import Any

from incrowd import datasets
from incrowd.engines.reading import compressed
from incrowd.engines.registry import engine_of
from incrowd.formats.registry import open_source
from incrowd.policy.making import make_policy
from incrowd.release.release import release_of
from incrowd.run import Run

ATTRIBUTES = ["age", *datasets.taxonomies("adult")]
RUNS: list[tuple[str, dict[str, Any]]] = [
    ("datafly", {}),
    ("samarati", {}),
    ("incognito", {}),
    ("argus", {}),
    ("genetic", {"fitness": "ncp"}),
    ("genetic", {"fitness": "cm"}),
    ("mondrian", {}),
    ("mondrian", {"relaxed": True}),
]
HEAD = (
    "| k | method | seconds | classes | DM | NCP | CM | left out |\n| --- | --- | --- | --- | --- | --- | --- | --- |"
)


def run(k: int, name: str, options: dict[str, Any]) -> str:
    words: dict[str, Any] = {
        "target": "income",
        "taxonomies": datasets.taxonomies("adult"),
        "method": name,
        "options": options,
    }
    policy = make_policy(quasi_identifiers=ATTRIBUTES, k=k, **words)
    source = open_source(datasets.adult())
    table = compressed(engine_of(), source, policy, Run())
    begin = time.perf_counter()
    release = release_of(source, policy, table=table)
    seconds = time.perf_counter() - begin
    total = release.measures.total
    metric = f"{total.cm:.3f}"
    shown = " ".join([name, *(f"{option}={value}" for option, value in options.items())])
    numbers = f"{total.classes:,} | {total.dm:,} | {total.ncp:.3f} | {metric} | {total.suppressed:,}"
    return f"| {k} | {shown} | {seconds:.1f} | {numbers} |"


def main() -> None:
    lines = [HEAD]
    print(HEAD)
    for k in (10, 50):
        for name, options in RUNS:
            lines.append(run(k, name, options))
            print(lines[-1], flush=True)
    command = "`python -m benchmarks.baselines`, 45,222 records, 27,397 tuples, two shared cores"
    (Path(__file__).parent / "results" / "baselines.md").write_text(f"{command}\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
