"""Restarts: never worse than the plain search on what it is for, the same for the same seed and any order."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.strategies import CRITERIA, problems

from incrowd.run import Run, StepTaken
from incrowd.search.top_down.gains import InformationGain, with_room
from incrowd.search.top_down.restarts import cost_of
from incrowd.search.top_down.top_down import top_down

SHARES = st.sampled_from([0.0, 0.2])


@examples(60)
@given(problems(), CRITERIA, SHARES, st.integers(0, 3))
def test_restarts_are_never_worse_and_every_step_is_valid(problem, criterion, share, restarts):
    table, told = problem.table(), []
    run = Run(lambda event: told.append(event.step) if isinstance(event, StepTaken) else None, seed=3)
    words = {"criterion": criterion, "suppress": share}
    plain = top_down(table, problem.requirements, Run(), **words)
    found = top_down(table, problem.requirements, run, restarts=restarts, **words)
    assert cost_of(table, found.recoding) <= cost_of(table, plain.recoding)
    assert tuple(told) == found.steps
    assert restarts or found == plain
    if not share:
        assert problem.holds(problem.anonymity(problem.release(found.recoding)))


@examples(60)
@given(problems(), CRITERIA, st.data())
def test_the_order_of_rows_and_columns_changes_nothing(problem, criterion, data):
    rows = data.draw(st.permutations(range(len(problem.rows))))
    columns = data.draw(st.permutations(range(len(problem.columns))))
    moved = problem.permuted(rows, columns)
    first, second = (
        top_down(one.table(), one.requirements, Run(seed=1), criterion=criterion, restarts=3)
        for one in (problem, moved)
    )
    assert first.steps == second.steps


@examples(60)
@given(st.lists(st.integers(0, 9), min_size=2, max_size=12), st.integers(0, 30))
def test_cuts_leave_room_where_they_can(counts, room):
    below = np.cumsum(counts)[:-1]
    found = with_room(below, sum(counts), room).tolist()
    roomy = [cut for cut, left in enumerate(below.tolist()) if left >= room and sum(counts) - left >= room]
    assert found == (roomy or list(range(len(below))))


def test_room_keeps_a_few_records_from_being_set_apart():
    lopsided = np.array([[40, 10], [40, 10], [0, 6]])
    assert [InformationGain(lopsided, room=room).best_cut(0, 3) for room in (0, 6, 7)] == [2, 2, 1]
