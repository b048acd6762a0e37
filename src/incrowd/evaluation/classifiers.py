"""The models that judge a release, each behind the encoding of features that it needs. Needs scikit-learn.

Every model gets the matrix of `features` and learns its encoding from the training rows alone: a category
that occurs only in test rows does not get its own column. The same settings serve the original and the released table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from math import log2
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin, clone, is_classifier, is_regressor
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import all_estimators

from incrowd.errors import PolicyError, UnknownNameError
from incrowd.evaluation.c45 import C45
from incrowd.evaluation.features import Features
from incrowd.evaluation.trial import CLASSIFIERS

MOST_CATEGORIES = 100  # columns that one category may become; the rarest share one

Matrix = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
Maker = Callable[[npt.NDArray[np.bool_], int], Any]  # (which columns are numbers, training rows) -> estimator


def classifiers_of(given: Iterable[Any] | str, seed: int, *, numbers: bool = False) -> dict[str, Maker]:
    """The models of some names or estimators: classifiers, or regressors for a target of numbers."""
    words = [given] if isinstance(given, str) else list(given)
    if numbers and words == list(CLASSIFIERS):  # the default
        words = list(OWN["regressor"])
    makers = dict(_named(word, seed, "regressor" if numbers else "classifier") for word in words)
    if not makers:
        raise PolicyError("The 'classifiers' parameter must name at least one classifier. None was given.")
    return makers


def predictions(maker: Maker, features: Features, truth: Any, train: Codes, test: Codes) -> Any:
    """Learn from some rows of a matrix and predict for others; without a column, guess the majority, or the mean."""
    matrix, learned = features.matrix, truth[train]
    numeric = features.numeric
    dummy = DummyRegressor() if truth.dtype.kind == "f" else DummyClassifier(strategy="most_frequent")
    estimator = maker(numeric, len(train)) if matrix.shape[1] else dummy
    if not matrix.shape[1]:
        matrix = np.zeros((len(matrix), 1))
    return np.asarray(estimator.fit(matrix[train], learned).predict(matrix[test]))


def _named(word: Any, seed: int, kind: str) -> tuple[str, Maker]:
    own = OWN[kind]
    if isinstance(word, str) and word in own:
        return word, own[word]
    estimator = _found(word, kind) if isinstance(word, str) else word
    if isinstance(estimator, type) or not (is_classifier if kind == "classifier" else is_regressor)(estimator):
        why = "" if kind == "classifier" else ", and the target is a number"
        raise PolicyError(f"'{word}' is not a scikit-learn {kind}{why}; give {', '.join(own)} or the name of one")
    if isinstance(word, str) and "random_state" in estimator.get_params():
        estimator.set_params(random_state=seed)
    return type(estimator).__name__, lambda numeric, rows: make_pipeline(_one_hot(numeric), clone(estimator))


def _found(word: str, kind: str) -> Any:
    """The model of a name such as RandomForestClassifier, or of a dotted path."""
    module, dot, name = word.rpartition(".")
    if not dot:
        known: Mapping[str, Any] = dict(all_estimators(kind))
        if word not in known:
            raise UnknownNameError(kind, word, [*OWN[kind], *known])
        return known[word]()
    try:
        return getattr(import_module(module), name)()
    except (ImportError, AttributeError, TypeError) as error:
        raise PolicyError(f"cannot make the {kind} '{word}': {error}") from None


def pruned_tree(rows: int) -> DecisionTreeClassifier:
    """A decision tree in which every leaf saves at least log2(rows) bits, which is what it takes to describe it.

    This stands in for the pruning of C4.5, needs no tuning and no rows to tune on, and scales with the table.
    """
    return DecisionTreeClassifier(criterion="entropy", ccp_alpha=log2(max(2, rows)) / rows, random_state=0)


def _one_hot(numeric: npt.NDArray[np.bool_]) -> ColumnTransformer:
    """Numbers to mean 0 and deviation 1, a column for each category."""
    impute = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    categories = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=MOST_CATEGORIES, sparse_output=False, dtype=np.float32
    )
    return _columns(numeric, make_pipeline(impute, StandardScaler()), categories)


def _coded(numeric: npt.NDArray[np.bool_], numbers: Any) -> ColumnTransformer:
    """Numbers first, categories to codes; 0 is kept for what the training rows do not have."""
    categories = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    return _columns(numeric, numbers, make_pipeline(categories, FunctionTransformer(_one_more)))


def _columns(numeric: npt.NDArray[np.bool_], numbers: Any, categories: Any) -> ColumnTransformer:
    return ColumnTransformer(
        [("numbers", numbers, np.flatnonzero(numeric)), ("categories", categories, np.flatnonzero(~numeric))]
    )


def _one_more(codes: Matrix) -> Matrix:
    return codes + 1


class EntropyBins(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Cuts each number where that says most about the class, until a cut no longer pays for its description.

    Bins are numbered from 1; 0 is for missing values.
    """

    def fit(self, X: Matrix, y: Codes) -> EntropyBins:
        self.cuts_ = [self._cuts(column, y) for column in X.T]
        return self

    @staticmethod
    def _cuts(column: Matrix, classes: Codes) -> Matrix:
        present = ~np.isnan(column)
        if not present.any():
            return np.empty(0)
        tree = pruned_tree(int(present.sum())).fit(column[present, None], classes[present]).tree_
        return np.sort(tree.threshold[tree.feature >= 0])

    def transform(self, X: Matrix) -> Codes:
        bins = [np.searchsorted(cuts, column) + 1 for cuts, column in zip(self.cuts_, X.T, strict=True)]
        return np.where(np.isnan(X), 0, np.column_stack(bins))


class WidthBins(EntropyBins):
    """Cuts each number into ten bins of equal width, as naive Bayes was given numbers before entropy was tried."""

    @staticmethod
    def _cuts(column: Matrix, classes: Codes) -> Matrix:
        present = column[~np.isnan(column)]
        if not len(present):
            return np.empty(0)
        cuts = np.linspace(present.min(), present.max(), 11)[1:-1]
        return np.asarray(np.nextafter(cuts, -np.inf))  # a number on a cut belongs to the bin above


def regression_tree(rows: int) -> DecisionTreeRegressor:
    """A regression tree whose leaves have enough rows for a mean; there is no tuning."""
    return DecisionTreeRegressor(min_samples_leaf=max(5, rows // 100), random_state=0)


OWN: dict[str, dict[str, Maker]] = {
    "classifier": {
        "tree": lambda numeric, rows: make_pipeline(_one_hot(numeric), pruned_tree(rows)),
        "bayes": lambda numeric, rows: make_pipeline(_coded(numeric, EntropyBins()), CategoricalNB()),
        "c45": lambda numeric, rows: make_pipeline(_coded(numeric, "passthrough"), C45(int(numeric.sum()))),
        "bayes10": lambda numeric, rows: make_pipeline(_coded(numeric, WidthBins()), CategoricalNB()),
    },
    "regressor": {
        "tree": lambda numeric, rows: make_pipeline(_one_hot(numeric), regression_tree(rows)),
        "linear": lambda numeric, rows: make_pipeline(_one_hot(numeric), Ridge()),
    },
}
