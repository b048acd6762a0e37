"""The baselines of the papers on Adult, 8 categorical attributes and age: time and loss.

    python -m benchmarks.baselines

Writes `results/baselines.md`.
"""

import time
from pathlib import Path

from incrowd import datasets
from incrowd.engines import arrow
from incrowd.engines.sources import open_source
from incrowd.measures import measure
from incrowd.policy import make_policy
from incrowd.recodings.local.recoding import LocalRecoding
from incrowd.recodings.recoding import Recoding
from incrowd.search import method_of

ATTRIBUTES = ["age", *datasets.taxonomies("adult")]
RUNS = [
    ("datafly", {}),
    ("samarati", {}),
    ("incognito", {}),
    ("argus", {}),
    ("genetic", {"fitness": "lm"}),
    ("genetic", {"fitness": "cm"}),
    ("mondrian", {}),
    ("mondrian", {"relaxed": True}),
]
HEAD = (
    "| k | method | seconds | classes | DM | NCP | CM | left out |\n| --- | --- | --- | --- | --- | --- | --- | --- |"
)


def run(k, name, options):
    words = {"target": "income", "taxonomies": datasets.taxonomies("adult")}
    policy = make_policy(quasi_identifiers=ATTRIBUTES, k=k, **words)
    source = open_source(datasets.adult())
    table = arrow.compress(source, policy)
    begin = time.perf_counter()
    found = method_of(name, options)(table, policy.quasi_identifiers, options)
    seconds = time.perf_counter() - begin
    recoding = LocalRecoding(found.local, b"") if found.local else Recoding(found.recoding, classes=found.classes)
    labels = arrow.label_counts(source, recoding, table, policy.target)
    total = measure(table, recoding, policy.quasi_identifiers, labels).total
    metric = f"{total.classification_metric:.3f}"
    shown = " ".join([name, *(f"{option}={value}" for option, value in options.items())])
    numbers = f"{total.classes:,} | {total.discernibility:,} | {total.ncp:.3f} | {metric} | {total.suppressed:,}"
    return f"| {k} | {shown} | {seconds:.1f} | {numbers} |"


def main():
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
