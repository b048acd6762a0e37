"""Figures of docs/risk.md: the time of SUDA2, and the errors of the estimators on populations that are known.

PYTHONPATH=src:. python benchmarks/risk.py
"""

import time

import numpy as np
import pyarrow as pa
from tests.unit.risk.test_population import (
    alone,
    estimates,
    negative_binomial_population,
    pitman_population,
    sample_of,
)

from incrowd import datasets
from incrowd.formats.registry import open_source
from incrowd.population.records import read_people
from incrowd.risk.suda import special_uniques
from incrowd.run import Run

COLUMNS = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"]
FRACTIONS = (0.02, 0.1, 0.3, 0.5)
POPULATIONS = [
    (draw, words)
    for draw, several in (
        (pitman_population, ((0.3, 50), (0.5, 500), (0.8, 10))),
        (negative_binomial_population, ((0.05, 5), (0.1, 2), (1, 5))),
    )
    for words in several
]


def suda(records=30_000):
    """CPU seconds for all minimal sample uniques of some rows of Adult."""
    table = pa.Table.from_batches(list(open_source(datasets.adult()).batches())).slice(0, records)
    people = read_people(table.to_batches(), "adult", COLUMNS, run=Run())
    began = time.process_time()
    found = special_uniques(people, Run())
    print(f"SUDA2, {people.number:,} records, {len(COLUMNS)} columns: {time.process_time() - began:.2f} CPU s")
    print(f"minimal sample uniques by size: {found.sizes}, in {found.records:,} records")


def errors(populations=4, samples=5):
    """The relative error of each estimator: its mean, its spread, and how often it applied."""
    for draw, words in POPULATIONS:
        found = {}
        for seed in range(populations):
            random = np.random.default_rng(seed)
            class_of = draw(*words, random)
            for fraction in (fraction for fraction in FRACTIONS for _ in range(samples)):
                for name, estimate in estimates(sample_of(class_of, fraction, random)).items():
                    if estimate.applies:
                        found.setdefault((fraction, name), []).append(estimate.uniques / alone(class_of) - 1)
        for (fraction, name), values in sorted(found.items()):
            spread = f"{np.mean(values):+.0%} ± {np.std(values):.0%}, applied {len(values)} of {populations * samples}"
            print(f"{draw.__name__}{words}, fraction {fraction}: {name} {spread}")


if __name__ == "__main__":
    suda()
    errors()
