"""Every privacy model at its threshold, as searches ask it and as the witness counts it: ties are exact.

Each case is a class that just satisfies a promise, and one that just does not, out of classes that together make the
table.
"""

import math

import numpy as np
import pyarrow as pa
import pytest
from tests.witnesses import witness_of

from incrowd.errors import NotAnonymousError, PolicyError
from incrowd.policy.policy import QuasiIdentifier
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.l_diversity import EntropyLDiversity, LDiversity, RecursiveLDiversity
from incrowd.privacy.likeness import AlphaAnonymity, BetaLikeness, DeltaDisclosure, EnhancedBetaLikeness
from incrowd.privacy.model import Requirement
from incrowd.privacy.t_closeness import TCloseness
from incrowd.privacy.units import KUnits
from incrowd.table.class_counts import ClassCounts, Histogram
from incrowd.taxonomies.taxonomy import Taxonomy

TREE = Taxonomy.from_tree({"*": {"low": ["a", "b"], "high": ["c", "d"]}})
HALVES = "ab" * 50
CASES = {
    "k": (KAnonymity(3), ["aaa", "aa"], [True, False]),
    "people": (KUnits("s", 2), ["aab", "aaaa"], [True, False]),
    "l": (LDiversity("s", 3), ["abc", "aabb"], [True, False]),
    "l, harmless": (LDiversity("s", 3, ("a",)), ["aab", "ab", "bbbb"], [True, False, False]),
    "entropy": (EntropyLDiversity("s", 2), ["aabb", "aaab"], [True, False]),
    "entropy of three": (EntropyLDiversity("s", 3), ["abcabcabc", "abcabcab"], [True, False]),
    "recursive, strict": (RecursiveLDiversity("s", 2, 2), ["aaabb", "aaaabb"], [True, False]),
    "recursive, third": (RecursiveLDiversity("s", 2, 3), ["aaabbcc", "aaaabbcc"], [True, False]),
    "recursive, harmless": (RecursiveLDiversity("s", 1, 2, ("a",)), ["bba", "baa"], [False, True]),
    "t, equal": (TCloseness("s", 0.25, "equal"), ["aaab", "abbb", "aaaab", "abbbb"], [True, True, False, False]),
    "t, just over": (TCloseness("s", 0.25, "equal"), ["a" * 151 + "b" * 49, "b" * 151 + "a" * 49], [False, False]),
    "t, ordered": (TCloseness("s", 0.25, "ordered"), ["1113", "1333", "11113", "13333"], [True, True, False, False]),
    "t, in a tree": (
        TCloseness("s", 0.25, "hierarchical", TREE),
        ["aacd", "bbcd", "abcc", "abdd", "aaac", "bbbd", "cccb", "ddda"],
        [True] * 4 + [False] * 4,
    ),
    "alpha": (AlphaAnonymity("s", 0.5), ["aabb", "aab", "a" * 51 + "b" * 49], [True, False, False]),
    "alpha, harmless": (AlphaAnonymity("s", 0.5, ("a",)), ["aaab", "abb"], [True, False]),
    "beta": (BetaLikeness("s", 0.5), ["aaab", "abbb", "aaaab", "abbbb"], [True, True, False, False]),
    "enhanced beta": (EnhancedBetaLikeness("s", 5), ["aa", "bb", HALVES], [False, False, True]),
    "delta": (DeltaDisclosure("s", 1.0), ["ab", "aaaaaab", "abbbbbb"], [True, False, False]),
    "delta, strict": (DeltaDisclosure("s", round(math.log(2), 12)), ["ab", "abbbbb"], [False, True]),
    "delta, all values": (DeltaDisclosure("s", 9.0), ["ab", "aa", "bb"], [True, False, False]),
}


def counted(classes):
    """The classes as searches count them."""
    values = tuple(sorted({value for members in classes for value in members}))
    table = np.array([[members.count(value) for value in values] for members in classes])
    at, codes = np.nonzero(table)
    histogram = Histogram(values, at, codes, table[at, codes], len(classes))
    return ClassCounts(table.sum(axis=1), {"s": histogram}), {"s": histogram}


@pytest.mark.parametrize("name", CASES)
def test_a_search_is_told_which_classes_are_good(name):
    model, classes, good = CASES[name]
    counts, histograms = counted(classes)
    assert Requirement(("q",), (model,)).fitted(histograms).good(counts).tolist() == good


@pytest.mark.parametrize("name", CASES)
def test_all_models_have_to_hold(name):
    model, classes, good = CASES[name]
    counts, histograms = counted(classes)
    for models in ((KAnonymity(2), model), (model, KAnonymity(2))):
        both = Requirement(("q",), models).fitted(histograms).good(counts)
        assert both.tolist() == [one and len(members) >= 2 for one, members in zip(good, classes, strict=True)]


@pytest.mark.parametrize("cells", [4_000_000, 5])
@pytest.mark.parametrize("name", CASES)
def test_the_witness_counts_the_same(name, cells, monkeypatch):
    monkeypatch.setattr("incrowd.verification.counts._CELLS", cells)  # some classes at a time
    model, classes, good = CASES[name]
    rows = [(number, value) for number, members in enumerate(classes) for value in members]
    witness = witness_of([QuasiIdentifier(["q"], 2)], (KAnonymity(2), model))
    witness.see(pa.RecordBatch.from_pydict({"q": [q for q, _ in rows], "s": [s for _, s in rows]}))
    (finding,) = witness.verdict().findings
    sizes = [len(members) for one, members in zip(good, classes, strict=True) if not one]
    assert (finding.models[1].bad_classes, finding.models[1].bad_records) == (len(sizes), sum(sizes))


@pytest.mark.parametrize("models", [(KAnonymity(2), LDiversity("s", 2)), (LDiversity("s", 2), KAnonymity(2))])
def test_the_verdict_is_bad_if_one_model_does_not_hold(models):
    witness = witness_of([QuasiIdentifier(["q"], 2)], models)
    witness.see(pa.RecordBatch.from_pydict({"q": [1, 1, 2, 2], "s": ["a", "b", "a", "a"]}))
    verdict = witness.verdict()
    assert not verdict.holds
    assert not verdict.findings[0].holds
    with pytest.raises(NotAnonymousError, match="2 of 4 records are in 1 class that falls short"):
        verdict.require()


def test_a_class_needs_what_the_strictest_model_needs():
    assert Requirement(("q",), (KAnonymity(2), KAnonymity(5), KAnonymity(3))).least_size == 5


def test_a_model_that_is_no_promise_is_refused():
    for make in (KAnonymity, lambda k: KUnits("s", k)):  # l = 1 is how people say that they want no promise
        with pytest.raises(PolicyError, match="at least 2"):
            make(1)
        make(2)


@pytest.mark.parametrize("values", range(2, 12))
def test_equally_frequent_values_are_as_diverse_as_they_are_many(values):
    """Logarithms are rounded, so that a tie is one."""
    model = EntropyLDiversity("s", values)
    classes = ["abcdefghijkl"[:values] * times for times in range(1, 30)]
    counts, _ = counted(classes)
    assert (model.levels(counts) >= model.threshold).all()
