"""Regions that a target tells apart are those of the definition, and what is released tells them apart too."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.reference import regions as reference
from tests.reference.problem import Column
from tests.strategies import columns
from tests.unit.search.clustering.test_guarded import MODELS
from tests.unit.search.clustering.test_guarded import needed as needed_for
from tests.unit.search.clustering.test_guarded import table_of as protected_table

from incrowd.errors import PolicyError
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Requirement
from incrowd.recodings.kinds import hierarchy_of
from incrowd.run import Run
from incrowd.search.clustering.cover import cover
from incrowd.search.clustering.regions import regions_of
from incrowd.search.clustering.target_view import cut_down, nested, target_view
from incrowd.table.class_counts import Histogram
from incrowd.table.compressed import CompressedTable


@st.composite
def labelled(draw):
    """Columns, the label of each record, and a k; labels mostly go with a crowd, so that there is something to tell."""
    crowds = draw(st.lists(st.sampled_from([9, 6, 14, 3, 1]), min_size=2, max_size=7))
    names = draw(st.permutations(["age", "job", "sex"]))[: draw(st.integers(1, 3))]
    found = [draw(columns(name, crowds)) for name in names]
    labels = [label for size in crowds for label in [draw(st.sampled_from("YNM"))] * size]
    odd = draw(st.lists(st.integers(0, len(labels) - 1), max_size=2))
    other = draw(st.sampled_from(["M", None]))
    return found, [other if i in odd else label for i, label in enumerate(labels)], draw(st.integers(2, 5))


def compressed(found, labels):
    encoded = [column.encode() for column in found]
    values = sorted(set(labels), key=lambda label: (label is None, label or ""))
    target = values, np.array([values.index(label) for label in labels])
    ones = np.ones(len(labels), np.int64)
    codes = [codes for _, codes in encoded]
    return CompressedTable.build([attribute for attribute, _ in encoded], codes, ones, target), np.stack(codes, axis=1)


@examples(150)
@given(labelled())
def test_regions_and_what_they_tell_are_those_of_the_definition(drawn):
    found, labels, k = drawn
    table, records = compressed(found, labels)
    hierarchies = [hierarchy_of(attribute) for attribute in table.attributes]
    requirement = Requirement([column.name for column in found], (KAnonymity(k),))
    mine = regions_of(table, hierarchies, requirement, Run())
    theirs, tried = reference.regions(records.tolist(), labels, hierarchies, lambda size: size >= k)
    assert mine.parent.tolist() == [parent for parent, _, _, _ in theirs]
    assert mine.records.tolist() == [len(members) for _, members, _, _ in theirs]
    assert mine.gain.tolist() == [saved for _, _, saved, _ in theirs]
    assert mine.splits == tuple((split, saved) for _, _, saved, split in theirs if split is not None)
    used = {split.attribute for split, _ in mine.splits}
    assert sorted(mine.hints) == sorted(pair for pair in tried if pair[0][0] not in used)
    assert mine.details(10**9) == reference.details(theirs, 10**9)


@examples(60)
@given(labelled(), st.sampled_from([0, 1]))
def test_every_class_is_good_and_stays_in_its_region_where_that_is_possible(drawn, effort):
    found, labels, k = drawn
    k = min(k, len(labels))
    table, _ = compressed(found, labels)
    requirement = Requirement([column.name for column in found], (KAnonymity(k),))
    mapping = cover(table, (requirement,), Run(), objective="target", effort=effort).recoding.mapping
    mapping.check()
    sizes = np.bincount(mapping.part_classes, mapping.part_records)
    assert (sizes >= k).all()
    assert (np.bincount(mapping.part_tuples, mapping.part_records) == table.counts).all()
    hierarchies = [hierarchy_of(attribute) for attribute in table.attributes]
    home = regions_of(table, hierarchies, requirement, Run()).found[mapping.part_tuples]
    pairs = set(zip(mapping.part_classes.tolist(), home.tolist(), strict=True))
    assert len(pairs) == len(mapping.classes)  # every region is large enough to be left alone


@examples(100)
@given(labelled())
def test_a_hierarchy_that_is_cut_down_has_the_nodes_that_stay(drawn):
    found, _, _ = drawn
    attribute, _ = found[0].encode()
    hierarchy = hierarchy_of(attribute)
    used = set(range(0, hierarchy.size, 3))
    tree, origin, codes = cut_down(hierarchy, used)
    assert set(origin.tolist()) == used | {0}
    for code in range(len(hierarchy.leaves)):
        closest = next(node for node in reference.nodes_above(hierarchy, code) if node in used)
        assert origin[tree.leaves[codes[code]]] == closest
    for node, above in enumerate(tree.parent.tolist()):
        start, stop = hierarchy.spans()
        assert above < 0 or (start[origin[above]] <= start[origin[node]] and stop[origin[node]] <= stop[origin[above]])


@pytest.mark.parametrize("models", MODELS.values(), ids=list(MODELS))
def test_with_protected_columns_every_region_and_class_is_good(models):
    plain = protected_table(7, 300)
    young = (plain.codes[0] < 3).astype(np.int64)
    tuples = np.arange(len(plain.counts))
    target = Histogram(("old", "young"), tuples, young, plain.counts, len(tuples))
    table = CompressedTable(plain.attributes, plain.codes, plain.counts, target, plain.protected)
    (requirement,) = needed_for(table, models)
    hierarchies = [hierarchy_of(attribute) for attribute in table.attributes]
    regions = regions_of(table, hierarchies, requirement, Run())
    _, homes = np.unique(regions.found, return_inverse=True)
    assert requirement.good(table.class_counts(homes, homes.max() + 1)).all()
    mapping = cover(table, (requirement,), Run(), objective="target").recoding.mapping
    assert requirement.good(table.class_counts(mapping.part_classes, len(mapping.classes))).all()


def test_the_details_fit_into_numbers_whatever_the_priorities():
    plain = protected_table(3, 200)
    target = Histogram(("a", "b"), np.arange(len(plain.counts)), plain.codes[0] % 2, plain.counts, len(plain.counts))
    table = CompressedTable(plain.attributes, plain.codes, plain.counts * 10**7, target)
    hierarchies = [hierarchy_of(attribute) for attribute in table.attributes]
    detail = [np.full(h.size, 2**40) * (h.taxonomy.depth > 0) for h in hierarchies]
    view = target_view(table, hierarchies, detail, Requirement(("age", "job", "zip"), (KAnonymity(5),)), Run())
    most = sum(int(column.max()) for column in view.detail)
    assert most * table.records < 2**61
    assert all((column >= 0).all() for column in view.detail)


def test_it_needs_a_target():
    table = protected_table(1)
    with pytest.raises(PolicyError, match=r"must be ncp, dm or mix when there is no target\. Got 'target'"):
        cover(table, needed_for(table, (KAnonymity(4),)), Run(), objective="target")


@examples(100)
@given(st.dictionaries(st.integers(1, 19), st.integers(0, 3), max_size=6), st.booleans())
def test_ranges_between_cuts_are_nested_by_what_the_cuts_save(cuts, missing):
    tree, spans = nested(20, cuts, 19 if missing else None)
    inner = {*cuts, *([19] if missing else [])}
    bins = [spans[leaf] for leaf in tree.leaves]
    assert bins == list(pairwise([0, *sorted(inner), 20]))
    for node, (start, stop) in enumerate(spans):
        if below := tree.children[node]:
            cut = spans[below[0]][1]
            assert [spans[child] for child in below] == [(start, cut), (cut, stop)]
            others = [each for each in inner if start < each < stop and not (missing and cut == 19)]
            assert cut == (19 if missing and not node else min(others, key=lambda each: (-cuts.get(each, 0), each)))


def test_numbers_are_released_as_ranges_between_the_cuts_that_tell_the_labels_apart():
    ages = [23, 31, 36, 37, 52, 64]
    found = [Column("age", tuple(age for age in ages for _ in range(20)), "number", None, None)]
    labels = ["Y" if age < 37 else "N" for age in ages for _ in range(20)]
    table, _ = compressed(found, labels)
    recoding = cover(table, (Requirement(["age"], (KAnonymity(5),)),), Run(), objective="target").recoding
    assert recoding.labels("age") == ("<=36", ">=37")


@examples(30)
@given(labelled())
def test_labels_that_tell_nothing_leave_the_release_as_it_would_be_without_them(drawn):
    found, labels, k = drawn
    table, _ = compressed(found, ["Y"] * len(labels))
    requirement = Requirement([column.name for column in found], (KAnonymity(min(k, len(labels))),))
    with_target, without = (
        cover(table, (requirement,), Run(), objective=objective, effort=0) for objective in ("target", "ncp")
    )
    assert with_target.recoding == without.recoding


def test_an_attribute_whose_splits_save_too_little_is_cut_down_to_them():
    """The letter tells everything but for a few of one digit, which is not worth a split of its own."""
    pairs = [("a", 1)] * 20 + [("a", 2)] * 20 + [("b", 1)] * 10 + [("b", 2)] * 10 + [("b", 3)] * 20
    labels = ["Y"] * 40 + ["N"] * 10 + ["N"] * 10 + ["N"] * 15 + ["Y"] * 5
    letters, digits = zip(*pairs, strict=True)
    found = [Column("letter", letters, "flat", None, None), Column("digit", digits, "number", None, None)]
    table, _ = compressed(found, labels)
    requirement = Requirement(["letter", "digit"], (KAnonymity(2),))
    hierarchies = [hierarchy_of(attribute) for attribute in table.attributes]
    regions = regions_of(table, hierarchies, requirement, Run())
    assert [split.attribute for split, _ in regions.splits] == [0]
    assert [split for split, _ in regions.hints] == [(1, 0, 2)]
    recoding = cover(table, (requirement,), Run(), objective="target").recoding
    assert set(recoding.labels("digit")) == {"<=2", "3"}
