"""Searches ask privacy models, not k: with models of every kind, what they release is good, and tie rules hold."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.examples import examples
from tests.reference.problem import Column, Problem
from tests.strategies import problems

from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Requirement
from incrowd.run import Run
from incrowd.search.bottom_up.bottom_up import bottom_up
from incrowd.search.registry import METHODS, method_of
from incrowd.table.class_counts import ClassCounts
from incrowd.table.compressed import CompressedTable

modest = examples(60)
BY_SIZE = ["bug", "argus", "mondrian", "incognito", "samarati", "datafly", "genetic"]
BY_VALUES = ["bug", "mondrian", "incognito", "samarati", "datafly", "genetic"]
OPTIONS = {"genetic": {"population": 8, "patience": 20, "evaluations": 60}, "datafly": {"suppress": 0.0}}


@dataclass(frozen=True)
class Pairs:
    """At least so many pairs of records: a class may grow and be no better for it."""

    threshold: int
    name: ClassVar[str] = "pairs"
    column: ClassVar[str | None] = None
    whole: ClassVar[bool] = True
    upward_closed: ClassVar[bool] = True
    for_everyone: ClassVar[bool] = False

    @property
    def least_size(self) -> int:
        return 2 * self.threshold

    def levels(self, classes: ClassCounts) -> Any:
        return classes.records // 2


@dataclass(frozen=True)
class Risk:
    """A risk of at most 1 in so many, in levels that are not whole."""

    crowd: int
    name: ClassVar[str] = "risk"
    column: ClassVar[str | None] = None
    whole: ClassVar[bool] = False
    upward_closed: ClassVar[bool] = True
    for_everyone: ClassVar[bool] = False

    @property
    def threshold(self) -> float:
        return 1 - 1 / self.crowd

    @property
    def least_size(self) -> int:
        return self.crowd

    def levels(self, classes: ClassCounts) -> Any:
        return 1 - 1 / np.maximum(classes.records, 1)


@dataclass(frozen=True)
class Distinct:
    """At least so many different values of a protected column."""

    threshold: int
    name: ClassVar[str] = "distinct values"
    column: ClassVar[str | None] = "ill"
    whole: ClassVar[bool] = True
    upward_closed: ClassVar[bool] = True
    for_everyone: ClassVar[bool] = False

    @property
    def least_size(self) -> int:
        return self.threshold

    def levels(self, classes: ClassCounts) -> Any:
        values = classes.values["ill"]
        return np.bincount(values.tuples, minlength=values.size)

    def __str__(self) -> str:
        return f"{self.threshold} different values of ill"


MODELS = st.lists(
    st.builds(KAnonymity, st.integers(2, 4)) | st.builds(Pairs, st.integers(1, 2)) | st.builds(Risk, st.integers(2, 5)),
    min_size=1,
    max_size=3,
)


def required(problem, models):
    """The same models for every quasi-identifier; the table as a whole satisfies them."""
    found = tuple(Requirement(tuple(qid.attributes), tuple(models)) for qid in problem.quasi_identifiers)
    assume(all(r.least_size <= len(problem.rows) for r in found))
    return found


def search(name, table, requirements):
    options = OPTIONS.get(name, {})
    return method_of(name, options, len(requirements))(table, requirements, options, Run()).recoding


def classes(table, recoding, names):
    """Records, and values of the protected column, of each released class."""
    parts = recoding.parts(table)
    kept = np.ones(len(parts.records), bool) if parts.kept is None else parts.kept
    cells = np.stack([parts.cells[name] for name in names], axis=1)
    groups = np.unique(cells, axis=0, return_inverse=True)[1].ravel()
    for group in np.unique(groups[kept]):
        yield np.flatnonzero(kept & (groups == group)), int(parts.records[kept & (groups == group)].sum())


@pytest.mark.parametrize("name", BY_SIZE)
@modest
@given(problems(), MODELS)
def test_every_released_class_satisfies_every_model(name, problem, models):
    requirements = required(problem, models)
    if not METHODS[name].several:
        requirements = (Requirement(tuple(column.name for column in problem.columns), tuple(models)),)
    table = problem.table()
    recoding = search(name, table, requirements)
    for requirement in requirements:
        sizes = np.array([size for _, size in classes(table, recoding, requirement.attributes)])
        assert requirement.good(ClassCounts(sizes)).all()


@pytest.mark.parametrize("name", BY_VALUES)
@modest
@given(problems(), st.integers(2, 3), st.data())
def test_every_released_class_has_different_values_of_a_protected_column(name, problem, different, data):
    ill = data.draw(st.lists(st.integers(0, 3), min_size=len(problem.rows), max_size=len(problem.rows)))
    assume(len(set(ill)) >= different)
    attributes, codes = zip(*(column.encode() for column in problem.columns), strict=True)
    counts = np.ones(len(ill), np.int64)
    table = CompressedTable.build(attributes, codes, counts, None, {"ill": ("wxyz", np.array(ill))})
    requirements = required(problem, [KAnonymity(2), Distinct(different)])
    if not METHODS[name].several:
        requirements = (Requirement(tuple(column.name for column in problem.columns), requirements[0].models),)
    recoding = search(name, table, requirements)
    values, of_tuple = table.protected["ill"], recoding.parts(table).of_tuple
    for requirement in requirements:
        for parts, size in classes(table, recoding, requirement.attributes):
            tuples = parts if of_tuple is None else np.flatnonzero(np.isin(of_tuple, parts))
            assert size >= 2
            assert len(set(values.codes[np.isin(values.tuples, tuples)].tolist())) >= different


@modest
@given(problems(), MODELS, st.sampled_from(["entropy", "ncp"]))
def test_pruning_changes_no_step_whatever_the_models(problem, models, information):
    if problem.classes is None:
        information = "ncp"
    table, requirements = problem.table(), required(problem, models)
    pruned, plain = (
        bottom_up(table, requirements, Run(), information=information, pruning=pruning) for pruning in (True, False)
    )
    assert pruned.steps == plain.steps
    worst = [step.anonymity for step in pruned.steps]
    assert all((np.diff(levels) >= 0).all() for levels in zip(*worst, strict=True))


@modest
@given(problems())
def test_a_model_with_the_levels_of_another_one_gives_the_same_steps(problem):
    """Pairs of 1 and risks of 1 in 2 are what k = 2 is, in other units: the last step ends at the same table."""
    problem = replace(problem, quasi_identifiers=problem.quasi_identifiers[:1])
    table = problem.table()
    names = tuple(attribute.name for attribute in table.attributes)
    steps = [
        bottom_up(table, [Requirement(names, (model,))], Run()).steps for model in (KAnonymity(2), Pairs(1), Risk(2))
    ]
    changes = [[step.change for step in found] for found in steps]
    assert changes[0] == changes[1] == changes[2]


def small_table():
    """Four people of four ages."""
    return Problem((Column("age", (1, 2, 3, 4), "number"),), None, ()).table()
