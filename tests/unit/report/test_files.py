"""Reports as files: what the suffix means, who may read them, and what is read back."""

import json
import stat
import sys

import pyarrow as pa
import pyarrow.csv
import pytest
from tests.command_line import run

import incrowd
from incrowd.errors import DataError, OutputError
from incrowd.report import files
from incrowd.report.schema import read_summary

pytestmark = pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")  # risks are not the point here

PEOPLE = pa.table({"age": [20, 21, 30, 31] * 5, "sex": ["f", "m"] * 10, "ill": ["flu", "cold", "flu", "ache"] * 5})


@pytest.fixture(scope="module")
def release():
    return incrowd.anonymize(PEOPLE, quasi_identifiers=["age", "sex"], k=4, sensitive=["ill"], method="tdr")


@pytest.fixture
def people(tmp_path):
    pa.csv.write_csv(PEOPLE, tmp_path / "people.csv")
    return tmp_path / "people.csv"


@pytest.mark.parametrize("suffix", ["html", "md", "json"])
@pytest.mark.parametrize("public", [False, True])
def test_the_suffix_says_what_it_is(release, tmp_path, suffix, public):
    path = release.report(tmp_path / f"report.{suffix}", public=public)
    text = path.read_text(encoding="utf-8")
    assert text.startswith({"html": "<!DOCTYPE html>", "md": "# Release", "json": "{"}[suffix])
    if sys.platform != "win32":
        assert (stat.S_IMODE(path.stat().st_mode) == 0o600) == (not public)
    with pytest.raises(OutputError, match="exists"):
        release.report(path, public=public)
    release.report(path, public=public, overwrite=True)


def test_other_suffixes_are_refused(release, tmp_path):
    with pytest.raises(OutputError, match=r"use \.html or \.md or \.json"):
        release.report(tmp_path / "report.pdf")


def test_a_json_report_is_read_back_unless_it_was_changed(release, tmp_path):
    path = release.report(tmp_path / "report.json", public=True)
    assert read_summary(path)["reader"] == "public"
    data = json.loads(path.read_text())
    data["safe"]["records"] += 1
    path.write_text(json.dumps(data))
    with pytest.raises(DataError, match="was changed"):
        read_summary(path)


def test_what_classifiers_err_is_shown_if_it_was_tried(tmp_path):
    words = {"quasi_identifiers": ["age", "sex"], "k": 4, "target": "ill", "method": "tdr"}
    release = incrowd.anonymize(PEOPLE, **words)
    path = release.report(tmp_path / "report.json", evaluation=incrowd.evaluate(PEOPLE, **words))
    errors = read_summary(path)["cost"]["errors"]
    assert [each["classifier"] for each in errors] == ["tree", "bayes"]
    assert 0 <= errors[0]["released"]["value"] <= 1
    page = release.report(tmp_path / "report.html", evaluation=incrowd.evaluate(PEOPLE, **words))
    assert "Error of tree" in page.read_text()


class TestTogether:
    """A release and its reports appear together, or none of them does."""

    def test_in_python(self, release, tmp_path):
        words = {"report": tmp_path / "own.json", "public_report": tmp_path / "anyone.json"}
        certificate = release.write(tmp_path / "release.csv", **words)
        for name in ("own.json", "anyone.json"):
            assert read_summary(tmp_path / name)["check"]["release"] == certificate.output
        with pytest.raises(OutputError, match="exists"):
            release.write(tmp_path / "other.csv", **words)
        assert not (tmp_path / "other.csv").exists()

    def test_in_the_confidential_folder(self, release, tmp_path):
        own = tmp_path / "release.confidential" / "report.html"
        release.write(tmp_path / "release.csv", report=own)
        assert own.exists()
        assert stat.S_IMODE(own.parent.stat().st_mode) == 0o700
        release.write(tmp_path / "release.csv", report=own, overwrite=True)
        with pytest.raises(OutputError, match="suffix"):
            release.write(tmp_path / "other.csv", report=tmp_path / "other.confidential" / "report.pdf")

    @pytest.mark.parametrize("name", ["own.html", "release.certificate.json"])
    def test_no_file_is_written_twice(self, release, tmp_path, name):
        with pytest.raises(OutputError, match="would be written twice"):
            release.write(tmp_path / "release.csv", report=tmp_path / "own.html", public_report=tmp_path / name)
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize("public", [False, True])
    def test_nothing_appears_if_a_report_fails(self, release, tmp_path, monkeypatch, public):
        summary_of = files.summary_of

        def fails(release, *, for_public, **words):
            if for_public == public:
                raise RuntimeError("no report")
            return summary_of(release, for_public=for_public, **words)

        monkeypatch.setattr(files, "summary_of", fails)
        with pytest.raises(RuntimeError, match="no report"):
            release.write(tmp_path / "release.csv", report=tmp_path / "own.md", public_report=tmp_path / "anyone.md")
        assert not list(tmp_path.iterdir())

    def test_an_evaluation_is_shown(self, tmp_path):
        words = {"quasi_identifiers": ["age", "sex"], "k": 4, "target": "ill", "method": "tdr"}
        found = incrowd.evaluate(PEOPLE, **words)
        incrowd.anonymize(PEOPLE, **words).write(tmp_path / "r.csv", report=tmp_path / "r.json", evaluation=found)
        assert len(read_summary(tmp_path / "r.json")["cost"]["errors"]) == 2


class TestCommands:
    def test_report_with_an_evaluation(self, people, tmp_path):
        words = ["--qi", "age,sex", "--k", "4", "--target", "ill", "--method", "tdr", "--evaluate"]
        done = run("report", people, *words, "--folds", "3", "--classifier", "bayes", "-o", tmp_path / "report.json")
        assert done.exit_code == 0, done.output
        (errors,) = read_summary(tmp_path / "report.json")["cost"]["errors"]
        assert errors["classifier"] == "bayes"
        refused = run("report", people, *words, "--public", "-o", tmp_path / "public.json")
        assert refused.exit_code == 2
        assert "leave one of them out" in refused.stderr

    def test_report(self, people, tmp_path):
        done = run("report", people, "--qi", "age,sex", "--k", "4", "-o", tmp_path / "report.html")
        assert done.exit_code == 0, done.output
        assert "for you alone" in done.stderr
        assert "people.csv" in (tmp_path / "report.html").read_text()
        assert not list(tmp_path.glob("*.certificate.json"))

    def test_report_for_anyone(self, people, tmp_path):
        done = run("report", people, "--qi", "age,sex", "--k", "4", "--public", "-o", tmp_path / "report.md")
        assert done.exit_code == 0, done.output
        assert "people.csv" not in (tmp_path / "report.md").read_text()

    def test_anonymize_with_both_reports(self, people, tmp_path):
        own, anyone, out = tmp_path / "own.html", tmp_path / "anyone.json", tmp_path / "release.csv"
        words = ["--qi", "age,sex", "--k", "4", "--report", own, "--public-report", anyone]
        done = run("anonymize", people, "-o", out, *words)
        assert done.exit_code == 0, done.output
        certificate = json.loads((tmp_path / "release.certificate.json").read_text())
        assert read_summary(anyone)["check"]["release"] == certificate["output"]
        assert certificate["output"] in own.read_text()
        again = run("anonymize", people, "-o", tmp_path / "other.csv", *words)
        assert again.exit_code == 1
        assert not (tmp_path / "other.csv").exists()  # checked before any work

    def test_a_report_must_not_replace_the_table(self, people, tmp_path):
        table = people.rename(tmp_path / "people.json")
        done = run("report", table, "--qi", "age,sex", "--k", "4", "-o", table, "--overwrite")
        assert done.exit_code != 0
        assert table.read_text().startswith('"age"')


class TestOtherReports:
    """Inspection, comparison and evaluation as pages of their own."""

    def page(self, path):
        text = path.read_text(encoding="utf-8")
        assert "Confidential" in text
        assert "default-src 'none'" in text
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        return text

    def test_inspect(self, people, tmp_path):
        done = run("inspect", people, "--report", tmp_path / "page.html")
        assert done.exit_code == 0, done.output
        assert "people.csv: 20 records" in self.page(tmp_path / "page.html")
        again = run("inspect", people, "--report", tmp_path / "page.html")
        assert again.exit_code == 1

    def test_compare(self, people, tmp_path):
        words = ["--qi", "age,sex", "--methods", "tdr,mondrian", "--ks", "3,4", "-o", tmp_path / "folder"]
        done = run("compare", people, *words, "--report", tmp_path / "page.html")
        assert done.exit_code == 0, done.output
        assert self.page(tmp_path / "page.html").count("<circle") >= 4

    def test_evaluate(self, people, tmp_path):
        words = ["--qi", "age,sex", "--k", "3", "--target", "ill", "--method", "tdr"]
        done = run("evaluate", people, *words, "--report", tmp_path / "page.html")
        assert done.exit_code == 0, done.output
        assert "Error of tree" in self.page(tmp_path / "page.html")
        done = run("evaluate", people, *words, "--report", tmp_path / "page.json")
        assert json.loads((tmp_path / "page.json").read_text())["incrowd"] == "evaluation"
