"""Toy models that count values in classes, to search with; and what top-down search refuses."""

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import strategies as st
from tests.reference.problem import Column, Problem
from tests.strategies import problems

from incrowd.errors import PolicyError, UnknownNameError
from incrowd.policy.policy import QuasiIdentifier
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Requirement
from incrowd.run import Run
from incrowd.search.top_down.top_down import top_down
from incrowd.table.compressed import CompressedTable

COLUMN = "illness"
ILLNESSES = ("cold", "flu", "gout", None)


@dataclass(frozen=True)
class DistinctValues:
    """At least this many distinct values of the column in every class."""

    threshold: int

    name: ClassVar[str] = "distinct values"
    column: ClassVar[str] = COLUMN
    whole: ClassVar[bool] = True
    upward_closed: ClassVar[bool] = True

    @property
    def least_size(self):
        return self.threshold

    def levels(self, classes):
        return np.bincount(classes.values[COLUMN].tuples, minlength=len(classes.records))

    @staticmethod
    def level(values):
        return len(set(values))


@dataclass(frozen=True)
class NoValueTooOften:
    """A share of the records of every class has another value than the most frequent one; not upward closed."""

    threshold: float

    name: ClassVar[str] = "no value too often"
    column: ClassVar[str] = COLUMN
    whole: ClassVar[bool] = False
    upward_closed: ClassVar[bool] = False
    least_size: ClassVar[int] = 1

    def levels(self, classes):
        most = np.zeros(len(classes.records), np.int64)
        np.maximum.at(most, classes.values[COLUMN].tuples, classes.values[COLUMN].counts)
        return 1 - most / classes.records

    @staticmethod
    def level(values):
        return 1 - max(Counter(values).values()) / len(values)


def level(model, values):
    """The level of one class, given the protected values of its records."""
    return len(values) if isinstance(model, KAnonymity) else model.level(values)


MODELS = st.sampled_from(
    [
        (KAnonymity(2), DistinctValues(2)),
        (DistinctValues(2), KAnonymity(3)),
        (DistinctValues(3),),
        (KAnonymity(2), NoValueTooOften(0.25), DistinctValues(2)),
        (NoValueTooOften(0.5),),
        (KAnonymity(2),),
    ]
)


@st.composite
def protected(draw):
    """A problem, the protected value of each record, and requirements of several models that hold at the top."""
    problem = draw(problems())
    records = len(problem.rows)
    illnesses = draw(st.lists(st.sampled_from(ILLNESSES), min_size=records, max_size=records))
    requirements = []
    for qid in problem.quasi_identifiers:
        models = tuple(model for model in draw(MODELS) if level(model, illnesses) >= model.threshold)
        requirements.append(Requirement(tuple(qid.attributes), models or (KAnonymity(2),)))
    return problem, illnesses, requirements


def table_of(problem, illnesses):
    plain = problem.table()
    attributes, codes = zip(*(column.encode() for column in problem.columns), strict=True)
    target = None
    if plain.target is not None:
        labels = sorted(set(problem.classes))
        target = (labels, np.array([labels.index(label) for label in problem.classes]))
    values = np.array([ILLNESSES.index(illness) for illness in illnesses])
    ones = np.ones(len(illnesses), np.int64)
    return CompressedTable.build(attributes, codes, ones, target, {COLUMN: (ILLNESSES, values)})


def test_models_that_are_not_exact_then_are_refused():
    table = Problem((Column("a", tuple(range(30)), "number"),), None, ()).table()
    requirement = Requirement(("a",), (KAnonymity(2), NoValueTooOften(0.5)))
    with pytest.raises(PolicyError, match="records cannot be left out"):
        top_down(table, (requirement,), Run(), suppress=0.1)


def test_priorities_name_quasi_identifiers():
    problem = Problem((Column("age", (1, 2, 3, 4), "number"),), None, (QuasiIdentifier(["age"], 2),))
    with pytest.raises(UnknownNameError, match="'priorities' parameter"):
        top_down(problem.table(), problem.requirements, Run(), priorities={"agee": 2})
