"""Bounds of local recoding: never above the loss of any release, nor above the optimum, which a program finds."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.reference.local_optimum import least_loss
from tests.runs import seeded
from tests.unit.search.clustering.test_kernels import SEARCHES
from tests.unit.search.clustering.test_slices import NAMES, needed, table_of

import incrowd
from incrowd.errors import DataError, PolicyError
from incrowd.measures.measures import measure
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Requirement
from incrowd.recodings.kinds import hierarchy_of
from incrowd.release.notes import NO_BOUND
from incrowd.run import Run
from incrowd.search.clustering import proof
from incrowd.search.clustering.cover import cover
from incrowd.search.clustering.kaca import kaca
from incrowd.table.attributes import encode
from incrowd.table.compressed import CompressedTable

TREES = (incrowd.Intervals((2, 4)).build([str(i) for i in range(6)]), incrowd.Intervals((3,)).build(list("012345")))


def tiny(rows):
    """A table of a few records with two attributes."""
    encoded = [
        encode(name, pa.array([str(i) for i in range(6)]), has_missing=False, taxonomy=tree)
        for name, tree in zip(NAMES, TREES, strict=False)
    ]
    columns = np.array(rows).T
    codes = [code_of[column] for (_, code_of), column in zip(encoded, columns, strict=True)]
    return CompressedTable.build([attribute for attribute, _ in encoded], codes, np.ones(len(rows), np.int64))


def least(table, k):
    """The least NCP there is."""
    hierarchies = [hierarchy_of(attribute) for attribute in table.attributes]
    columns = [hierarchy.leaves[codes] for hierarchy, codes in zip(hierarchies, table.codes, strict=True)]
    rows = np.repeat(np.stack(columns, axis=1), table.counts, axis=0)
    parents = [hierarchy.taxonomy.parent.tolist() for hierarchy in hierarchies]
    losses = [h.losses(attribute).tolist() for h, attribute in zip(hierarchies, table.attributes, strict=True)]
    return least_loss([tuple(row) for row in rows.tolist()], parents, losses, k) / table.records / len(hierarchies)


def test_a_release_that_meets_its_bound_has_no_gap():
    """Two records that must be one class."""
    table, wanted = tiny([(0, 0), (1, 1)]), (Requirement(NAMES[:2], (KAnonymity(2),)),)
    found = cover(table, wanted, Run(), proof="bound")
    assert found.facts["gap"] == 0
    assert found.facts["bound"] == pytest.approx(measure(table, found.recoding, wanted).total.ncp)
    assert found.facts["bound"] > 0


ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=8)


@examples(40)
@given(ROWS, st.integers(2, 3))
def test_the_bound_is_below_the_optimum_and_the_program_finds_it(rows, k):
    table, wanted = tiny(rows), (Requirement(NAMES[:2], (KAnonymity(k),)),)
    truth = least(table, k)
    clustered = kaca(table, wanted, Run()), kaca(table, wanted, Run(), max_inconsistency=0.5)
    for found in (cover(table, wanted, Run(), effort=0), *clustered):
        assert 0 <= found.facts["bound"] <= truth + 1e-12
        ncp = measure(table, found.recoding, wanted).total.ncp
        assert ncp >= truth - 1e-12
        assert found.facts["gap"] == pytest.approx(0 if ncp == 0 else 1 - found.facts["bound"] / ncp)
    best = cover(table, wanted, Run(), proof="optimum")
    assert measure(table, best.recoding, wanted).total.ncp == pytest.approx(truth)
    assert best.facts["bound"] == pytest.approx(truth)
    assert best.facts["gap"] == 0
    sizes = np.bincount(best.recoding.mapping.part_classes, best.recoding.mapping.part_records)
    assert sizes.min() >= k
    assert sizes.sum() == table.records


@examples(10)
@given(st.integers(0, 1000), st.integers(2, 20))
def test_no_release_is_below_the_bound(seed, k):
    table, wanted = table_of(seed, 100), needed(k)
    releases = [search(table, wanted, seeded(seed)) for name, search in SEARCHES.items() if "leaves" not in name]
    losses = [measure(table, release.recoding, wanted).total.ncp for release in releases]
    bounds = [release.facts["bound"] for release in releases]
    assert max(bounds) <= min(losses)
    assert max(bounds) > min(losses) / 3


@examples(10)
@given(st.integers(0, 1000), st.integers(2, 20))
def test_cover_is_never_worse_than_clustering_on_what_it_improves(seed, k):
    table, wanted = table_of(seed, 150), needed(k)
    clustered = measure(table, kaca(table, wanted, seeded(seed), distance="ncp").recoding, wanted).total
    mine = measure(table, cover(table, wanted, seeded(seed), effort=0).recoding, wanted).total
    assert mine.ncp <= clustered.ncp + 1e-12
    printed = measure(table, kaca(table, wanted, seeded(seed)).recoding, wanted).total
    mine = measure(table, cover(table, wanted, seeded(seed), effort=0, objective="dm").recoding, wanted).total
    assert mine.dm <= printed.dm


def test_a_table_that_takes_long_has_a_bound_on_request():
    table, wanted = table_of(1, 16_000), needed()
    assert len(table.counts) * 5**3 > 1_000_000
    assert "bound" not in cover(table, wanted, Run(), rounds=50, effort=0).facts
    assert cover(table, wanted, Run(), rounds=50, effort=0, proof="bound").facts["bound"] > 0


def test_a_bound_is_not_told_where_records_are_left_out_or_attributes_weigh():
    table, wanted = table_of(1, 100), needed()
    assert "bound" not in cover(table, wanted, Run(), effort=0, suppress=0.1).facts
    assert "bound" not in cover(table, wanted, Run(), effort=0, priorities={"age": 2}).facts


@pytest.mark.parametrize("method", ["cover", "mondrian"])
@pytest.mark.parametrize("words", [{}, {"suppress": 0.1}, {"priorities": {"age": 2}}], ids=["bound", "left", "weigh"])
def test_a_bound_that_was_asked_for_and_cannot_be_told_is_a_note(method, words):
    people = pa.table({"age": list(range(20)), "sex": list("mf") * 10})
    asked = {"quasi_identifiers": ["age", "sex"], "k": 3, "method": method, **words}
    release = incrowd.anonymize(people, proof="bound", **asked)
    assert ("bound" in release.found.facts) == (not words) == (NO_BOUND not in release.notes)
    assert NO_BOUND not in incrowd.anonymize(people, **asked).notes


@pytest.mark.parametrize("words", [{"objective": "dm"}, {"suppress": 0.1}, {"priorities": {"age": 2}}])
def test_the_optimum_is_that_of_the_loss(words):
    with pytest.raises(PolicyError, match="proven optimum is that of NCP"):
        cover(table_of(1, 100), needed(), Run(), proof="optimum", **words)


def test_the_optimum_of_a_large_table_is_refused(monkeypatch):
    monkeypatch.setattr(proof, "PAIRS", 1000)
    with pytest.raises(DataError, match="set proof to 'bound'"):
        cover(table_of(1, 300), needed(), Run(), proof="optimum")
