"""The worked examples of Fung, Wang and Yu, Top-Down Specialization for Information and Privacy Preservation, 2005."""

from collections import Counter

import numpy as np
import pytest
from tests.golden.top_down_tables import table_1, table_2

from incrowd.search.top_down.gains import entropy

VID_1, VID_2 = ("Education Sex", 4), ("Sex Work_Hrs", 11)


def to_4_decimals(number):
    return pytest.approx(number, abs=0.00005)


def candidates(problem, criterion="tds", path=()):
    """What the reference says of each refinement, after those of some attributes were performed."""
    reference = problem.reference(criterion)
    state = reference.top()
    for name in path:
        state = reference.refine(state, next(r for r in reference.candidates(state) if r.attribute == name))
    return {refinement.attribute: refinement for refinement in reference.candidates(state)}


def frequencies(problem, cells):
    """Class frequencies of each class of records, such as 20Y4N."""
    counts = Counter(zip(cells, problem.classes, strict=True))
    return {cell: f"{counts[cell, 'Y']}Y{counts[cell, 'N']}N" for cell in set(cells)}


def test_example_1_four_women_went_to_graduate_school():
    rows = table_1(VID_1, VID_2).rows
    assert len(rows) == 34
    assert sum(row["Sex"] == "F" and row["Education"] in ("Masters", "Doctorate") for row in rows) == 4


def test_example_2_three_vids_violate_the_requirement():
    counts = Counter((row["Education"], row["Sex"]) for row in table_1(VID_1).rows)
    assert {vid for vid, a in counts.items() if a < 4} == {("9th", "M"), ("Masters", "F"), ("Doctorate", "F")}


@pytest.mark.parametrize("criterion", ["tds", "tdr", "gain"])
def test_example_3_the_solution_cut_is_the_lowest(criterion):
    problem = table_1(VID_1)
    recoding = problem.recoding(problem.steps(criterion))
    assert recoding.labels("Education") == ("Junior Sec.", "11th", "12th", "Bachelors", "Grad School")
    assert recoding.labels("Sex") == ("M", "F")


def test_example_4_score_of_any_edu():
    assert entropy(np.array([[21, 13], [5, 11], [16, 2]])) == to_4_decimals([0.9597, 0.8960, 0.5033])
    problem = table_1(VID_1)
    (step,) = problem.steps("tds", 1)
    for found in (step, candidates(problem)["Education"]):
        assert found.gain == to_4_decimals(0.2716)
        assert found.loss == 18
        assert found.score == to_4_decimals(0.0151)


def test_example_5_work_hrs_is_split_at_37():
    assert entropy(np.array([[2, 10], [19, 3]])) == to_4_decimals([0.6500, 0.5746])
    problem = table_1(("Work_Hrs", 11))
    (step,) = problem.steps("tds", 1)
    assert (step.value, step.children) == ("[1-99]", ("[1-37)", "[37-99]"))
    for found in (step, candidates(problem)["Work_Hrs"]):
        assert found.gain == to_4_decimals(0.3584)


def test_example_6_class_frequencies_of_the_specialized_values():
    problem = table_2()
    education, sex, hours = (column.values for column in problem.columns)
    assert frequencies(problem, education) == {"8th": "0Y4N", "9th": "0Y12N", "10th": "20Y4N"}
    assert frequencies(problem, sex) == {"M": "20Y6N", "F": "0Y14N"}
    assert frequencies(problem, [hour >= 40 for hour in hours]) == {False: "0Y12N", True: "20Y8N"}


def test_example_6_info_gain_specializes_education_and_is_stuck():
    problem = table_2()
    (step,) = problem.steps("gain")
    assert (step.value, step.children, step.anonymity) == ("ANY_Edu", ("8th", "9th", "10th"), (4,))
    assert not any(refinement.valid for refinement in candidates(problem, path=["Education"]).values())
    release = problem.release(problem.recoding([step]))
    assert frequencies(problem, list(zip(*release.values(), strict=True)))["10th", "ANY_Sex", "[1-99]"] == "20Y4N"


def test_example_6_score_specializes_sex_then_work_hrs_and_ends_in_table_3():
    problem = table_2()
    steps = problem.steps("tds")
    assert [(step.value, step.children) for step in steps] == [
        ("ANY_Sex", ("M", "F")),
        ("[1-99]", ("[1-40)", "[40-99]")),
    ]
    assert not candidates(problem, path=["Sex"])["Education"].valid
    release = problem.release(problem.recoding(steps))
    assert frequencies(problem, list(zip(*release.values(), strict=True))) == {
        ("ANY_Edu", "M", "[40-99]"): "20Y0N",
        ("ANY_Edu", "M", "[1-40)"): "0Y6N",
        ("ANY_Edu", "F", "[40-99]"): "0Y8N",
        ("ANY_Edu", "F", "[1-40)"): "0Y6N",
    }


def test_example_7_all_three_specializations_are_candidates():
    first = candidates(table_1(VID_1, VID_2))
    assert set(first) == {"Education", "Sex", "Work_Hrs"}
    assert all(refinement.valid and refinement.beneficial for refinement in first.values())


def test_examples_8_and_9_work_hrs_then_any_edu():
    problem = table_1(VID_1, VID_2)
    steps = problem.steps("tds", 2)
    assert [step.children for step in steps] == [("[1-37)", "[37-99]"), ("Secondary", "University")]
    assert [step.anonymity for step in steps] == [(34, 12), (16, 12)]
    release = problem.release(problem.recoding(steps))
    assert Counter(zip(release["Education"], release["Sex"], strict=True)) == {
        ("Secondary", "ANY_Sex"): 16,
        ("University", "ANY_Sex"): 18,
    }
    assert Counter(zip(release["Sex"], release["Work_Hrs"], strict=True)) == {
        ("ANY_Sex", "[1-37)"): 12,
        ("ANY_Sex", "[37-99]"): 22,
    }
    # Figure 3: 12 + 4 records of Secondary, 18 of University
    assert Counter(zip(release["Education"], release["Work_Hrs"], strict=True)) == {
        ("Secondary", "[1-37)"): 12,
        ("Secondary", "[37-99]"): 4,
        ("University", "[37-99]"): 18,
    }
