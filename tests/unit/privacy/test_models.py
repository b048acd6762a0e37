"""Privacy models against their definitions, on random classes and on small tables of the papers."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.reference import privacy as reference

from incrowd.errors import PolicyError
from incrowd.privacy.history import SEPARATOR, SharedHistory
from incrowd.privacy.l_diversity import EntropyLDiversity, LDiversity, RecursiveLDiversity
from incrowd.privacy.likeness import AlphaAnonymity, BetaLikeness, DeltaDisclosure, EnhancedBetaLikeness
from incrowd.privacy.model import with_suppression
from incrowd.privacy.t_closeness import TCloseness
from incrowd.privacy.units import KUnits
from incrowd.table.class_counts import ClassCounts, Histogram
from incrowd.taxonomies.taxonomy import Taxonomy

DOMAIN = ["1", "2", "4", "7", "11"]
TREE = {"low": {"1": None, "2": None}, "high": {"4": None, "7": None, "11": None}}
TAXONOMY = Taxonomy.from_tree({"*": {name: list(leaves) for name, leaves in TREE.items()}})
VALUES = st.lists(st.sampled_from(DOMAIN), min_size=1, max_size=12)
CLASSES = st.lists(VALUES, min_size=1, max_size=5)
HARMLESS = st.sampled_from([(), ("1",), ("2", "11")])


def counted(classes):
    """Some classes, each a list of values, and the histogram of all of them."""
    values = tuple(sorted({value for values in classes for value in values}))
    table = np.array([[row.count(value) for value in values] for row in classes])
    at, codes = np.nonzero(table)
    histogram = Histogram(values, at, codes, table[at, codes], len(classes))
    return ClassCounts(table.sum(axis=1), {"s": histogram}), histogram


def levels(model, classes):
    counts, histogram = counted(classes)
    return model.fitted(histogram).levels(counts).tolist()


def whole(classes):
    return [value for values in classes for value in values]


@examples(200)
@given(CLASSES, HARMLESS)
def test_diversity_follows_its_definitions(classes, harmless):
    counts, _ = counted(classes)
    assert LDiversity("s", 2, harmless).levels(counts).tolist() == [
        reference.distinct_l(values, harmless) for values in classes
    ]
    for found, values in zip(EntropyLDiversity("s", 2, harmless).levels(counts), classes, strict=True):
        assert found == pytest.approx(math.exp(reference.entropy(values, harmless)), abs=1e-8)
    for c, l in ((Fraction(1, 2), 2), (1, 2), (3, 3), (2, 4)):
        model = RecursiveLDiversity("s", float(c), l, harmless)
        assert (model.levels(counts) >= model.threshold).tolist() == [
            reference.is_recursive(values, c, l, harmless) for values in classes
        ]


@examples(200)
@given(CLASSES, st.integers(2, 4))
def test_people_are_counted_as_records_only_where_everyone_has_one(classes, k):
    counts, histogram = counted(classes)
    model = KUnits("s", k).fitted(histogram)
    assert (model.column is None) == (len(set(whole(classes))) == len(whole(classes)))
    assert (model.levels(counts) >= model.threshold).tolist() == [len(set(values)) >= k for values in classes]


@examples(200)
@given(st.booleans(), CLASSES, st.integers(1, 4))
def test_a_class_has_enough_of_every_history_that_it_has(several, classes, least):
    """A value is a history of its first character, and within it people, or records, where there is no more."""
    classes = [[value[0] + SEPARATOR * several + value[several:] for value in values] for values in classes]
    counts, histogram = counted(classes)
    model = SharedHistory("s", least).fitted(histogram)
    for good, values in zip(model.levels(counts) >= model.threshold, classes, strict=True):
        own = Counter(value.partition(SEPARATOR)[0] for value in (set(values) if several else values))
        assert good == (min(own.values()) >= least)


@examples(200)
@given(CLASSES, HARMLESS)
def test_closeness_follows_its_definitions(classes, harmless):
    table = whole(classes)
    assert levels(TCloseness("s", 0.5, "equal"), classes) == [
        -float(reference.moved_equal(values, table)) for values in classes
    ]
    assert levels(TCloseness("s", 0.5), classes) == [
        -float(reference.moved_ordered(values, table)) for values in classes
    ]
    assert levels(TCloseness("s", 0.5, "hierarchical", TAXONOMY), classes) == [
        -float(reference.moved_in_tree(values, table, TREE)) for values in classes
    ]
    assert levels(AlphaAnonymity("s", 0.5, harmless), classes) == [
        -float(reference.largest_share(values, harmless)) for values in classes
    ]


@examples(200)
@given(CLASSES)
def test_likeness_follows_its_definitions(classes):
    table = whole(classes)
    assert levels(BetaLikeness("s", 1), classes) == [-float(reference.largest_gain(v, table)) for v in classes]
    for beta in (0.25, 1, 2):
        model = EnhancedBetaLikeness("s", beta)
        good = [level >= model.threshold for level in levels(model, classes)]
        assert good == [reference.is_enhanced_beta_like(values, table, beta) for values in classes]
    for found, values in zip(levels(DeltaDisclosure("s", 1), classes), classes, strict=True):
        assert found == pytest.approx(-reference.largest_factor(values, table), abs=1e-9)


def test_the_disease_and_salary_table_of_the_t_closeness_paper():
    """Table 3 of Li, Li, Venkatasubramanian: three classes of three, salaries 3k to 11k.

    By hand, with nine salaries in order: the class 3k, 4k, 5k is 0.375 from the whole, 6k, 8k, 11k is 0.167.
    """
    salaries = [["3", "4", "5"], ["6", "11", "8"], ["7", "9", "10"]]
    low, wide, high = (-level for level in levels(TCloseness("s", 0.5, "ordered"), salaries))
    assert low == 0.375
    assert wide == pytest.approx(0.167, abs=5e-4)
    assert high == pytest.approx(0.236, abs=5e-4)


def test_the_disease_tree_of_the_t_closeness_paper():
    """The tree of Figure 1 (height 3) and the classes of Table 5, computed by hand.

    Of nine records: gastric ulcer 1, gastritis 2, stomach cancer 2, flu 1, pneumonia 1, bronchitis 2. The first class
    has one digestive record in nine too many, which goes to the root (3/3); within the stomach diseases two ninths
    move one level (1/3), within the infections two. In all 1/9 + 2/27 + 2/27.
    """
    taxonomy = Taxonomy.from_tree(
        {
            "*": {
                "respiratory": {
                    "infection": ["flu", "pneumonia", "bronchitis"],
                    "vascular": ["pulmonary edema", "pulmonary embolism"],
                },
                "digestive": {
                    "stomach": ["gastric ulcer", "stomach cancer", "gastritis"],
                    "colon": ["colitis", "colon cancer"],
                },
            }
        }
    )
    classes = [
        ["gastric ulcer", "stomach cancer", "pneumonia"],
        ["gastritis", "flu", "bronchitis"],
        ["gastritis", "bronchitis", "stomach cancer"],
    ]
    found = levels(TCloseness("s", 0.5, "hierarchical", taxonomy), classes)
    assert found == [-7 / 27, -8 / 27, -5 / 27]


def test_the_inpatient_table_of_the_l_diversity_paper():
    """Figure 3 of Machanavajjhala et al.: three blocks of four that are 3-diverse."""
    blocks = [
        ["heart", "viral", "cancer", "cancer"],
        ["cancer", "heart", "viral", "viral"],
        ["heart", "viral", "cancer", "cancer"],
    ]
    counts, _ = counted(blocks)
    assert LDiversity("s", 3).levels(counts).tolist() == [3, 3, 3]
    # two of four, one, one: entropy 1.5 bits, as diverse as 2.83 equally frequent values
    assert EntropyLDiversity("s", 2).levels(counts)[0] == pytest.approx(2**1.5, abs=1e-8)
    # the most frequent is 2, the second and rarer 2: (c, 2) needs 2 < 2c, (c, 3) needs 2 < 1c
    assert (RecursiveLDiversity("s", 1, 2).levels(counts) >= RecursiveLDiversity("s", 1, 2).threshold).tolist() == [
        False
    ] * 3
    assert RecursiveLDiversity("s", 1.5, 2).levels(counts)[0] >= RecursiveLDiversity("s", 1.5, 2).threshold
    assert RecursiveLDiversity("s", 2, 3).levels(counts)[0] < RecursiveLDiversity("s", 2, 3).threshold


def test_the_illness_table_of_the_alpha_k_paper():
    """Table 2 of Wong, Li, Fu, Wang: HIV is half of a class, so the table is (0.5, 2)-anonymous; flu is harmless."""
    counts, _ = counted([["HIV", "flu"], ["flu", "HIV", "fever"]])
    model = AlphaAnonymity("s", 0.5, ("flu", "fever"))
    assert model.levels(counts).tolist() == [-0.5, -1 / 3]
    assert AlphaAnonymity("s", 0.5).levels(counts).tolist() == [-0.5, -1 / 3]


def test_people_are_counted_once():
    counts, _ = counted([["ann", "ann", "bob"], ["ann", "ann", "ann"]])
    assert KUnits("s", 2).levels(counts).tolist() == [2, 1]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: LDiversity("s", 0), "'l' parameter must be an integer of at least 1"),
        (lambda: LDiversity("s", 2.5), "'l' parameter must be an integer"),
        (lambda: EntropyLDiversity("s", 1), "'entropy_l' parameter must be a number above 1"),
        (lambda: EntropyLDiversity("s", float("nan")), "'entropy_l' parameter"),
        (lambda: RecursiveLDiversity("s", 0, 2), "'recursive_l' parameter must be a factor c above 0"),
        (lambda: TCloseness("s", 1.5), "'t' parameter must be a number from 0 to 1"),
        (lambda: TCloseness("s", float("nan")), "'t' parameter"),
        (lambda: TCloseness("s", 0.1, "far"), "'t_distance' parameter must be one of"),
        (lambda: TCloseness("s", 0.1, "hierarchical"), "needs a taxonomy"),
        (lambda: AlphaAnonymity("s", 0), "'alpha' parameter"),
        (lambda: BetaLikeness("s", math.inf), "'beta_likeness' parameter"),
        (lambda: DeltaDisclosure("s", -1), "'delta_disclosure' parameter"),
        (lambda: KUnits("s", 1), "'k' parameter"),
        (lambda: LDiversity("s", 3).fitted(counted([["a", "b"]])[1]), "more values than 's' has, which is 2"),
        (lambda: with_suppression([SharedHistory("s", 2)]), "records cannot be left out"),
    ],
)
def test_wrong_parameters_are_refused(wrong, message):
    with pytest.raises(PolicyError, match=message):
        wrong()
