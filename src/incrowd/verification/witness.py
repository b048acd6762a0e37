"""The independent witness: recounts the classes of released rows, and knows of nothing but those rows.

What was promised comes to it as plain data: names of columns, numbers, texts (`Asked`, `Promise`, `Meaning`). It
shares no code with policies, encoding, search, recoding or the privacy models, so that a mistake there cannot hide
here: it has its own reading of values (`witness_values`), and for each model a count of its own (`witness_levels`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import isfinite, prod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from incrowd.errors import DataError, NotAnonymousError, many, shown_type
from incrowd.table.arrays import filled, to_arrow, to_numpy
from incrowd.verification.counts import IN_POPULATION, OF_TABLE, Column, Promise, reached
from incrowd.verification.values import Meaning, as_text, plain

if TYPE_CHECKING:
    import pyarrow as pa

Ints = npt.NDArray[Any]
_BUFFER = 1 << 20  # rows of counts that may wait before they are merged
_SMALL = 1 << 16  # cells of a table that cost hardly more than none


@dataclass(frozen=True)
class Asked:
    """What must hold for the classes of one quasi-identifier.

    Args:
        k: The size of the smallest class that was asked for; 1 if none was.
    """

    attributes: tuple[str, ...]
    k: int
    promises: tuple[Promise, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(promise.column for promise in self.promises if promise.column is not None))


@dataclass(frozen=True)
class ModelFinding:
    """What was counted for one privacy model.

    Args:
        model: The promise in short, such as "k=10".
        threshold: What every class should reach, or must not exceed; None if nothing was asked for.
        worst: What the worst class reaches; infinity where no limit would do.
        name: Name of the model, such as "k-anonymity".
        column: The protected column that it counts.
    """

    model: str
    threshold: float | None
    worst: float
    bad_classes: int
    bad_records: int
    name: str = ""
    column: str | None = None

    @property
    def holds(self) -> bool:
        return self.threshold is None or self.bad_classes == 0

    @classmethod
    def of(cls, promise: Promise, sizes: Ints, columns: Mapping[str | None, Column]) -> ModelFinding:
        worst, bad = reached(promise, sizes, columns)
        fallen = int(bad.sum()), int(sizes[bad].sum())
        return cls(promise.text, promise.limit, worst, *fallen, promise.name, promise.column)

    def to_json(self) -> dict[str, Any]:
        """As JSON-able data; a worst level of infinity, which JSON has not, is None."""
        worst = self.worst if isfinite(self.worst) else None
        return {**asdict(self), "worst": worst, "holds": self.holds}


@dataclass(frozen=True)
class Finding:
    """What was counted for one quasi-identifier."""

    attributes: tuple[str, ...]
    k: int
    anonymity: int
    classes: int
    models: tuple[ModelFinding, ...]

    @property
    def holds(self) -> bool:
        return all(model.holds for model in self.models)

    def to_json(self) -> dict[str, Any]:
        return {
            "attributes": list(self.attributes),
            "k": self.k,
            "holds": self.holds,
            "anonymity": self.anonymity,
            "classes": self.classes,
            "models": [model.to_json() for model in self.models],
        }


@dataclass(frozen=True)
class Verdict:
    """What the witness found."""

    records: int
    findings: tuple[Finding, ...]

    @property
    def holds(self) -> bool:
        """Whether every quasi-identifier holds."""
        return all(finding.holds for finding in self.findings)

    def to_rows(self) -> list[dict[str, Any]]:
        """What was counted for each quasi-identifier and privacy model, a row each."""
        rows: list[dict[str, Any]] = []
        for finding in self.findings:
            head = {"quasi_identifier": ", ".join(finding.attributes), "classes": finding.classes}
            rows += [{**head, **asdict(model), "holds": model.holds} for model in finding.models]
        return rows

    def require(self) -> Self:
        """Itself, if it holds.

        Raises:
            NotAnonymousError: It does not.
        """
        for finding in self.findings:
            for model in finding.models:
                if not model.holds:
                    names = ", ".join(finding.attributes)
                    if model.name in OF_TABLE:
                        raise NotAnonymousError(
                            f"{model.model} does not hold for {names}: all {many(finding.classes, 'class', 'classes')} "
                            f"together reach {model.worst:g}"
                        )
                    bad = f"{model.bad_records} of {many(self.records, 'record')}"
                    bad += " is in " if model.bad_records == 1 else " are in "
                    bad += many(model.bad_classes, "class that falls", "classes that fall")
                    raise NotAnonymousError(
                        f"{model.model} does not hold for {names}: {bad} short; the worst reaches {model.worst:g}"
                    )
        return self

    def without_thresholds(self) -> Self:
        """What was counted, where nothing was asked for: the limits that were counted with say nothing.

        Classes of one record, and classes with one value of a sensitive column, still count as falling short.
        """
        findings = []
        for finding in self.findings:
            models = []
            for model in finding.models:
                name = model.name if model.column is None else f"{model.name} of {model.column}"
                models.append(replace(model, model=name, threshold=None))
            findings.append(replace(finding, models=tuple(models)))
        return replace(self, findings=tuple(findings))

    def to_json(self) -> dict[str, Any]:
        """As JSON-able data."""
        findings = [finding.to_json() for finding in self.findings]
        return {"holds": self.holds, "records": self.records, "quasi_identifiers": findings}


@dataclass
class _Tally:
    """Counts of the classes of one quasi-identifier, merged now and then."""

    classes: list[Ints] = field(default_factory=list)  # each classes x attributes
    counts: list[Ints] = field(default_factory=list)
    waiting: int = 0
    merged: int = 0

    def add(self, codes: Ints, counts: Ints) -> None:
        self.classes.append(codes)
        self.counts.append(counts)
        self.waiting += len(counts)
        if self.waiting > max(_BUFFER, 2 * self.merged):
            self.merge()

    def merge(self) -> Ints:
        rows, counts = np.concatenate(self.classes), np.concatenate(self.counts)
        codes, counts = _count_rows(list(rows.T), counts, len(rows))
        self.classes, self.counts = [codes], [counts]
        self.merged, self.waiting = len(counts), 0
        return counts


class Witness:
    """Counts classes over batches of released rows.

    Args:
        asked: What has to hold, for each quasi-identifier.
        meanings: What values count as, by sensitive column; for itself where it is not here.
        texts: Whether all values are compared as texts, an empty one as a missing value, so that it does not matter
            which kind of file rows and people come from.
    """

    def __init__(
        self, asked: Sequence[Asked], meanings: Mapping[str, Meaning] | None = None, *, texts: bool = False
    ) -> None:
        self._asked = tuple(asked)
        self._meanings = dict(meanings or {})
        self._texts = texts
        names = dict.fromkeys(name for each in asked for name in each.attributes)
        self._sensitive = tuple(dict.fromkeys(name for each in asked for name in each.columns))
        self._numbers: dict[str, dict[Any, int]] = {name: {} for name in (*names, *self._sensitive)}
        self._tallies = [_Tally() for _ in asked]
        self._values = [{name: _Tally() for name in each.columns} for each in asked]
        self._people: list[_Tally] | None = None
        self._records = 0

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._numbers)

    def see(self, batch: pa.RecordBatch, counts: Ints | None = None) -> None:
        """Count the rows of a batch, or the `counts` of released rows that each stands for."""
        if not len(batch):
            return
        self._records += len(batch) if counts is None else int(counts.sum())
        codes = {name: self._codes(name, batch.column(name)) for name in self._numbers}
        for asked, tally, values in zip(self._asked, self._tallies, self._values, strict=True):
            columns = [codes[name] for name in asked.attributes]
            tally.add(*_count_rows(columns, counts, len(batch)))
            for name, value_tally in values.items():
                value_tally.add(*_count_rows([*columns, codes[name]], counts, len(batch)))

    def see_population(self, batch: pa.RecordBatch, counts: Ints) -> None:
        """Count people of the population, by what they would be released as; each row stands for some."""
        if self._people is None:
            self._people = [_Tally() for _ in self._asked]
        if len(batch):
            for asked, tally in zip(self._asked, self._people, strict=True):
                codes = [self._codes(name, batch.column(name)) for name in asked.attributes]
                tally.add(*_count_rows(codes, counts, len(batch)))

    def outside_population(self) -> int:
        """Records of classes that have more of them than the population has people; both must have been seen."""
        found = [0]
        for place, tally in enumerate(self._tallies):
            if tally.classes:
                found.append(int(np.maximum(tally.merge() - self._population(place, tally).counts, 0).sum()))
        return max(found)

    def _codes(self, name: str, column: pa.Array) -> Ints:
        """A number for each distinct value of the column, the same over all batches; null is a value too.

        Of a column that is the same in all rows, a single number.
        """
        import pyarrow as pa

        if pa.types.is_nested(column.type):
            raise _uncountable(name, column)
        try:
            column = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        except pa.ArrowNotImplementedError:
            raise _uncountable(name, column) from None
        numbers = self._numbers[name]
        values = [*plain(column.dictionary), None]
        if name in self._sensitive:
            meaning = self._meanings.get(name, Meaning())
            values = [meaning.counted(value) for value in values]
        elif self._texts:
            values = [as_text(value) for value in values]
        if not column.null_count:
            values.pop()
        number_of = np.array([numbers.setdefault(_same(value), len(numbers)) for value in values], np.int64)
        if len(number_of) == 1:
            return number_of
        indices = filled(column.indices, len(values) - 1)
        narrow = number_of.astype(np.min_scalar_type(len(numbers)))
        return to_numpy(to_arrow(narrow).take(indices))

    def verdict(self) -> Verdict:
        """What was found.

        Raises:
            DataError: There were no rows at all.
        """
        if not self._records:
            raise DataError("there are no rows to verify")
        findings = []
        for place, (asked, tally, values) in enumerate(zip(self._asked, self._tallies, self._values, strict=True)):
            sizes = tally.merge()
            columns: dict[str | None, Column] = {}
            for name, counted in values.items():
                columns[name] = self._column(name, counted, len(sizes))
            if any(promise.name in IN_POPULATION for promise in asked.promises):
                columns[None] = self._population(place, tally)
            models = tuple(ModelFinding.of(promise, sizes, columns) for promise in asked.promises)
            findings.append(Finding(asked.attributes, asked.k, int(sizes.min()), len(sizes), models))
        return Verdict(self._records, tuple(findings))

    def _population(self, place: int, tally: _Tally) -> Column:
        """The people of the population in each released class; those in no released class do not count."""
        people = (self._people or [])[place : place + 1]
        if not people or not people[0].classes:
            raise DataError("nobody of the population was counted, so what was promised against it cannot be verified")
        counts = people[0].merge()
        both = np.concatenate([tally.classes[0], people[0].classes[0]])
        number = np.unique(both, axis=0, return_inverse=True)[1].ravel()
        size = len(tally.classes[0])
        found = np.bincount(number[size:], counts, int(number.max()) + 1).astype(np.int64)[number[:size]]
        return Column(("people",), np.arange(size), np.zeros(size, np.int64), found, size)

    def _column(self, name: str, tally: _Tally, classes: int) -> Column:
        """What was counted of a sensitive column; classes stand in the order in which their sizes do."""
        counts = tally.merge()
        (rows,) = tally.classes
        order = np.lexsort((rows[:, -1], *rows[:, :-1].T))
        rows, counts = rows[order], counts[order]
        new = np.append(False, (rows[1:, :-1] != rows[:-1, :-1]).any(axis=1))
        values = tuple(self._numbers[name])
        used, codes = np.unique(rows[:, -1], return_inverse=True)
        return Column(tuple(values[number] for number in used), np.cumsum(new), codes, counts, classes)


def _uncountable(name: str, column: pa.Array) -> DataError:
    return DataError(f"column '{name}' has type {shown_type(column.type)}, which cannot be counted; convert it to text")


def _same(value: Any) -> Any:
    """Not-a-number is one value, though it does not equal itself."""
    return "NaN" if isinstance(value, float) and value != value else value


def _count_rows(columns: Sequence[Ints], counts: Ints | None, rows: int) -> tuple[Ints, Ints]:
    varying = [place for place, column in enumerate(columns) if len(column) > 1]
    sizes = [int(columns[place].max()) + 1 for place in varying]
    room = prod(sizes)
    if counts is None and room <= 4 * rows + _SMALL:  # a table of all combinations is small: no need to sort
        keys = np.zeros(rows, np.int64)
        for place, size in zip(varying, sizes, strict=True):
            keys *= size
            keys += columns[place]
        table = np.bincount(keys, minlength=room)
        there = np.flatnonzero(table)
        found = np.unravel_index(there, sizes) if varying else ()
        return _matrix(columns, dict(zip(varying, found, strict=True)), len(there)), table[there]
    order = np.lexsort([columns[place] for place in varying]) if varying else np.arange(rows)
    new = np.zeros(rows, bool)
    new[0] = True
    for place in varying:
        ordered = columns[place][order]
        new[1:] |= ordered[1:] != ordered[:-1]
    starts = np.flatnonzero(new)
    distinct = {place: columns[place][order[starts]] for place in varying}
    each = np.diff(np.append(starts, rows)) if counts is None else np.add.reduceat(counts[order], starts)
    return _matrix(columns, distinct, len(starts)), each


def _matrix(columns: Sequence[Ints], varying: Mapping[int, Ints], rows: int) -> Ints:
    """Rows x columns; those that do not vary have one number for all rows."""
    matrix = np.empty((rows, len(columns)), np.int64)
    for place, column in enumerate(columns):
        matrix[:, place] = varying.get(place, column[:1])
    return matrix
