"""Restarts: never worse than the plain search on what it is for, the same for the same seed and any order."""

from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.strategies import CRITERIA, problems

from incrowd.run import Run, StepTaken
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
