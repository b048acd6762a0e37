"""The records of a release that fit what is known about people: their candidates.

Released rows are grouped to distinct tuples of labels, people to distinct tuples of atoms. Where every value has one
label, candidates are found by grouping both together; otherwise every column gives a bit per released tuple, and a
person's candidates are the conjunction. Memory does not depend on the number of people.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from incrowd.attacks.covers import Cover
from incrowd.attacks.problem import Codes, Released
from incrowd.run import Run
from incrowd.table.grouping import group

Floats = npt.NDArray[np.float64]
Bits = npt.NDArray[np.uint8]

_CELLS = 1 << 22  # people times crowds that are worked on at a time


@dataclass(frozen=True)
class Crowds:
    """The distinct tuples of labels that released rows have on some columns.

    Args:
        covers: What the labels of each column stand for.
        labels: Per column, the label of each crowd.
        of_row: The crowd of each released row.
    """

    covers: tuple[Cover, ...]
    labels: tuple[Codes, ...]
    of_row: Codes

    @classmethod
    def of(cls, released: Released, columns: Sequence[str]) -> Crowds:
        codes = released.table.rows(columns)
        of_row, firsts = group(codes, [len(released.table.texts[column]) for column in columns])
        covers = tuple(released.covers[column] for column in columns)
        return cls(covers, tuple(column[firsts] for column in codes), of_row)

    @property
    def number(self) -> int:
        return len(self.labels[0])

    @cached_property
    def sizes(self) -> Floats:
        """Released rows of each crowd."""
        return np.bincount(self.of_row, minlength=self.number).astype(float)

    def tally(self, values: Codes, width: int) -> Floats:
        """How many rows of each crowd have each value of another column: crowds x values."""
        return (
            np.bincount(self.of_row.astype(np.int64) * width + values, minlength=self.number * width)
            .reshape(-1, width)
            .astype(float)
        )

    @property
    def is_global(self) -> bool:
        """Whether every value has one label at most, as after global recoding."""
        return all(cover.label_of is not None for cover in self.covers)

    def candidates(self, people: Sequence[Codes], run: Run) -> Floats:
        """How many released rows fit each person, given the person's values column by column."""
        return self.totals(people, self.sizes[:, None], run)[:, 0]

    def totals(self, people: Sequence[Codes], weights: Floats, run: Run) -> Floats:
        """The sum of weights (crowds x anything) over the crowds that fit each person."""
        atoms, of_person = self.distinct(people)
        found = np.zeros((len(atoms[0]), weights.shape[1]))
        if (single := self._single(atoms)) is not None:
            found[single >= 0] = weights[single[single >= 0]]
            return found[of_person]
        for part, fits in self.fits(atoms, run):
            found[part] = fits @ weights
        return found[of_person]

    def people(self, people: Sequence[Codes], run: Run) -> Floats:
        """How many people fit each crowd, given their values column by column: who may be behind its records."""
        atoms, of_person = self.distinct(people)
        number = np.bincount(of_person).astype(float)
        if (single := self._single(atoms)) is not None:
            return np.bincount(single[single >= 0], number[single >= 0], minlength=self.number).astype(float)
        found = np.zeros(self.number)
        for part, fits in self.fits(atoms, run):
            found += number[part] @ fits
        return found

    def only_crowd(self, people: Sequence[Codes], run: Run) -> Codes:
        """The crowd of each person if only one fits, -1 otherwise."""
        atoms, of_person = self.distinct(people)
        if (single := self._single(atoms)) is not None:
            return single[of_person]
        found = np.full(len(atoms[0]), -1)
        for part, fits in self.fits(atoms, run):
            found[part] = np.where(fits.sum(axis=1) == 1, fits.argmax(axis=1), -1)
        return found[of_person]

    def distinct(self, people: Sequence[Codes]) -> tuple[list[Codes], Codes]:
        """The distinct tuples of atoms that people have, and the one of each person."""
        atoms = [cover.atom_of[values] for cover, values in zip(self.covers, people, strict=True)]
        of_person, firsts = group(atoms, [cover.atoms for cover in self.covers])
        return [column[firsts] for column in atoms], of_person

    def _single(self, atoms: Sequence[Codes]) -> Codes | None:
        """The crowd of each tuple of atoms, -1 for none; None where values have several labels."""
        if not self.is_global:
            return None
        there = np.ones(len(atoms[0]), bool)
        columns = []
        for cover, own, labels in zip(self.covers, atoms, self.labels, strict=True):
            assert cover.label_of is not None
            found = cover.label_of[own]
            there &= found >= 0
            columns.append(np.concatenate([labels, np.maximum(found, 0)]))
        together, _ = group(columns, [len(cover.start) for cover in self.covers])
        crowd_of = np.full(int(together.max()) + 1, -1)
        crowd_of[together[: self.number]] = np.arange(self.number)
        return np.where(there, crowd_of[together[self.number :]], -1)

    def fits(self, atoms: Sequence[Codes], run: Run) -> Iterator[tuple[slice, npt.NDArray[np.bool_]]]:
        """Which crowds fit tuples of atoms, some tuples at a time: tuples x crowds."""
        step = max(_CELLS // self.number, 1)
        for start in range(0, len(atoms[0]), step):
            run.check()
            part = slice(start, start + step)
            bits: Bits | None = None
            for cover, labels, own in zip(self.covers, self.labels, atoms, strict=True):
                distinct, place = np.unique(own[part], return_inverse=True)
                table = np.packbits(cover.holds(labels[None, :], distinct[:, None]), axis=1)
                bits = table[place] if bits is None else bits & table[place]
            assert bits is not None
            yield part, np.unpackbits(bits, axis=1, count=self.number).view(bool)
