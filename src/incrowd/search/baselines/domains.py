"""Generalized domains: a recoding of one attribute, with the released value of each code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from incrowd.recodings.attributes.attribute_recoding import AttributeRecoding, Cells
from incrowd.recodings.attributes.cut import cut_of
from incrowd.recodings.attributes.disclosure import Disclosure
from incrowd.recodings.attributes.intervals import Intervals
from incrowd.recodings.kinds import kind_of
from incrowd.search.loss_scale import LossScale, Whole
from incrowd.table.attributes import Attribute, FlatAttribute, categorical, numeric
from incrowd.table.grouping import Floats

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Domain:
    """A generalized domain of an attribute."""

    scale: LossScale
    recoding: AttributeRecoding

    @property
    def attribute(self) -> Attribute:
        return self.scale.attribute

    @cached_property
    def cells(self) -> Cells:
        """The released value of each code, numbered as in the recoding."""
        return self.recoding.of_codes(self.attribute)

    @cached_property
    def width(self) -> int:
        """Number of released values, those that do not occur included."""
        return len(self.recoding.labels)

    @cached_property
    def losses(self) -> Floats:
        """Generalized loss of each code."""
        return self.recoding.losses(self.attribute)[self.cells]

    @cached_property
    def whole_losses(self) -> Whole:
        """The same exactly: whole numbers over the denominator of the scale."""
        if isinstance(self.attribute, FlatAttribute):
            return self.losses.astype(np.int64)  # a value is shown or suppressed
        cells, codes = self.cells, np.arange(self.attribute.size)
        start, stop = np.full(self.width, len(codes)), np.zeros(self.width, np.int64)
        np.minimum.at(start, cells, codes)
        np.maximum.at(stop, cells, codes + 1)
        lost = self.scale.numerators(start[cells], stop[cells])
        return np.where(self.losses > 0, lost, 0 * lost)  # a number that is released as itself loses nothing


def cut_domain(scale: LossScale, nodes: Sequence[int]) -> Domain:
    return Domain(scale, cut_of(categorical(scale.attribute), nodes))


def interval_domain(scale: LossScale, cuts: Sequence[int], *, apart: bool = True) -> Domain:
    return Domain(scale, Intervals.at(numeric(scale.attribute), cuts, apart=apart))


def disclosure_domain(scale: LossScale, shown: Mask) -> Domain:
    return Domain(scale, Disclosure.showing(scale.attribute, shown))


def hierarchy(attribute: Attribute) -> tuple[Domain, ...]:
    """The domain generalization hierarchy of an attribute: its domains, from its values to the most general."""
    scale = LossScale(attribute)
    return tuple(Domain(scale, recoding) for recoding in kind_of(attribute).levels())
