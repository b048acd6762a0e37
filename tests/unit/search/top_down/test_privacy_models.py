"""Top-down search with models that protect a column, against brute force: toy models that count values in classes."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.property.test_top_down import performed
from tests.reference.masked import comparable
from tests.reference.top_down import TopDown
from tests.strategies import CRITERIA, problems

from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Requirement
from incrowd.run import Run
from incrowd.search.top_down import groups
from incrowd.search.top_down.top_down import top_down
from incrowd.table.compressed import CompressedTable

COLUMN = "illness"
ILLNESSES = ("cold", "flu", "gout", None)


@dataclass(frozen=True)
class DistinctValues:
    """At least so many distinct values of the column in every class."""

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


class Protected(TopDown):
    """The reference, with models in the place of k."""

    def __init__(self, problem, illnesses, requirements, criterion):
        attributes = [column.attribute() for column in problem.columns]
        qids = [(requirement.attributes, None) for requirement in requirements]
        super().__init__(attributes, problem.rows, problem.classes, qids, criterion)
        self._illnesses, self._models = illnesses, [requirement.models for requirement in requirements]

    def _levels(self, state):
        """The lowest level of each model of each requirement."""
        table = [self.masked(state, row) for row in self._rows]
        for (names, _), models in zip(self._qids, self._models, strict=True):
            classes = defaultdict(list)
            for row, illness in zip(table, self._illnesses, strict=True):
                classes[tuple(row[name] for name in names)].append(illness)
            yield [min(level(model, values) for values in classes.values()) for model in models]

    def anonymity(self, state):
        return tuple(levels[0] for levels in self._levels(state))

    def valid(self, state):
        return all(
            found >= model.threshold
            for levels, models in zip(self._levels(state), self._models, strict=True)
            for found, model in zip(levels, models, strict=True)
        )


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


@examples(150)
@given(protected(), CRITERIA)
def test_each_step_is_the_best_that_keeps_every_promise(case, criterion):
    problem, illnesses, requirements = case
    reference, table = Protected(problem, illnesses, requirements, criterion), table_of(problem, illnesses)
    state = reference.top()
    for step in top_down(table, requirements, Run(), criterion=criterion).steps:
        refinement = performed(step, table, reference, state)
        assert refinement == reference.best(state)
        assert step.anonymity == refinement.anonymity
        figures = (refinement.gain, refinement.loss, refinement.score)
        assert (step.gain, step.loss, step.score) == tuple(float(comparable(figure)) for figure in figures)
        state = reference.refine(state, refinement)
    assert reference.best(state) is None


@examples(100)
@given(protected(), CRITERIA)
def test_counting_by_tables_and_by_sorting_gives_the_same_steps(case, criterion):
    problem, illnesses, requirements = case
    table = table_of(problem, illnesses)
    steps = top_down(table, requirements, Run(), criterion=criterion).steps
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(groups, "SPARE", -(10**9))  # no table is small
        assert top_down(table, requirements, Run(), criterion=criterion).steps == steps
