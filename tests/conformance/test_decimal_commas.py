"""Numbers with a decimal comma, in CSV files with semicolons: the release is that of the same numbers with a point."""

import json
import random

import pyarrow as pa
import pytest
from tests.command_line import run
from tests.examples import spread

import incrowd
from incrowd.engines.registry import ENGINES
from incrowd.errors import DataError, PolicyError, TaxonomyError

WORDS = {"quasi_identifiers": ["weight", "sex"], "k": 4}
ASKED = {**WORDS, "keep": ["price"]}
RULES = {"taxonomies": {"weight": {"widths": [2.5, 5, 10]}}}
BOUNDS = {"taxonomies": {"weight": {"bounds": [[52.5, 60, 71.25], [60]]}}}
METHODS = [
    ("tdr", {}),
    ("tdr", RULES),
    ("tdr", BOUNDS),
    ("tdr", {"ranges": {"weight": [40.5, 120]}}),
    ("mondrian", {}),
    ("cover", {}),
    ("optimal", {"scheme": "ops"}),
    ("datafly", RULES),
    ("bug", {}),
]
LOCAL = [name for name, entry in ENGINES.items() if name != "spark" and entry.installed]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same people in two files; one number has no fraction, and some weights are missing."""
    folder, draw = tmp_path_factory.mktemp("commas"), random.Random(5)
    rows = [(f"{draw.randrange(500, 800) / 10:g}", draw.choice("fm"), f"{draw.randrange(99)}.5") for _ in range(60)]
    for name, mark in (("comma.csv", ","), ("point.csv", ".")):
        lines = ["weight;sex;price", "61;f;1", *[";m;2"] * 5, *(";".join(row) for row in rows)]
        (folder / name).write_text("\n".join(lines).replace(".", mark) + "\n")
    return folder


def cells(rows, *, comma):
    """All rows, in any order; what has a point with a comma instead."""
    texts = [tuple(str(cell).replace(".", "," if comma else ".") for cell in row.values()) for row in rows.to_pylist()]
    return sorted(texts)


@pytest.mark.parametrize(("asked", "engine"), spread(METHODS, LOCAL))
def test_the_same_release_as_with_a_point(folder, asked, engine):
    method, words = asked
    words = {**ASKED, **words, "method": method, "engine": engine}
    expected = incrowd.anonymize(folder / "point.csv", **words)
    release = incrowd.anonymize(folder / "comma.csv", **words)
    assert cells(release.data, comma=False) == cells(expected.data, comma=True)
    assert release.measures.to_json() == expected.measures.to_json()


@pytest.mark.parametrize("words", [{}, {"taxonomies": {"cost": {"widths": [500]}}}])
def test_points_between_thousands(tmp_path, words):
    (tmp_path / "german.csv").write_text("cost;x\n" + "950,50;1\n1.234,25;1\n" * 4)
    (tmp_path / "plain.csv").write_text("cost;x\n" + "950.5;1\n1234.25;1\n" * 4)
    words = {"quasi_identifiers": ["cost"], "k": 3, "method": "tdr", **words}
    release, expected = (incrowd.anonymize(tmp_path / f"{name}.csv", **words) for name in ("german", "plain"))
    assert release.measures.to_json() == expected.measures.to_json()
    assert len(set(release.data.column("cost").to_pylist())) == 2


@pytest.mark.parametrize("words", [{}, RULES, BOUNDS])
def test_files_recode_new_rows_and_become_numbers(folder, tmp_path, words):
    release = incrowd.anonymize(folder / "comma.csv", **ASKED, **words, method="tdr")
    release.write(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().startswith("weight;sex;price\n")
    assert incrowd.verify(tmp_path / "out.csv", **WORDS).holds
    recoding = tmp_path / "out.recoding.json"
    again = incrowd.apply(recoding, folder / "comma.csv", keep=["price"])
    assert cells(again, comma=False) == cells(release.data, comma=False)
    (tmp_path / "new.csv").write_text("weight;sex;price\n55,25;f;1\n55;f;1\n")
    known = set(release.data.column("weight").to_pylist())
    assert set(incrowd.apply(recoding, tmp_path / "new.csv", keep=["price"]).column("weight").to_pylist()) <= known
    incrowd.anonymize(folder / "point.csv", **ASKED, **words, method="tdr").write(tmp_path / "other.csv")
    numbers, others = (incrowd.as_numbers(tmp_path / f"{name}.csv", form="bounds") for name in ("out", "other"))
    assert numbers.schema == others.schema
    assert sorted(numbers.column("weight_low").drop_null().to_pylist()) == sorted(
        others.column("weight_low").drop_null().to_pylist()
    )


@pytest.mark.parametrize("form", ["midpoint", "bounds"])
def test_numbers_are_written_as_the_file_has_them(tmp_path, form):
    (tmp_path / "out.csv").write_text("age;weight;price\n[20-25);[50-52,5);1,5\n30;60,5;2,5\n")
    assert run("numbers", tmp_path / "out.csv", "-o", tmp_path / "numbers.csv", "--form", form).exit_code == 0
    lines = {
        "midpoint": "age;weight;price\n22;51,25;1,5\n30;60,5;2,5\n",
        "bounds": "age_low;age_high;weight_low;weight_high;price\n20;25;50;52,5;1,5\n30;30;60,5;60,5;2,5\n",
    }
    assert (tmp_path / "numbers.csv").read_text() == lines[form]


def test_a_rule_refuses_a_point_without_a_comma(folder, tmp_path):
    incrowd.anonymize(folder / "comma.csv", **ASKED, **RULES, method="tdr").write(tmp_path / "out.csv")
    (tmp_path / "new.csv").write_text("weight;sex;price\n1.234;f;1\n")
    with pytest.raises(TaxonomyError, match=r"Intervals groups numbers, got '1\.234'"):
        incrowd.apply(tmp_path / "out.recoding.json", tmp_path / "new.csv")


def test_a_recoding_says_how_its_numbers_are_written(folder, tmp_path):
    release = incrowd.anonymize(folder / "comma.csv", **ASKED, method="tdr")
    release.write(tmp_path / "out.csv")
    weight = json.loads((tmp_path / "out.recoding.json").read_text())["attributes"][0]
    assert weight["scale"] == {"kind": "number", "unit": "", "timezone": None, "comma": True}
    (tmp_path / "new.csv").write_text("weight;sex;price\n55.25;f;1\n")
    with pytest.raises(DataError, match=r"column 'weight' holds '55\.25', which is not a number"):
        incrowd.apply(tmp_path / "out.recoding.json", tmp_path / "new.csv")


def test_what_is_inspected_can_be_released(folder, tmp_path):
    found, other = (incrowd.inspect(folder / f"{mark}.csv").column("weight") for mark in ("comma", "point"))
    assert found.kind == "number"
    assert [text for _, text in found.quantiles] == [text.replace(".", ",") for _, text in other.quantiles]
    assert found.hierarchy.words == other.hierarchy.words
    policy = tmp_path / "release.toml"
    assert run("inspect", folder / "comma.csv", "--write", policy).exit_code == 0
    made = run("anonymize", folder / "comma.csv", "-o", tmp_path / "out.csv", "--policy", policy)
    assert made.exit_code == 0


def test_classifiers_see_numbers(folder):
    words = {**WORDS, "target": "sex", "quasi_identifiers": ["weight"], "method": "tdr", "split": 0.5}
    found = [incrowd.evaluate(folder / f"{mark}.csv", **words).to_json() for mark in ("comma", "point")]
    assert found[0]["errors"] == found[1]["errors"]


@pytest.mark.parametrize("values", [["3,5", "4,5"], ["1,234", "950"]])
def test_where_commas_are_not_expected_a_note_says_what_to_declare(values):
    table = pa.table({"cost": values * 5})
    words = {"quasi_identifiers": ["cost"], "k": 5, "method": "tdr"}
    assert any("decimal commas, declare its type as comma" in note for note in incrowd.anonymize(table, **words).notes)
    assert incrowd.anonymize(table, types={"cost": "comma"}, **words).notes == ()
    assert incrowd.anonymize(table, types={"cost": "text"}, **words).notes == ()
    plain = pa.table({"cost": ["a,b", "3,5"] * 5})
    assert incrowd.anonymize(plain, **words).notes == ()


COUNTED = [
    {"target": "price"},
    {"sensitive": {"price": {"t": 0.25}}},
    {"sensitive": {"price": {"l": 3, "bins": [20, 50.5]}}},
    {"sensitive": {"price": {"entropy_l": 2.5}}, "target": "price"},
]


@pytest.mark.parametrize(("words", "method", "engine"), spread(COUNTED, ["tdr", "mondrian", "cover"], LOCAL))
def test_targets_and_sensitive_columns_are_those_of_the_same_numbers_with_a_point(folder, words, method, engine):
    words = {**ASKED, **words, "method": method, "engine": engine}
    expected = incrowd.anonymize(folder / "point.csv", **words)
    release = incrowd.anonymize(folder / "comma.csv", **words)
    assert release.notes == expected.notes
    assert release.policy.types == {"price": "comma"}
    assert cells(release.data, comma=False) == cells(expected.data, comma=True)
    assert release.measures.to_json() == expected.measures.to_json()
    reached, wanted = (
        [model["worst"] for model in each.certificate.verification["quasi_identifiers"][0]["models"]]
        for each in (release, expected)
    )
    assert reached == pytest.approx(wanted)


def test_whoever_verifies_counts_the_same_numbers(folder, tmp_path):
    words = {"sensitive": {"price": {"t": 0.25}}}
    release = incrowd.anonymize(folder / "comma.csv", **ASKED, **words, method="mondrian")
    reached = release.certificate.verification["quasi_identifiers"][0]["models"][1]["worst"]
    for name in ("out.csv", "out.parquet"):  # a Parquet file does not show by itself what its commas are
        (tmp_path / "out.csv").unlink(missing_ok=True)  # its certificate is not replaced while it is there
        release.write(tmp_path / name, overwrite=True)
        checked = incrowd.check_certificate(tmp_path / "out.certificate.json", tmp_path / name)
        assert checked.holds
        assert checked.verification.findings[0].models[1].worst == reached
    release.write(tmp_path / "alone.csv")
    verified = incrowd.verify(tmp_path / "alone.csv", **WORDS, **words)
    assert verified.findings[0].models[1].worst == reached
    counted = incrowd.verify(tmp_path / "alone.csv", quasi_identifiers=["weight", "sex"], sensitive=["price"])
    assert any(model.worst == reached and model.name == "t-closeness" for model in counted.findings[0].models)
    report = tmp_path / "report.json"
    release.report(report)
    policy = tmp_path / "policy.toml"
    policy.write_text(json.loads(report.read_text())["done"]["policy"])
    made = run("anonymize", folder / "comma.csv", "-o", tmp_path / "again.csv", "--policy", policy)
    assert made.exit_code == 0, made.stderr


def test_a_harmless_value_and_a_group_are_written_as_in_the_table(tmp_path):
    (tmp_path / "bills.csv").write_text("sex;cost\n" + "f;0,00\nf;0,00\nm;1.250,50\nm;990,25\nm;3,10\n" * 4)
    words = {"quasi_identifiers": ["sex"], "k": 2, "method": "tdr"}
    harmless = incrowd.anonymize(
        tmp_path / "bills.csv", **words, sensitive={"cost": {"l": 2, "harmless": ["0,00"]}}
    ).data.column("sex")
    assert set(harmless.to_pylist()) == {"f", "m"}
    grouped = incrowd.anonymize(
        tmp_path / "bills.csv",
        **words,
        sensitive={"cost": {"l": 2, "groups": {"high": ["1.250,50", "990,25", "3,10"]}}},
    ).data.column("sex")
    assert set(grouped.to_pylist()) == {"*"}


def test_what_could_be_thousands_counts_as_text_unless_it_is_declared(tmp_path):
    (tmp_path / "bills.csv").write_text("sex;cost\n" + "f;950\nf;1,234\nm;2,500\nm;700\n" * 5)
    words = {"quasi_identifiers": ["sex"], "k": 2, "method": "tdr"}
    for more in ({"target": "cost"}, {"sensitive": ["cost"], "t": 0.5}):
        said = "column 'cost' counts as text, each value for itself; if its commas are decimal commas, declare"
        assert any(said in note for note in incrowd.anonymize(tmp_path / "bills.csv", **words, **more).notes)
        for kind in ("comma", "text"):
            release = incrowd.anonymize(tmp_path / "bills.csv", **words, **more, types={"cost": kind})
            assert not any(said in note for note in release.notes)
    with pytest.raises(PolicyError, match="its type is comma or text"):
        incrowd.anonymize(tmp_path / "bills.csv", **words, target="cost", types={"cost": "number"})


def test_a_target_of_numbers_is_predicted_as_ranges(folder):
    words = {"quasi_identifiers": ["weight", "sex"], "k": 4, "target": "price", "method": "tdr", "split": 0.5}
    found = [incrowd.evaluate(folder / f"{mark}.csv", **words).to_json() for mark in ("comma", "point")]
    assert found[0]["errors"] == found[1]["errors"]


def test_settings_are_compared_by_the_same_numbers(folder):
    words = {"quasi_identifiers": ["weight", "sex"], "sensitive": ["price"], "t": 0.25, "methods": ["tdr"], "ks": [4]}
    found = [incrowd.compare(folder / f"{mark}.csv", **words).runs[0] for mark in ("comma", "point")]
    assert found[0].value("ncp") == found[1].value("ncp") < 1
