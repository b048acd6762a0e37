"""I(G): what every generalization of an attribute loses, in floats to search by and exactly to compare by.

Losses of cells (NCP) are fractions of whole numbers. Information about labels has logarithms in it; `search.exact` says
when two of those are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from incrowd.recodings.steps import GeneralizeNode, JoinSets, MergeIntervals
from incrowd.search.bottom_up.generalization_trees import GeneralizationTree
from incrowd.search.exact import ABSOLUTE, DECIMALS, RELATIVE, comparable, information_lost
from incrowd.search.information import entropy
from incrowd.search.loss_scale import LossScale, Whole
from incrowd.table.attributes import categorical
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Floats

Ints = npt.NDArray[np.int64]


class Losses:
    """What the generalization to each node of a tree loses, times the priority of the attribute.

    Measures: "entropy" is Info(R_p) - sum |R_c|/|R_p| Info(R_c), as in the paper; "weighted" is that times |R_p|/|R|,
    the information about the label that the attribute loses; "ncp" is the increase of its loss.
    """

    def __init__(
        self,
        table: CompressedTable,
        attribute: int,
        tree: GeneralizationTree,
        measure: str,
        weight: Fraction = Fraction(1),
    ) -> None:
        self._tree = tree
        self._weight = weight
        self.nodes = np.array(sorted(tree.changes), np.int64)  # those that can be generalized to
        self._of_labels = measure != "ncp"
        self._records = table.records
        self._own = np.full(len(tree.parent), table.records)  # the records that a loss is shared by
        if self._of_labels:
            self._frequencies = tree.sum_up(table.label_counts(attribute))  # nodes x labels
            records = self._frequencies.sum(axis=1)
            mass = records * entropy(self._frequencies)
            if measure == "entropy":
                self._own = np.maximum(records, 1)
            self._floats = np.maximum(mass - tree.sum_children(mass), 0.0)
        else:
            scale = LossScale(table.attributes[attribute])
            self._denominator = scale.denominator
            mass = tree.sum_up(table.value_counts(attribute)) * _cell_losses(tree, scale)
            self._lost = mass - tree.sum_children(mass)
            self._floats = (self._lost / self._denominator).astype(np.float64)

    @property
    def decimals(self) -> int | None:
        """To how many decimals exact losses agree if they are equal; None for all."""
        return DECIMALS if self._of_labels else None

    @property
    def error(self) -> float:
        """By how much a loss in floats may be wrong, beside a relative error."""
        return ABSOLUTE * float(self._weight) if self._of_labels else 0.0

    @cached_property
    def information(self) -> Floats:
        return np.asarray(self._floats / self._own * float(self._weight))

    def unweighted(self, node: int) -> float:
        """I(G) whatever the priority of the attribute, for people to read."""
        return float(self._floats[node] / self._own[node])

    @cached_property
    def share(self) -> Floats:
        """The same weighted by the share of the records that it touches; adds up over steps."""
        return np.asarray(self._floats / self._records * float(self._weight))

    def exact_information(self, node: int) -> Fraction:
        return self._exact(node, int(self._own[node]))

    def exact_share(self, node: int) -> Fraction:
        return self._exact(node, self._records)

    def _exact(self, node: int, records: int) -> Fraction:
        if self._of_labels:
            lost = information_lost(self._frequencies[list(self._tree.children[node])].tolist()) / records
            return lost * self._weight
        return Fraction(int(self._lost[node]), self._denominator * records) * self._weight


def _cell_losses(tree: GeneralizationTree, scale: LossScale) -> Whole:
    """The loss of a cell with each node, as `scale` counts it; a value itself loses nothing."""
    start, stop = np.zeros((2, len(tree.parent)), np.int64)
    for node, change in tree.changes.items():
        if isinstance(change, MergeIntervals):
            start[node], stop[node] = change.edges[0], change.edges[-1]
        elif isinstance(change, GeneralizeNode):
            taxonomy = categorical(scale.attribute).taxonomy
            start[node], stop[node] = taxonomy.start[node], taxonomy.stop[node]
        elif isinstance(change, JoinSets) and not change.more:
            stop[node] = sum(map(len, change.sets))
        else:  # suppressed, or all there is
            stop[node] = scale.attribute.size
    lost = scale.numerators(start, stop)
    lost[stop == 0] = 0
    return lost


def ranks(
    losses: Sequence[Losses], values: Sequence[Floats], errors: Sequence[Floats], exact: Callable[[int, int], Fraction]
) -> list[Ints]:
    """The rank of each node among those of all attributes that can be generalized to; equal values have equal ranks.

    Floats decide where they are further apart than their errors, exact values among the others.
    """
    found = [np.full(len(part), -1) for part in values]
    of_attribute = np.repeat(np.arange(len(losses)), [len(loss.nodes) for loss in losses])
    nodes = np.concatenate([loss.nodes for loss in losses])
    flat = np.concatenate([part[loss.nodes] for loss, part in zip(losses, values, strict=True)])
    slack = np.concatenate([part[loss.nodes] for loss, part in zip(losses, errors, strict=True)])
    slack += RELATIVE * np.abs(flat)
    order = np.argsort(flat, kind="stable")
    reach = np.maximum.accumulate((flat + slack)[order])
    from_here = np.minimum.accumulate((flat - slack)[order][::-1])[::-1]
    breaks = np.flatnonzero(from_here[1:] > reach[:-1]) + 1
    places = list(zip(of_attribute[order].tolist(), nodes[order].tolist(), strict=True))
    rank = 0
    for start, stop in pairwise([0, *breaks.tolist(), len(places)]):
        if stop - start == 1:
            keys = {places[start]: Fraction(0)}
        else:
            keys = {place: comparable(exact(*place), losses[place[0]].decimals) for place in places[start:stop]}
        distinct = {key: rank + number for number, key in enumerate(sorted(set(keys.values())))}
        for (attribute, node), key in keys.items():
            found[attribute][node] = distinct[key]
        rank += len(distinct)
    return found
