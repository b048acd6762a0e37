"""Risks against the definitions, on random small tables."""

from collections import Counter
from fractions import Fraction
from itertools import combinations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from tests.reference import suda

import incrowd

NAMES = tuple("abcdefg")


@st.composite
def tables(draw, most_columns=5):
    width = draw(st.integers(1, most_columns))
    values = [draw(st.integers(1, 4)) for _ in range(width)]
    record = st.tuples(*(st.integers(0, size) for size in values))
    return draw(st.lists(record, min_size=1, max_size=24))


def table_of(records, **more):
    columns = dict(zip(NAMES, map(list, zip(*records, strict=True)), strict=False))
    return pa.table({**columns, **more}), list(columns)


@given(tables(), st.integers(1, 5))
def test_special_uniques_are_those_of_the_definition(records, largest):
    table, names = table_of(records)
    found = incrowd.assess(table, quasi_identifiers=names, max_size=largest).special
    largest = min(largest, len(names))
    own = suda.minimal_uniques(records, largest)
    assert found.scores.tolist() == suda.scores(records, largest)
    assert found.sizes == tuple(sum(len(s) == size for sets in own for s in sets) for size in range(1, largest + 1))
    total = sum(suda.scores(records, largest))
    for place, name in enumerate(names):
        without = [[s for s in sets if place in s] for sets in own]
        share = sum(score_of(s, len(names), largest) for sets in without for s in sets)
        assert found.contributions[name] == (Fraction(share, total) if total else 0)


def score_of(columns, width, largest):
    score = 1
    for i in range(len(columns), min(largest, width - 1) + 1):
        score *= width - i
    return score


@given(tables(most_columns=4), st.data())
def test_with_a_unit_people_are_alone_and_not_records(records, data):
    persons = data.draw(st.lists(st.integers(0, 6), min_size=len(records), max_size=len(records)))
    table, names = table_of(records, id=persons)
    found = incrowd.assess(table, quasi_identifiers=names, unit="id", max_size=len(names))
    crowds = [{p for r, p in zip(records, persons, strict=True) if r == each} for each in dict.fromkeys(records)]
    everyone = sorted(set(persons))
    smallest = [min(len(crowd) for crowd in crowds if person in crowd) for person in everyone]
    assert found.records == len(everyone)
    assert found.smallest_class == min(map(len, crowds))
    assert found.prosecutor.average == sum(Fraction(1, size) for size in smallest) / len(everyone)
    assert found.prosecutor.at_risk == sum(size < 5 for size in smallest)
    assert found.uniques.records == smallest.count(1)
    assert found.uniques.classes == sum(len(crowd) == 1 for crowd in crowds)
    for place, name in enumerate(names):
        left = [*range(place), *range(place + 1, len(names))]
        assert found.uniques.without[name] == len(set(_alone(records, persons, left).values()))
    own = [_minimal(records, persons, row, len(names)) for row in range(len(records))]
    expected = [sum(score_of(columns, len(names), len(names)) for columns in sets) for sets in own]
    assert found.special.scores.tolist() == expected


def _alone(records, persons, columns):
    """The values on some columns that only one person has, with who that is."""
    owners = {}
    for record, person in zip(records, persons, strict=True):
        owners.setdefault(tuple(record[place] for place in columns), set()).add(person)
    return {values: min(people) for values, people in owners.items() if len(people) == 1}


def _minimal(records, persons, row, width):
    """The smallest sets of columns on which nobody else has the values of a row."""
    found = []
    for size in range(1, width + 1):
        for columns in combinations(range(width), size):
            values = tuple(records[row][place] for place in columns)
            if values in _alone(records, persons, columns) and not any(set(own) < set(columns) for own in found):
                found.append(columns)
    return found


@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_rows_and_columns_does_not_matter(records, random):
    table, names = table_of(records)
    order = list(range(len(records)))
    random.shuffle(order)
    before = incrowd.assess(table, quasi_identifiers=names)
    after = incrowd.assess(table.take(order), quasi_identifiers=names[::-1])
    assert before.special.scores[order].tolist() == after.special.scores.tolist()
    assert before.special.contributions == after.special.contributions
    assert before.prosecutor == after.prosecutor
    assert before.uniques == after.uniques


@given(tables(), st.sampled_from(["0.05", "0.1", "0.2", "0.25", "0.3333", "0.5", "1"]), st.data())
def test_attackers_by_definition(records, threshold, data):
    hundredths = data.draw(st.lists(st.integers(100, 900), min_size=len(records), max_size=len(records)))
    table, names = table_of(records, weight=pa.array([f"{h // 100}.{h % 100:02}" for h in hundredths]))
    limit, sizes, population = Fraction(threshold), Counter(records), Counter()
    for record, weight in zip(records, hundredths, strict=True):
        population[record] += Fraction(weight, 100)
    found = incrowd.assess(table, quasi_identifiers=names, threshold=float(threshold), weights="weight")

    risks = [Fraction(1, sizes[record]) for record in records]
    assert found.prosecutor.highest == max(risks)
    assert found.prosecutor.average == sum(risks) / len(risks) == Fraction(len(sizes), len(records))
    assert found.prosecutor.at_risk == sum(risk > limit for risk in risks)

    exact = all(population[record] <= sizes[record] for record in records)
    assert found.journalist.how == ("counted" if exact else "at most")  # nothing is estimated from so few
    assert found.journalist.highest == found.prosecutor.highest
    assert found.journalist.average == found.marketer == found.prosecutor.average
    assert found.journalist.at_risk == found.prosecutor.at_risk
    assert found.population == Fraction(sum(hundredths), 100)


@given(tables(), st.data())
def test_homogeneous_classes_by_definition(records, data):
    values = data.draw(st.lists(st.sampled_from(["flu", "hiv", None]), min_size=len(records), max_size=len(records)))
    table, names = table_of(records, diagnosis=values)
    found = incrowd.assess(table, quasi_identifiers=names, sensitive=["diagnosis"]).homogeneity[0]
    seen, sizes = {}, Counter(records)
    for record, value in zip(records, values, strict=True):
        seen.setdefault(record, set()).add(value)
    one = [record for record in seen if len(seen[record]) == 1]
    assert found.classes == len(one)
    assert found.records == sum(sizes[record] for record in one)
    assert found.in_crowds == sum(sizes[record] for record in one if sizes[record] > 1)
