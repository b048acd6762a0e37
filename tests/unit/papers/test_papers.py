"""The experiments of the papers in a tiny form: that each runs, says what it found, and is written as it should be."""

import csv
import importlib.util
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest
from papers import EXPERIMENTS, Effort, reproduce
from papers.__main__ import app
from papers.adult import ATTRIBUTES, adult_rows, in_shape_of, policy_of
from papers.blow_up import blow_up, encoded, novel_tuples
from papers.experiment import FAILS, HOLDS, PARTLY, Outcome, Panel, verdict_of
from papers.local_recoding import ordered
from papers.optimal_search import _stopped
from papers.pages import page_of, section_of, sections_of
from papers.requirements import requirements, united
from typer.testing import CliRunner

from incrowd import Taxonomy
from incrowd.errors import IncrowdError, UnknownNameError

TINY = Effort(quick=True, records=1000, seconds=0.05)
OUTCOME = Outcome([{"k": 2, "error": 1.5, "curve": "a"}], (Panel("k", "error", "curve"),), HOLDS, "it is so")


@pytest.fixture(autouse=True)
def _few_points(monkeypatch):
    """Fewer points than --quick takes, and no large table."""
    monkeypatch.setattr("papers.scalability.SWEEPS", {"K": (50, 100), "scale": (2, 3), "novelty": (1,)})
    monkeypatch.setattr("papers.optimal_search.CROWDS", (2, 10))
    monkeypatch.setattr("papers.optimal_search.SIZES", (1, 5))
    monkeypatch.setattr("papers.optimal_search.PRUNED", (("ghs", 5),))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_writes_data_plot_and_finding(name, tmp_path):
    told = []
    outcome = reproduce([name], output=tmp_path, effort=TINY, done=lambda *words: told.append(words))[name]
    with (tmp_path / f"{name}.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(outcome.rows)
    assert all(set(row) == set(outcome.rows[0]) for row in outcome.rows)
    assert all(panel.curves(outcome.rows) for panel in outcome.panels)
    assert ElementTree.parse(tmp_path / f"{name}.svg").getroot().tag.endswith("svg")
    assert outcome.verdict.startswith((HOLDS, PARTLY, FAILS))
    ((who, sentence),) = told
    assert who == name
    assert EXPERIMENTS[name].claim in sentence
    assert outcome.found in (tmp_path / f"{name}.md").read_text()


def test_the_page_keeps_the_sections_of_experiments_that_did_not_run(tmp_path):
    reproduce(["tds-6"], docs=tmp_path, effort=TINY)
    page = tmp_path / "papers.md"
    other = section_of("bug-3", EXPERIMENTS["bug-3"], OUTCOME, "papers/")
    page.write_text(page_of(EXPERIMENTS, {**sections_of(page.read_text()), "bug-3": other}))
    before = page.read_text()
    reproduce(["tds-6"], docs=tmp_path, effort=TINY)
    assert page.read_text() == before
    sections = sections_of(page.read_text())
    assert list(sections) == ["tds-6", "bug-3"]
    assert sections["bug-3"] == other
    assert "holds here |" in page.read_text()
    assert sorted(path.name for path in (tmp_path / "papers").iterdir()) == ["tds-6.csv", "tds-6.svg"]


def test_the_same_outcome_gives_the_same_plot(tmp_path):
    for folder in ("one", "two"):
        reproduce(["tds-6"], output=tmp_path / folder, effort=TINY)
    assert (tmp_path / "one" / "tds-6.svg").read_bytes() == (tmp_path / "two" / "tds-6.svg").read_bytes()


def test_random_requirements_are_drawn_as_the_paper_says():
    drawn = requirements(30)
    assert drawn == requirements(30)
    for requirement in drawn:
        assert len(requirement) <= 7
        assert len({len(names) for names in requirement}) == 1
        assert 2 <= len(requirement[0]) <= 9
        assert len(set(requirement)) == len(requirement)
        assert set(united(requirement)) == {name for names in requirement for name in names}


def test_a_verdict_needs_all_points_to_hold():
    assert [verdict_of(held) for held in ([True, True], [True, False], [False, False])] == [HOLDS, PARTLY, FAILS]


def test_what_is_said_of_stopped_searches_follows_the_data():
    rows = [{"scheme": "ops", "proven": True}, {"scheme": "sps", "proven": True}]
    assert _stopped(rows, 10) == "all 2 searches ended with a proof"
    rows.append({"scheme": "sps", "proven": False})
    assert _stopped(rows, 10) == "1 of 3 searches (sps) were stopped after 10 s"


def test_the_command_lists_the_experiments():
    done = CliRunner().invoke(app, [])
    assert done.exit_code == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(EXPERIMENTS)


def test_an_unknown_experiment_is_refused_before_anything_runs(tmp_path):
    with pytest.raises(UnknownNameError, match="did you mean 'tds-7'"):
        reproduce(["tds-6", "tds-77"], output=tmp_path / "none")
    assert not (tmp_path / "none").exists()
    assert CliRunner().invoke(app, ["tds-77"]).exit_code == 2


def test_other_taxonomies_may_be_given(tmp_path):
    (tmp_path / "sex.csv").write_text("Male;Someone;*\nFemale;Someone;*\n")
    given = replace(TINY, taxonomies={"sex": tmp_path / "sex.csv"})
    policy = policy_of(given, ["sex", "race"], 5, "tds")
    assert [len(policy.taxonomies[name].labels) for name in ("sex", "race")] == [4, 7]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "maritalstatus.csv").write_text("Widowed;*\n")
    for words, message in (
        (["--taxonomies", str(tmp_path / "none")], "no taxonomies in"),
        (["--taxonomies", str(tmp_path / "other")], "did you mean 'marital-status'"),
        (["--taxonomies", str(tmp_path), "--docs", str(tmp_path)], "not with --docs"),
    ):
        done = CliRunner().invoke(app, ["tds-6", *words])
        assert done.exit_code == 2
        assert message in done.stderr


def test_without_matplotlib_the_error_says_what_to_install(tmp_path, monkeypatch):
    there = importlib.util.find_spec
    monkeypatch.setattr("papers.plots.find_spec", lambda name: None if name == "matplotlib" else there(name))
    with pytest.raises(IncrowdError, match=r"incrowd\[plot\]"):
        reproduce(["tds-6"], output=tmp_path)
    assert not list(tmp_path.iterdir())


SHAPES = {
    "specialization": {
        "education": (16, 5), "marital-status": (7, 4), "native-country": (41, 5), "occupation": (14, 3),
        "race": (5, 3), "relationship": (6, 3), "sex": (2, 2), "workclass": (8, 5),
    },
    "bottom_up": {
        "occupation": (14, 3), "education": (16, 5), "native-country": (41, 4), "marital-status": (7, 3),
        "sex": (2, 2), "race": (5, 2), "workclass": (8, 3),
    },
    "clustering": {
        "workclass": (8, 4), "education": (16, 5), "marital-status": (7, 4), "occupation": (14, 3), "race": (5, 3),
        "sex": (2, 2), "native-country": (41, 4),
    },
}  # fmt: skip


@pytest.mark.parametrize("paper", SHAPES)
def test_our_taxonomies_have_the_leaves_and_levels_that_the_papers_print(paper):
    """But for the country of a single person, which TDS counts out, and for those who never worked, which KACA does."""
    files = in_shape_of(paper, ATTRIBUTES)
    trees = {name: Taxonomy.read(file) for name, file in files.items()}
    assert {name: (len(tree.leaves), tree.height + 1) for name, tree in trees.items()} == SHAPES[paper]
    values = {name: set(adult_rows()[name].unique().to_pylist()) for name in trees}
    assert all(values[name] <= {tree.labels[leaf] for leaf in tree.leaves} for name, tree in trees.items())


def test_only_the_attributes_of_a_requirement_are_varied_and_fewer_copies_come_first():
    rows, names = adult_rows().slice(0, 200), ("age", "sex")
    large, small = (blow_up(rows, copies, np.random.default_rng(1), names) for copies in (4, 2))
    assert large.slice(0, 400).equals(small)
    varied = small.slice(200)
    assert {name for name in rows.column_names if varied[name] != rows[name]} == set(names)


def test_multi_gets_numbers_in_the_order_of_the_taxonomy():
    rows = adult_rows().slice(0, 500)
    found = ordered(rows, ("age", "sex", "race"))
    assert found["age"] == rows["age"]
    assert dict(zip(rows["sex"].to_pylist(), found["sex"].to_pylist(), strict=True)) in (
        {"Male": 0, "Female": 1},
        {"Female": 0, "Male": 1},
    )
    assert len(found["race"].unique()) == len(rows["race"].unique())


def test_what_is_drawn_from_the_data_gives_fewer_tuples_than_what_is_drawn_evenly(monkeypatch):
    attributes, codes, labels, classes = encoded()
    monkeypatch.setattr("papers.blow_up.encoded", lambda: (attributes, codes[:, :2000], labels, classes[:2000]))
    assert novel_tuples(1, 3) == novel_tuples(1, 1) < novel_tuples(3, 1) < novel_tuples(3, 3)
    assert novel_tuples(3, 3, as_in_data=True) < novel_tuples(3, 3)
