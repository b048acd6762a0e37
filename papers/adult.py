"""The census data as the papers use it: training and test records, taxonomies, classifier errors of a policy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from incrowd import datasets
from incrowd.evaluation.trial import Trial
from incrowd.formats.registry import open_source
from incrowd.policy.making import make_policy
from incrowd.policy.policy import Policy
from papers.experiment import Effort, percent

TARGET = "income"
TRAIN = 30_162
ATTRIBUTES = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
    "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country",
)  # fmt: skip
EIGHT = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")


@cache
def adult_rows() -> pa.Table:
    """The 45,222 complete records; the first 30,162 are those for training."""
    return pa.csv.read_csv(datasets.adult())


def train_rows(records: int | None = None) -> pa.Table:
    """The (first) training records."""
    return adult_rows().slice(0, min(records or TRAIN, TRAIN))


def later_rows(records: int | None = None) -> pa.Table:
    """The (first) test records."""
    return adult_rows().slice(TRAIN, records)


def all_rows(records: int | None = None) -> pa.Table:
    """The (first) training records and the (first) test records."""
    return pa.concat_tables([train_rows(records), later_rows(records)])


def shipped(names: Iterable[str]) -> dict[str, Any]:
    """The shipped taxonomies of those attributes that have one."""
    files = datasets.taxonomies("adult")
    return {name: files[name] for name in names if name in files}


def in_shape_of(paper: str, names: Iterable[str]) -> dict[str, Any]:
    """Taxonomies of our own with the leaves and levels that a paper prints, of those attributes that have one.

    Args:
        paper: "specialization" (TDS, table 6), "spouses_apart" (the same, a second time, where it differs), "bottom_up"
            (BUG, table 1) or "clustering" (KACA, table 4).
        names: The attributes.
    """
    files = {file.stem: file for file in (Path(__file__).parent / "taxonomies" / paper).glob("*.csv")}
    return {name: files[name] for name in names if name in files}


def policy_of(
    effort: Effort,
    quasi_identifiers: Sequence[Any],
    k: int,
    method: str,
    *,
    with_taxonomies: bool = True,
    paper: str = "specialization",
    **options: Any,
) -> Policy:
    """A policy for predicting income.

    Args:
        effort: It may have taxonomies of its own, in place of ours.
        quasi_identifiers: Attributes, or several `QuasiIdentifier`s.
        k: Size of the smallest crowd.
        method: The search.
        with_taxonomies: Whether there are any; without them rare categories are suppressed.
        paper: The paper whose printed shapes the taxonomies have.
        **options: Options of the method.
    """
    words: dict[str, Any] = {"quasi_identifiers": quasi_identifiers, "k": k, "target": TARGET}
    trees = None
    if with_taxonomies:
        names = make_policy(**words).attributes
        trees = {
            **in_shape_of(paper, names),
            **{name: file for name, file in effort.taxonomies.items() if name in names},
        }
    return make_policy(**words, taxonomies=trees, method=method, options=options)


def trial_of(effort: Effort, classifier: str, features: Sequence[str] | None = None, folds: int | None = None) -> Trial:
    """The training and the test records with a classifier, or all of them in folds."""
    policy = make_policy(quasi_identifiers=ATTRIBUTES[:1], k=2, target=TARGET)
    rows = train_rows(effort.records) if folds is None else all_rows(effort.records)
    test = open_source(later_rows(effort.records)) if folds is None else None
    return Trial.of(open_source(rows), policy, test=test, folds=folds, classifiers=[classifier], features=features)


def errors_of(trial: Trial, policy: Policy, protocol: str) -> tuple[float, float, float]:
    """Baseline, anonymity and upper error in percent; intervals are categories, as in the programs of the papers."""
    errors = trial.evaluate(policy, protocol=protocol, intervals="categories").errors[0]
    return percent(errors.baseline.value), percent(errors.anonymity.value), percent(errors.upper.value)
