"""The rows of a table as codes: what all counts of risk are made from. The one place of this package that sees rows.

Missing values are a value of their own, as they are for whoever reads the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cached_property

import numpy as np
import pyarrow as pa

from incrowd.errors import DataError, PolicyError, many
from incrowd.run import Run
from incrowd.table.grouping import Codes, Counts, count, group
from incrowd.table.members import Members
from incrowd.table.scales import text_of
from incrowd.table.value_numbers import ValueNumbers

UNIT = 10**6  # weights are counted in millionths of a person, so that sums of them are exact
_MOST = 1 << 62


@dataclass(frozen=True)
class People:
    """The records of a table on one quasi-identifier.

    Args:
        codes: Per attribute, the value of each distinct tuple, as a number.
        texts: Per attribute, the values that the numbers stand for, as texts.
        class_of: The tuple of each record, in the order of the rows.
        sensitive: By sensitive column, the value of each record, as a number.
        weights: How many people of the population each record stands for, in units of `UNIT`; None without weights.
        persons: Whose record each is, as a number; None where every record is a person of its own.
    """

    attributes: tuple[str, ...]
    codes: tuple[Codes, ...]
    texts: tuple[pa.Array, ...]
    class_of: Codes
    sensitive: Mapping[str, Codes]
    weights: Counts | None = None
    persons: Codes | None = None

    @cached_property
    def members(self) -> Members:
        """Who is in which class: records, or people where they are known; tuples and classes are the same here."""
        return Members(self.class_of, len(self.codes[0]), self.persons)

    @property
    def number(self) -> int:
        """How many records there are; where persons are known, how many people."""
        return self.members.number

    @property
    def sizes(self) -> Counts:
        """Records of each class, or people where they are known."""
        return self.members.sizes

    @property
    def memberships(self) -> int:
        """What the sizes of all classes sum up to: records, or people, each once in every class."""
        return int(self.sizes.sum())

    @cached_property
    def owners(self) -> Codes | None:
        """Whose class each is, as a number: of one person's class that person, of others a number of their own."""
        if self.persons is None:
            return None
        owners = np.zeros(len(self.sizes), np.int64)
        owners[self.class_of] = self.persons
        shared = self.sizes > 1
        owners[shared] = int(self.persons.max()) + 1 + np.arange(int(shared.sum()))
        return owners

    def sizes_of(self, groups: Codes, number: int) -> Counts:
        """Records, or people, of each group of classes, given the group of each class."""
        if self.persons is None:
            return count(groups, number, self.sizes)
        return Members(groups[self.class_of], number, self.persons).sizes

    @cached_property
    def weight_sums(self) -> Counts | None:
        """The weight of each class, in units of `UNIT`."""
        if self.weights is None:
            return None
        sums = np.zeros(len(self.sizes), np.int64)
        np.add.at(sums, self.class_of, self.weights)
        return sums

    @property
    def population(self) -> Fraction | None:
        """How many people the records stand for, by their weights."""
        return None if self.weights is None else Fraction(int(self.weights.sum()), UNIT)


def read_people(
    batches: Iterable[pa.RecordBatch],
    name: str,
    attributes: Sequence[str],
    *,
    sensitive: Sequence[str] = (),
    weights: str | None = None,
    unit: str | None = None,
    missing_values: Sequence[str] = (),
    run: Run,
) -> People:
    """Number the values of a table; records that do not say whose they are (`unit`) are one person's.

    Raises:
        DataError: There are no rows.
        PolicyError: The weights cannot be used.
    """
    wanted = [*attributes, *sensitive, *(each for each in (weights, unit) if each)]
    columns = [ValueNumbers(column, missing_values) for column in wanted]
    parts: list[list[Codes]] = [[] for _ in wanted]
    for batch in batches:
        for column, part in zip(columns, parts, strict=True):
            part.append(column.codes(batch.column(column.name)))
        run.rows(len(batch))
    if not sum(map(len, parts[0])):
        raise DataError(f"{name} has no rows; there is no risk to assess")
    codes = [np.concatenate(part) + 1 for part in parts]  # 0 is a missing value
    tuples = codes[: len(attributes)]
    class_of, firsts = group(tuples, [int(column.max()) + 1 for column in tuples])
    at = len(attributes) + len(sensitive)
    units = None if weights is None else units_of(columns[at], codes[at] - 1, weights)
    persons = None if unit is None else codes[-1]
    values = dict(zip(sensitive, codes[len(attributes) :], strict=False))
    texts = tuple(_texts(column) for column in columns[: len(attributes)])
    distinct = tuple(column[firsts] for column in tuples)
    return People(tuple(attributes), distinct, texts, class_of, values, units, persons)


def _texts(column: ValueNumbers) -> pa.Array:
    missing = pa.nulls(1, pa.string())
    return missing if column.values is None else pa.concat_arrays([missing, text_of(column.values).cast(pa.string())])


def units_of(column: ValueNumbers, numbers: Codes, name: str) -> Counts:
    """The weight of each record in units; only distinct values are read."""
    if (numbers < 0).any():
        rows = int((numbers < 0).sum())
        raise PolicyError(
            f"column '{name}' has no weight in {many(rows, 'row')}; give every record a weight, or leave it out"
        )
    assert column.values is not None
    units = []
    for text in text_of(column.values).to_pylist():
        try:
            weight = Decimal(text)
        except InvalidOperation:
            weight = Decimal("NaN")
        if not weight.is_finite():
            raise PolicyError(f"column '{name}' holds '{text}', which is no weight; weights are numbers from 0 up")
        if weight < 0:
            raise PolicyError(f"column '{name}' holds the negative weight {text}; weights are numbers from 0 up")
        units.append(round(weight * UNIT))
    weights = [unit * int(rows) for unit, rows in zip(units, count(numbers, len(units), None), strict=True)]
    if not 0 < sum(weights) < _MOST:
        found = "0" if not sum(weights) else "too much"
        raise PolicyError(f"the weights in column '{name}' sum up to {found}; they should sum up to the population")
    if sum(weights) < len(numbers) * UNIT:
        raise PolicyError(
            f"the weights in column '{name}' sum up to fewer people than there are rows; they should sum up to the "
            "population that the rows were drawn from"
        )
    return np.array(units, np.int64)[numbers]
