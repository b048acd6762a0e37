"""The rows of an evaluation: read, split into training and test rows, and released in one of the protocols.

Rows carry their number in a column of their own, so that it is known which of them a release left out.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from incrowd.engines.reading import missing_values
from incrowd.errors import DataError, PolicyError, ReleaseWarning, UnknownNameError, many
from incrowd.evaluation.features import places_in as places_of
from incrowd.formats.registry import open_source
from incrowd.formats.sources import Source, as_array
from incrowd.inspection.first_look import Look
from incrowd.policy.policy import Policy
from incrowd.recodings.recoding import Recoding
from incrowd.release.apply import apply
from incrowd.release.release import release_of
from incrowd.run import Run
from incrowd.table.missing import encoded, is_missing
from incrowd.table.numbers import number_of, with_point
from incrowd.table.scales import text_of
from incrowd.table.target_bins import bins_of, places_in

PROTOCOLS = ("original", "apply", "together")
SHARE = 1 / 3  # of rows to test on where nothing else is said
ROW = "incrowd row"

Rows = npt.NDArray[np.int64]
Truth = npt.NDArray[np.float64]
Parts = tuple[tuple[Rows, Rows], ...]  # training and test rows of each fold


def read_rows(source: Source, policy: Policy, like: Source | None = None) -> pa.Table:
    """All rows of a table that have a class."""
    columns = (like or source).columns
    for name in columns:
        if name not in source.columns:
            raise UnknownNameError("column", name, source.columns, source.name)
    table = pa.Table.from_batches(list(source.batches(columns, encoded=columns)))
    classes = encoded(as_array(table.column(policy.target)), str(policy.target))
    absent = np.append(is_missing(classes.dictionary, missing_values(source, policy)), True)
    table = table.filter(pa.array(~absent[places_of(classes)]))
    if not len(table):
        raise DataError(f"no row of {source.name} has a value of '{policy.target}'; an evaluation needs labels")
    return table


def join(tables: Sequence[pa.Table]) -> pa.Table:
    """Tables of the same columns as one, its rows numbered."""
    try:
        joined = pa.concat_tables(tables, promote_options="permissive").unify_dictionaries()
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        kinds = [{field.name: field.type for field in table.schema} for table in tables]
        name = next(name for name in kinds[0] if kinds[0][name] != kinds[1][name])
        types = f"{kinds[0][name]} and {kinds[1][name]}"
        raise DataError(f"column '{name}' has different types in training and test rows: {types}") from None
    return joined.append_column(ROW, pa.array(np.arange(len(joined))))


def classes_of(table: pa.Table, target: str, *, comma: bool = False) -> tuple[Rows, Truth | None]:
    """The class of each row, as a number, and the target itself where it has many numbers, perhaps with a comma.

    These count as a few ranges where classes are needed: where rows are drawn, and for the search.
    """
    column = encoded(as_array(table.column(target)), target)
    used, classes = np.unique(column.indices.to_numpy(), return_inverse=True)
    texts = text_of(column.dictionary.take(pa.array(used))).to_pylist()
    bins = bins_of(texts, np.bincount(classes), comma=comma)
    if not bins:
        return classes, None
    numbers = [float(number_of(with_point(text) if comma else text) or 0) for text in texts]
    return places_in(texts, bins)[classes], np.array(numbers)[classes]


def given_parts(train: int, test: int) -> tuple[Parts, str]:
    """The parts where test rows follow training rows, and what to call that."""
    return ((np.arange(train), np.arange(train, train + test)),), "given test rows"


def drawn_parts(classes: Rows, split: float | None, folds: int | None, seed: int) -> tuple[Parts, str]:
    """Draw test rows by class, once or in folds; also gives what to call that."""
    from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

    share = SHARE if split is None else split
    if folds is not None and (isinstance(folds, bool) or not isinstance(folds, int) or folds < 2):
        raise PolicyError(f"The 'folds' parameter must be an integer of at least 2. Got {folds!r}.")
    if not 0 < share < 1:
        raise PolicyError(f"The 'split' parameter must be between 0 and 1. Got {split!r}.")
    sizes = np.bincount(classes)
    if sizes.min() < (folds or 2) or (folds is None and min(share, 1 - share) * len(classes) < len(sizes)):
        found = many(len(sizes), "class", "classes")
        raise DataError(
            f"cannot draw test rows from every class of the target: it has {found}, and the smallest has "
            f"{many(int(sizes.min()), 'record')}; merge rare classes, or provide test rows"
        )
    if folds is None:
        draw, design = StratifiedShuffleSplit(1, test_size=share, random_state=seed), f"{share:.0%} of rows drawn"
    else:
        draw, design = StratifiedKFold(folds, shuffle=True, random_state=seed), f"{folds}-fold cross-validation"
    return tuple(draw.split(np.zeros(len(classes)), classes)), design


def released_rows(table: pa.Table, policy: Policy, rows: Rows, run: Run) -> tuple[pa.Table, Recoding]:
    """The release of some rows, in their order, and what others are recoded by."""
    # Nobody gets these rows: no ledger asks for others, and how classifiers break ties stays as it is.
    policy = replace(policy, keep_order=True, ledger=None)
    unseen = Look()  # so columns may name people
    release = release_of(open_source(table.take(pa.array(rows))), policy, run, look=unseen)
    return release.data, release.recoding.for_new_rows


def with_recoded(released: pa.Table, recoding: Recoding, policy: Policy, rows: pa.Table) -> pa.Table:
    """Released rows, and after them others that are recoded like them, as far as the recoding knows their values."""
    rows = rows.filter(pa.array(_recodable(rows, recoding)))
    if not len(rows):
        return released
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReleaseWarning)  # of rows in no released class
        recoded = apply(recoding, rows, keep=policy.passing(rows.column_names), keep_order=True)
    return pa.concat_tables([released, recoded])


def _recodable(table: pa.Table, recoding: Recoding) -> npt.NDArray[np.bool_]:
    """Which rows a recoding that was made from others has a value for."""
    known = np.ones(len(table), bool)
    for name in recoding.names:
        column = encoded(as_array(table.column(name)), name)
        cells = np.append(recoding.cells(name, column.dictionary), recoding.missing_cell(name))
        known &= cells[places_of(column)] >= 0
    return known
