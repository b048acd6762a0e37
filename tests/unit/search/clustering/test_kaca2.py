"""KACA2's limit of inconsistency: a share that equals the limit is not below it, whatever floats make of it."""

from collections import Counter

import pyarrow as pa
import pytest

import incrowd

TOWNS = incrowd.Taxonomy.from_tree({"any": {"north": ["Kiel", "Lund"], "south": ["Ulm", "Bonn"]}})
SEXES = incrowd.Taxonomy.flat(["male", "female"])


def towns(most, method="kaca2"):
    """36 of 40 people live in one town; the four others share a region, and are generalized to it by clustering."""
    table = pa.table(
        {
            "town": ["Ulm"] * 36 + ["Kiel", "Lund"] * 2,
            "sex": ["male"] * 36 + ["male", "male", "female", "female"],
        }
    )
    words = {"max_inconsistency": most} if method == "kaca2" else {}
    release = incrowd.anonymize(
        table,
        quasi_identifiers=["town", "sex"],
        k=2,
        taxonomies={"town": TOWNS, "sex": SEXES},
        method=method,
        distance="uniform",
        **words,
    )
    return Counter(release.data["town"].to_pylist()), release


def test_kaca1_leaves_36_of_40_values_on_the_main_level():
    found, release = towns(None, "kaca")
    assert found == {"Ulm": 36, "north": 4}
    assert release.distortion().inconsistency == 0.1


@pytest.mark.parametrize("most", [0.1, 0.05, 0])
def test_36_of_40_values_on_the_main_level_are_not_below_a_limit_of_a_tenth(most):
    found, release = towns(most)
    assert found == {"south": 36, "north": 4}
    assert release.distortion().inconsistency == 0


@pytest.mark.parametrize("most", [0.1000001, 0.2, 1])
def test_they_are_below_a_larger_limit(most):
    found, release = towns(most)
    assert found == {"Ulm": 36, "north": 4}
    assert release.distortion().inconsistency == 0.1


def test_rare_values_that_are_exactly_the_share_of_the_limit_are_too_many():
    """Three of ten values occur once: at limit 0.3 the attribute goes up a level before clustering."""
    table = pa.table({"town": ["Ulm"] * 4 + ["Bonn"] * 3 + ["Kiel", "Lund", "Lund"]})
    words = {"quasi_identifiers": ["town"], "k": 3, "taxonomies": {"town": TOWNS}, "method": "kaca2"}
    at = incrowd.anonymize(table, max_inconsistency=0.3, **words)
    assert Counter(at.data["town"].to_pylist()) == {"south": 7, "north": 3}
    above = incrowd.anonymize(table, max_inconsistency=0.31, **words)
    assert Counter(above.data["town"].to_pylist()) == {"Ulm": 4, "Bonn": 3, "north": 3}


def test_leaving_out_those_who_are_off_the_main_level_saves_all_others_from_going_up_a_level():
    """At a limit of a tenth the 36 go up with the four, unless these are left out."""
    words = {"quasi_identifiers": ["town"], "k": 5, "taxonomies": {"town": TOWNS}, "method": "kaca2"}
    table = pa.table({"town": ["Ulm"] * 36 + ["Kiel", "Lund"] * 2})
    everyone = incrowd.anonymize(table, **words)
    assert set(everyone.data["town"].to_pylist()) == {"any"}
    assert everyone.measures.total.suppressed == 0
    fewer = incrowd.anonymize(table, suppress=0.1, **words)
    assert fewer.data["town"].to_pylist() == ["Ulm"] * 36
    assert fewer.found.facts["suppressed_records"] == fewer.measures.total.suppressed == 4
    assert incrowd.anonymize(table, suppress=0.09, **words).measures.total.suppressed == 0


def test_nobody_is_left_out_where_all_together_would_lose_more():
    table = pa.table({"town": ["Ulm", "Bonn", "Kiel", "Lund"] * 5, "sex": ["male", "female"] * 10})
    words = {
        "taxonomies": {"town": TOWNS, "sex": SEXES},
        "method": "kaca2",
        "k": 4,
        "quasi_identifiers": ["town", "sex"],
    }
    plain, able = (incrowd.anonymize(table, suppress=share, **words) for share in (0, 0.3))
    assert able.measures.total.ncp <= plain.measures.total.ncp
    assert able.data.equals(plain.data)
