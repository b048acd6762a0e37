"""A hundred people with five rows each: no figure of people is above a hundred, and every chart sums up to them."""

import json
import random
import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

import incrowd
from incrowd.report.charts import class_sizes_chart
from incrowd.report.markdown import markdown_of
from incrowd.report.page import html_of
from incrowd.report.summary import summary_of
from incrowd.run import Run
from incrowd.studio.tasks import uniques
from incrowd.studio.tasks.inspect import CODES

pytestmark = pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")  # of what l would promise

PEOPLE = 100


def visits(seed):
    """Ages differ from visit to visit, so that most people are in five crowds."""
    draw = random.Random(seed)
    rows = [(n, draw.randint(20, 95), draw.choice("fm"), draw.choice("abc")) for n in range(PEOPLE) for _ in range(5)]
    return pa.table(dict(zip(("who", "age", "sex", "illness"), map(list, zip(*rows, strict=True)), strict=True)))


@pytest.fixture(scope="module")
def summary():
    words = {"quasi_identifiers": ["age", "sex"], "k": 4, "unit": "who", "sensitive": ["illness"], "method": "mondrian"}
    return summary_of(incrowd.anonymize(visits(1), **words), for_public=False)


def test_every_figure_of_people_in_the_steward_s_report(summary):
    safe = summary["safe"]
    for risk in (*safe["risks"], *safe["risks_before"]):
        assert (risk["counted"], risk["records"]) == ("people", PEOPLE)
        assert max(risk["alone"], risk["above_threshold"], risk["smallest_crowd"]) <= PEOPLE
    assert safe["risks_before"][0]["alone"] > 0
    for row in (*safe["homogeneity"], *safe["homogeneity_before"]):
        assert row["records"] <= PEOPLE
    for sizes in safe["class_sizes"]:
        assert sizes["largest"] <= PEOPLE
        assert sum(each["records"] for each in sizes["bins"]) == PEOPLE
        assert sum(each["crowds"] for each in sizes["bins"]) == sizes["crowds"]


def test_every_figure_of_people_as_it_is_read(summary):
    for line in markdown_of(summary).splitlines():
        if line.startswith(("| People with", "| People that")):
            assert all(int(cell) <= PEOPLE for cell in re.findall(r"\| ([\d,]+) ", line))
    assert "in a crowd smaller than 5" in markdown_of(summary)
    assert "in a crowd smaller than 5" in html_of(summary)


def test_the_chart_of_the_report_and_of_the_studio(summary):
    chart = class_sizes_chart(summary["safe"]["class_sizes"][0])
    assert chart.title == "People by the size of their smallest crowd"
    assert sum(row["people"] for row in chart.data) == PEOPLE


def test_the_figures_of_the_studio_s_roles(tmp_path):
    table = visits(2)
    codes = [table[name].combine_chunks().dictionary_encode().indices.to_numpy() + 1 for name in ("age", "sex", "who")]
    np.save(tmp_path / CODES, np.array(codes, np.int32))
    words = {"folder": tmp_path, "of": 1, "columns": ["age", "sex"], "unit": "who", "places": [0, 1, 2]}
    found = uniques.work({**words, "sizes": [int(each.max()) + 1 for each in codes]}, Run())
    assert found["records"] == PEOPLE
    assert 0 < found["alone"] <= PEOPLE
    below = [each["records"] for each in found["below"]]
    assert below == sorted(below)
    assert below[0] == found["alone"]
    assert below[-1] == PEOPLE
    assert all(each["records"] <= PEOPLE for part in ("single", "pairs", "triples") for each in found[part])


def test_what_inspect_says():
    found = incrowd.inspect(visits(3), unit="who")
    assert found.together.records == PEOPLE
    assert 0 < found.together.uniques <= PEOPLE
    assert f"of {PEOPLE} people" in str(found)


@examples(60)
@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 4), st.integers(0, 2)), min_size=1, max_size=40),
    st.sampled_from([None, 0.1, 0.9, 1]),
    st.sampled_from([0.05, 0.2, "1/3", 0.5, 1]),
)
def test_no_figure_of_people_is_above_their_number(rows, fraction, threshold):
    who, age, ill = zip(*rows, strict=True)
    table = pa.table({"who": who, "age": age, "ill": ill})
    words = {"unit": "who", "sensitive": ["ill"], "sampling_fraction": fraction, "threshold": threshold}
    risk = incrowd.assess(table, quasi_identifiers=["age"], **words)
    people = len(set(who))
    told = json.loads(json.dumps(risk.to_json()))
    assert told["records"] == people
    figures = [risk.smallest_class, risk.uniques.records, *risk.uniques.without.values(), risk.prosecutor.at_risk]
    figures += [each for found in risk.homogeneity for each in (found.records, found.in_crowds)]
    figures += [] if risk.journalist is None else [risk.journalist.at_risk]
    assert max(figures) <= people
    assert risk.uniques.share <= 1
    assert fraction is None or risk.population == people / risk.question.fraction
