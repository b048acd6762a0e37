"""Subtracting cheaper boxes, on a table that can be checked by hand."""

import pyarrow as pa

from incrowd.attacks.attack import attack

WORDS = {"quasi_identifiers": ["age", "sex"], "k": 2, "only": ["downcoding"]}
PEOPLE = {"age": [1, 1, 2, 2, 3, 3], "sex": ["f", "f", "f", "m", "f", "m"]}


def test_who_would_fit_a_narrower_box_is_not_in_a_wider_one():
    """Both who are 1 have a box of their own, so no woman of the range is 1; the box of all has no women in it."""
    rows = {"age": ["1", "1", *["[1-4)"] * 4], "sex": ["f", "f", "f", "*", "f", "*"]}
    found = attack(pa.table(rows), pa.table(PEOPLE), **WORDS)["downcoding"].worst
    assert (found.trials, found.successes) == (3, 2)  # the age of those who may be men and women stays open


def test_what_the_register_contradicts_is_no_success():
    """One woman who is 1 is in the wide box: then too few people are left for its three records."""
    rows = {"age": ["1", "1", "[1-4)", "[1-4)", "[1-4)", "3"], "sex": ["f", "f", "f", "f", "f", "m"]}
    people = {"age": [1, 1, 1, 2, 3, 3], "sex": ["f", "f", "f", "f", "f", "m"]}
    found = attack(pa.table(rows), pa.table(people), **WORDS)["downcoding"].worst
    assert (found.trials, found.successes) == (1, 0)


def test_boxes_that_do_not_overlap_tell_nothing():
    rows = {"age": ["[1-3)"] * 4 + ["3"] * 2, "sex": ["*"] * 6}
    assert attack(pa.table(rows), pa.table(PEOPLE), **WORDS)["downcoding"].worst.successes == 0
