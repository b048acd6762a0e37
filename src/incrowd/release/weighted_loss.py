"""What a release has lost for the people that its records stand for: the generalized loss with survey weights.

Weights count people of the population. They change no class and no promise: a crowd is one of records, however many
people each stands for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from incrowd.engines.arrow.recode import Recoder
from incrowd.errors import DataError, PolicyError, UnknownNameError
from incrowd.population.records import UNIT, units_of
from incrowd.run import Run
from incrowd.table.grouping import Codes, Counts, Floats
from incrowd.table.value_numbers import ValueNumbers

if TYPE_CHECKING:
    from incrowd.release.release import Release


@dataclass(frozen=True)
class WeightedLoss:
    """The generalized loss (NCP), in which every record counts for as many people as it stands for.

    Args:
        people: How many people all records stand for.
        left_out: How many of them the records stand for that are not released; they lose everything.
        ncp: The loss per cell, from 0 to 1.
        attributes: The same of each column.
    """

    weights: str
    people: float
    left_out: float
    ncp: float
    attributes: Mapping[str, float]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def weighted_loss(release: Release, weights: str, run: Run | None = None) -> WeightedLoss:
    """Measure a release with a column of survey weights; the rows of its source are read once more.

    Raises:
        PolicyError: There is no such column, or its values are no weights.
    """
    source, recoding, run = release.source, release.recoding, run or Run()
    if weights not in source.columns:
        raise UnknownNameError("column", weights, source.columns, source.name)
    if weights in recoding.names:
        raise PolicyError(f"column '{weights}' cannot be both a quasi-identifier and a weight; choose one")
    recoder = Recoder(recoding, lambda: source.batches(None, encoded=recoding.names))
    numbered, losses = ValueNumbers(weights, source.missing_values), _losses(release)
    numbers: list[Codes] = []
    lost: dict[str, list[Floats]] = {name: [] for name in recoding.names}
    stays: list[Any] = []
    for batch in source.batches(None, encoded=recoding.names):
        numbers.append(numbered.codes(batch.column(weights)))
        found, keep = recoder.recode(batch)
        stays.append(np.ones(len(batch), bool) if keep is None else keep)
        for name, column in found.items():
            lost[name].append(_lost(column, losses[name]))
        run.rows(len(batch))
    source.check_unchanged()
    return _summed(weights, units_of(numbered, np.concatenate(numbers), weights), np.concatenate(stays), lost)


def _summed(weights: str, units: Counts, stay: Any, lost: Mapping[str, list[Floats]]) -> WeightedLoss:
    people = int(units.sum())
    shares = {}
    for name, parts in lost.items():
        cells = np.where(stay, np.concatenate(parts), 1.0)  # who is left out loses everything
        if np.isnan(cells).any():
            raise DataError("the table changed while it was being measured; run the command again")
        shares[name] = float(units @ cells) / people
    gone = int(units[~stay].sum())
    return WeightedLoss(weights, people / UNIT, gone / UNIT, float(np.mean(list(shares.values()))), shares)


def _losses(release: Release) -> dict[str, dict[str | None, float]]:
    recoding = release.recoding
    parts = recoding.parts(release.table)
    found = {}
    for name, cells in parts.cells.items():
        used = np.unique(cells if parts.kept is None else cells[parts.kept]).tolist()
        found[name] = {
            label: float(parts.losses[name][cell])
            for label, cell in zip(recoding.labels_of(name, used), used, strict=True)
        }
    return found


def _lost(column: pa.DictionaryArray, losses: Mapping[str | None, float]) -> Floats:
    """The loss of each cell; not a number where it has a label that no released row has."""
    of_label = np.array([losses.get(label, np.nan) for label in [*column.dictionary.to_pylist(), None]])
    return np.asarray(of_label[column.indices.fill_null(len(of_label) - 1).to_numpy(zero_copy_only=False)])
