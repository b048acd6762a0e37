"""Risk against a population that is given as a table: people are counted, and nothing is estimated."""

from collections import Counter
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

import incrowd
from incrowd.errors import PolicyError

ROW = st.tuples(st.integers(30, 33), st.sampled_from(["f", "m", None]))


def table(rows, kind=None):
    age, sex = zip(*rows, strict=True)
    return pa.table(
        {"age": pa.array(age, kind) if kind is None else pa.array(map(str, age), kind), "sex": pa.array(sex)}
    )


@st.composite
def samples(draw):
    """A sample, and everyone that it was drawn from."""
    sample = draw(st.lists(ROW, min_size=1, max_size=12))
    return sample, draw(st.permutations([*sample, *draw(st.lists(ROW, max_size=20))]))


@examples(100)
@given(samples(), st.sampled_from([None, pa.string()]))
def test_a_journalist_is_right_once_in_as_many_as_match(drawn, kind):
    sample, everyone = drawn
    risk = incrowd.assess(table(sample), quasi_identifiers=["age", "sex"], population_table=table(everyone, kind))
    people, own = Counter(everyone), Counter(sample)
    risks = [Fraction(1, people[row]) for row in sample]
    assert risk.journalist.highest == max(risks)
    assert float(risk.journalist.average) == pytest.approx(float(sum(risks) / len(risks)), rel=1e-12)
    assert risk.journalist.at_risk == sum(each > Fraction(1, 5) for each in risks)
    assert risk.marketer == risk.journalist.average
    assert risk.population == len(everyone)
    alone = [row for row, number in own.items() if number == 1]
    (counted,) = risk.population_uniques
    if alone:
        assert counted.uniques == sum(number == 1 for number in people.values())
        assert counted.chance == sum(people[row] == 1 for row in alone) / len(alone)
        assert risk.match_is_right == Fraction(len(alone), sum(people[row] for row in alone))
    else:
        assert not counted.applies
        assert risk.match_is_right is None


def test_a_release_is_compared_with_what_everyone_would_be_released_as(tmp_path):
    everyone = [(age, sex) for age in range(30, 50) for sex in "fm" for _ in range(6)]
    sample = everyone[::4]
    words = {"quasi_identifiers": ["age", "sex"], "population_table": table(everyone)}
    release = incrowd.anonymize(table(sample), k=3, k_map=20, method="tdr", **words)
    released = incrowd.apply(release.recoding, table(everyone)).to_pylist()
    people = Counter((row["age"], row["sex"]) for row in released)
    risks = [Fraction(1, people[row["age"], row["sex"]]) for row in release.data.to_pylist()]
    assert release.risk().after.journalist.highest == max(risks) <= Fraction(1, 20)
    assert release.risk().before.journalist.highest == Fraction(1, 6)
    release.write(tmp_path / "out.csv")
    again = incrowd.assess(tmp_path / "out.csv", recoding=tmp_path / "out.recoding.json", **words)
    assert again.journalist == release.risk().after.journalist


PEOPLE = table([(30, "f"), (31, "m"), (31, "m")])
ASKED = {"quasi_identifiers": ["age", "sex"], "population_table": PEOPLE}


def test_a_population_that_does_not_contain_the_table_is_refused():
    with pytest.raises(PolicyError, match="does not contain the table: 1 of 2 records is not in it"):
        incrowd.assess(table([(30, "f"), (30, "f")]), **ASKED)


@pytest.mark.parametrize("more", [{"weights": "age"}, {"sampling_fraction": 0.1}])
def test_a_population_leaves_nothing_to_estimate(more):
    with pytest.raises(PolicyError, match="leave out weights and the sampling fraction"):
        incrowd.assess(PEOPLE, **ASKED, **more)


def test_a_population_needs_the_columns_and_people():
    with pytest.raises(PolicyError, match="no column 'sex'"):
        incrowd.assess(PEOPLE, quasi_identifiers=["age", "sex"], population_table=PEOPLE.drop_columns("sex"))
    with pytest.raises(incrowd.DataError, match="has no rows"):
        incrowd.assess(PEOPLE, quasi_identifiers=["age", "sex"], population_table=PEOPLE[:0])
    with pytest.raises(PolicyError, match="give the population as well"):
        incrowd.assess(PEOPLE, quasi_identifiers=["age"], recoding="out.recoding.json")


def test_what_became_of_single_records_says_nothing_of_others():
    release = incrowd.anonymize(PEOPLE, quasi_identifiers=["age", "sex"], k=2, method="cover", suppress=0.5)
    with pytest.raises(PolicyError, match="the recoding of a local method"):
        incrowd.assess(release.data, recoding=release.recoding, **ASKED)
