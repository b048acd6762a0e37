"""The worked numbers of Li, Wong, Fu and Pei: distances, distortion, inconsistency, and the tables 1 and 3."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import incrowd
from incrowd.key import Key
from incrowd.measures.hierarchical_distance import (
    HEIGHT,
    UNIFORM,
    Weights,
    class_distance,
    closest_common_generalization,
    generalization_portion,
    inconsistency,
    tuple_distance,
    tuple_distortion,
    weighted_hierarchical_distance,
)
from incrowd.taxonomies.taxonomy import Taxonomy

GENDER = Taxonomy.flat(["male", "female"])
AGE = Taxonomy.flat(["young", "middle", "old"])
POSTCODE = incrowd.Prefix((3, 2, 1)).build(["4350", "4351", "4352", "4353"])
MARRIAGE = Taxonomy.flat(["married", "unmarried", "divorced", "widowed"])
TREES = {"Gender": GENDER, "Age": AGE, "Postcode": POSTCODE}

TABLE_1A = pa.table(
    {
        "Gender": ["male"] * 3 + ["female"] * 3,
        "Age": ["middle"] * 4 + ["old"] * 2,
        "Postcode": ["4350"] * 3 + ["4352", "4353", "4353"],
        "Problem": ["stress", "obesity", "obesity", "stress", "stress", "obesity"],
    }
)
TABLE_1B = TABLE_1A.set_column(0, "Gender", [["*"] * 6]).set_column(2, "Postcode", [["435*"] * 6])
TABLE_1C = pa.table(
    {
        "Gender": ["male"] * 3 + ["female"] * 3,
        "Age": ["middle"] * 3 + ["*"] * 3,
        "Postcode": ["4350"] * 3 + ["435*"] * 3,
    }
)
TABLE_3A = pa.table(
    {
        "Gender": ["male", "male", "female", "female"] * 2,
        "Marriage": ["married", "unmarried"] * 2 + ["divorced", "widowed"] * 2,
    }
)


def nodes(**labels):
    return tuple(TREES[name].node(label) for name, label in labels.items())


def test_weighted_hierarchical_distance():
    assert float(weighted_hierarchical_distance(6, 4, 6, UNIFORM)) == 0.4
    assert float(weighted_hierarchical_distance(2, 1, 2, UNIFORM)) == 1
    assert float(weighted_hierarchical_distance(6, 5, 6, HEIGHT)) == pytest.approx(0.087, abs=0.001)
    assert float(weighted_hierarchical_distance(2, 1, 2, HEIGHT)) == 1


def test_a_larger_beta_weighs_steps_near_the_root_more():
    steps = [weighted_hierarchical_distance(2, 1, 6, Weights("height", beta)) for beta in (1, 2, 2.5)]
    assert steps == sorted(set(steps))


def test_distortion_of_a_tuple():
    before = nodes(Gender="female", Age="middle", Postcode="4352")
    after = nodes(Gender="*", Age="middle", Postcode="435*")
    assert tuple_distortion(TREES, before, after, UNIFORM) == 1.25


@pytest.mark.parametrize(("released", "lost", "modified"), [(TABLE_1B, 7.5, 2 / 3), (TABLE_1C, 3.75, 1 / 3)])
def test_distortion_and_modification_rate_of_a_table(released, lost, modified):
    found = incrowd.distortion(TABLE_1A, released, quasi_identifier=list(TREES), taxonomies=TREES, weights=UNIFORM)
    assert found.distortion == pytest.approx(lost)
    assert found.modification_rate == pytest.approx(modified)


def test_closest_common_generalization_and_distance_of_tuples():
    first = nodes(Gender="male", Age="young", Postcode="4351")
    second = nodes(Gender="female", Age="young", Postcode="4352")
    assert closest_common_generalization(tuple(TREES.values()), first, second) == nodes(
        Gender="*", Age="young", Postcode="435*"
    )
    assert tuple_distance(TREES, first, second, UNIFORM) == 2.5


def test_only_the_stub_of_a_large_class_takes_part():
    small = nodes(Gender="female", Age="middle", Postcode="4352")
    large = nodes(Gender="male", Age="middle", Postcode="4350")
    assert class_distance(TREES, (small, 1), (large, 3), UNIFORM, k=2) == 2.5
    assert class_distance(TREES, (small, 1), (large, 3), UNIFORM) == 5


def test_inconsistency_of_tables_3b_and_3c():
    mixed = np.array([GENDER.node("*")] * 4 + [GENDER.node("male")] * 2 + [GENDER.node("female")] * 2)
    records = np.ones(8, np.int64)
    assert inconsistency(GENDER, mixed, records) == Fraction(1, 2)
    assert inconsistency(MARRIAGE, np.zeros(8, np.int64), records) == 0


def test_generalization_portion_of_the_dates_of_birth():
    path = ["1/2/1970", "2/1970", "1970", "1970s", "*"]
    tree = Taxonomy.from_paths([path])
    values = np.array([tree.node(label) for label in path[1:]])
    records = np.array([20, 40, 20, 20])
    assert generalization_portion(tree, values, records) == Fraction(4, 5)
    assert inconsistency(tree, values, records) == Fraction(3, 5)


def test_kaca_releases_table_1d():
    """The unique tuple takes one record of the large class; its other two stay as they are."""
    release = incrowd.anonymize(
        TABLE_1A, quasi_identifiers=list(TREES), k=2, taxonomies=TREES, method="kaca", distance="uniform"
    )
    rows = Counter(tuple(row[name] for name in TREES) for row in release.data.to_pylist())
    assert rows == {("male", "middle", "4350"): 2, ("*", "middle", "435*"): 2, ("female", "old", "4353"): 2}
    assert release.distortion(UNIFORM).distortion == 2.5


@pytest.mark.parametrize("seed", range(5))
def test_a_priority_turns_table_3a_into_table_3c(seed):
    release = incrowd.anonymize(
        TABLE_3A,
        quasi_identifiers=["Gender", "Marriage"],
        k=2,
        taxonomies={"Gender": GENDER, "Marriage": MARRIAGE},
        method="kaca",
        priorities={"Marriage": 0.5},
        key=Key.for_experiments(seed),
        keep_order=True,
    )
    assert release.data.to_pydict() == {"Gender": TABLE_3A["Gender"].to_pylist(), "Marriage": ["*"] * 8}
    assert release.distortion().inconsistency == 0
