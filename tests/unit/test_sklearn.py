"""The scikit-learn face: the same recoding as `anonymize`, on any kind of table, within scikit-learn's own rules."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import incrowd
from incrowd.errors import DataError, InfeasibleError, NotAnonymousError, PolicyError, TaxonomyError
from incrowd.key import Key
from incrowd.sklearn import Anonymizer

TEXT = "the check subtracts outputs, and labels such as [30-40) are text; with codes it passes"
EXPECTED = dict.fromkeys(
    (
        "check_pipeline_consistency",
        "check_estimators_pickle",
        "check_transformer_data_not_an_array",
        "check_transformer_general",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_fit_idempotent",
    ),
    TEXT,
)
QI = ["age", "sex", "education"]


@pytest.fixture(scope="module")
def people():
    people = pd.read_csv(incrowd.datasets.adult(), nrows=2000)[["age", "sex", "education", "fnlwgt", "income"]]
    return people.assign(fnlwgt=people["fnlwgt"] // 50_000)  # exact ones are nearly unique


@pytest.fixture(scope="module")
def rows(people):
    return people.drop(columns="income")


@pytest.fixture(scope="module")
def income(people):
    return people["income"]


@parametrize_with_checks(
    [Anonymizer(), Anonymizer(values="codes")],
    expected_failed_checks=lambda estimator: EXPECTED if estimator.values == "labels" else {},
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_the_recoding_is_that_of_anonymize(people, rows, income):
    release = incrowd.anonymize(people, quasi_identifiers=QI, k=20, target="income", method="tdr", keep_order=True)
    anonymizer = Anonymizer(QI, k=20).fit(rows, income)
    assert anonymizer.recoding_ == release.recoding
    pd.testing.assert_frame_equal(anonymizer.transform(rows), release.data[rows.columns])
    assert incrowd.verify(anonymizer.transform(rows), quasi_identifiers=QI, k=20).holds
    assert anonymizer.release_.measures.total.anonymity >= 20


def test_without_classes_the_release_is_for_no_purpose_in_particular(rows, income):
    alone = Anonymizer(QI, k=20).fit(rows)
    assert alone.recoding_ == incrowd.anonymize(rows, quasi_identifiers=QI, k=20, method="tdr").recoding
    assert alone.recoding_ == Anonymizer(QI, k=20).fit(rows, rows["fnlwgt"] + 0.5).recoding_  # numbers are no classes
    assert alone.recoding_ != Anonymizer(QI, k=20).fit(rows, income).recoding_


@pytest.mark.parametrize("values", ["labels", "codes"])
def test_every_kind_of_table_comes_back_as_it_came(rows, income, values):
    anonymizer = Anonymizer(QI, k=20, values=values)
    expected = anonymizer.fit_transform(rows, income)
    assert expected["fnlwgt"].equals(rows["fnlwgt"])
    shifted = rows.set_index(np.arange(len(rows)) + 7)
    assert anonymizer.fit_transform(shifted, income).index.equals(shifted.index)
    polars = anonymizer.fit_transform(pl.from_pandas(rows), income)
    assert isinstance(polars, pl.DataFrame)
    arrow = anonymizer.fit_transform(pa.Table.from_pandas(rows), income)
    assert isinstance(arrow, pa.Table)
    array = Anonymizer([0, 1, 2], k=20, values=values).fit_transform(rows.to_numpy(), income)
    assert isinstance(array, np.ndarray)
    for found in (polars.to_dict(as_series=False), arrow.to_pydict()):
        assert found == expected.to_dict("list")
    assert array.tolist() == expected.to_numpy().tolist()


def test_codes_stand_for_labels_in_their_order(rows, income):
    labels = Anonymizer(QI, k=20).fit_transform(rows, income)
    coder = Anonymizer(QI, k=20, values="codes")
    codes = coder.fit_transform(rows, income)
    for name in QI:
        assert [coder.recoding_.labels(name)[int(code)] for code in codes[name]] == labels[name].tolist()


@pytest.mark.parametrize(("kind", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_set_output_chooses_the_kind(rows, income, kind, frame):
    anonymizer = Anonymizer(QI, k=20).set_output(transform=kind)
    assert isinstance(anonymizer.fit_transform(rows, income), frame)
    named = Anonymizer([0, 1], k=20).set_output(transform=kind).fit_transform(rows.to_numpy()[:, :2])
    assert list(named.columns) == ["x0", "x1"]
    assert anonymizer.get_feature_names_out().tolist() == list(rows.columns)


@pytest.mark.parametrize("kind", [lambda rows: rows, pl.from_pandas])
def test_it_works_in_pipelines_and_cross_validation(rows, income, kind):
    classes = (income == ">50K").to_numpy()
    encoded = make_pipeline(
        Anonymizer(k=20), OneHotEncoder(handle_unknown="ignore"), DecisionTreeClassifier(max_depth=4)
    )
    coded = make_pipeline(Anonymizer(k=20, values="codes"), DecisionTreeClassifier(max_depth=4))
    majority = max(classes.mean(), 1 - classes.mean())
    for model in (encoded, coded):
        assert cross_val_score(model, kind(rows[QI]), classes, cv=3).mean() > majority
    search = GridSearchCV(coded, {"anonymizer__k": [10, 500]}, cv=2).fit(kind(rows[QI]), classes)
    assert search.best_params_["anonymizer__k"] in (10, 500)


@pytest.mark.parametrize("values", ["labels", "codes"])
@pytest.mark.parametrize("method", ["cover", "mondrian", "kaca"])
def test_local_methods_give_the_release_to_fit_and_recode_new_rows_by_it(people, rows, income, method, values):
    """A pipeline learns from the release; what it predicts for is in released classes; a pickle holds these alone."""
    anonymizer = Anonymizer(QI, k=20, method=method, values=values, key=Key.for_experiments(1))
    found = anonymizer.fit_transform(rows, income)
    assert found.groupby(QI).size().min() >= 20
    if values == "labels":
        words = {"quasi_identifiers": QI, "k": 20, "target": "target", "method": method, "keep_order": True}
        data = people.rename(columns={"income": "target"})
        release = incrowd.anonymize(data, **words, key=Key.for_experiments(1))
        pd.testing.assert_frame_equal(found, release.data[rows.columns])
    shown = set(found[QI].itertuples(index=False, name=None))
    again = pickle.loads(pickle.dumps(anonymizer))
    assert set(again.transform(rows)[QI].itertuples(index=False, name=None)) <= shown
    assert not again.recoding_.is_confidential


@pytest.mark.parametrize("method", ["cover", "mondrian"])
def test_pipelines_work_with_local_methods(rows, income, method):
    classes = (income == ">50K").to_numpy()
    model = make_pipeline(
        Anonymizer(k=20, method=method), OneHotEncoder(handle_unknown="ignore"), DecisionTreeClassifier(max_depth=4)
    )
    assert cross_val_score(model, rows[QI], classes, cv=3).mean() > 0.7


def test_parameters_are_stored_and_cloned():
    qids = [incrowd.QuasiIdentifier(["age"], k=3), {"attributes": ["sex"], "k": 7}]
    anonymizer = Anonymizer(qids, taxonomies={"sex": incrowd.Flat()}, options={"max_steps": 3})
    assert clone(anonymizer).get_params() == anonymizer.get_params()
    assert clone(anonymizer).set_params(k=9).k == 9


def test_several_quasi_identifiers_hold_each(rows):
    qids = [{"attributes": [0, 1], "k": 30}, {"attributes": [1, 2], "k": 10}]
    anonymizer = Anonymizer(qids).fit(rows.to_numpy())
    assert [(q.attributes, q.k) for q in anonymizer.release_.policy.quasi_identifiers] == [
        (("x0", "x1"), 30),
        (("x1", "x2"), 10),
    ]


def test_unseen_values_are_recoded_as_apply_does(rows):
    taxonomy = incrowd.datasets.taxonomies("adult")["education"]
    anonymizer = Anonymizer(QI, k=20, taxonomies={"education": taxonomy}).fit(rows)
    new = rows[:1].assign(age=200, sex="X")
    found = anonymizer.transform(new)
    assert found["age"][0].startswith(">=")
    assert found["sex"][0] == "*"
    with pytest.raises(TaxonomyError, match="Kindergarten"):
        anonymizer.transform(rows[:1].assign(education="Kindergarten"))
    with pytest.raises(DataError, match="missing"):
        anonymizer.transform(rows[:1].assign(education=None))


def test_rows_are_never_left_out_so_such_settings_are_refused(rows):
    holes = rows.assign(sex=rows["sex"].where(rows.index % 5 > 0))
    with pytest.raises(PolicyError, match=r"must be 'category' or 'error', since every row comes back\. Got 'drop'"):
        Anonymizer(QI, k=20, missing="drop").fit(holes)
    taxonomies = {"education": incrowd.datasets.taxonomies("adult")["education"]}
    words = {"taxonomies": taxonomies, "method": "bug"}
    with pytest.raises(PolicyError, match=r"\d+ rows would be left out, but a transformer gives every row back"):
        Anonymizer(QI[1:], k=20, options={"suppress": 0.1}, **words).fit(rows)
    found = Anonymizer(QI[1:], k=20, **words).fit_transform(rows)
    assert len(found) == len(rows)
    assert incrowd.verify(found, quasi_identifiers=QI[1:], k=20).holds


def test_suppression_that_leaves_nothing_out_gives_every_new_row_back():
    rows = pd.DataFrame({"a": ["x"] * 5 + ["y"] * 5, "b": ["p"] * 5 + ["q"] * 5})
    taxonomies = {"a": incrowd.Flat(), "b": incrowd.Flat()}
    words = {"taxonomies": taxonomies, "method": "bug", "options": {"suppress": 0.1}}
    anonymizer = Anonymizer(k=2, **words).fit(rows)
    assert anonymizer.transform(rows).equals(rows)
    new = pd.DataFrame({"a": ["x", "x"], "b": ["p", "q"]})
    assert anonymizer.transform(new).equals(new)


def test_a_pickle_of_what_was_fitted_holds_no_key(rows):
    key = Key.drawn()
    anonymizer = Anonymizer(QI, k=20, key=key)
    assert pickle.loads(pickle.dumps(anonymizer)).key == key  # for workers, who fit it
    stored = pickle.dumps(anonymizer.fit(rows))
    assert key.secret not in stored
    assert pickle.loads(stored).key is None
    assert anonymizer.key == key


def test_a_pickle_holds_no_rows(rows, income):
    secret = rows.assign(name=[f"secret person {i}" for i in range(len(rows))])
    anonymizer = Anonymizer(QI, k=20, keep=["name"]).fit(secret, income)
    stored = pickle.dumps(anonymizer)
    assert b"secret person" not in stored
    again = pickle.loads(stored)
    assert not hasattr(again, "release_")
    pd.testing.assert_frame_equal(again.transform(secret), anonymizer.transform(secret))


def test_a_column_that_names_people_is_not_handed_on_unless_on_purpose(rows, income):
    named = rows.assign(mail=[f"x{number}@example.org" for number in range(len(rows))])
    with pytest.raises(PolicyError, match="'mail' looks like e-mail addresses"):
        Anonymizer(QI, k=20).fit(named, income)
    assert "mail" in Anonymizer(QI, k=20, keep=["mail"]).fit_transform(named, income).columns


def test_what_is_wrong_is_said(rows):
    with pytest.raises(NotFittedError):
        Anonymizer().transform(rows)
    with pytest.raises(PolicyError, match="one of labels, codes"):
        Anonymizer(values="numbers").fit(rows)
    with pytest.raises(PolicyError, match="no column 9"):
        Anonymizer([9]).fit(rows.to_numpy())
    with pytest.raises(DataError, match="mixes types"):
        Anonymizer([0]).fit(np.array([[1, "a"], ["b", {}]] * 3, object))
    with pytest.raises(InfeasibleError, match="the table has 2,000 records, and the best possible level is 2000"):
        Anonymizer(k=3000).fit(rows)
    with pytest.raises(ValueError, match="feature names"):
        Anonymizer(QI).fit(rows).transform(rows.rename(columns={"age": "years"}))


def test_rows_that_fail_the_recount_are_not_handed_out(monkeypatch):
    """Should a recoding ever release what it must not, `fit` notices: it counts the rows that would come back."""
    rows = pd.DataFrame({"age": list(range(20, 40)), "job": list("ab") * 10})
    monkeypatch.setattr("incrowd.sklearn.Recoder.batch", lambda self, batch, *_: batch)
    with pytest.raises(NotAnonymousError, match="k=5 does not hold"):
        Anonymizer(["age", "job"], 5).fit(rows)
