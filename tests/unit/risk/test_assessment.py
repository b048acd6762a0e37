"""All risks together: what may be asked, what is said, and what is refused."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from tests.command_line import only_line, run

import incrowd
from incrowd.risk import suda
from incrowd.run import Run

pytestmark = pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")  # risks are not the point here

PEOPLE = {
    "age": ["30", "30", "30", "40", "40", "50"],
    "sex": ["f", "f", "f", "m", "m", "m"],
    "diagnosis": ["flu", "flu", "hiv", "flu", "flu", "hiv"],
    "weight": ["10", "10", "5.5", "2", "2.5", "1"],
}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "people.csv"
    rows = zip(*PEOPLE.values(), strict=True)
    path.write_text("\n".join(",".join(row) for row in [tuple(PEOPLE), *rows]) + "\n")
    return path


def assess(**words):
    return incrowd.assess(pa.table(PEOPLE), quasi_identifiers=["age", "sex"], **words)


def test_by_hand():
    """Crowds of 3, 2 and 1."""
    risk = assess(threshold=0.5, sensitive=["diagnosis"])
    assert (risk.records, risk.classes, risk.smallest_class) == (6, 3, 1)
    assert (risk.prosecutor.highest, risk.prosecutor.average) == (1, Fraction(1, 2))
    assert risk.prosecutor.at_risk == 1  # 1/2 is not above 0.5
    assert assess(threshold=0.3333).prosecutor.at_risk == 6  # 1/3 is
    assert risk.marketer == Fraction(1, 2)
    assert risk.journalist is None
    assert risk.population_uniques == ()
    assert risk.uniques.records == 1
    assert risk.uniques.without == {"age": 0, "sex": 1}
    assert (risk.homogeneity[0].classes, risk.homogeneity[0].records, risk.homogeneity[0].in_crowds) == (2, 3, 2)


def test_with_a_unit_crowds_are_counted_in_people():
    """Crowds of three records of two people, of two of one person, and of one; c is in the last two."""
    people = pa.table({**PEOPLE, "id": ["a", "a", "b", "c", "c", "c"]})
    risk = incrowd.assess(people, quasi_identifiers=["age", "sex"], unit="id", threshold=0.5, sensitive=["diagnosis"])
    assert (risk.records, risk.classes, risk.smallest_class) == (3, 3, 1)
    assert risk.prosecutor.average == Fraction(2, 3)  # a half of a and b each, and c is alone
    assert risk.prosecutor.at_risk == risk.uniques.records == 1
    assert risk.uniques.without == {"age": 1, "sex": 1}
    assert (risk.homogeneity[0].records, risk.homogeneity[0].in_crowds) == (1, 0)
    own = incrowd.assess(people.take([2, 0, 1]), quasi_identifiers=["age"], unit="sex", sensitive=["diagnosis"])
    assert (own.homogeneity[0].records, own.homogeneity[0].in_crowds) == (0, 0)  # one person with two diagnoses
    assert risk.to_json()["unit"] == "id"
    assert "counts once, with the worst of them" in str(risk)


def test_weights_count_people_of_the_population():
    """Of six records nothing is estimated: a crowd has at least its own records."""
    risk = assess(weights="weight", threshold=0.2)
    assert risk.population == 31
    assert risk.journalist.how == "at most"
    assert risk.journalist.highest == 1
    assert (risk.journalist.average, risk.journalist.at_risk) == (risk.prosecutor.average, 6)
    assert "fewer than 500 records" in risk.journalist.reason
    assert risk.prosecutor == assess(threshold=0.2).prosecutor  # never k


def test_a_sampling_fraction():
    risk = assess(sampling_fraction=0.1)
    assert risk.population == 60
    assert (risk.journalist.highest, risk.journalist.average) == (1, Fraction(1, 2))
    assert risk.match_is_right == Fraction(1, 10) / (Fraction(1, 10) + 2 * Fraction(9, 10))


def test_the_whole_population():
    risk = assess(sampling_fraction=1)
    assert replace(risk.journalist, assumes="") == risk.prosecutor
    assert risk.journalist.assumes == "that the table has everyone"
    assert risk.marketer == Fraction(1, 2)
    assert risk.match_is_right == 1
    assert not any(estimate.applies for estimate in risk.population_uniques)


def test_it_prints_and_is_json():
    risk = assess(sampling_fraction=0.1, sensitive=["diagnosis"])
    told = json.loads(json.dumps(risk.to_json()))
    assert told["prosecutor"] == {
        "highest": 1.0,
        "average": 0.5,
        "at_risk": 6,
        "how": "counted",
        "assumes": "",
        "reason": "",
    }
    assert (told["threshold"], told["threshold_crowd"]) == (0.2, 5)
    for word in ("prosecutor", "journalist", "marketer", "alone in the table", "does not apply", "same 'diagnosis'"):
        assert word in str(risk)
    assert max(map(len, str(risk).splitlines())) < 250


@pytest.mark.parametrize(
    ("threshold", "crowd", "note"),
    [
        (0.2, 5, None),
        (0.09, 12, "0.09 is less than 1/11, so crowds of 11 are above it; for a crowd of 11 write 1/11"),
        ("1/11", 11, None),
        (Fraction(1, 11), 11, None),
        (0.33, 4, "for a crowd of 3 write 1/3"),
        (0.17, 6, None),
        (0.15, 7, None),
        (1, 1, None),
        (0.99, 2, None),
    ],
)
def test_a_threshold_is_shown_with_its_crowd_size(threshold, crowd, note):
    """Crowds of 11 have a risk of 9.09 %, which is above 0.09, and not above 1/11."""
    ages = [age for age in (1, 3, 6, 7, 11, 12) for _ in range(age)]
    risk = incrowd.assess(pa.table({"age": ages}), quasi_identifiers=["age"], threshold=threshold)
    assert risk.question.crowd == risk.to_json()["threshold_crowd"] == crowd
    assert risk.prosecutor.at_risk == sum(age for age in (1, 3, 6, 7, 11, 12) if age < crowd)
    assert f"% (in a crowd smaller than {crowd})" in str(risk)
    assert (note is None) == ("is less than 1/" not in str(risk))
    assert note is None or note in str(risk)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"threshold": 0}, "The 'threshold' parameter must be a number above 0 and at most 1. Got 0."),
        ({"threshold": float("nan")}, "The 'threshold' parameter"),
        ({"threshold": True}, "The 'threshold' parameter"),
        ({"sampling_fraction": 1.5}, "The 'sampling_fraction' parameter"),
        ({"sampling_fraction": 0.5, "weights": "weight"}, "one of them, not both"),
        ({"sensitive": ["sex"]}, "cannot be both a quasi-identifier and sensitive"),
        ({"weights": "sex"}, "cannot be both a quasi-identifier and a weight"),
        ({"weights": "wait"}, "no column 'wait' in the table; did you mean 'weight'?"),
        ({"max_size": 0}, "The 'max_size' parameter"),
        ({"unit": "sex"}, "cannot be both a quasi-identifier and the unit"),
        ({"unit": "diagnosis", "weights": "weight"}, "one of them, not both"),
        ({"unit": "diagnose"}, "no column 'diagnose' in the table; did you mean 'diagnosis'?"),
    ],
)
def test_what_is_refused(words, message):
    with pytest.raises(incrowd.PolicyError) as error:
        assess(**words)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2, -1], "negative weight -1"),
        ([0, 0, 0], "sum up to 0"),
        ([0.5, 1, 1], "fewer people than there are rows"),
        ([1, None, 2], "no weight in 1 row;"),
        ([1, float("nan"), 2], "no weight in 1 row;"),
        ([1, float("inf"), 2], "is no weight"),
        (["1", "two", "3"], "'two', which is no weight"),
        ([1e15, 1, 1], "sum up to too much"),
    ],
)
def test_weights_that_cannot_be_used(weights, message):
    table = pa.table({"age": [1, 2, 3], "weight": weights})
    with pytest.raises(incrowd.PolicyError) as error:
        incrowd.assess(table, quasi_identifiers=["age"], weights="weight")
    assert message in str(error.value)


def test_missing_values_are_a_value():
    risk = incrowd.assess(pa.table({"age": [1, None, None, 2]}), quasi_identifiers=["age"])
    assert (risk.classes, risk.uniques.records) == (3, 2)


def test_before_and_after_a_release():
    release = incrowd.anonymize(
        incrowd.datasets.german(),
        quasi_identifiers=["age", "job", "housing"],
        k=5,
        sensitive=["purpose"],
        keep=["credit-amount"],
    )
    risk = release.risk()
    assert risk.before.uniques.records > 0
    assert risk.after.uniques.records == 0
    assert risk.after.prosecutor.highest == Fraction(1, release.measures.total.anonymity) <= Fraction(1, 5)
    assert risk.after.prosecutor.at_risk == 0
    assert risk.after.special.records == 0
    assert risk.after.homogeneity[0].column == "purpose"
    assert "before" in str(risk)
    json.dumps(risk.to_json())


def test_a_release_with_a_unit_is_counted_in_people():
    """Of 8 patients each has two stays at one age, and every second one has a third at another."""
    rows = [(f"p{n}", 20 + 10 * place, "flu") for n in range(8) for place in [n % 2, n % 2, 1][: 2 + (n + 1) % 2]]
    table = pa.table(dict(zip(("mrn", "age", "illness"), map(list, zip(*rows, strict=True)), strict=True)))
    words = {"quasi_identifiers": ["age"], "k": 4, "unit": "mrn", "sensitive": ["illness"]}
    risk = incrowd.anonymize(table, **words).risk()
    for each in (risk.before, risk.after):
        assert (each.question.unit, each.records, each.smallest_class) == ("mrn", 8, 4)
        assert each.prosecutor.highest == Fraction(1, 4)
        assert each.homogeneity[0].records == 8
    assert "people with a risk above 20 % (in a crowd smaller than 5)" in str(risk)
    assert [found.column for found in risk.before.safe_harbour] == ["mrn"]
    assert risk.after.safe_harbour == ()  # the unit is no column of the release


def test_several_quasi_identifiers_are_told_apart():
    qids = [incrowd.QuasiIdentifier(("age", "job"), 10), incrowd.QuasiIdentifier(("housing",), 2)]
    release = incrowd.anonymize(incrowd.datasets.german(), quasi_identifiers=qids, keep=["credit-amount"])
    assert [pair.after.question.attributes for pair in release.risk().quasi_identifiers] == [
        ("age", "job"),
        ("housing",),
    ]
    assert release.risk().after.prosecutor.highest <= Fraction(1, 2)


class TestSpecialUniques:
    def test_the_work_is_bounded(self):
        assert suda.size_within(30_000, 8, suda.MOST_WORK) == 8
        assert suda.size_within(30_000, 40, suda.MOST_WORK) == 3
        assert suda.size_within(10**10, 40, suda.MOST_WORK) == 1

    def test_more_columns_than_scores_fit_into_64_bits(self):
        columns = {f"c{i}": [1, 2, 2] if i else [1, 2, 3] for i in range(25)}
        risk = incrowd.assess(pa.table(columns), quasi_identifiers=list(columns), max_size=2)
        assert risk.special.scores.tolist() == [25 * 24 * 23, 24 * 23, 24 * 23]
        json.dumps(risk.to_json())

    def test_it_can_be_cancelled(self):
        stopped = Run()
        stopped.cancel()
        codes = np.arange(10)
        with pytest.raises(incrowd.CancelledError):
            suda.minimal_uniques([codes, codes % 3], np.ones(10, int), 2, stopped)


class TestCommand:
    def test_a_table(self, file):
        result = run("risk", file, "--qi", "age,sex", "--weights", "weight", "--sensitive", "diagnosis")
        assert result.exit_code == 0, result.output
        for word in ("prosecutor", "alone in the table", "same 'diagnosis'"):
            assert word in result.stdout

    def test_json(self, file):
        result = run("risk", file, "--qi", "age,sex", "--sampling-fraction", "0.05", "--json")
        assert json.loads(result.stdout)["result"]["population"] == 120

    def test_a_unit(self, file, tmp_path):
        found = run("risk", file, "--qi", "age", "--unit", "diagnosis", "--json")
        assert json.loads(found.stdout)["result"]["records"] == 2  # the diagnoses
        release = tmp_path / "release.csv"
        release.write_text("age\n" + "*\n" * 6)
        found = run("risk", file, "--qi", "age", "--unit", "diagnosis", "--released", release, "--json")
        told = json.loads(found.stdout)["result"]
        assert (told["before"]["records"], told["after"]["records"]) == (6, 6)
        assert "release.csv has no column 'diagnosis': both sides count records" in found.stderr
        found = run("risk", file, "--qi", "age", "--unit", "diagnosys", "--released", release)
        assert found.exit_code == 2
        assert "did you mean 'diagnosis'?" in found.stderr

    def test_before_and_after(self, file, tmp_path):
        after = tmp_path / "after.csv"
        after.write_text("age,sex\n*,f\n*,f\n*,f\n*,m\n*,m\n*,m\n")
        found = json.loads(run("risk", file, "--qi", "age,sex", "--released", after, "--json").stdout)["result"]
        assert (found["before"]["smallest_class"], found["after"]["smallest_class"]) == (1, 3)
        assert "after" in run("risk", file, "--qi", "age,sex", "--released", after).stdout

    @pytest.mark.parametrize(
        ("words", "code"),
        [
            ((), 2),
            (("--qi", "age,six"), 2),
            (("--qi", "age", "--threshold", "2"), 2),
            (("--qi", "age", "--threshold", "a fifth"), 2),
            (("--qi", "age", "--weights", "diagnosis"), 2),
        ],
    )
    def test_mistakes_are_one_line(self, file, words, code):
        result = run("risk", file, *words)
        assert result.exit_code == code
        only_line(result.stderr)
