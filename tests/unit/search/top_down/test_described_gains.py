"""Gains less the length of a description: a slow reference, floats against fractions, and what it changes."""

from fractions import Fraction
from math import log2

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
from incrowd.errors import PolicyError
from incrowd.search.top_down.gains import DescribedGain, InformationGain

HISTOGRAMS = st.lists(st.tuples(*[st.integers(0, 9)] * 3), min_size=3, max_size=8).filter(
    lambda rows: np.count_nonzero(np.sum(rows, axis=0)) > 1
)


def entropy(counts):
    return -sum(n / sum(counts) * log2(n / sum(counts)) for n in counts if n)


def reference(parts, labels, choices):
    """Information gain less bits per record, from the definition."""
    parts = [part for part in parts if sum(part)]
    whole = [sum(column) for column in zip(*parts, strict=True)]
    records = sum(whole)
    gain = entropy(whole) - sum(sum(part) / records * entropy(part) for part in parts)
    if len(parts) < 2:
        return 0.0
    bits = (len(parts) - 1) * (labels - 1) * log2(records) / 2 + log2(choices)
    return max(0.0, gain - bits / records)


@given(HISTOGRAMS, st.data())
def test_a_cut_pays_for_its_place_and_for_another_part(rows, data):
    counts = np.array(rows)
    cut = data.draw(st.integers(1, len(rows) - 1))
    start, stop = np.array([0, cut]), np.array([cut, len(rows)])
    gain = DescribedGain(counts, Fraction(1), 0, cuts=True)
    labels, present = np.count_nonzero(counts.sum(axis=0)), np.count_nonzero(counts.sum(axis=1))
    wanted = reference([counts[:cut].sum(axis=0), counts[cut:].sum(axis=0)], labels, max(1, present - 1))
    assert gain.apart(start, stop) == pytest.approx(wanted, abs=1e-9)
    assert float(gain.exact_apart(start, stop)) == pytest.approx(wanted, abs=1e-9)
    plain = InformationGain(counts)
    assert gain.best_cut(0, len(rows)) == plain.best_cut(0, len(rows))  # all cuts take as many bits
    assert gain.apart(start, stop) <= plain.apart(start, stop)


@given(HISTOGRAMS)
def test_children_of_a_node_and_shown_values_pay_for_their_parts(rows):
    counts = np.array(rows)
    labels, places = np.count_nonzero(counts.sum(axis=0)), np.arange(len(rows))
    gain = DescribedGain(counts, Fraction(1), 0, cuts=False)
    wanted = reference(counts.tolist(), labels, 1)
    assert gain.apart(places, places + 1) == pytest.approx(wanted, abs=1e-9)
    assert float(gain.exact_apart(places, places + 1)) == pytest.approx(wanted, abs=1e-9)
    whole = counts.sum(axis=0)
    each = [reference([row, whole - row], labels, len(rows)) for row in counts]
    assert gain.each_apart(places, places + 1) == pytest.approx(each, abs=1e-9)
    suppressed = np.ones(len(rows), bool)
    shown = [reference([row, whole - row], labels, np.count_nonzero(counts.sum(axis=1))) for row in counts]
    assert gain.disclosures(suppressed) == pytest.approx(shown, abs=1e-9)
    for group, exact in gain.exact_disclosures(suppressed, places):
        assert [shown[place] for place in group] == pytest.approx([float(exact)] * len(group), abs=1e-9)


def rows(seed):
    """A column that tells a little of the label, and many values that tell nothing."""
    random = np.random.default_rng(seed)
    helps = random.integers(0, 2, 240)
    label = np.where(random.random(240) < np.where(helps, 0.6, 0.44), "yes", "no")
    return pa.table({"noise": random.integers(0, 120, 240), "helps": helps, "label": label})


@pytest.mark.parametrize("seed", [4, 5, 7])  # in which a chance cut of the noise gains most
def test_chance_cuts_of_many_values_come_after_what_tells_something(seed):
    words = {"quasi_identifiers": ["noise", "helps"], "k": 5, "target": "label", "criterion": "gain", "method": "tdr"}
    plain, described = (incrowd.anonymize(rows(seed), **words, correction=word) for word in ("none", "length"))
    assert (plain.steps[0].attribute, described.steps[0].attribute) == ("noise", "helps")
    assert plain.steps == incrowd.anonymize(rows(seed), **words).steps  # off by default


def test_without_a_target_there_is_nothing_to_correct():
    with pytest.raises(PolicyError, match="Name a target"):
        incrowd.anonymize(rows(4), quasi_identifiers=["noise", "helps"], k=5, method="tds", correction="length")
