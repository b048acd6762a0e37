"""Worked examples of the papers that the baselines come from."""

import pyarrow as pa
import pytest

import incrowd
from incrowd.taxonomies.taxonomy import Taxonomy

ZIP = Taxonomy.from_paths([(f"0{z}", f"0{z // 10}*", "021**") for z in (2138, 2139, 2141, 2142)])
RACE = Taxonomy.from_paths([("black", "person"), ("white", "person")])
SEX = Taxonomy.from_paths([("male", "person"), ("female", "person")])
GENDER = Taxonomy.from_paths([("Male", "Person"), ("Female", "Person")])

# Sweeney, "Achieving k-anonymity privacy protection using generalization and suppression", Datafly's private table.
PRIVATE = """
black 9/20/1965 male 02141
black 2/14/1965 male 02141
black 10/23/1965 female 02138
black 8/24/1965 female 02138
black 11/7/1964 female 02138
black 12/1/1964 female 02138
white 10/23/1964 male 02138
white 3/15/1965 female 02139
white 8/13/1964 male 02139
white 5/5/1964 male 02139
white 2/13/1967 male 02138
white 3/21/1967 male 02138
"""

# LeFevre, DeWitt, Ramakrishnan, "Incognito", Figure 1.
PATIENTS = """
1/21/76 Male 53715
4/13/86 Female 53715
2/28/76 Male 53703
1/21/76 Male 53703
4/13/86 Female 53706
2/28/76 Female 53706
"""


def table(text, *names):
    columns = zip(*(line.split() for line in text.split("\n") if line), strict=True)
    return pa.table({name: pa.array(column) for name, column in zip(names, columns, strict=True)})


def test_datafly_generalizes_birth_dates_to_years_and_leaves_out_two_records():
    data = table(PRIVATE, "race", "birth", "sex", "zip")
    births = data["birth"].to_pylist()
    birth = Taxonomy.from_paths([(date, date.rpartition("/")[2], "*") for date in dict.fromkeys(births)])
    taxonomies = {"race": RACE, "birth": birth, "sex": SEX, "zip": ZIP}
    release = incrowd.anonymize(data, quasi_identifiers=list(taxonomies), k=2, taxonomies=taxonomies, method="datafly")
    assert [(step.attribute, step.score) for step in release.steps] == [("birth", 12)]
    assert release.measures.total.suppressed == 2
    rows = {tuple(row.values()) for row in release.data.to_pylist()}
    assert rows == {
        ("black", "1965", "male", "02141"),
        ("black", "1965", "female", "02138"),
        ("black", "1964", "female", "02138"),
        ("white", "1964", "male", "02139"),
        ("white", "1967", "male", "02138"),
    }
    assert len(release.data) == 10


@pytest.mark.parametrize(
    ("k", "levels"), [(2, [(0, 1), (1, 0)]), (3, [(0, 2), (1, 1)]), (4, [(0, 2), (1, 1)]), (5, [(1, 2)])]
)
def test_minimal_generalizations_of_race_and_zip(k, levels):
    """Sweeney's PT with every race in every ZIP code: GT[1,0] and GT[0,1] are the minimal ones for k = 2."""
    rows = [(race, zip_code) for race in ("black", "white") for zip_code in ("02138", "02139", "02141", "02142")]
    data = pa.table({"race": [row[0] for row in rows], "zip": [row[1] for row in rows]})
    words = {"quasi_identifiers": ["race", "zip"], "k": k, "taxonomies": {"race": RACE, "zip": ZIP}}
    release = incrowd.anonymize(data, method="incognito", **words)
    found = [(entry["levels"]["race"], entry["levels"]["zip"]) for entry in minimal(release)]
    assert sorted(found) == levels
    lowest = incrowd.anonymize(data, method="samarati", **words)
    assert lowest.found.facts["height"] == min(map(sum, levels))


def minimal(release):
    return release.found.facts["minimal_generalizations"]


def test_incognito_on_the_patients_table():
    """<B1, S1, Z0>, <B1, S0, Z2> and <B0, S1, Z2>: every other node that holds lies above one of them."""
    data = table(PATIENTS, "birthdate", "sex", "zipcode")
    taxonomies = {
        "birthdate": Taxonomy.flat(["1/21/76", "2/28/76", "4/13/86"]),
        "sex": GENDER,
        "zipcode": Taxonomy.from_paths([(z, f"{z[:4]}*", "537**") for z in ("53715", "53710", "53706", "53703")]),
    }
    release = incrowd.anonymize(
        data, quasi_identifiers=list(taxonomies), k=2, taxonomies=taxonomies, method="incognito"
    )
    found = [tuple(entry["levels"].values()) for entry in minimal(release)]
    assert sorted(found) == [(0, 1, 2), (1, 0, 2), (1, 1, 0)]
    assert release.data.num_rows == 6


@pytest.mark.filterwarnings("ignore:ranges of:incrowd.errors.ReleaseWarning")  # the paper has exact bounds
def test_mondrian_on_the_patients_table():
    """LeFevre, DeWitt, Ramakrishnan, "Mondrian", the strict two-anonymization of Patients.

    All attributes are equally wide at first. The paper cuts sex; here the first by name is cut, hence the names.
    """
    rows = [(25, "Male", 53711), (25, "Female", 53712), (26, "Male", 53711)]
    rows += [(27, "Male", 53710), (27, "Female", 53712), (28, "Male", 53711)]
    names = ("patient age", "gender", "zipcode")
    data = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    ranges = {"patient age": (25, 28), "zipcode": (53710, 53712)}
    words = {"taxonomies": {"gender": GENDER}, "ranges": ranges, "method": "mondrian", "keep_order": True}
    release = incrowd.anonymize(data, quasi_identifiers=list(names), k=2, bounds="exact", **words)
    young, old = ("[25-26]", "Male", "53711"), ("[27-28]", "Male", "[53710-53711]")
    women = ("[25-27]", "Female", "53712")
    assert [tuple(row.values()) for row in release.data.to_pylist()] == [young, women, young, old, women, old]
