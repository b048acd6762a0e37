"""Evaluation: errors and their intervals, features of released values, both protocols, and the Adult data."""

import json
import random

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

import incrowd
from incrowd.cli import app
from incrowd.errors import DataError, IncrowdError, PolicyError, TimeLimitError, UnknownNameError
from incrowd.evaluation import rows
from incrowd.evaluation.estimates import difference_of, error_of
from incrowd.evaluation.features import features_of, scales_of, told_features
from incrowd.evaluation.rows import PROTOCOLS, drawn_parts, join, released_rows, with_recoded
from incrowd.evaluation.trial import Trial
from incrowd.formats.registry import open_source
from incrowd.key import Key
from incrowd.policy.making import make_policy
from incrowd.release.release import release_of
from incrowd.run import Run
from incrowd.table.scales import Scale

INTEGER, NUMBER, DATE = Scale("integer"), Scale("number"), Scale("date")
TOP7 = ["capital-gain", "age", "marital-status", "education-num", "relationship", "hours-per-week", "sex"]


def mistakes(wrong, rows):
    return np.arange(rows) < wrong


@pytest.fixture
def people():
    """600 people whose income depends on age and sex, hardly on their shirt."""
    draw = random.Random(3)
    rows = [(draw.randint(20, 79), draw.choice("fm"), draw.choice(["red", "green", "blue"])) for _ in range(600)]
    income = ["high" if age >= 50 or (sex == "m" and shirt == "red") else "low" for age, sex, shirt in rows]
    return pd.DataFrame(rows, columns=["age", "sex", "shirt"]).assign(income=income)


def test_the_interval_of_one_test_part_is_wilsons():
    error = error_of([mistakes(10, 100)])
    assert (error.value, round(error.low, 4), round(error.high, 4)) == (0.1, 0.0552, 0.1744)
    assert error_of([mistakes(0, 50)]).low == 0


def test_a_difference_is_paired_by_row():
    difference = difference_of([mistakes(10, 100)], [mistakes(6, 100)])
    assert round(difference.value, 6) == 0.04
    assert round(difference.high - difference.value, 4) == round(1.96 * (0.04 * 0.96 / 100) ** 0.5, 4)
    assert difference_of([mistakes(10, 100)], [mistakes(10, 100)]).high == 0


def test_the_interval_of_folds_is_students():
    error = error_of([mistakes(wrong, 10) for wrong in (1, 2, 3)])
    assert round(error.value, 6) == 0.2
    assert round(error.high - error.value, 4) == round(4.3027 * 0.1 / 3**0.5, 4)


@pytest.mark.parametrize(
    ("label", "scale", "number"),
    [
        ("37", INTEGER, 37),
        ("[30-40)", INTEGER, 34.5),
        ("[30-40]", INTEGER, 35),
        ("<28", INTEGER, 27),
        (">=60", INTEGER, 60),
        ("[-5 to 5)", INTEGER, -0.5),
        ("[0.5-1.5)", NUMBER, 1.0),
        ("<0.5", NUMBER, 0.5),
        ("[1970-01-01 to 1970-01-11)", DATE, 4.5),
        ("*", INTEGER, float("nan")),
        ("known", INTEGER, float("nan")),
    ],
)
def test_the_middle_of_a_released_interval(label, scale, number):
    assert scale.middle(label) == number or (number != number and scale.middle(label) != scale.middle(label))


def test_features_are_numbers_or_categories():
    table = pa.table(
        {"age": ["[20-30)", "<20", None, "*"], "sex": ["f", "m", None, "f"], "odd": ["teens", "7", "8", "9"]}
    )
    scales = {"age": INTEGER, "odd": INTEGER}
    features = features_of(table, ["age", "sex", "odd"], (), scales)
    assert features.numeric.tolist() == [True, False, False]
    np.testing.assert_array_equal(features.matrix[:, 0], [24.5, 19, np.nan, np.nan])
    assert features.matrix[:, 1].tolist() == [0, 1, -1, 0]
    table = pa.table({"a": ["1", "2", "?"], "b": ["01", "02", "03"], "c": [1.5, None, 2.0], "d": ["x", "1", "2"]})
    assert {name: scale.kind for name, scale in scales_of(table, "abcd", ("?",), {}).items()} == {
        "a": "integer",
        "c": "number",
    }


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("design", [{"split": 0.4}, {"folds": 3}])
def test_a_release_that_says_nothing_errs_like_no_quasi_identifiers(people, protocol, design):
    found = incrowd.evaluate(
        people,
        quasi_identifiers=["age", "sex"],
        k=5,
        target="income",
        protocol=protocol,
        method="tdr",
        max_steps=0,
        **design,
    )
    for errors in found.errors:
        assert errors.anonymity == errors.upper
        assert errors.quality_loss == errors.impact
        assert errors.baseline.value < 0.1 < errors.upper.value


@pytest.mark.parametrize("protocol", ["original", "apply", "together"])
@pytest.mark.parametrize("intervals", ["midpoints", "bounds", "categories"])
def test_a_release_for_the_target_errs_less_than_no_quasi_identifiers(people, protocol, intervals):
    found = incrowd.evaluate(
        people, quasi_identifiers=["age", "sex"], k=20, target="income", protocol=protocol, intervals=intervals
    )
    for errors in found.errors:
        assert errors.anonymity.value < errors.upper.value - 0.1
        assert errors.quality_loss.value < 0.13
        assert (errors.recoded is not None) == (protocol == "original")


@pytest.mark.parametrize("intervals", ["midpoints", "categories"])
def test_rows_recoded_in_one_way_are_mistaken_like_the_release_of_all_rows(people, intervals):
    policy = make_policy(quasi_identifiers=["age", "sex"], k=20, target="income", method="tdr")
    source = open_source(people)
    trial = Trial.of(source, policy, folds=3)
    found = trial.recoded(release_of(source, policy).recoding, policy, intervals=intervals)
    told = trial.evaluate(policy, protocol="together", intervals=intervals)
    assert {each.classifier: each.anonymity for each in told.errors} == {n: error_of(m) for n, m in found.items()}


@pytest.mark.parametrize("protocol", ["original", "apply", "together"])
def test_a_local_recoding_can_be_evaluated(people, protocol):
    taxonomies = {"age": incrowd.Intervals((10, 20))}
    words = {"quasi_identifiers": ["age", "sex"], "k": 10, "target": "income", "taxonomies": taxonomies}
    found = incrowd.evaluate(people, method="kaca", protocol=protocol, classifiers="tree", **words)
    assert found.left_out == 0
    assert found["tree"].anonymity.value < found["tree"].upper.value


def test_values_that_are_all_shown_cost_nothing(people):
    found = incrowd.evaluate(people, quasi_identifiers=["sex", "shirt"], k=5, target="income", folds=3)
    assert all(errors.anonymity == errors.baseline for errors in found.errors)


@pytest.mark.parametrize("folds", [None, 3])
def test_beside_unseen_original_rows_are_those_recoded_as_in_the_papers(people, folds):
    words = {"quasi_identifiers": ["age", "sex"], "k": 20, "target": "income", "method": "mondrian", "folds": folds}
    found, papers = (incrowd.evaluate(people, protocol=protocol, **words) for protocol in ("original", "apply"))
    assert [errors.recoded for errors in found.errors] == [errors.anonymity for errors in papers.errors]
    assert [errors.anonymity for errors in found.errors] != [errors.anonymity for errors in papers.errors]


def test_a_model_is_told_which_values_a_released_one_covers():
    """After a local method released values overlap: each is a column with the share of a row that lies in it."""
    tree = incrowd.Taxonomy.from_tree({"any": {"care": ["nurse", "doctor"], "craft": ["smith", "cook"]}})
    rows = pa.table({"job": ["nurse"] * 20 + ["doctor"] * 3 + ["cook"] * 2 + ["smith"] * 3, "age": [30] * 28})
    words = {"quasi_identifiers": ["job"], "k": 5, "taxonomies": {"job": tree}, "method": "kaca"}
    release = incrowd.anonymize(rows, **words, keep=["age"], keep_order=True)
    assert set(release.data["job"].to_pylist()) == {"nurse", "care", "craft"}
    new = pa.table({"job": ["nurse", "doctor", "smith"], "age": [31, 32, 33]})
    told = told_features(release.data, new, ["job", "age"], (), {"age": INTEGER}, release.recoding.for_new_rows)
    assert told.numeric.all()
    labels = release.data["job"].to_pylist()
    shown = {label: told.matrix[labels.index(label), :3].tolist() for label in ("nurse", "care", "craft")}
    assert shown == {"nurse": [1, 1, 0], "care": [0.5, 1, 0], "craft": [0, 0, 1]}
    assert told.matrix[-3:].tolist() == [[1, 1, 0, 31], [0, 1, 0, 32], [0, 0, 1, 33]]


def test_values_of_a_global_recoding_are_categories_that_cover_the_original_ones():
    rows = pa.table({"zip": ["12345", "12399", "12355"] * 3 + ["99999", "99998"] * 3, "sex": list("fmf") * 5})
    words = {"types": {"zip": "text"}, "taxonomies": {"zip": incrowd.Prefix((3,))}, "keep_order": True}
    release = incrowd.anonymize(rows, quasi_identifiers=["zip"], k=5, method="tdr", **words)
    assert set(release.data["zip"].to_pylist()) == {"123**", "999**"}
    new = pa.table({"zip": ["12300", "99900"], "sex": ["m", "x"]})
    told = told_features(release.data, new, ["zip", "sex"], (), {}, release.recoding)
    assert not told.numeric.any()
    codes = dict(zip(release.data["zip"].to_pylist(), told.matrix[:, 0].tolist(), strict=False))
    assert told.matrix[-2:, 0].tolist() == [codes["123**"], codes["999**"]]
    assert told.matrix[-2, 1] == told.matrix[1, 1] != told.matrix[-1, 1]


def test_intervals_have_ends_and_so_have_months_quarters_years_and_decades():
    assert INTEGER.ends("[30-40)") == (30, 39)
    assert NUMBER.ends("[0.5-1]") == (0.5, 1)
    assert str(INTEGER.ends("<28")) == "(nan, 27.0)"
    assert str(INTEGER.ends("*")) == "(nan, nan)"
    assert DATE.ends("1970") == (0, 364)
    assert DATE.ends("1970-02") == (31, 58)
    assert DATE.ends("1970-Q1") == (0, 89)
    assert DATE.ends("[1970-1980)") == DATE.ends("1970s") == (0, 3651)
    table = pa.table({"age": ["[20-30)", "<20", None]})
    bounds = features_of(table, ["age"], (), {"age": INTEGER}, bounds=True)
    np.testing.assert_array_equal(bounds.matrix, [[20, 29], [np.nan, 19], [np.nan, np.nan]])


MODELS = ["tree", "bayes", "c45", "bayes10", "LogisticRegression", "HistGradientBoostingClassifier"]


@pytest.mark.parametrize("intervals", ["midpoints", "bounds", "categories"])
@pytest.mark.parametrize("protocol", ["original", "apply"])
def test_columns_that_say_nothing_crash_no_model(people, protocol, intervals):
    """All values are `*`: of a number, of a date and of a category."""
    born = pd.Timestamp("1990-01-01") + pd.to_timedelta(people.age, "D")
    some = people.assign(born=born.dt.date)[:200]
    found = incrowd.evaluate(
        some, quasi_identifiers=["age", "sex", "born"], k=100, target="income", method="tdr", max_steps=0,
        protocol=protocol, intervals=intervals, classifiers=MODELS,
    )  # fmt: skip
    assert all(errors.anonymity.value <= 0.6 for errors in found.errors)


def test_a_target_of_numbers_has_an_error_of_its_own(people):
    pay = people.age * 100 + (people.sex == "m") * 500
    some = people.drop(columns="income").assign(pay=pay)
    words = {"quasi_identifiers": ["age", "sex"], "k": 10, "target": "pay", "method": "cover"}
    found = incrowd.evaluate(some, **words)
    assert [errors.classifier for errors in found.errors] == ["tree", "linear"]
    assert found.deviation == pytest.approx(pay.std(ddof=0))
    assert found["linear"].baseline.value < 1e-5
    assert found["linear"].baseline.value < found["linear"].anonymity.value < 0.1
    assert 0.9 < found["linear"].upper.value < 1.1  # a mean misses all of the variance
    folds = incrowd.evaluate(some, folds=3, classifiers="LinearRegression", **words)
    assert 0.9 < folds["LinearRegression"].upper.value < 1.1
    with pytest.raises(PolicyError, match="regressor, and the target is a number; give tree, linear"):
        incrowd.evaluate(some, classifiers="sklearn.linear_model.LogisticRegression", **words)


def test_without_any_feature_left_the_majority_is_guessed(people):
    found = incrowd.evaluate(
        people,
        quasi_identifiers=["age", "sex"],
        k=5,
        target="income",
        features=["age", "sex"],
        classifiers="tree",
        folds=2,
    )
    share = (people.income == "low").mean()
    assert found["tree"].upper.value == pytest.approx(min(share, 1 - share), abs=0.005)


def test_the_same_seed_draws_the_same_test_rows(people):
    classes = (people.income == "high").to_numpy().astype(int)
    for words in ({"split": 0.3, "folds": None}, {"split": None, "folds": 4}):
        one, two, other = (
            np.concatenate([test for _, test in drawn_parts(classes, seed=s, **words)[0]]) for s in (1, 1, 2)
        )
        assert one.tolist() == two.tolist() != other.tolist()
        assert abs(classes[one].mean() - classes.mean()) < 0.01


def test_apply_knows_nothing_of_test_rows_and_together_does():
    table = join([pa.table({"age": [*range(20, 40), *range(60, 80)], "income": (["low"] * 10 + ["high"] * 10) * 2})])
    policy = make_policy(quasi_identifiers=["age"], k=10, target="income")
    alone = with_recoded(*released_rows(table, policy, np.arange(20), Run()), policy, table.slice(20))
    assert len(set(alone["age"].to_pylist()[:20])) == 2
    assert len(set(alone["age"].to_pylist()[20:])) == 1  # all fall in the outermost interval
    both, _ = released_rows(table, policy, np.arange(40), Run())
    assert both["incrowd row"].to_pylist() == alone["incrowd row"].to_pylist() == list(range(40))
    assert both["age"].to_pylist() != alone["age"].to_pylist()


def test_every_release_has_the_seed_and_the_time_limit_of_the_policy(people, monkeypatch):
    """Whatever the evaluation is told to; and a limit holds for each release, not for the classifiers."""
    runs, release = [], rows.release_of

    def noting(source, policy, run, **words):
        runs.append(run)
        return release(source, policy, run, **words)

    monkeypatch.setattr(rows, "release_of", noting)
    words = {"quasi_identifiers": ["age", "sex"], "k": 5, "target": "income", "folds": 2, "classifiers": ["bayes"]}
    incrowd.evaluate(people, **words, seed=7, time_limit=600)
    assert [(run.key, run.time_limit) for run in runs] == [(Key.for_experiments(7), 600)] * 2
    assert runs[0] is not runs[1]
    with pytest.raises(TimeLimitError, match="no release within 1e-09 s"):
        incrowd.evaluate(people, **words, time_limit=1e-9)


def test_the_command_limits_the_releases_only(people, tmp_path, monkeypatch):
    people.to_csv(tmp_path / "people.csv", index=False)
    seen = {}
    evaluate = Trial.evaluate
    monkeypatch.setattr(
        Trial, "evaluate", lambda trial, policy, **words: evaluate(trial, policy, **seen.setdefault("words", words))
    )
    words = ["evaluate", str(tmp_path / "people.csv"), "--qi", "age,sex", "--k", "5", "--target", "income"]
    assert CliRunner().invoke(app, [*words, "--classifier", "bayes", "--time-limit", "600"]).exit_code == 0
    assert seen["words"]["run"].time_limit is None


@pytest.mark.parametrize(("steps", "left_out"), [(0, 0), (9, 100)])
def test_test_rows_that_cannot_be_recoded_are_left_out_and_guessed(people, steps, left_out):
    train, test = people[:400].assign(zip=["12345", "12399"] * 200), people[400:].assign(zip=["12345", "99999"] * 100)
    words = {
        "quasi_identifiers": ["zip"],
        "k": 5,
        "target": "income",
        "types": {"zip": "text"},
        "method": "tdr",
        "max_steps": steps,
        "protocol": "apply",
    }
    found = incrowd.evaluate(train, test=test, taxonomies={"zip": incrowd.Prefix((3,))}, **words)
    assert (found.test, found.left_out) == (200, left_out)
    assert (found["tree"].quality_loss.value > 0.1) == (left_out > 0)


def test_rows_that_the_policy_drops_are_guessed(people):
    holes = people.assign(age=people.age.where(people.index % 10 > 0))
    words = {"quasi_identifiers": ["age"], "k": 5, "target": "income", "folds": 2, "protocol": "apply"}
    found = incrowd.evaluate(holes, missing="drop", **words)
    assert (found.test, found.left_out) == (600, 60)
    kept = incrowd.evaluate(holes, **words)
    assert kept.left_out == 0


def test_any_classifier_will_do(people):
    given = ["LogisticRegression", "sklearn.neighbors.KNeighborsClassifier", DecisionTreeClassifier(max_depth=1)]
    found = incrowd.evaluate(people, quasi_identifiers=["age", "sex"], k=5, target="income", classifiers=given)
    names = [errors.classifier for errors in found.errors]
    assert names == ["LogisticRegression", "KNeighborsClassifier", "DecisionTreeClassifier"]


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        ({"target": None}, PolicyError, "needs a target"),
        ({"protocol": "both"}, PolicyError, "one of original, apply, together"),
        ({"intervals": "ranks"}, PolicyError, "one of midpoints, bounds, categories"),
        ({"split": 0.3, "folds": 3}, PolicyError, "use one of the three"),
        ({"split": 1.0}, PolicyError, "between 0 and 1"),
        ({"folds": 1}, PolicyError, "at least 2"),
        ({"folds": 500}, DataError, "merge rare classes"),
        ({"classifiers": "RandomForestClasifier"}, UnknownNameError, "did you mean 'RandomForestClassifier'"),
        ({"classifiers": "sklearn.nothing.Here"}, PolicyError, "cannot make the classifier"),
        ({"classifiers": "LinearRegression"}, UnknownNameError, "no classifier"),
        ({"classifiers": "sklearn.linear_model.LinearRegression"}, PolicyError, "is not a scikit-learn classifier"),
        ({"classifiers": []}, PolicyError, "at least one"),
        ({"features": ["agee"]}, UnknownNameError, "did you mean 'age'"),
        ({"test": pd.DataFrame({"age": [1]})}, UnknownNameError, "no column 'sex'"),
    ],
)
def test_what_is_wrong_is_said(people, words, error, message):
    words = {"quasi_identifiers": ["age", "sex"], "k": 5, "target": "income", **words}
    with pytest.raises(error, match=message):
        incrowd.evaluate(people, **words)


def test_test_rows_of_other_types_are_an_error(people):
    with pytest.raises(DataError, match="column 'age' has different types"):
        incrowd.evaluate(people, test=people.astype({"age": str}), quasi_identifiers=["sex"], k=5, target="income")


def test_without_scikit_learn_it_says_how_to_install_it(people, monkeypatch):
    monkeypatch.setattr("incrowd.evaluation.trial.find_spec", lambda name: None)
    with pytest.raises(IncrowdError, match=r"pip install 'incrowd\[eval\]'"):
        incrowd.evaluate(people, quasi_identifiers=["age"], k=5, target="income")


@pytest.fixture
def folder(people, workplace):
    people[:400].to_csv(workplace / "train.csv", index=False)
    people[400:].to_csv(workplace / "test.csv", index=False)
    return workplace


def run(*words):
    policy = ("--qi", "age,sex", "--k", "10", "--target", "income")
    return CliRunner().invoke(app, ["evaluate", "train.csv", *policy, *words])


def test_the_command_prints_a_table(folder):
    done = run("--test", "test.csv", "--classifier", "tree")
    assert done.exit_code == 0, done.output
    assert "400 training and 200 test rows: given test rows" in done.stdout
    assert "tested on unseen original rows" in done.stdout
    assert "release (anonymity)" in done.stdout
    assert "release, test rows recoded too" in done.stdout
    assert "optimistic" in run("--test", "test.csv", "--classifier", "tree", "--protocol", "together").stdout
    assert sorted(path.name for path in folder.iterdir()) == ["test.csv", "train.csv"]


def test_the_command_gives_json_that_python_gives_too(folder, people):
    done = run("--test", "test.csv", "--json", "--method", "tds", "--protocol", "together")
    words = {"quasi_identifiers": ["age", "sex"], "k": 10, "target": "income", "method": "tds"}
    found = incrowd.evaluate(people[:400], test=people[400:], protocol="together", **words)
    assert json.loads(done.stdout)["result"] == found.to_json()


def test_the_command_takes_a_policy_file_and_says_what_is_wrong(folder):
    (folder / "release.toml").write_text('quasi_identifiers = ["age"]\nk = 7\ntarget = "income"\n')
    done = CliRunner().invoke(app, ["evaluate", "train.csv", "--policy", "release.toml", "--json", "--folds", "2"])
    policy = json.loads(done.stdout)["result"]["policy"]
    assert policy["quasi_identifiers"] == [{"attributes": ["age"], "k": 7}]
    done = run("--test", "test.csv", "--folds", "3")
    assert (done.exit_code, done.stderr.splitlines()[0][:6]) == (2, "error:")


def test_on_adult_the_release_lies_between_baseline_and_upper_error():
    """TDS, figure 5a, k=100: errors of 14.7 and 21.5 percent for the baseline and the upper error with C4.5."""
    people = pd.read_csv(incrowd.datasets.adult())
    taxonomies = {name: file for name, file in incrowd.datasets.taxonomies("adult").items() if name in TOP7}
    found = incrowd.evaluate(
        people[:30162],
        test=people[30162:],
        quasi_identifiers=TOP7,
        k=100,
        target="income",
        taxonomies=taxonomies,
        method="tds",
        protocol="together",
    )
    tree, bayes = found["tree"], found["bayes"]
    assert abs(tree.baseline.value - 0.147) < 0.01
    assert abs(tree.upper.value - 0.215) < 0.01
    assert tree.quality_loss.value < tree.impact.value / 2
    assert bayes.quality_loss.value < bayes.impact.value * 0.6
