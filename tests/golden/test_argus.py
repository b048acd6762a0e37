"""The mu-Argus-like method on tables small enough to be worked out by hand."""

from collections import Counter

import pyarrow as pa
import pytest

import incrowd
from incrowd.taxonomies.taxonomy import Taxonomy

MAYORS = """
Urk   male   farmer
Urk   male   farmer
Urk   male   mayor
Delft female baker
Delft female baker
Delft female mayor
"""


def release(text, *names, k=2, **options):
    columns = zip(*(line.split() for line in text.strip().split("\n")), strict=True)
    data = pa.table({name: pa.array(column) for name, column in zip(names, columns, strict=True)})
    return incrowd.anonymize(data, quasi_identifiers=list(names), k=k, method="argus", **options)


def rows(released):
    return Counter(" ".join(row.values()) for row in released.data.to_pylist())


def test_two_mayors():
    """Each mayor's job is unsafe with the town and with the sex, so mu-Argus suppresses the job, and is content.

    But "Urk male *" and "Delft female *" are alone then. Nothing but town and sex makes them equal; and now that both
    of these are gone, the job can be told.
    """
    found = release(MAYORS, "town", "sex", "job", length=2, suppress=0.5)
    assert rows(found) == {"Urk male farmer": 2, "Delft female baker": 2, "* * mayor": 2}
    facts = found.found.facts
    assert facts["unsafe_combinations"] == facts["unsafe_combinations_left"] == 4
    assert facts["records_in_small_classes"] == 2
    assert facts["cells_suppressed_by_argus"] == 2
    assert facts["records_in_small_classes_after_argus"] == 2
    assert facts["cells_suppressed"] == 4
    assert facts["records_with_suppressed_cells"] == 2
    assert facts["safe_records_among_them"] == 0


def test_generalization_comes_first():
    """With no unsafe combination allowed the job rises, which is part of all four, and nothing is left to suppress."""
    found = release(MAYORS, "town", "sex", "job", length=2, suppress=0.0)
    assert [(step.attribute, step.score) for step in found.steps] == [("job", 4)]
    assert rows(found) == {"Urk male *": 3, "Delft female *": 3}
    assert found.found.facts["cells_suppressed"] == 0


def test_single_values_are_safe_and_still_everyone_gets_a_crowd():
    """Every value occurs twice: with combinations of one mu-Argus does nothing at all."""
    found = release(MAYORS, "town", "sex", "job", length=1, suppress=0.0)
    assert found.found.facts["unsafe_combinations"] == 0
    assert found.found.facts["cells_suppressed_by_argus"] == 0
    assert rows(found) == {"Urk male farmer": 2, "Delft female baker": 2, "* * mayor": 2}


def test_levels_of_a_taxonomy_and_suppressed_cells_stand_beside_each_other():
    """Towns rise to provinces (3 unsafe towns, each alone and with the sex; only 3 unsafe pairs have the sex).

    Then the woman of Zeeland has no crowd: Zeeland is unsafe by itself, and "* female" is a crowd of one. One of the
    two women of Holland keeps her company; but Holland has none to spare, so both do.
    """
    towns = Taxonomy.from_paths(
        [("Delft", "Holland", "NL"), ("Leiden", "Holland", "NL"), ("Veere", "Zeeland", "NL"), ("Urk", "Flevo", "NL")]
    )
    text = "Delft female\nLeiden female\nVeere female\nUrk male\nUrk male"
    found = release(text, "town", "sex", taxonomies={"town": towns}, suppress=0.2)
    assert [(step.attribute, step.score) for step in found.steps] == [("town", 6)]
    assert rows(found) == {"NL female": 3, "Flevo male": 2}
    assert found.found.facts["safe_records_among_them"] == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a x\na x\na x\na x\na y", {"a x": 3, "a *": 2}),  # one of four joins the lonely one
        ("a x\na x\na y", {"a *": 3}),  # the two have nobody to spare
        ("a x\na x\na x\na x\nb y", {"a x": 3, "* *": 2}),  # nothing in common
        ("a x\na x\na x\nb x\nb x\nb x\nb y", {"a x": 3, "b x": 2, "b *": 2}),  # most in common
    ],
)
def test_the_last_few_draw_as_many_as_they_lack(text, expected):
    assert rows(release(text, "town", "job", suppress=0.5)) == expected
