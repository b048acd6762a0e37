"""The worked example of the TDR paper, section 3.3: InfoGain versus Score, on Table 2 of the TDS paper with k = 4."""

from collections import Counter

import pytest
from tests.golden.top_down_tables import table_2


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
