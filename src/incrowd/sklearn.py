"""The scikit-learn interface: a transformer that learns a recoding from training rows and recodes any rows with it.

What `fit_transform` returns is k-anonymous, and is verified before `fit` returns. Rows that are transformed later, such
as the test rows of a fold, are recoded alike but were never counted: k does not hold for them. In a cross-validation
every fold fits its own recoding; releasing several of them is more than one release.

A local method may release equal rows differently, so after one `fit(X).transform(X)` is not `fit_transform(X)`: the
latter gives the release, as a pipeline that learns gets it, while `transform` treats all rows as new ones, since what
it knows is the released classes alone.

Rows keep their order and a pandas index stays, since scikit-learn matches rows with classes by position. What is to be
given away comes from `release_`, which has neither.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from incrowd.engines.arrow.recode import Recoder
from incrowd.engines.kept_types import KeptTypes
from incrowd.errors import DataError, MissingPackageError, PolicyError, ReleaseWarning, many
from incrowd.formats.frames import rebuild
from incrowd.formats.registry import open_source
from incrowd.formats.sources import as_array
from incrowd.key import Key
from incrowd.policy.making import make_policy
from incrowd.policy.policy import Policy, QuasiIdentifier
from incrowd.recodings.recoding import Recoding
from incrowd.release.release import Release, release_of
from incrowd.run import Run
from incrowd.verification.promises import witness_of_crowds

try:
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils.multiclass import type_of_target
    from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data
except ImportError:
    raise MissingPackageError("incrowd.sklearn needs scikit-learn 1.6 or newer", "eval") from None

__all__ = ["Anonymizer"]

VALUES = ("labels", "codes")


class Anonymizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Recodes quasi-identifiers so that everyone in the training rows stands in a crowd of at least k.

    Works on arrays and on pandas, polars and pyarrow tables; the same kind comes back unless `set_output` says
    otherwise. The columns of an array are called x0, x1 and so on. Every row given is a row returned, in the same
    order: settings with which a release leaves rows out are refused.

    Works with every method. New rows are treated as by `incrowd.apply`: a number falls in an interval, a value that its
    taxonomy knows is generalized, one without a taxonomy becomes `*`, one that its taxonomy does not know is an error.
    After a local method, a row takes the most specific released class that covers it, or is generalized until one does.

    A pickle holds the recoding, which shows no more than the release does, but neither `release_`, which has the
    rows, nor the key.

    Args:
        quasi_identifiers: As in `incrowd.anonymize`; columns of an array also by number. All columns if None.
        k: Size of the smallest crowd.
        keep: Columns that are not recoded on purpose, though they look as if they named people.
        taxonomies: As in `incrowd.anonymize`, like the next seven.
        types: "number", "comma", "date" or "text" by column.
        ranges: Public ranges by column.
        levels: Lowest and highest level of generalization by column.
        form: The number that a crowd shows, by column: "mean", "median", "mode" or "mean:5".
        missing: "category" or "error".
        missing_values: Texts that stand for a missing value.
        method: Name of the search.
        options: Options of the method, such as `{"max_steps": 10}`.
        key: Path of the key of an earlier release, to get the same again; by default a new one is drawn.
        values: What released values come out as: "labels", or the "codes" of labels as numbers in the order of
            `recoding_.labels(column)`, which need no encoder before a classifier.

    Attributes:
        recoding_: What new rows are recoded by.
        release_: The release of the training rows, verified; its `measures` say what was lost.
        n_features_in_: Number of columns.
        feature_names_in_: Their names, where the training rows had any.
    """

    release_: Release
    recoding_: Recoding
    n_features_in_: int
    feature_names_in_: npt.NDArray[Any]

    def __init__(
        self,
        quasi_identifiers: Iterable[Any] | None = None,
        k: int = 5,
        *,
        keep: Sequence[str] = (),
        taxonomies: Any = None,
        types: Mapping[str, str] | None = None,
        ranges: Mapping[str, tuple[Any, Any]] | None = None,
        levels: Mapping[str, int | tuple[int, int | None]] | None = None,
        form: Mapping[str, str] | None = None,
        missing: str = "category",
        missing_values: Sequence[str] = (),
        method: str = "tdr",
        options: Mapping[str, Any] | None = None,
        key: Key | str | Path | None = None,
        values: str = "labels",
    ) -> None:
        self.quasi_identifiers = quasi_identifiers
        self.k = k
        self.keep = keep
        self.taxonomies = taxonomies
        self.types = types
        self.ranges = ranges
        self.levels = levels
        self.form = form
        self.missing = missing
        self.missing_values = missing_values
        self.method = method
        self.options = options
        self.key = key
        self.values = values

    def fit(self, X: Any, y: Any = None) -> Anonymizer:
        """Learn a recoding from training rows.

        Args:
            X: The rows.
            y: The class of each row, if models will predict it: the release keeps what predicts it. Numbers that are
                not classes, as in a regression, are not used.

        Raises:
            PolicyError: The parameters contradict each other or the rows, or rows would be left out.
            DataError: The rows cannot be used.
            InfeasibleError: There are fewer rows than k.
        """
        self._fitted(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn a recoding from training rows, and give these as they are released.

        Raises:
            PolicyError, DataError, InfeasibleError: As in `fit`.
        """
        table = self._fitted(X, y)
        return self._recoded(self._checked(X, fitting=False), self.release_.recoding, table)

    def _fitted(self, X: Any, y: Any) -> pa.Table:
        """The training rows, with their classes if they are used."""
        if self.values not in VALUES:
            raise PolicyError(f"The 'values' parameter must be one of {', '.join(VALUES)}. Got '{self.values}'.")
        if self.missing == "drop":
            raise PolicyError(
                "The 'missing' parameter of Anonymizer must be 'category' or 'error', since every row comes back. Got "
                "'drop'."
            )
        table = self._columns(self._checked(X, fitting=True))
        target = None
        if y is not None:
            check_consistent_length(X, y)
            if type_of_target(y, input_name="y") in ("binary", "multiclass"):
                target = _unlike("target", table.column_names)
                table = table.append_column(target, pa.array(np.asarray(y).ravel()))
        release = release_of(open_source(table), self._policy(table.column_names, target), Run(key=Key.of(self.key)))
        for text in release.warnings:
            if not text.startswith(f"column '{target}' "):  # classes are not handed on
                warnings.warn(text, ReleaseWarning, stacklevel=2)
        _check_counts(release, table)
        self.recoding_, self.release_ = release.recoding.for_new_rows, release
        return table

    def transform(self, X: Any) -> Any:
        """Recode rows; none is added, none is dropped.

        Raises:
            NotFittedError: `fit` has not been called.
            TaxonomyError: A value is not in its column's taxonomy.
            DataError: A value is missing or not a number, which was not so in the training rows.
        """
        check_is_fitted(self, "recoding_")
        rows = self._checked(X, fitting=False)
        return self._recoded(rows, self.recoding_, self._columns(rows).select(self.recoding_.names))

    def _recoded(self, rows: Any, recoding: Recoding, table: pa.Table) -> Any:
        """The rows, which a table has as well, recoded."""
        batch = _batch(table)
        recoded, keep = Recoder(recoding, lambda: [batch]).recode(batch)
        assert keep is None  # `fit` refused what would leave rows out
        kept = KeptTypes.of(recoding, table.schema)
        labels = {name: _decoded(kept.typed(name, as_array(column))) for name, column in recoded.items()}
        frame = rebuild(rows, labels, index=True) if _is_frame(rows) else None
        if self.values == "codes":
            codes = {name: _codes(recoding, name, column) for name, column in recoded.items()}
            return _with(rows if frame is None else frame, codes, self._names(rows))
        if frame is not None:
            return frame
        arrays = {name: _numpy(label) for name, label in labels.items()}
        return _with(rows, arrays, self._names(rows))

    def _checked(self, X: Any, *, fitting: bool) -> Any:
        """The rows, checked as scikit-learn does: a table as it is, anything else as an array."""
        if _is_frame(X):
            validate_data(self, X, reset=fitting, skip_check_array=True)
            return X
        least = self.k if fitting and isinstance(self.k, Integral) else 1
        return validate_data(
            self, X, reset=fitting, dtype=None, ensure_all_finite="allow-nan", ensure_min_samples=int(least)
        )

    def _names(self, rows: Any) -> list[str]:
        if _is_frame(rows):
            return list(nw.from_native(rows).columns)
        return [f"x{place}" for place in range(self.n_features_in_)]

    def _columns(self, rows: Any) -> pa.Table:
        names = self._names(rows)
        if _is_frame(rows):
            return pa.Table.from_batches(list(open_source(rows).batches(names)))
        return pa.table({name: _arrow(name, rows[:, place]) for place, name in enumerate(names)})

    def _policy(self, names: Sequence[str], target: str | None) -> Policy:
        columns = [name for name in names if name != target]
        qids = columns if self.quasi_identifiers is None else _named(self.quasi_identifiers, columns)
        return make_policy(
            quasi_identifiers=qids,
            k=self.k,
            target=target,
            keep=self.keep,
            taxonomies=self.taxonomies,
            types=self.types,
            ranges=self.ranges,
            levels=self.levels,
            form=self.form,
            missing=self.missing,
            missing_values=self.missing_values,
            method=self.method,
            options=self.options,
        )

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        fitted = {"key": None} if "recoding_" in state else {}  # whoever has the release must not have its key
        return {key: value for key, value in {**state, **fitted}.items() if key != "release_"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _is_frame(rows: Any) -> bool:
    """Whether rows are a table whose columns have names; pandas also has tables whose columns have numbers."""
    frame = nw.from_native(rows, eager_only=True, pass_through=True)
    return isinstance(frame, nw.DataFrame) and all(isinstance(name, str) for name in frame.columns)


def _arrow(name: str, column: npt.NDArray[Any]) -> pa.Array:
    try:
        return pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        raise DataError(f"column '{name}' mixes types or holds objects that a table cannot store; convert it") from None


def _decoded(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _numpy(column: pa.Array) -> npt.NDArray[Any]:
    if pa.types.is_string(column.type):
        return np.array(column.to_pylist(), object)
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _named(words: Any, columns: Sequence[str]) -> Any:
    """Quasi-identifiers with columns by name, also where the user gave their number."""
    if isinstance(words, Integral) and not isinstance(words, bool):
        if not 0 <= int(words) < len(columns):
            raise PolicyError(f"no column {words} in rows of {many(len(columns), 'column')}; the first is 0")
        return columns[int(words)]
    if isinstance(words, Mapping):
        return {key: _named(word, columns) if key == "attributes" else word for key, word in words.items()}
    return words if isinstance(words, str | QuasiIdentifier) else [_named(word, columns) for word in words]


def _unlike(name: str, names: Sequence[str]) -> str:
    return name if name not in names else _unlike(f"{name}_", names)


def _batch(table: pa.Table) -> pa.RecordBatch:
    (batch,) = table.combine_chunks().to_batches()
    return batch


def _check_counts(release: Release, table: pa.Table) -> None:
    """Raise an error unless all rows, as they are handed out, are in good classes."""
    recoding, batch = release.recoding, _batch(table)
    _, keep = Recoder(recoding, lambda: [batch]).recode(batch)
    if keep is not None:
        raise PolicyError(
            f"{many(int((~keep).sum()), 'row')} would be left out, but a transformer gives every row back; leave "
            "out the option 'suppress', or choose a smaller k"
        )
    witness = witness_of_crowds(release.policy.quasi_identifiers)
    witness.see(Recoder(recoding, lambda: [batch]).batch(batch))
    witness.verdict().require()


def _codes(recoding: Recoding, name: str, column: pa.DictionaryArray) -> npt.NDArray[np.float64]:
    labels = recoding.all_labels(name)
    codes = column.indices.fill_null(labels.index(None) if None in labels else 0).to_numpy(zero_copy_only=False)
    return np.asarray(codes.astype(float))


def _with(rows: Any, replaced: Mapping[str, npt.NDArray[Any]], names: Sequence[str]) -> Any:
    """Rows with some columns replaced: a table as such, an array as numbers where all of it is."""
    if _is_frame(rows):
        frame = nw.from_native(rows, eager_only=True)
        series = [nw.new_series(name, values, backend=frame.implementation) for name, values in replaced.items()]
        return frame.with_columns(*series).to_native()
    kinds = [rows.dtype, *(values.dtype for values in replaced.values())]
    out = rows.astype(np.result_type(*kinds) if all(kind.kind in "biuf" for kind in kinds) else object)
    for name, values in replaced.items():
        out[:, names.index(name)] = values
    return out
