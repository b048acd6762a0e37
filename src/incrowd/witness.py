"""The independent witness: recounts the classes of released rows, and knows of nothing but those rows.

It shares no code with encoding, search or recoding, so that a mistake there cannot hide here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import DataError, NotAnonymousError
from incrowd.policy import QuasiIdentifier

if TYPE_CHECKING:
    import pyarrow as pa

Ints = npt.NDArray[Any]
_BUFFER = 1 << 20  # rows of counts that may wait before they are merged


@dataclass(frozen=True)
class Finding:
    """What was counted for one quasi-identifier.

    Args:
        quasi_identifier: What should hold.
        anonymity: Size of the smallest class.
        classes: Number of classes.
        small_classes: Classes smaller than k.
        small_records: Records in them.
    """

    quasi_identifier: QuasiIdentifier
    anonymity: int
    classes: int
    small_classes: int
    small_records: int

    @property
    def holds(self) -> bool:
        """Whether everyone stands in a crowd of at least k."""
        return self.anonymity >= self.quasi_identifier.k

    def to_json(self) -> dict[str, Any]:
        """As JSON-able data."""
        return {
            "attributes": list(self.quasi_identifier.attributes),
            "k": self.quasi_identifier.k,
            "holds": self.holds,
            "anonymity": self.anonymity,
            "classes": self.classes,
            "small_classes": self.small_classes,
            "small_records": self.small_records,
        }


@dataclass(frozen=True)
class Verification:
    """What the witness found."""

    records: int
    findings: tuple[Finding, ...]

    @property
    def holds(self) -> bool:
        """Whether every quasi-identifier holds."""
        return all(finding.holds for finding in self.findings)

    def require(self) -> Verification:
        """Itself, if it holds.

        Raises:
            NotAnonymousError: It does not.
        """
        for finding in self.findings:
            if not finding.holds:
                qid = finding.quasi_identifier
                raise NotAnonymousError(
                    f"not {qid.k}-anonymous for {', '.join(qid.attributes)}: {finding.small_records} of {self.records} "
                    f"records stand in {finding.small_classes} classes smaller than {qid.k}, the smallest of "
                    f"{finding.anonymity}"
                )
        return self

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
        codes, counts = _count_rows(np.concatenate(self.classes), np.concatenate(self.counts))
        self.classes, self.counts = [codes], [counts]
        self.merged, self.waiting = len(counts), 0
        return counts


class Witness:
    """Counts classes over batches of released rows."""

    def __init__(self, quasi_identifiers: Sequence[QuasiIdentifier]) -> None:
        self._quasi_identifiers = tuple(quasi_identifiers)
        names = dict.fromkeys(name for qid in quasi_identifiers for name in qid.attributes)
        self._numbers: dict[str, dict[Any, int]] = {name: {} for name in names}
        self._tallies = [_Tally() for _ in quasi_identifiers]
        self._records = 0

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it has to see."""
        return tuple(self._numbers)

    def see(self, batch: pa.RecordBatch) -> None:
        """Count the rows of a batch."""
        if not len(batch):
            return
        self._records += len(batch)
        codes = {name: self._codes(name, batch.column(name)) for name in self._numbers}
        for qid, tally in zip(self._quasi_identifiers, self._tallies, strict=True):
            columns = [codes[name] for name in qid.attributes]
            tally.add(*_count_rows(np.stack(columns, axis=1), None))

    def _codes(self, name: str, column: pa.Array) -> Ints:
        """A number for each distinct value of the column, the same over all batches; null is a value too."""
        import pyarrow as pa

        if pa.types.is_nested(column.type):
            raise DataError(f"column '{name}' has type {column.type}, which cannot be counted; turn it into text first")
        column = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        numbers = self._numbers[name]
        values = [*column.dictionary.to_pylist(), None]
        number_of = np.array([numbers.setdefault(_same(value), len(numbers)) for value in values])
        indices = column.indices.fill_null(len(values) - 1).to_numpy(zero_copy_only=False)
        return np.asarray(number_of[indices])

    def verdict(self) -> Verification:
        """What was found.

        Raises:
            DataError: There were no rows at all.
        """
        if not self._records:
            raise DataError("there are no rows to verify")
        findings = []
        for qid, tally in zip(self._quasi_identifiers, self._tallies, strict=True):
            counts = tally.merge()
            small = counts[counts < qid.k]
            findings.append(Finding(qid, int(counts.min()), len(counts), len(small), int(small.sum())))
        return Verification(self._records, tuple(findings))


def _same(value: Any) -> Any:
    """Not-a-number is one value, though it does not equal itself."""
    return "NaN" if isinstance(value, float) and value != value else value


def _count_rows(codes: Ints, counts: Ints | None) -> tuple[Ints, Ints]:
    """The distinct rows of a matrix, and how often each occurs (or the sum of its counts)."""
    narrow = [column.astype(np.min_scalar_type(int(column.max()))) for column in codes.T]
    varying = [column for column in narrow if column.max() > column.min()]
    if not varying:
        return codes[:1], np.array([len(codes) if counts is None else counts.sum()])
    order = np.lexsort(varying)
    new = np.zeros(len(codes), bool)
    new[0] = True
    for column in varying:
        ordered = column[order]
        new[1:] |= ordered[1:] != ordered[:-1]
    starts = np.flatnonzero(new)
    if counts is None:
        return codes[order[starts]], np.diff(np.append(starts, len(codes)))
    return codes[order[starts]], np.add.reduceat(counts[order], starts)
