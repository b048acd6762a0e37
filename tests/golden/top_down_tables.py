"""Tables 1 and 2 of the TDS paper (TDR uses them too), with the taxonomies of its Figure 1 and of Example 6."""

import re

from tests.reference.problem import Column, Problem

from incrowd.policy.policy import QuasiIdentifier
from incrowd.taxonomies.taxonomy import Taxonomy

EDUCATION = Taxonomy.from_tree(
    {
        "ANY_Edu": {
            "Secondary": {"Junior Sec.": ["9th", "10th"], "Senior Sec.": ["11th", "12th"]},
            "University": {"Bachelors": {}, "Grad School": ["Masters", "Doctorate"]},
        }
    }
)
SEX = Taxonomy.from_tree({"ANY_Sex": ["M", "F"]})

TABLE_1 = """
    9th        M  30  0Y3N
    10th       M  32  0Y4N
    11th       M  35  2Y3N
    12th       F  37  3Y1N
    Bachelors  F  42  4Y2N
    Bachelors  F  44  4Y0N
    Masters    M  44  4Y0N
    Masters    F  44  3Y0N
    Doctorate  F  44  1Y0N
"""
TABLE_2 = """
    10th  M  40  20Y0N
    10th  M  30  0Y4N
    9th   M  30  0Y2N
    9th   F  30  0Y4N
    9th   F  40  0Y6N
    8th   F  30  0Y2N
    8th   F  40  0Y2N
"""


def table_1(*quasi_identifiers: tuple[str, int]) -> Problem:
    """34 records; quasi-identifiers are given as ("Education Sex", 4)."""
    return _problem(TABLE_1, EDUCATION, quasi_identifiers)


def table_2(k: int = 4) -> Problem:
    """40 records, with the requirement of Example 6, or another k."""
    education = Taxonomy.from_tree({"ANY_Edu": ["8th", "9th", "10th"]})
    return _problem(TABLE_2, education, [("Education Sex Work_Hrs", k)])


def _problem(text, education, quasi_identifiers):
    records = []
    for line in text.strip().splitlines():
        *values, frequencies = line.split()
        records += [(*values, label) for n, label in re.findall(r"(\d+)([YN])", frequencies) for _ in range(int(n))]
    educations, sexes, hours, classes = zip(*records, strict=True)
    columns = {
        "Education": Column("Education", educations, "tree", education),
        "Sex": Column("Sex", sexes, "tree", SEX),
        "Work_Hrs": Column("Work_Hrs", tuple(map(int, hours)), "number", domain=(1, 99)),
    }
    qids = tuple(QuasiIdentifier(names.split(), k) for names, k in quasi_identifiers)
    named = dict.fromkeys(name for qid in qids for name in qid.attributes)
    return Problem(tuple(columns[name] for name in named), classes, qids)
