"""Is a release still good for training? The errors of models on the original, the release, and neither.

A model learns from the released training rows and is tested on unseen original rows; or, as in the papers, on test rows
that were recoded the same way. The baseline error is that of the original table, the upper error that of a table
without its quasi-identifiers; both use the same rows and the same model. Needs scikit-learn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from incrowd.display import watching
from incrowd.errors import MissingPackageError, PolicyError, UnknownNameError
from incrowd.evaluation.estimates import Mistakes, interval_kind
from incrowd.evaluation.features import INTERVALS, Features, comma_types, features_of, scales_of, told_features
from incrowd.evaluation.result import ClassifierErrors, Evaluation
from incrowd.evaluation.rows import (
    PROTOCOLS,
    ROW,
    Parts,
    Rows,
    Truth,
    classes_of,
    drawn_parts,
    given_parts,
    join,
    read_rows,
    released_rows,
    with_recoded,
)
from incrowd.formats.csv_dialect import may_have_commas
from incrowd.formats.registry import open_source
from incrowd.formats.sources import Source
from incrowd.key import Key
from incrowd.policy.making import make_policy
from incrowd.policy.policy import Policy
from incrowd.policy.toml import DIALECT, PARAMETERS, check_spelling
from incrowd.recodings.recoding import Recoding
from incrowd.release.apply import apply
from incrowd.run import Run, Watch
from incrowd.table.scales import Scale

if TYPE_CHECKING:
    from incrowd.evaluation.classifiers import Maker

CLASSIFIERS = ("tree", "bayes")


def evaluate(
    data: Any,
    *,
    target: str,
    test: Any = None,
    split: float | None = None,
    folds: int | None = None,
    protocol: str = "original",
    classifiers: Iterable[Any] | str = CLASSIFIERS,
    features: Iterable[str] | None = None,
    intervals: str = "midpoints",
    seed: int = 0,
    progress: Watch | bool | None = None,
    **words: Any,
) -> Evaluation:
    """Measure what a release costs a model that learns from it.

    Args:
        data: Path of a CSV or Parquet file, or a pandas, polars or pyarrow table.
        target: Column that the models predict: classes, or numbers if there are many.
        test: Another such table with the test rows. Without one, test rows are drawn from the data.
        split: Share of the rows to test on, drawn per class; one third by default.
        folds: Number of folds of a cross-validation, drawn per class, instead of a split.
        protocol: "original" makes the release from the training rows and tests on unseen original rows, and beside that
            as "apply" does, which recodes test rows like the release; "together" makes one release from all rows and
            then splits it, which is too optimistic.
        classifiers: "tree", "bayes", "c45", "bayes10", names of scikit-learn classifiers, or estimators; of a target of
            numbers "tree", "linear", and regressors.
        features: Columns that classifiers may use; by default all except the target and identifiers.
        intervals: Released intervals are treated as numbers, their "midpoints" or both "bounds", or as "categories".
        seed: Seed of splits, of classifiers given by name, and of methods that draw random numbers.
        progress: Called with every event of the run; True for a line on stderr, False for nothing. The default is a bar
            in notebooks and nothing elsewhere.
        **words: All other parameters of `anonymize`, such as `quasi_identifiers` and `k`.

    Raises:
        PolicyError: The policy or the design of the trial is inconsistent.
        DataError: A table cannot be read or used.
    """
    dialect = {word: words.pop(word) for word in DIALECT if word in words}
    options = {word: words.pop(word) for word in list(words) if word not in PARAMETERS}
    check_spelling(options, evaluate)
    policy = make_policy(target=target, options=options, **words)
    with watching(progress) as watch:
        run = Run(watch)
        run.stage("reading")
        trial = Trial.of(
            open_source(data, **dialect),
            policy,
            test=None if test is None else open_source(test, **dialect),
            split=split,
            folds=folds,
            classifiers=classifiers,
            features=features,
            seed=seed,
        )
        return trial.evaluate(policy, protocol=protocol, intervals=intervals, run=run)


@dataclass(frozen=True)
class Trial:
    """Rows that are split for good and classifiers, on which any number of policies can be tried.

    What does not depend on the release, such as the baseline error, is computed once.

    Args:
        table: All rows, numbered in a column of their own.
        truth: The class of each row.
        numbers: The target of each row where it is a number; its classes are ranges of these.
        parts: Training and test rows of each fold.
        design: Where test rows came from, for people.
        makers: The classifiers.
        features: Columns that they may use.
        missing_values: Texts that stand for a missing value in this kind of table, whatever the policy.
        types: The types of columns that this kind of table tells: of numbers with a decimal comma.
        seed: Of splits, classifiers and searches; nothing of a trial is released, so it need not be secret.
    """

    table: pa.Table = field(repr=False)
    truth: Rows = field(repr=False)
    parts: Parts = field(repr=False)
    design: str
    makers: Mapping[str, Maker]
    features: tuple[str, ...]
    missing_values: tuple[str, ...]
    types: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0
    numbers: Truth | None = field(default=None, repr=False)
    _known: dict[Any, dict[str, list[Mistakes]]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        source: Source,
        policy: Policy,
        *,
        test: Source | None = None,
        split: float | None = None,
        folds: int | None = None,
        classifiers: Iterable[Any] | str = CLASSIFIERS,
        features: Iterable[str] | None = None,
        seed: int = 0,
    ) -> Trial:
        """Read the rows and split them; the policy names the target and the identifiers."""
        require_scikit_learn()
        from incrowd.evaluation.classifiers import classifiers_of

        if policy.target is None:
            raise PolicyError("an evaluation needs a target; name the column that models will predict")
        if sum(given is not None for given in (test, split, folds)) > 1:
            raise PolicyError(
                "test rows are given (test), drawn once (split) or drawn in folds (folds); use one of the three"
            )
        policy.check_columns(source.columns, source.name)
        tables = [read_rows(source, policy), *([] if test is None else [read_rows(test, policy, like=source)])]
        table = join(tables)
        types = comma_types(table, source.columns, source.missing_values) if may_have_commas(source) else {}
        kind = {**types, **policy.types}.get(str(policy.target))
        truth, numbers = classes_of(table, policy.target, comma=kind == "comma")
        makers = classifiers_of(classifiers, seed, numbers=numbers is not None)
        if test is None:
            parts, design = drawn_parts(truth, split, folds, seed)
        else:
            parts, design = given_parts(*map(len, tables))
        columns = _columns(features, source, policy)
        return cls(table, truth, parts, design, makers, columns, source.missing_values, types, seed, numbers)

    def evaluate(
        self, policy: Policy, *, protocol: str = "original", intervals: str = "midpoints", run: Run | None = None
    ) -> Evaluation:
        """Try a policy.

        Args:
            policy: The policy; its target must be that of the trial.
            protocol: As in `evaluate`.
            intervals: As in `evaluate`.
            run: Gets the events, and is asked in between whether to go on.
        """
        for word, value, choices in ("protocol", protocol, PROTOCOLS), ("intervals", intervals, INTERVALS):
            if value not in choices:
                raise PolicyError(f"The '{word}' parameter must be one of {', '.join(choices)}. Got '{value}'.")
        run = run or Run()
        baseline, upper = self.references(policy, run)
        found, left_out = self._released(self._read_alike(policy), protocol, intervals, run)
        found |= {"baseline": baseline, "upper": upper}
        errors = tuple(
            ClassifierErrors.of(name, {word: folds[name] for word, folds in found.items()}) for name in self.makers
        )
        train, test = (sum(len(part[side]) for part in self.parts) for side in (0, 1))
        return Evaluation(
            policy,
            protocol,
            self.design,
            interval_kind(len(self.parts), numbers=self.numbers is not None),
            train // len(self.parts),
            test,
            left_out,
            errors,
            None if self.numbers is None else float(self.numbers.std()),
        )

    def references(self, policy: Policy, run: Run) -> tuple[dict[str, list[Mistakes]], dict[str, list[Mistakes]]]:
        """The mistakes on the original and without quasi-identifiers, by classifier; worked out once and kept."""
        policy = self._read_alike(policy)
        removed = tuple(name for name in self.features if name not in policy.attributes)
        baseline = self._original(policy, self.features, run, "the original")
        return baseline, self._original(policy, removed, run, "no quasi-identifiers")

    def recoded(
        self, recoding: Recoding, policy: Policy, *, intervals: str = "midpoints", run: Run | None = None
    ) -> dict[str, list[Mistakes]]:
        """The mistakes on all rows recoded in one way, by classifier."""
        run, policy = run or Run(), self._read_alike(policy)
        released = apply(recoding, self.table, keep=policy.passing(self.table.column_names), keep_order=True)
        features = self._features(released, policy, intervals)
        rows = np.arange(len(self.table))
        return _by_classifier(
            [self._mistakes(features, rows, fold, run, "the release") for fold in range(len(self.parts))]
        )

    def _read_alike(self, policy: Policy) -> Policy:
        """The policy, with all that is missing in this kind of table, and the types that this tells."""
        missing_values = tuple(dict.fromkeys((*policy.missing_values, *self.missing_values)))
        read = (*policy.attributes, *policy.sensitive, policy.target)
        told = {name: kind for name, kind in self.types.items() if name in read and name not in policy.taxonomies}
        return replace(policy, missing_values=missing_values, types={**told, **policy.types})

    def _original(self, policy: Policy, names: tuple[str, ...], run: Run, what: str) -> dict[str, list[Mistakes]]:
        key = (names, policy.missing_values, tuple(sorted(policy.types.items())))
        if key not in self._known:
            scales = scales_of(self.table, names, policy.missing_values, {**self.types, **policy.types})
            features = features_of(self.table, names, policy.missing_values, scales)
            rows = np.arange(len(self.table))
            folds = [self._mistakes(features, rows, fold, run, what) for fold in range(len(self.parts))]
            self._known[key] = _by_classifier(folds)
        return self._known[key]

    def _released(
        self, policy: Policy, protocol: str, intervals: str, run: Run
    ) -> tuple[dict[str, dict[str, list[Mistakes]]], int]:
        """The mistakes with a release: on original test rows, on recoded ones, or both; and how many were left out."""
        words = ("anonymity", "recoded") if protocol == "original" else ("anonymity",)
        found: dict[str, list[dict[str, Mistakes]]] = {word: [] for word in words}
        left_out, every = 0, np.arange(len(self.table))
        released: pa.Table | None = None
        for fold, (train, test) in enumerate(self.parts):
            if protocol != "together" or released is None:
                run.stage(self._stage(fold, "anonymizing"))
                part = run.part(key=Key.for_experiments(self.seed), time_limit=policy.time_limit)  # for one release
                released, recoding = released_rows(self.table, policy, every if protocol == "together" else train, part)
            rows, unseen = released, self.table.take(pa.array(test))
            if protocol == "original":
                told = self._told(released, unseen, policy, intervals, recoding)
                numbers = np.concatenate([released.column(ROW).to_numpy(), test])
                found["anonymity"].append(self._mistakes(told, numbers, fold, run, "the release"))
            if protocol != "together":
                rows = with_recoded(released, recoding, policy, unseen)
            numbers = rows.column(ROW).to_numpy()
            left_out += len(test) - int(np.isin(test, numbers).sum())
            features = self._features(rows, policy, intervals)
            found[words[-1]].append(self._mistakes(features, numbers, fold, run, "the release"))
        return {word: _by_classifier(folds) for word, folds in found.items()}, left_out

    def _features(self, table: pa.Table, policy: Policy, intervals: str) -> Features:
        scales = self._scales(policy, intervals)
        return features_of(table, self.features, policy.missing_values, scales, bounds=intervals == "bounds")

    def _told(
        self, released: pa.Table, original: pa.Table, policy: Policy, intervals: str, recoding: Recoding
    ) -> Features:
        scales, bounds = self._scales(policy, intervals), intervals == "bounds"
        return told_features(released, original, self.features, policy.missing_values, scales, recoding, bounds=bounds)

    def _scales(self, policy: Policy, intervals: str) -> dict[str, Scale]:
        scales = scales_of(self.table, self.features, policy.missing_values, {**self.types, **policy.types})
        released = policy.attributes if intervals == "categories" else ()
        return {name: scale for name, scale in scales.items() if name not in released}

    def _mistakes(self, features: Features, rows: Rows, fold: int, run: Run, what: str) -> dict[str, Mistakes]:
        from incrowd.evaluation.classifiers import predictions

        train, test = self.parts[fold]
        target: Any = self.truth if self.numbers is None else self.numbers
        truth = target[rows]
        learn, ask = np.flatnonzero(np.isin(rows, train)), np.flatnonzero(np.isin(rows, test))
        mistakes = {}
        for name, maker in self.makers.items():
            run.stage(self._stage(fold, f"{name} on {what}"))
            usual = np.bincount(truth[learn]).argmax() if self.numbers is None else truth[learn].mean()
            guess = np.full(len(self.table), usual)
            if len(ask):
                guess[rows[ask]] = run.in_thread(partial(predictions, maker, features, truth, learn, ask))
            off = guess[test] - target[test]
            mistakes[name] = off != 0 if self.numbers is None else off**2 / max(self.numbers.var(), 1e-300)
        return mistakes

    def _stage(self, fold: int, what: str) -> str:
        return f"fold {fold + 1} of {len(self.parts)}: {what}" if len(self.parts) > 1 else what


def require_scikit_learn() -> None:
    """Raise MissingPackageError unless scikit-learn can be imported."""
    if find_spec("sklearn") is None:
        raise MissingPackageError("an evaluation needs scikit-learn", "eval")


def _by_classifier(folds: Sequence[Mapping[str, Mistakes]]) -> dict[str, list[Mistakes]]:
    return {name: [fold[name] for fold in folds] for name in folds[0]}


def _columns(features: Iterable[str] | None, source: Source, policy: Policy) -> tuple[str, ...]:
    """The columns that classifiers may use: all, or those that the user names, but neither target nor identifiers."""
    chosen = source.columns if features is None else tuple(features)
    for name in chosen:
        if name not in source.columns:
            raise UnknownNameError("column", name, source.columns, source.name)
    return tuple(name for name in chosen if name != policy.target and name not in policy.identifiers)
