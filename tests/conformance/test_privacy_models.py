"""What every privacy model promises: the law that all searches rest on. A model that is registered is tried here."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

from incrowd.privacy.model import Requirement
from incrowd.privacy.population import POPULATION
from incrowd.privacy.registry import MODELS
from incrowd.table.class_counts import ClassCounts, Histogram
from incrowd.taxonomies.taxonomy import Taxonomy

VALUES = ("1", "2", "3", "4", "5")
TREE = Taxonomy.from_tree({"*": {"low": ["1", "2"], "high": [{"some": ["3", "4"]}, "5"]}})
SHARES = st.integers(1, 20).map(lambda n: n / 20)
HARMLESS = st.sampled_from([(), ("1",), ("1", "4")])
L = st.integers(2, 4)

# a model of each name, for a column "s" of the values above
EXAMPLES = {
    "k-anonymity": st.integers(2, 9).map(MODELS["k-anonymity"]),
    "k people": st.builds(MODELS["k people"], st.just("s"), L),
    "distinct l-diversity": st.builds(MODELS["distinct l-diversity"], st.just("s"), L, HARMLESS),
    "entropy l-diversity": st.builds(
        MODELS["entropy l-diversity"], st.just("s"), st.sampled_from([1.5, 2, 3]), HARMLESS
    ),
    "recursive (c, l)-diversity": st.builds(
        MODELS["recursive (c, l)-diversity"], st.just("s"), st.sampled_from([0.5, 1, 3]), L, HARMLESS
    ),
    "t-closeness": st.builds(
        MODELS["t-closeness"],
        st.just("s"),
        SHARES,
        st.sampled_from([None, "equal", "ordered", "hierarchical"]),
        st.just(TREE),
    ),
    "alpha-anonymity": st.builds(MODELS["alpha-anonymity"], st.just("s"), SHARES, HARMLESS),
    "beta-likeness": st.builds(MODELS["beta-likeness"], st.just("s"), st.sampled_from([0.5, 1, 4])),
    "enhanced beta-likeness": st.builds(MODELS["enhanced beta-likeness"], st.just("s"), st.sampled_from([0.5, 1, 4])),
    "k-map": st.builds(MODELS["k-map"], L),
    "estimated k-map": st.builds(MODELS["estimated k-map"], st.integers(2, 9), SHARES),
    "delta-presence": st.builds(MODELS["delta-presence"], SHARES),
    "average risk": SHARES.map(MODELS["average risk"]),
    "sample uniqueness": SHARES.map(MODELS["sample uniqueness"]),
    "population uniqueness": st.builds(
        MODELS["population uniqueness"], SHARES, SHARES, st.sampled_from(["dankar", "zayatz", "pitman", "snb"])
    ),
    "delta-disclosure": st.builds(MODELS["delta-disclosure"], st.just("s"), st.sampled_from([0.5, 1, 2])),
}
EVERY = pytest.mark.parametrize("name", MODELS)
CLASS = st.lists(st.integers(0, 8), min_size=5, max_size=5).filter(any)


def histogram(*rows):
    """Counts of the values in each class."""
    table = np.array(rows)
    classes, codes = np.nonzero(table)
    return Histogram(VALUES, classes, codes, table[classes, codes], len(rows))


def counts(*rows):
    return ClassCounts(np.array(rows).sum(axis=1), {"s": histogram(*rows), POPULATION: histogram(*rows)})


def fitted(model, *rows):
    """The model for a table in which every value occurs."""
    return model.fitted(None if model.column is None else histogram(np.array(rows).sum(axis=0) + 1))


def drawn(data, name):
    """A model, and two classes of a table."""
    one, other, others = data.draw(CLASS), data.draw(CLASS), data.draw(CLASS)
    return fitted(data.draw(EXAMPLES[name]), one, other, others), np.array(one), np.array(other)


@EVERY
@examples(300)
@given(st.data())
def test_a_union_is_never_less_protected_than_its_less_protected_part(name, data):
    model, one, other = drawn(data, name)
    first, second, both = model.levels(counts(one, other, one + other)).tolist()
    assert both >= min(first, second)


@EVERY
@examples(300)
@given(st.data())
def test_what_is_upward_closed_stays_good_whatever_joins(name, data):
    model, one, other = drawn(data, name)
    first, _, both = (model.levels(counts(one, other, one + other)) >= model.threshold).tolist()
    assert not model.upward_closed or not first or both


@EVERY
@examples(100)
@given(st.data())
def test_no_class_below_the_least_size_is_good(name, data):
    model, one, _ = drawn(data, name)
    good = bool(Requirement(("a",), (model,)).good(counts(one))[0])
    assert not good or one.sum() >= model.least_size
    assert not model.whole or float(model.levels(counts(one))[0]).is_integer()


@EVERY
@examples(100)
@given(st.data())
def test_a_level_depends_on_its_class_alone(name, data):
    model, one, other = drawn(data, name)
    together = model.levels(counts(one, other)).tolist()
    assert together == [model.levels(counts(one))[0], model.levels(counts(other))[0]]


@EVERY
@given(st.data())
def test_a_model_without_a_column_counts_records_alone(name, data):
    """So compiled searches may compare with the least size."""
    model, one, _ = drawn(data, name)
    requirement = Requirement(("a",), (model,))
    if model.column is None:
        assert (one.sum() >= requirement.least_size) == requirement.good(counts(one))[0]


@EVERY
@given(st.data())
def test_a_model_is_data(name, data):
    model = data.draw(EXAMPLES[name])
    assert pickle.loads(pickle.dumps(model)) == model
    assert str(model)
    assert model.name == name
