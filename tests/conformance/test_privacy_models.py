"""What every privacy model promises: the law that all searches rest on. A model that is registered is tried here."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

from incrowd.privacy.model import Requirement
from incrowd.privacy.registry import MODELS
from incrowd.table.class_counts import ClassCounts

EXAMPLES = {"k-anonymity": st.integers(2, 9).map(MODELS["k-anonymity"])}
EVERY = pytest.mark.parametrize("name", MODELS)
SIZES = st.integers(1, 20)


def counts(*sizes):
    return ClassCounts(np.array(sizes))


@EVERY
@examples(200)
@given(st.data(), SIZES, SIZES)
def test_a_union_is_never_less_protected_than_its_less_protected_part(name, data, one, other):
    model = data.draw(EXAMPLES[name])
    first, second, both = model.levels(counts(one, other, one + other)).tolist()
    assert both >= min(first, second)


@EVERY
@examples(200)
@given(st.data(), SIZES, SIZES)
def test_what_is_upward_closed_stays_good_whatever_joins(name, data, one, other):
    model = data.draw(EXAMPLES[name])
    first, _, both = (model.levels(counts(one, other, one + other)) >= model.threshold).tolist()
    assert not model.upward_closed or not first or both


@EVERY
@examples(200)
@given(st.data(), SIZES)
def test_no_class_below_the_least_size_is_good(name, data, size):
    model = data.draw(EXAMPLES[name])
    good = bool(Requirement(("a",), (model,)).good(counts(size))[0])
    assert not good or size >= model.least_size
    assert not model.whole or float(model.levels(counts(size))[0]).is_integer()


@EVERY
@given(st.data())
def test_compiled_code_gives_the_same_answers(name, data):
    from incrowd.privacy.compiled import is_good

    model = data.draw(EXAMPLES[name])
    requirement = Requirement(("a",), (model,))
    for size in range(1, 20):
        assert is_good(requirement.needs, size) == requirement.good(counts(size))[0]


@EVERY
@given(st.data())
def test_a_model_is_data(name, data):
    import pickle

    model = data.draw(EXAMPLES[name])
    assert pickle.loads(pickle.dumps(model)) == model
    assert str(model)
    assert model.name == name
