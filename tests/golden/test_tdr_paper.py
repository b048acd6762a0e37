"""The worked example of the TDR paper, section 3.3: InfoGain versus Score, on Table 2 of the TDS paper with k = 4."""

from collections import Counter

import pytest
from tests.golden.top_down_tables import table_2

from incrowd.run import Run
from incrowd.search.costs import cost_of
from incrowd.search.top_down.search import Task
from incrowd.search.top_down.top_down import searches, top_down


def test_info_gain_refines_any_edu_and_is_stuck_at_4():
    problem = table_2()
    steps = problem.steps("gain")
    assert [(step.value, step.anonymity) for step in steps] == [("ANY_Edu", (4,))]


def test_score_refines_any_sex_then_work_hrs():
    problem = table_2()
    steps = problem.steps("tdr")
    assert [(step.value, step.anonymity) for step in steps] == [("ANY_Sex", (14,)), ("[1-99]", (6,))]
    release = problem.release(problem.recoding(steps))
    assert sorted(Counter(zip(*release.values(), strict=True)).values()) == [6, 6, 8, 20]


def test_after_any_sex_refining_any_edu_leaves_two_records_with_9th_and_m():
    problem = table_2()
    reference = problem.reference("tdr")
    top = reference.top()
    state = reference.refine(top, next(r for r in reference.candidates(top) if r.attribute == "Sex"))
    education = next(r for r in reference.candidates(state) if r.attribute == "Education")
    assert (education.anonymity, education.valid) == ((2,), False)
    assert Counter((row["Education"], row["Sex"]) for row in problem.rows)["9th", "M"] == 2


def test_the_three_first_candidates_gain_lose_and_score():
    """Table 2b, whose numbers are not in the text: computed from equations (1) to (4)."""
    reference = table_2().reference("tdr")
    found = [(r.attribute, r.gain, r.loss, r.score) for r in reference.candidates(reference.top())]
    assert [(name, loss) for name, _, loss, _ in found] == [("Education", 36), ("Sex", 26), ("Work_Hrs", 28)]
    assert [gain for _, gain, _, _ in found] == pytest.approx([0.6100, 0.4934, 0.3958], abs=0.00005)
    assert [score for *_, score in found] == pytest.approx([0.6100 / 37, 0.4934 / 27, 0.3958 / 29], abs=0.00005)


# Beyond the paper: children of a node need not be told apart all at once


def test_10th_is_shown_while_8th_and_9th_stay_together():
    """Table 2 with k = 7: 4 records have 8th, too few for a class, so Education is refined in part or not at all.

    10th has 20Y4N, 9th 12N, 8th 4N. 10th and the others gain as much as all three, since all others are N, and leave
    A = 16: 0.6100 / 25. Sex scores 0.4934 / 27. Then Work_Hrs would leave 4 records with 10th and less than 40 hours,
    Sex 2 with 9th and M. So 10th with 24 records and {8th, 9th} with 16 is the end, and 24/40 I(20Y4N) = 0.390 is not
    known of a record. Without that Sex is all there is, 26 M with 20Y6N and 14 F: 26/40 I(20Y6N) = 0.507.
    """
    problem = table_2(7)
    table, requirements = problem.table(), problem.requirements
    plain, found = (top_down(table, requirements, Run(), partial=partial) for partial in (False, True))
    assert [(step.value, step.anonymity) for step in plain.steps] == [("ANY_Sex", (14,))]
    (step,) = found.steps
    assert (step.attribute, step.value, step.children) == ("Education", "ANY_Edu", ("10th", "{8th, 9th}"))
    assert (step.loss, step.anonymity) == (24, (16,))
    assert (step.gain, step.score) == pytest.approx((0.6100, 0.6100 / 25), abs=0.00005)
    assert Counter(problem.release(found.recoding)["Education"]) == {"10th": 24, "{8th, 9th}": 16}
    costs = [float(cost_of(table, each.recoding)) for each in (plain, found)]
    assert costs == pytest.approx([0.507, 0.390], abs=0.0005)


def test_where_it_tells_no_more_the_plain_search_is_taken():
    """With k = 4 both ways end with classes of Y or of N alone: Sex and Work_Hrs, or 10th and Work_Hrs."""
    problem = table_2()
    task = Task(problem.table(), problem.requirements, "tdr", partial=True)
    plain, parted = searches(task, Run(), 0)
    assert [step.children for step in parted.steps] == [("10th", "{8th, 9th}"), ("[1-40)", "[40-99]")]
    assert [step.anonymity for step in parted.steps] == [(16,), (4,)]
    release = problem.release(parted.recoding)
    assert sorted(Counter(zip(*release.values(), strict=True)).values()) == [4, 8, 8, 20]
    assert top_down(problem.table(), problem.requirements, Run(), partial=True) == plain
