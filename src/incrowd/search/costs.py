"""What a release has lost, exactly or for people to read: what searches compare releases by."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Literal

import numpy as np

from incrowd.errors import PolicyError
from incrowd.measures.classes import FinestClasses
from incrowd.measures.registry import class_values
from incrowd.recodings.recoding import Recoding
from incrowd.search.exact import information
from incrowd.search.priorities import weights_by_name
from incrowd.table.compressed import CompressedTable

Cost = Literal["dm", "ncp", "cm"]


def released_cost(
    table: CompressedTable, recoding: Recoding, cost: Cost, priorities: Mapping[str, float] | None = None
) -> float:
    """What a release costs, once what only left-out records have is withheld, for people to read."""
    if priorities:
        return float(weighed_cost(table, recoding, priorities))
    classes = FinestClasses.of(table, recoding.parts(table)).over(recoding.names, 1)
    return readable(class_values(classes)[cost] or 0)


def cost_of(table: CompressedTable, recoding: Recoding, priorities: Mapping[str, float] | None = None) -> Fraction:
    """What a release has lost of what the search is for; a record that is left out has lost everything.

    With a target that is the information about it, without one the loss of cells, weighed by priorities.
    """
    if not table.has_target:
        return weighed_cost(table, recoding, priorities)
    classes = FinestClasses.of(table, recoding.parts(table))
    assert classes.labels is not None
    left_out = table.records - int(classes.sizes.sum())
    everyone = table.labels_in(np.zeros(len(table.counts), np.int64), 1)[0]
    unknown = information(everyone.tolist()) / table.records  # of one record of whom nothing is known
    return sum((information(labels) for labels in classes.labels.tolist()), left_out * unknown) / table.records


def weighed_cost(table: CompressedTable, recoding: Recoding, priorities: Mapping[str, float] | None) -> Fraction:
    """The loss of what is released (NCP), with cells weighed by priorities; a left-out record has lost everything."""
    parts = recoding.parts(table)
    weights = weights_by_name([attribute.name for attribute in table.attributes], priorities)
    kept = np.ones(len(parts.records), bool) if parts.kept is None else parts.kept
    counts = np.where(kept, parts.records, 0).astype(np.float64)
    lost = {name: float(counts @ parts.losses[name][parts.cells[name]]) for name in weights}
    mean = sum(float(weight) * lost[name] for name, weight in weights.items()) / float(sum(weights.values()))
    return Fraction(str(readable((mean + table.records - float(counts.sum())) / table.records)))


def weighs_cells(word: str, cost: str, priorities: Mapping[str, float] | None) -> None:
    """Raise PolicyError if priorities, which weigh the losses of cells, are given for another cost."""
    if priorities and cost not in ("ncp", "hdm"):
        raise PolicyError(f"The '{word}' parameter must be ncp where 'priorities' are given. Got {cost!r}.")


def readable(cost: Fraction | float) -> float:
    """A cost for people to read, the same on every machine."""
    return round(float(cost), 12)


def default_cost(table: CompressedTable, cost: Cost | None, priorities: Mapping[str, float] | None = None) -> Cost:
    """The cost to use: the one asked for, else ncp. It must suit the target and the priorities."""
    weighs_cells("cost", cost or "ncp", priorities)
    if cost == "cm" and not table.has_target:
        raise PolicyError("The 'cost' parameter must be dm or ncp when there is no target. Got 'cm'.")
    return cost or "ncp"
