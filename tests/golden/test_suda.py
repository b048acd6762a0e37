"""The worked example of SUDA2 in the practice guide of statistical disclosure control: ten records, four columns."""

from fractions import Fraction

import pyarrow as pa
from tests.reference import suda

import incrowd

COLUMNS = ("residence", "gender", "education", "labour status")
RECORDS = [
    ("Urban", "Female", "Secondary incomplete", "Employed"),
    ("Urban", "Female", "Secondary incomplete", "Employed"),
    ("Urban", "Female", "Primary incomplete", "Non-LF"),
    ("Urban", "Male", "Secondary complete", "Employed"),
    ("Rural", "Female", "Secondary complete", "Unemployed"),
    ("Urban", "Male", "Secondary complete", "Employed"),
    ("Urban", "Female", "Primary complete", "Non-LF"),
    ("Urban", "Male", "Post-secondary", "Unemployed"),
    ("Urban", "Female", "Secondary incomplete", "Non-LF"),
    ("Urban", "Female", "Secondary incomplete", "Non-LF"),
]
SCORES = [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]


def special(**words):
    table = pa.table(dict(zip(COLUMNS, map(list, zip(*RECORDS, strict=True)), strict=True)))
    return incrowd.assess(table, quasi_identifiers=COLUMNS, **words).special


def test_scores():
    assert special().scores.tolist() == SCORES
    assert suda.scores(RECORDS, 4) == SCORES


def test_the_record_from_the_country_is_found_first():
    """The fifth record: alone by residence (6), and by three pairs (2 each)."""
    first = special().highest[0]
    assert (first.row, first.score, first.columns) == (5, 12, (("residence",),))
    assert special().sizes == (4, 5, 0, 0)


def test_education_contributes_most():
    """Three records alone by education (6 each), and two of the fifth's pairs (2 each), of 34 in all."""
    found = special().contributions
    assert found["education"] == Fraction(3 * 6 + 2 * 2, 34)
    assert max(found, key=found.get) == "education"


def test_sets_of_one_column_only():
    """With M = 1 a set of one column scores ATT - 1 = 3."""
    found = special(max_size=1)
    assert found.scores.tolist() == [0, 0, 3, 0, 3, 0, 3, 3, 0, 0]
    assert not found.complete
