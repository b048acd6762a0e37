"""Entropy, precision, ambiguity and SSE/SST: worked examples by their formulas, and record by record."""

from collections import Counter
from math import log2, prod

import pyarrow as pa
import pytest
from hypothesis import given, settings
from tests.unit.measures.test_measures import NAMES, TREE, problems, released, table_of

import incrowd
from incrowd.measures.information import ambiguity, entropy, precision, squared_error
from incrowd.recodings.attributes.cut import Cut
from incrowd.recodings.attributes.intervals import Intervals
from incrowd.recodings.by_value import ByValue
from incrowd.table.scales import Scale
from incrowd.taxonomies.taxonomy import Taxonomy

JOBS = Taxonomy.from_tree({"*": {"X": ["a", "b"], "Y": ["c", "d"]}})


def jobs(values):
    release = incrowd.anonymize(
        pa.table({"job": list(values)}), quasi_identifiers=["job"], k=1 + len(values) // 4, taxonomies={"job": JOBS}
    )
    return release.table


def cut(*labels, classes=None):
    return ByValue((Cut("job", JOBS, tuple(map(JOBS.node, labels))),), classes=classes)


def test_entropy_counts_the_bits_that_are_missing():
    """n_X = 3 and n_a = 2: each a misses log2(3/2) bits, b misses log2 3, c is known; there were 2*1 + 2 + 2 bits.

    De Waal and Willenborg 1999; of a full-domain release what ARX (QualityModelColumnOrientedNonUniformEntropy) gives.
    """
    table = jobs("aabc")
    assert entropy(table, cut("X", "Y")) == pytest.approx((2 * log2(3 / 2) + log2(3)) / 6)
    assert entropy(table, cut("a", "b", "c", "d")) == 0
    assert entropy(table, cut("*")) == 1
    assert entropy(table, cut("X", "Y", classes=((0,),))) == pytest.approx((2 * log2(3 / 2) + log2(3) + 2) / 6)


def test_precision_counts_the_levels_climbed():
    """Sweeney 2002: Prec = 1 - (sum over cells of level / height) / cells; X is level 1 of 2."""
    table = jobs("aabc")
    assert precision(table, cut("X", "c", "d")) == 1 - (3 * 1 / 2) / 4
    assert precision(table, cut("*")) == 0
    assert precision(table, cut("a", "b", "c", "d")) == 1
    assert precision(table, cut("X", "c", "d", classes=((0,),))) == 1 - (3 * 1 / 2 + 1) / 4  # c is left out


def test_ambiguity_counts_the_combinations_that_fit():
    """Goldberger and Tassa 2010: the mean over records of the product of the sizes of released sets."""
    table = jobs("aabc")
    assert ambiguity(table, cut("X", "c", "d")) == (3 * 2 + 1) / 4
    assert ambiguity(table, cut("X", "c", "d", classes=((0,),))) == (3 * 2 + 4) / 4  # of c, all four are possible


def test_the_squared_error_is_a_share_of_the_variation():
    """SSE = 2 (9.5^2 + 0.5^2) with the middles 29.5 and 49.5; SST = 15^2 + 5^2 + 5^2 + 15^2 = 500."""
    rows = pa.table({"age": [20, 30, 40, 50]})
    table = incrowd.anonymize(rows, quasi_identifiers=["age"], k=2, ranges={"age": (20, 59)}).table
    ages = Intervals("age", Scale("integer"), (40,), (20, 59))
    assert squared_error(table, ByValue((ages,))) == pytest.approx(2 * (9.5**2 + 0.5**2) / 500)
    assert squared_error(table, ByValue((ages,), classes=((0,),))) == pytest.approx((9.5**2 + 0.5**2 + 250) / 500)
    assert squared_error(table, ByValue((Intervals("age", Scale("integer"), (), (20, 59)),))) == pytest.approx(
        4 * (39.5 - 35) ** 2 / 500 + 1
    )


def test_numbers_in_a_taxonomy_count_as_numbers_and_words_as_the_middle_of_what_they_cover():
    ages = Taxonomy.from_tree({"*": {"young": ["20", "30"], "[40-60)": ["40", "50"]}})
    table = incrowd.anonymize(
        pa.table({"age": ["20", "30", "40", "50"]}), quasi_identifiers=["age"], k=2, taxonomies={"age": ages}
    ).table
    found = ByValue((Cut("age", ages, (ages.node("young"), ages.node("[40-60)"))),))
    assert squared_error(table, found) == pytest.approx((2 * 5**2 + 9.5**2 + 0.5**2) / 500)
    assert squared_error(jobs("aabc"), cut("*")) is None


@pytest.mark.parametrize("method", ["mondrian", "cover", "kaca", "tdr", "bug"])
def test_a_local_release_is_measured_as_its_rows_are(method):
    rows = pa.table({"age": [20, 21, 33, 34, 52, 53, 54, 21], "sex": list("ffmmfmfm")})
    release = incrowd.anonymize(rows, quasi_identifiers=["age", "sex"], k=2, method=method)
    assert 0 <= entropy(release.table, release.recoding) <= 1
    assert ambiguity(release.table, release.recoding) >= 1
    assert (squared_error(release.table, release.recoding) == 0) == (release.measures.attributes[0].ncp == 0)


@settings(max_examples=40)
@given(problems())
def test_measures_are_those_of_the_definitions(problem):
    rows, recoding = problem
    table = table_of(rows)
    cells = released(rows, recoding)
    covered = []  # of each column, the values of each released one: those that are released as it is
    for place, name in enumerate(NAMES):
        values = list(TREE.leaf_codes) if name == "tree" else sorted({row[place] for row in rows}, key=str)
        shown = released([tuple(v if i == place else rows[0][i] for i in range(4)) for v in values], plain(recoding))
        of_label = {}
        for value, cell in zip(values, shown, strict=True):
            of_label.setdefault(cell[place], []).append(value)
        covered.append((values, of_label))
    bits, everything, fitting = [0.0] * 3, [0.0] * 3, 0.0
    for row, cell in zip(rows, cells, strict=True):
        sets = [values if cell is None else of[cell[place]] for place, (values, of) in enumerate(covered)]
        fitting += prod(map(len, sets))
        for place, inside in enumerate(sets):
            counts = Counter(each[place] for each in rows)
            bits[place] += log2(sum(counts[value] for value in inside) / counts[row[place]])
            everything[place] += log2(len(rows) / counts[row[place]])
    shares = [part / whole if whole else 0 for part, whole in zip(bits, everything, strict=True)]
    assert entropy(table, recoding) == pytest.approx(sum(shares) / 3)
    assert ambiguity(table, recoding) == pytest.approx(fitting / len(rows))


def plain(recoding):
    return ByValue(recoding.attributes)
