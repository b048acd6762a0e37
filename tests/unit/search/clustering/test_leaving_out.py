"""Leaving out records in local searches: within the budget, everyone else in a good class, and never at a loss."""

import json
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.examples import examples
from tests.recoded import released_by
from tests.runs import seeded
from tests.unit.search.clustering.test_guarded import MODELS, NAMES, needed, table_of
from tests.unit.search.clustering.test_slices import Cut

import incrowd
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Requirement
from incrowd.recodings.by_tuple import ByTuple
from incrowd.run import Run
from incrowd.search.clustering.cover import cover
from incrowd.search.clustering.kaca import kaca
from incrowd.search.leaving_out import budget_of

SEARCHES = {
    "kaca": kaca,
    "kaca by ncp": lambda *words, **more: kaca(*words, distance="ncp", **more),
    "cover": lambda *words, **more: cover(*words, effort=0, **more),
    "cover with one round": lambda *words, **more: cover(*words, rounds=1, effort=0, **more),
}
PROMISES = {"size": (KAnonymity(5),), **MODELS}
EVERY = pytest.mark.parametrize("search", SEARCHES)


def loss(mapping, table):
    """What all cells lose; each cell that is left out loses 1."""
    released = mapping.part_classes < len(mapping.classes)
    records = np.bincount(mapping.part_classes[released], mapping.part_records[released], len(mapping.classes))
    columns = zip(mapping.hierarchies, table.attributes, mapping.classes.T, strict=True)
    kept = sum(records @ hierarchy.losses(attribute)[nodes] for hierarchy, attribute, nodes in columns)
    return kept + len(mapping.hierarchies) * mapping.part_records[~released].sum()


@EVERY
@pytest.mark.parametrize("models", PROMISES.values(), ids=list(PROMISES))
@examples(6)
@given(st.integers(0, 10_000), st.sampled_from([0.01, 0.1, 0.3, 0.9]), st.sampled_from([40, 150]))
def test_never_more_than_the_budget_nor_more_loss_and_all_else_is_good(search, models, seed, share, records):
    table = table_of(seed, records)
    everyone = table.class_counts(np.zeros(len(table.counts), np.int64), 1)
    assume(Requirement(NAMES, models).fitted(table.protected).good(everyone).all())
    wanted = needed(table, models)
    found = SEARCHES[search](table, wanted, seeded(seed), suppress=share)
    mapping = found.recoding.mapping
    out = mapping.left_out
    left_out = int(mapping.part_records[out].sum())
    assert left_out == found.facts.get("suppressed_records", 0) <= budget_of(table, share)
    assert mapping.part_records.sum() == table.records
    if wanted[0].columns:
        assert not mapping.split.any()
        groups = np.where(out, 0, mapping.part_classes)
        classes = table.class_counts(groups, len(mapping.classes), ~out)
        everyone = table.class_counts(np.zeros(len(out), np.int64), 1, ~out)
        assert wanted[0].fitted(everyone.values).good(classes).all()
    else:
        sizes = np.bincount(mapping.part_classes[~out], mapping.part_records[~out])
        assert min(sizes) >= wanted[0].least_size
    without = SEARCHES[search](table, wanted, seeded(seed)).recoding.mapping
    assert not without.left_out.any()
    assert loss(mapping, table) <= loss(without, table) + 1e-9


@EVERY
def test_how_the_work_is_cut_changes_nothing(search):
    table = table_of(3, 400)
    for models in PROMISES.values():
        wanted = needed(table, models)
        whole = SEARCHES[search](table, wanted, Cut(2**60), suppress=0.2)
        again = SEARCHES[search](table, wanted, Cut(3), suppress=0.2)
        assert again.recoding == whole.recoding
        assert again.facts == whole.facts


# A crowd of forty, and one far from it: five of the crowd lose their zip code for the company of a single record.
OUTLIER = pa.table(
    {
        "zip": [*[str(100 + i) for i in range(8) for _ in range(5)], "900"],
        "job": [*["nurse"] * 40, "pilot"],
        "name": [f"p{i}" for i in range(41)],
        "income": [*["low", "high"] * 20, "high"],
    }
)


@pytest.mark.parametrize("method", ["kaca", "cover"])
@pytest.mark.parametrize("target", [None, "income"])
def test_a_record_that_costs_its_neighbours_everything_is_left_out(method, target):
    words = {"quasi_identifiers": ["zip", "job"], "k": 5, "identifiers": ["name"], "target": target, "method": method}
    taxonomies = {"zip": incrowd.Prefix((2, 1))}
    plain = incrowd.anonymize(OUTLIER, taxonomies=taxonomies, **words)
    release = incrowd.anonymize(OUTLIER, taxonomies=taxonomies, suppress=0.03, **words)
    assert plain.measures.total.suppressed == 0
    assert release.measures.total.suppressed == release.found.facts["suppressed_records"] == 1
    assert release.measures.total.ncp == pytest.approx(1 / 41)
    assert release.measures.total.ncp < plain.measures.total.ncp
    assert Counter(release.data.column("zip").to_pylist()) == Counter(OUTLIER.column("zip").to_pylist()[:40])
    assert "900" not in release.recoding.codebook()
    again = ByTuple.from_json(json.loads(json.dumps(release.recoding.to_json())))
    assert again == release.recoding
    assert len(released_by(again, OUTLIER)) == 40
    assert "900" not in json.dumps(release.recoding.for_new_rows.to_json())


def test_less_than_one_record_leaves_out_none():
    table = table_of(0)
    wanted = needed(table, PROMISES["size"])
    assert cover(table, wanted, Run(), suppress=0.001).recoding == cover(table, wanted, Run()).recoding
