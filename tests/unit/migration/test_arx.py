"""Projects of ARX become policies that run, and everything that they say is imported or named."""

import json
import stat
import tomllib

import pytest
from tests.arx_projects import assignment, files, hospital, write_project
from tests.command_line import run

from incrowd.errors import DataError, TaxonomyError
from incrowd.migration.hierarchies import hierarchy_of
from incrowd.migration.importing import read_project
from incrowd.taxonomies.taxonomy import Taxonomy


@pytest.fixture
def project(tmp_path):
    return write_project(tmp_path / "hospital.deid", hospital())


def imported(tmp_path, entries, **more):
    return read_project(write_project(tmp_path / "p.deid", entries), **more)


def small(**settings):
    sensitive = assignment("illness", "sensitive", kind="String")
    return files([assignment("sex", "qi"), sensitive], {}, **settings)


def test_an_imported_project_is_anonymized_and_verified(tmp_path, project):
    policy, table, release = tmp_path / "release.toml", tmp_path / "input.csv", tmp_path / "release.csv"
    done = run("import", project, "-o", policy, "--table", table)
    assert done.exit_code == 0, done.stderr
    assert "(1.0,1.0E-5)-DP" in done.stdout
    assert "without a counterpart" in done.stderr
    done = run("anonymize", table, "-o", release, "--policy", policy)
    assert done.exit_code == 0, done.stderr
    done = run("verify", release, "--certificate", tmp_path / "release.certificate.json")
    assert done.exit_code == 0, done.stderr
    text = release.read_text()
    assert "Person" not in text
    assert text.splitlines()[0] == "age,zip,kin,sex,diagnosis,charge,ward".replace(",", text[3])
    ages = {line.split(text[3])[0] for line in text.splitlines()[1:]}
    assert ages
    assert not any(age.isdigit() for age in ages)  # one level up at least


def test_what_the_project_says_is_in_the_policy(tmp_path, project):
    policy = tmp_path / "release.toml"
    done = run("import", project, "-o", policy, "--json")
    assert done.exit_code == 0, done.stderr
    said = tomllib.loads(policy.read_text())
    assert said["quasi_identifiers"] == ["age", "zip", "kin", "sex"]
    assert said["identifiers"] == ["name"]
    assert said["target"] == "ward"
    assert said["k"] == 3
    assert said["sensitive"] == {"diagnosis": {"t": 0.9, "t_distance": "hierarchical"}, "charge": {"l": 2}}
    assert said["suppress"] == 0.05
    assert said["priorities"] == {"age": 0.9, "kin": 0.5, "sex": 0.5, "zip": 0.2}
    assert (said["method"], said["cost"]) == ("incognito", "ncp")
    assert said["levels"] == {"age": [1], "kin": [0, 2], "sex": 0}
    assert said["taxonomies"]["age"] == {"widths": [10, 20], "origin": 0}
    assert said["taxonomies"]["zip"] == {"prefix": [3, 2]}
    lines = json.loads(done.stdout)["result"]["lines"]
    assert {line["found"] for line in lines if line["kind"] == "left out"} == {"(1.0,1.0E-5)-DP"}
    assert "(1.0,1.0E-5)-DP" in policy.read_text()


def test_files_are_for_the_owner_alone_and_replace_nothing(tmp_path, project):
    policy = tmp_path / "release.toml"
    assert run("import", project, "-o", policy).exit_code == 0
    hierarchy = tmp_path / "release-taxonomies" / "kin.csv"
    assert stat.S_IMODE(policy.stat().st_mode) == stat.S_IMODE(hierarchy.stat().st_mode) == 0o600
    assert stat.S_IMODE(hierarchy.parent.stat().st_mode) == 0o700
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    policy.unlink()
    done = run("import", project, "-o", policy)  # the hierarchies are still there
    assert done.exit_code == 1
    assert not policy.exists()
    assert all(path.read_bytes() == content for path, content in before.items() if path != policy)


def test_a_value_and_a_group_of_the_same_name_are_told_apart(tmp_path):
    text = "Wife;Partner;*\nOther relative;Family;*\nCousin;Other relative;*"
    found = hierarchy_of(text, ";", "kin")
    tree = Taxonomy.from_paths(found.paths)
    assert tree.path(tree.leaf_code("Cousin")) == ("Cousin", "Other relative (group)", "*")
    assert tree.path(tree.leaf_code("Other relative")) == ("Other relative", "Family", "*")
    assert any("Other relative (group)" in note for note in found.notes)


@pytest.mark.parametrize(
    ("text", "paths", "heights"),
    [
        ("a;a;*\nb;b;*", [("a", "*"), ("b", "*")], [0, 0, 1]),  # a level that changes nothing
        ("a;x;x;*\nb;y;x;*", [("a", "x", "x (group)", "*"), ("b", "y", "x (group)", "*")], [0, 1, 2, 3]),
        ("a;x\nb;y", [("a", "x", "*"), ("b", "y", "*")], [0, 1]),  # two roots
        ("*;*;*\nb;x;*", [("*", "* (group)"), ("b", "x", "* (group)")], [0, 1, 2]),
        ("a;;*\nb;x;*\n;x;*", [("a", "(blank)", "*"), ("b", "x", "*")], [0, 1, 2]),
        ("a;a;a", [("a", "*")], [0, 0, 0]),
    ],
)
def test_labels_of_a_table_become_nodes_of_a_tree(text, paths, heights):
    found = hierarchy_of(text, ";", "h")
    assert (found.paths, found.heights) == (paths, heights)
    Taxonomy.from_paths(found.paths)


def test_groups_that_are_torn_apart_are_no_hierarchy():
    with pytest.raises(TaxonomyError, match="in two groups"):
        hierarchy_of("a;x;1\nb;x;2", ";", "h")


def _tens(number):
    return f"[{number // 5 * 5}, {number // 5 * 5 + 5}[", f"[{number // 10 * 10}, {number // 10 * 10 + 10}["


def _ages(number):
    return "<30" if number < 30 else "30-44" if number < 45 else ">=45", "<45" if number < 45 else ">=45"


DATES = ("1984-05-17", "1984-05-20", "1984-08-01", "1985-05-01")
GERMAN = ("17.05.1984", "20.05.1984", "01.08.1984", "01.05.1985")
ZIPS = ("12345", "12346", "12455", "22222")


@pytest.mark.parametrize(
    ("values", "levels", "rule"),
    [
        (range(18, 60), _tens, {"widths": [5, 10], "origin": 0}),
        (range(18, 60), _ages, {"bounds": [[30, 45], [45]]}),
        (range(18, 60), lambda n: ("low" if n < 30 else "high", "any"), None),  # labels that are no numbers
        (range(18, 60), lambda n: (f"{n * 7 % 5}0",), None),  # groups that are no intervals
        (DATES, lambda d: (d[:7], d[:4]), {"calendar": ["month", "year"], "order": "ymd"}),
        (GERMAN, lambda d: (d[3:], d[6:]), {"calendar": ["month", "year"], "order": "dmy"}),
        (ZIPS, lambda z: (z[:4] + "*", z[:3] + "**", z[:2] + "***"), {"prefix": [4, 3, 2]}),
        (ZIPS, lambda z: ("***" + z[3:],), None),  # masked at the start
    ],
)
def test_regular_hierarchies_become_rules(values, levels, rule):
    text = "\n".join(";".join([str(each), *(f'"{label}"' for label in levels(each)), "*"]) for each in values)
    found = hierarchy_of(text, ";", "h")
    assert (found.rule and found.rule.options()) == rule


UNIQUENESS = {"population_uniqueness": 0.01, "estimator": "dankar", "sampling_fraction": 0.1}


@pytest.mark.parametrize(
    ("criterion", "settings"),
    [
        ("5-anonymity", {"k": 5}),
        ("(0.05)-avg-reidentification-risk", {"average_risk": 0.05}),
        ("(0.05, 0.2, 0.1)-avg-reidentification-risk", {"average_risk": 0.05}),
        ("(0.01)-sample-uniqueness", {"sample_uniqueness": 0.01}),
        ("(0.01)-population-uniqueness (dankar)", UNIQUENESS),
        ("(5)-map estimated as (3)-anonymity (POISSON)", {"k": 3}),
        ("(5)-map estimated as (unknown)-anonymity (POISSON)", {"k_map": 5, "sampling_fraction": 0.1}),
        ("(5)-map", {}),
        ("(0.0,0.5)-presence", {}),
        ("Inclusion", {}),
        ("profitability (prosecutor)[...]", {}),
    ],
)
def test_models_of_the_table_are_imported_or_named(tmp_path, criterion, settings):
    found = imported(tmp_path, small(criteria=(criterion,)), sampling_fraction=0.1)
    assert {name: found.settings[name] for name in settings} == settings
    assert any(line.found == criterion and (line.kind == "left out") == (not settings) for line in found.lines)
    promises = {"k", "k_map", "average_risk", "sample_uniqueness", "population_uniqueness"}
    assert bool(promises & set(found.settings)) == bool(settings)


@pytest.mark.parametrize(
    ("criterion", "promises"),
    [
        ("distinct-3-diversity", {"l": 3}),
        ("entropy-2.5-diversity", {"entropy_l": 2.5}),
        ("shannon-entropy-2.0-diversity", {"entropy_l": 2}),
        ("recursive-(4.0,3)-diversity", {"recursive_l": [4, 3]}),
        ("0.2-closeness with equal distance", {"t": 0.2, "t_distance": "equal"}),
        ("0.2-closeness with ordered distance", {"t": 0.2, "t_distance": "equal"}),  # text has no order here
        ("0.2-closeness with hierarchical distance", {"t": 0.2, "t_distance": "equal"}),  # without a hierarchy
        ("basic-1.0-likeness", {"beta_likeness": 1}),
        ("enhanced-1.5-likeness", {"enhanced_beta_likeness": 1.5}),
        ("1.0-disclosure privacy", {"delta_disclosure": 0.693147}),
        ("1.0E-5-disclosure privacy", {"delta_disclosure": 6e-06}),
    ],
)
def test_models_of_a_column_are_imported(tmp_path, criterion, promises):
    found = imported(tmp_path, small(criteria=("5-anonymity", f"{criterion} for attribute 'illness'")))
    assert found.settings["sensitive"] == {"illness": promises}


def test_of_two_models_of_a_kind_the_stricter_holds(tmp_path):
    asked = [f"{t}-closeness with equal distance for attribute 'illness'" for t in (0.2, 0.1, 0.3)]
    found = imported(tmp_path, small(criteria=("3-anonymity", "7-anonymity", *asked)))
    assert found.settings["k"] == 7
    assert found.settings["sensitive"]["illness"]["t"] == 0.1


def test_population_uniqueness_needs_the_size_of_the_sample(tmp_path):
    found = imported(tmp_path, small(criteria=("(0.01)-population-uniqueness (snb)",)))
    assert "population_uniqueness" not in found.settings
    assert "--sampling-fraction" in found.left_out[0].became


def test_other_separators_odd_names_and_old_versions(tmp_path):
    odd = 'a/b "c" & <d>'
    entries = files(
        [assignment(odd, "qi", hierarchy=True), assignment("e", "qi", hierarchy=True, kind="Date/Time", format="yyyy")],
        {odd: "x\tgroup\t*\ny\tother\t*"},  # of the other one there is no file
        separator="\t",
    )
    del entries["metadata.xml"]
    found = imported(tmp_path, entries)
    assert found.hierarchies[odd].paths == [("x", "group", "*"), ("y", "other", "*")]
    assert found.settings["levels"] == {"e": 0}
    assert [path.name for path in found.files(tmp_path / "r.toml").values()] == ["a_b_c_d_.csv"]
    assert tomllib.loads(found.policy_toml(tmp_path / "r.toml"))["taxonomies"] == {odd: "r-taxonomies/a_b_c_d_.csv"}


def test_a_project_without_quasi_identifiers_is_refused(tmp_path):
    with pytest.raises(DataError, match="no quasi-identifying"):
        imported(tmp_path, files([assignment("name", "id")], {}))
