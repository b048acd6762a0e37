"""The independent witness: recounts the classes of released rows, and knows of nothing but those rows.

It shares no code with encoding, search, recoding or the privacy models, so that a mistake there cannot hide here: for
each model it has a count of its own (`LEVELS`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import DataError, NotAnonymousError
from incrowd.policy.policy import QuasiIdentifier

if TYPE_CHECKING:
    import pyarrow as pa

    from incrowd.privacy.model import PrivacyModel

Ints = npt.NDArray[Any]
_BUFFER = 1 << 20  # rows of counts that may wait before they are merged


# How well each class is protected, by the name of the model: from the sizes of the classes and the model's parameters.
LEVELS: Mapping[str, Callable[[Ints, Any], Ints]] = {"k-anonymity": lambda sizes, model: sizes}


@dataclass(frozen=True)
class ModelFinding:
    """What was counted for one privacy model.

    Args:
        model: The promise in short, such as "k=10".
        threshold: What every class should reach.
        worst: What the worst class reaches.
        bad_classes: Classes that fall short.
        bad_records: Records in them.
    """

    model: str
    threshold: float
    worst: float
    bad_classes: int
    bad_records: int

    @property
    def holds(self) -> bool:
        """Whether every class is good."""
        return self.worst >= self.threshold

    @classmethod
    def of(cls, model: PrivacyModel, sizes: Ints) -> ModelFinding:
        """Count the classes of one quasi-identifier."""
        if model.name not in LEVELS:
            raise DataError(f"the witness cannot count {model.name}, so it cannot say whether {model} holds")
        levels = LEVELS[model.name](sizes, model)
        bad = sizes[levels < model.threshold]
        return cls(str(model), model.threshold, levels.min().item(), len(bad), int(bad.sum()))


@dataclass(frozen=True)
class Finding:
    """What was counted for one quasi-identifier.

    Args:
        quasi_identifier: What should hold.
        anonymity: Size of the smallest class.
        classes: Number of classes.
        models: What was counted for each privacy model.
    """

    quasi_identifier: QuasiIdentifier
    anonymity: int
    classes: int
    models: tuple[ModelFinding, ...]

    @property
    def holds(self) -> bool:
        """Whether every privacy model holds."""
        return all(model.holds for model in self.models)

    def to_json(self) -> dict[str, Any]:
        """As JSON-able data."""
        return {
            "attributes": list(self.quasi_identifier.attributes),
            "k": self.quasi_identifier.k,
            "holds": self.holds,
            "anonymity": self.anonymity,
            "classes": self.classes,
            "models": [{**asdict(model), "holds": model.holds} for model in self.models],
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
            for model in finding.models:
                if not model.holds:
                    names = ", ".join(finding.quasi_identifier.attributes)
                    raise NotAnonymousError(
                        f"{model.model} does not hold for {names}: {model.bad_records} of {self.records} records "
                        f"are in {model.bad_classes} classes that fall short; the worst reaches {model.worst}"
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
            raise DataError(f"column '{name}' has type {column.type}, which cannot be counted; convert it to text")
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
            sizes = tally.merge()
            models = tuple(ModelFinding.of(model, sizes) for model in qid.models)
            findings.append(Finding(qid, int(sizes.min()), len(sizes), models))
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
