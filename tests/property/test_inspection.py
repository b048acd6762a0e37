"""Inspections of random tables do not depend on the order of rows; what they propose runs, and tells nothing."""

import random
import tomllib
from collections import Counter
from string import ascii_lowercase

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd
from incrowd.taxonomies.automatic import bounds_of, roundest
from incrowd.taxonomies.rules import rule_of

modest = settings(max_examples=60, deadline=None)
ODD = ["", "?", "*", " ", "other", "known", "[1-2)", "<5", "NA", "0", "-1", "1e3", "007", "1984-05-17", "17.05.1984"]
CELLS = st.one_of(
    st.sampled_from(ODD),
    st.integers(-5, 120).map(str),
    st.text(ascii_lowercase, min_size=6, max_size=9),
    st.dates().map(str),
    st.text(max_size=3),
)


@st.composite
def tables(draw):
    """Columns that each repeat a few cells, some of them rare."""
    rows = draw(st.integers(5, 60))
    seed = draw(st.integers(0, 1000))
    columns = {}
    for number in range(draw(st.integers(1, 4))):
        cells = draw(st.lists(CELLS, min_size=1, max_size=12))
        pick = random.Random(seed + number)
        columns[draw(st.sampled_from(["age", "zip", "name", "x", "dob", "icd", "y"])) + str(number)] = [
            cells[min(len(cells) - 1, int(pick.expovariate(0.5)))] for _ in range(rows)
        ]
    return columns


@modest
@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_rows_plays_no_part(columns, shuffler):
    order = list(range(len(next(iter(columns.values())))))
    shuffler.shuffle(order)
    shuffled = {name: [cells[i] for i in order] for name, cells in columns.items()}
    found, again = incrowd.inspect(pa.table(columns)), incrowd.inspect(pa.table(shuffled))
    assert again.to_json() == found.to_json()
    assert again.policy_toml() == found.policy_toml()


@pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")  # what l to give is left to people
@modest
@given(tables())
def test_the_proposed_policy_runs(columns):
    found = incrowd.inspect(pa.table(columns))
    words = tomllib.loads(found.policy_toml())
    if not words["quasi_identifiers"]:
        return
    words["taxonomies"] = {column: rule_of(column, rule) for column, rule in words["taxonomies"].items()}
    release = incrowd.anonymize(pa.table(columns), **words)
    assert release.measures.total.anonymity >= 5


@modest
@given(tables())
def test_the_proposed_policy_names_no_value_of_few_records(columns):
    text = incrowd.inspect(pa.table(columns)).policy_toml()
    for name, rule in tomllib.loads(text).get("taxonomies", {}).items():
        counts = Counter(columns[name])
        assert all(counts[value] >= 5 for value in rule.get("frequent", ()))
    most = Counter()
    for cells in columns.values():
        most |= Counter(cells)  # the most that any column has
    rare = [value for value, count in most.items() if count < 5 and len(value) >= 6 and value.isalpha()]
    assert not [value for value in rare if f'"{value}"' in text]


@modest
@given(tables())
def test_counts_are_those_of_a_plain_count(columns):
    found = incrowd.inspect(pa.table(columns))
    tokens = {*found.missing_values}
    for column in found.columns:
        counts = Counter(value for value in columns[column.name] if value not in tokens)
        assert column.distinct == len(counts)
        assert column.once == sum(count == 1 for count in counts.values())
        assert column.missing == len(columns[column.name]) - sum(counts.values())


@given(st.floats(-1e12, 1e12), st.floats(-1e12, 1e12))
def test_the_roundest_number_lies_above_the_lower_and_up_to_the_higher(first, second):
    low, high = sorted((first, second))
    if low < high:
        assert low < roundest(low, high) <= high


@given(st.dictionaries(st.integers(-(10**6), 10**6), st.integers(1, 50), min_size=11, max_size=80))
def test_no_interval_has_more_than_its_share_unless_a_single_value_has(counts):
    import numpy as np

    numbers = np.array(sorted(counts))
    weights = np.array([counts[number] for number in numbers.tolist()])
    rule = bounds_of(numbers, weights)
    places = np.searchsorted(rule.bounds, numbers, side="right")
    for place in set(places.tolist()):
        inside = places == place
        assert weights[inside].sum() <= 2 * weights.sum() / min(16, weights.sum() // 5) + 2 * weights[inside].max()
