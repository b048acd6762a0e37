"""Toy models that count values in classes, to search with; and what top-down search refuses."""

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import strategies as st
from tests.reference.problem import Column, Problem
from tests.strategies import problems

from incrowd.errors import PolicyError, UnknownNameError
from incrowd.policy.policy import QuasiIdentifier
from incrowd.privacy.history import SharedHistory
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Requirement
from incrowd.run import Run
from incrowd.search.top_down.top_down import top_down
from incrowd.table.class_counts import Histogram
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
    for_everyone: ClassVar[bool] = False

    @property
    def least_size(self):
        return self.threshold

    def fitted(self, histogram):
        return self

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
    for_everyone: ClassVar[bool] = False
    least_size: ClassVar[int] = 1

    def levels(self, classes):
        most = np.zeros(len(classes.records), np.int64)
        np.maximum.at(most, classes.values[COLUMN].tuples, classes.values[COLUMN].counts)
        return 1 - most / np.maximum(classes.records, 1)

    def fitted(self, histogram):
        return self

    @staticmethod
    def level(values):
        return 1 - max(Counter(values).values()) / len(values)


@dataclass(frozen=True)
class NearTheWhole:
    """No share of a value differs by more than this from that in the release; compares with the released rows."""

    most: float
    whole_counts: tuple[int, ...] = ()

    name: ClassVar[str] = "near the whole"
    column: ClassVar[str] = COLUMN
    whole: ClassVar[bool] = False
    upward_closed: ClassVar[bool] = False
    for_everyone: ClassVar[bool] = False
    least_size: ClassVar[int] = 1

    @property
    def threshold(self):
        return -self.most

    def fitted(self, histogram):
        counts = np.bincount(histogram.codes, histogram.counts, histogram.width)
        return replace(self, whole_counts=tuple(counts.astype(int).tolist()))

    def levels(self, classes):
        values, everyone = classes.values[COLUMN], np.array(self.whole_counts)
        table = values.table(np.arange(values.size), values.size)
        above = np.abs(table * everyone.sum() - classes.records[:, None] * everyone).max(axis=1)
        return -(above / np.maximum(classes.records * everyone.sum(), 1))

    @staticmethod
    def level(values, everyone):
        shares = (
            Fraction(values.count(v), len(values)) - Fraction(everyone.count(v), len(everyone)) for v in ILLNESSES
        )
        return -float(max(map(abs, shares)))


def level(model, values, everyone=None):
    """The level of one class, given the protected values of its records, and those of all that are released."""
    if isinstance(model, NearTheWhole):
        return model.level(values, values if everyone is None else everyone)
    return len(values) if isinstance(model, KAnonymity) else model.level(values)


MODELS = st.sampled_from(
    [
        (KAnonymity(2), DistinctValues(2)),
        (DistinctValues(2), KAnonymity(3)),
        (DistinctValues(3),),
        (KAnonymity(2), NoValueTooOften(0.25), DistinctValues(2)),
        (NoValueTooOften(0.5),),
        (KAnonymity(2), NearTheWhole(0.5)),
        (NearTheWhole(0.25),),
        (KAnonymity(2),),
    ]
)


COMPARING = st.sampled_from([(NearTheWhole(0.25),), (KAnonymity(2), NearTheWhole(0.4)), (NearTheWhole(0.5),)])


@st.composite
def protected(draw, asked=MODELS):
    """A problem, the protected value of each record, and requirements of several models that hold at the top."""
    problem = draw(problems())
    records = len(problem.rows)
    illnesses = draw(st.lists(st.sampled_from(ILLNESSES), min_size=records, max_size=records))
    requirements = []
    for qid in problem.quasi_identifiers:
        models = tuple(model for model in draw(asked) if level(model, illnesses) >= model.threshold)
        codes = [ILLNESSES.index(illness) for illness in illnesses]
        histogram = Histogram(ILLNESSES, np.zeros(4, np.int64), np.arange(4), np.bincount(codes, minlength=4), 1)
        models = tuple(m.fitted(histogram) if isinstance(m, NearTheWhole) else m for m in models)
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


def test_a_promise_to_everyone_is_refused():
    table = Problem((Column("a", tuple(range(30)), "number"),), None, ()).table()
    requirement = Requirement(("a",), (KAnonymity(2), SharedHistory("history", 2)))
    with pytest.raises(PolicyError, match="records cannot be left out where 2 people of every history is asked for"):
        top_down(table, (requirement,), Run(), suppress=0.1)


def test_priorities_name_quasi_identifiers():
    problem = Problem((Column("age", (1, 2, 3, 4), "number"),), None, (QuasiIdentifier(["age"], 2),))
    with pytest.raises(UnknownNameError, match="'priorities' parameter"):
        top_down(problem.table(), problem.requirements, Run(), priorities={"agee": 2})
