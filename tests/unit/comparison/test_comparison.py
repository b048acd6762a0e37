"""A comparison: what a run tells, what is dominated, what is kept when it is interrupted, and its files."""

import csv
import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from xml.etree import ElementTree

import pandas as pd
import pytest
from tests.faults.processes import started
from typer.testing import CliRunner

import incrowd
from incrowd.cli import app
from incrowd.comparison.comparison import Comparison, comparison_of, settings_of
from incrowd.comparison.runs import RunLog, SettingRun, key_of
from incrowd.errors import CancelledError, PolicyError, UnknownNameError
from incrowd.formats.registry import open_source
from incrowd.key import Key
from incrowd.measures.registry import release_values
from incrowd.policy.making import make_policy
from incrowd.run import Amount, Rows, Run, Stage
from incrowd.taxonomies.number_rules import Intervals

QI = ["age", "sex", "job"]
COMMAND = "from incrowd.cli import main; main()"


@pytest.fixture
def folder(workplace):
    """A folder with 400 people."""
    draw = random.Random(5)
    rows = [
        f"{draw.randint(20, 69)},{draw.choice('fm')},{draw.choice(['clerk', 'nurse', 'smith'])},"
        f"{draw.choice(['low', 'high'])}"
        for _ in range(400)
    ]
    (workplace / "people.csv").write_text("\n".join(["age,sex,job,income", *rows]) + "\n")
    return workplace


def compare(*arguments, methods="tds,bug", ks="5,20", qi="age,sex,job"):
    words = ["compare", "people.csv", "-o", "out", "--qi", qi, "--target", "income"]
    words += ["--methods", methods, "--ks", ks, *arguments]
    return CliRunner().invoke(app, words)


def logged(folder):
    return [json.loads(line) for line in (folder / "out" / "runs.jsonl").read_text().splitlines()]


def run(method, k, **values):
    return SettingRun(f"{method} {k}", method, k, {}, "done", values=values)


def test_a_setting_is_dominated_by_one_with_at_least_its_k_and_less_loss():
    runs = (run("a", 5, ncp=0.2), run("b", 5, ncp=0.1), run("a", 10, ncp=0.1), run("b", 10, ncp=0.3), run("c", 50))
    comparison = Comparison("t", "", runs)
    found = [comparison.dominated_by(each, "ncp") for each in runs]
    assert [str(each) for each in found] == ["a k=10", "a k=10", "None", "a k=10", "None"]
    assert comparison.losses == ("ncp",)


def test_settings_that_lose_the_same_do_not_dominate_each_other():
    comparison = Comparison("t", "", (run("a", 5, dm=7), run("b", 5, dm=7)))
    assert [comparison.dominated_by(each, "dm") for each in comparison.runs] == [None, None]


@pytest.mark.parametrize("method", ["bug", "kaca"])
@pytest.mark.parametrize("read", [str, pd.read_csv])
def test_a_run_measures_what_the_release_measures(folder, method, read):
    words = {"quasi_identifiers": QI, "target": "income"}
    comparison = incrowd.compare(read("people.csv"), methods=method, ks=[5], **words)
    release = incrowd.anonymize(read("people.csv"), method=method, k=5, **words)
    total, values = release.measures.total, comparison.runs[0].values
    assert (values["dm"], values["ncp"], values["cm"]) == (
        total.dm,
        total.ncp,
        total.cm,
    )
    assert (values["c_avg"], values["suppressed"]) == (total.c_avg, 0)
    assert (values["median_class"], values["largest_class"]) == (total.median_class, total.largest_class)
    assert values["anonymity"] == total.anonymity >= 5
    assert values["megabytes"] > 20
    assert values["seconds"] > 0
    assert comparison.runs[0].policy["method"] == method
    assert values["cm"] is not None


def test_a_dataframe_and_options_of_methods(folder):
    comparison = incrowd.compare(
        pd.read_csv("people.csv"),
        methods=["bug", "bug:information=ncp"],
        ks=[5],
        quasi_identifiers=QI,
        target="income",
        tighten=True,
    )
    assert [each.policy.get("information") for each in comparison.runs] == [None, "ncp"]
    assert [each.policy["tighten"] for each in comparison.runs] == [True, True]


def test_methods_may_be_one_text_and_their_options_are_read_by_themselves():
    policies = {5: make_policy(quasi_identifiers=QI, k=5)}
    text = "tds, bug:restarts=2:tighten=yes:suppress=0.05,optimal:scheme=gsps:prunings=bound, tds"
    settings = settings_of(text, policies)
    assert [(setting.method, setting.policy.method, setting.policy.options) for setting in settings] == [
        ("tds", "tds", {}),
        ("bug:restarts=2:tighten=yes:suppress=0.05", "bug", {"restarts": 2, "tighten": True, "suppress": 0.05}),
        ("optimal:scheme=gsps:prunings=bound", "optimal", {"scheme": "gsps", "prunings": "bound"}),
    ]
    assert settings_of(text.split(","), policies) == settings


@pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")
def test_microaggregation_and_generalization_are_compared_at_once(folder):
    """Each form is that of its method alone, and replaces the hierarchy that the others have."""
    words = {"quasi_identifiers": ["age", "sex"], "taxonomies": {"age": Intervals(widths=(10, 30))}}
    texts = ["incognito", "cover", "cover:form=age=mean", "cover:form=age=median:5"]
    comparison = incrowd.compare("people.csv", methods=texts, ks=[5], **words)
    assert [run.problem for run in comparison.runs] == [None] * 4
    lost = [run.value("sse_sst") for run in comparison.runs]
    for run, form in zip(comparison.runs[2:], ["mean", "median:5"], strict=True):
        asked = {"quasi_identifiers": ["age", "sex"], "k": 5, "method": "cover", "form": {"age": form}}
        release = incrowd.anonymize("people.csv", **asked, key=Key.for_experiments(0))
        assert release_values(release.table, release.found.recoding)["sse_sst"] == pytest.approx(run.value("sse_sst"))
    assert lost[2] < min(lost[:2])


@pytest.mark.parametrize(("text", "message"), [("cover:form=mean", "age=mean"), ("cover:form=age=max", "mean, median")])
def test_a_form_that_is_none_is_refused(text, message):
    with pytest.raises(PolicyError, match=message):
        settings_of(text, {5: make_policy(quasi_identifiers=QI, k=5)})


def test_what_happens_is_told_to_the_run(folder):
    events = []
    settings = settings_of("tds", {k: make_policy(quasi_identifiers=QI, k=k) for k in (5, 20)})
    words = {"log": folder / "runs.jsonl", "run": Run(events.append)}
    first = comparison_of(open_source("people.csv"), settings, **words)
    done = [Stage("reading"), Rows(400), Stage("tds k=5"), Amount(0, 2, "runs")]
    done += [Stage("tds k=20"), Amount(1, 2, "runs"), Amount(2, 2, "runs")]
    assert events == done
    events.clear()
    again = comparison_of(open_source("people.csv"), settings, **words)  # out of the log
    assert [each.values for each in again.runs] == [each.values for each in first.runs]
    assert events == [Amount(2, 2, "runs")]


def test_a_comparison_that_is_cancelled_ends_between_runs(folder):
    def watch(event):
        if event == Stage("tds k=5"):
            run.cancel()

    run = Run(watch)
    settings = settings_of("tds", {k: make_policy(quasi_identifiers=QI, k=k) for k in (5, 20)})
    with pytest.raises(CancelledError):
        comparison_of(open_source("people.csv"), settings, log=folder / "runs.jsonl", run=run)
    assert [json.loads(line)["k"] for line in (folder / "runs.jsonl").read_text().splitlines()] == [5]


def test_an_option_goes_to_the_methods_that_take_it():
    policies = {5: make_policy(quasi_identifiers=QI, k=5, options={"max_steps": 3})}
    settings = settings_of(["tds", "bug"], policies)
    assert [setting.policy.options for setting in settings] == [{"max_steps": 3}, {}]
    with pytest.raises(UnknownNameError, match="no option 'max_steps' in any of the methods"):
        settings_of(["bug"], policies)


@pytest.mark.parametrize(
    ("methods", "qi", "message"),
    [
        ("tdz", QI, "no method 'tdz'; did you mean 'tds'"),
        ("bug:", QI, "must look like cover:objective=dm"),
        ("bug:restarts=-1", QI, "'restarts' parameter must be an integer of at least 0. Got -1."),
        ("bug:restarts=some", QI, "'restarts' parameter must be an integer of at least 0. Got 'some'."),
        ("bug:max_steps=3", QI, "The method 'bug' has no option 'max_steps'; it is an option of tdr, tds"),
        ("bug:restart=3", QI, "no option 'restart' in method 'bug'; did you mean 'restarts'"),
        ([], QI, "at least one method and one k"),
        ("bug", [{"attributes": QI, "k": 4}], "has its own k"),
    ],
)
def test_what_cannot_be_compared(methods, qi, message):
    with pytest.raises(PolicyError, match=message):
        settings_of(methods, {k: make_policy(quasi_identifiers=qi, k=k) for k in (5, 10)})


def test_a_single_k_is_refused():
    with pytest.raises(PolicyError, match="Give the values to compare as 'ks'"):
        incrowd.compare("people.csv", methods="tdr", ks=[2], k=2, quasi_identifiers=["age"])


def test_the_key_of_a_run_tells_policies_and_taxonomies_apart():
    trees = [None, {"sex": incrowd.Taxonomy.flat(["f", "m"])}, {"sex": incrowd.Taxonomy.flat(["f", "m", "x"])}]
    policies = [make_policy(quasi_identifiers=QI, k=5, taxonomies=tree) for tree in trees]
    policies += [replace(policies[0], method="bug"), replace(policies[0], keep_order=True)]
    keys = [key_of(policy, input="a") for policy in policies] + [key_of(policies[0], input="b")]
    assert len(set(keys)) == len(keys)
    assert key_of(make_policy(quasi_identifiers=QI, k=5), input="a") == keys[0]


def test_a_log_survives_a_line_that_was_cut_off(tmp_path):
    path = tmp_path / "runs.jsonl"
    RunLog(path).add(run("a", 5, ncp=0.2))
    with path.open("a") as file:
        file.write('{"key": "b 5", "meth')
    RunLog(path).add(run("c", 5, ncp=0.1))
    assert list(RunLog(path).runs) == ["a 5", "c 5"]


@pytest.mark.parametrize(
    ("status", "allowed", "now", "final"),
    [
        ("done", 5, None, True),
        ("failed", None, None, False),
        ("time limit", 5, 5, True),
        ("time limit", 5, 6, False),
        ("time limit", 5, None, False),
    ],
)
def test_what_need_not_be_done_again(status, allowed, now, final):
    assert replace(run("a", 5), status=status, time_limit=allowed).is_final(now) is final


def test_the_command_writes_its_results_and_goes_on_where_it_was(folder):
    first = compare(ks="5")
    assert first.exit_code == 0, first.stderr
    second = compare()
    assert second.exit_code == 0, second.stderr
    assert len(logged(folder)) == 4  # those with k=5 were not done again
    with (folder / "out" / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["method"], row["k"]) for row in rows] == [("tds", "5"), ("tds", "20"), ("bug", "5"), ("bug", "20")]
    results = json.loads((folder / "out" / "results.json").read_text())
    assert [each["values"]["ncp"] for each in results["runs"]] == [float(row["ncp"]) for row in rows]
    for row, each in zip(rows, results["runs"], strict=True):
        assert row["ncp_dominated_by"] == each["dominated_by"].get("ncp", "")
    plot = (folder / "out" / "privacy-utility.svg").read_text()
    assert ElementTree.fromstring(plot).tag.endswith("svg")
    assert plot.count('class="front"') == sum(name.endswith("_dominated_by") for name in rows[0])
    assert "var(" not in plot  # which not every viewer knows
    assert "not dominated" in second.stdout
    for name in ("results.json", "runs.jsonl"):  # digests of the table, which would confirm guesses
        assert (folder / "out" / name).stat().st_mode & 0o777 == 0o600
    assert compare("--again", ks="5", methods="tds").exit_code == 0
    assert len(logged(folder)) == 5


def test_a_run_that_fails_says_why_and_is_not_fatal(folder):
    done = compare("--qi", "age,job:7", "--json", methods="tds,kaca", ks="5,401")
    assert done.exit_code == 0, done.stderr
    runs = json.loads(done.stdout)["result"]["runs"]
    assert [each["status"] for each in runs] == ["done", "failed", "failed", "failed"]
    assert "the table has 400 records" in runs[1]["problem"]
    assert "takes only one quasi-identifier" in runs[2]["problem"]


def test_a_run_has_a_time_limit(folder):
    done = compare("--time-limit-per-run", "1e-9", ks="5", methods="tds")
    assert done.exit_code == 0, done.stderr
    assert "tds k=5: time limit: stopped after 1e-09 s" in done.stdout
    assert compare("--time-limit-per-run", "0", ks="5").exit_code == 2
    assert compare(ks="5", methods="tds").exit_code == 0
    assert [each["status"] for each in logged(folder)] == ["time limit", "done"]


def test_classifiers_are_tested_if_asked_for(folder):
    done = compare("--evaluate", "--classifier", "tree", "--json", ks="5", methods="tds")
    assert done.exit_code == 0, done.stderr
    (found,) = json.loads(done.stdout)["result"]["runs"]
    words = {"quasi_identifiers": QI, "k": 5, "target": "income", "method": "tds"}
    expected = incrowd.evaluate("people.csv", classifiers=["tree"], **words)
    assert found["errors"] == [errors.to_json() for errors in expected.errors]
    shown = compare("--evaluate", "--classifier", "tree", ks="5", methods="tds").stdout  # out of the log
    assert "without the quasi-identifiers" in shown


def test_attackers_are_played_if_asked_for(folder):
    words = ("--sensitive", "income", "--attack")
    done = compare(*words, methods="mondrian,bug", ks="5")
    assert done.exit_code == 0, done.output
    assert "worst excess" in done.stdout
    fine, coarse = (entry["values"]["worst_excess"] for entry in logged(folder))
    assert fine > 0.05  # crowds of five give away much of what is random
    assert fine > coarse
    assert "worst_excess" not in {**run("a", 5, ncp=0.2).values}
    compare("--sensitive", "income", methods="mondrian,bug", ks="5")  # without attackers, it is another run
    assert len(logged(folder)) == 4


def test_a_target_of_numbers_is_predicted_as_one_by_default(folder):
    words = ["--qi", "sex,job", "--k", "5", "--target", "age", "--method", "mondrian", "--json"]
    alone = CliRunner().invoke(app, ["evaluate", "people.csv", *words])
    assert alone.exit_code == 0, alone.stderr
    words = {"quasi_identifiers": ["sex", "job"], "target": "age", "evaluate": True}
    (run,) = incrowd.compare("people.csv", methods="mondrian", ks=[5], **words).runs
    expected = incrowd.evaluate("people.csv", quasi_identifiers=["sex", "job"], k=5, target="age", method="mondrian")
    assert [errors.classifier for errors in expected.errors] == ["tree", "linear"]
    told = json.loads(alone.stdout)["result"]["errors"]
    assert list(run.errors) == [errors.to_json() for errors in expected.errors] == told


def test_files_of_others_are_left_alone(folder):
    (folder / "out").mkdir()
    (folder / "out" / "results.csv").write_text("mine")
    done = compare()
    assert done.exit_code == 1
    assert "results.csv already exists" in done.stderr
    assert [path.name for path in (folder / "out").iterdir()] == ["results.csv"]


@pytest.mark.parametrize("ks", ["", "five", "5;6", "1"])
def test_ks_that_are_none(folder, ks):
    assert compare(ks=ks).exit_code == 2
    assert not (folder / "out").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interruption_keeps_what_is_finished(folder):
    words = ["compare", "people.csv", "-o", "out", "--qi", "age,sex,job", "--methods", "tds", "--ks"]
    words.append(",".join(str(k) for k in range(2, 400)))
    process = started([sys.executable, "-c", COMMAND, *words], stderr=subprocess.PIPE)
    log, until = folder / "out" / "runs.jsonl", time.monotonic() + 60
    while process.poll() is None and time.monotonic() < until and not (log.exists() and log.read_text()):
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert complaint == "error: interrupted; finished runs are kept in out; run the same command again to continue\n"
    assert 1 <= len(logged(folder)) < 398
