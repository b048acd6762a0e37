"""A small table in plain Python with its requirement: what the reference reads, and the same for the real search."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from tests.reference.masked import Flat, Numbers, PartedTree, Tree
from tests.reference.top_down import TopDown

from incrowd.engines.arrow.recode import Recoder
from incrowd.policy.policy import Policy, QuasiIdentifier
from incrowd.privacy.model import Requirement
from incrowd.recodings.by_value import ByValue
from incrowd.recodings.recoding import Recoding
from incrowd.recodings.replay import replayed
from incrowd.recodings.steps import Step
from incrowd.run import Run
from incrowd.search.top_down.top_down import top_down
from incrowd.table.attributes import encode
from incrowd.table.compressed import CompressedTable
from incrowd.taxonomies.taxonomy import Taxonomy


@dataclass(frozen=True)
class Column:
    """A column; `kind` is "tree", "number" or "flat", None a missing value."""

    name: str
    values: tuple
    kind: str
    taxonomy: Taxonomy | None = None
    domain: tuple[Any, Any] | None = None

    def array(self, values: Sequence) -> pa.Array:
        """Some of its values as Arrow."""
        floats = any(isinstance(value, float) for value in self.values)
        return pa.array(values, pa.string() if self.kind != "number" else pa.float64() if floats else pa.int64())

    def attribute(self) -> Tree | Numbers | Flat:
        """What the reference sees."""
        if self.taxonomy is not None:
            return Tree(self.name, list(self.values), self.taxonomy)
        return (
            Numbers(self.name, list(self.values), self.domain)
            if self.kind == "number"
            else Flat(self.name, self.values)
        )

    def parted(self, most: int) -> Tree | Numbers | Flat:
        """What the reference sees where children of a taxonomy's node are shown one by one, so many of them."""
        if self.taxonomy is not None:
            return PartedTree(self.name, list(self.values), self.taxonomy, most)
        return self.attribute()

    def encode(self):
        """What the search sees: the attribute and the code of each record."""
        distinct = list(dict.fromkeys(value for value in self.values if value is not None))
        missing = None in self.values
        attribute, codes = encode(
            self.name, self.array(distinct), has_missing=missing, taxonomy=self.taxonomy, domain=self.domain
        )
        code_of = dict(zip([*distinct, None] if missing else distinct, codes.tolist(), strict=True))
        return attribute, np.array([code_of[value] for value in self.values])


@dataclass(frozen=True)
class Problem:
    """A table and its requirement; `classes` is None where there is no target."""

    columns: tuple[Column, ...]
    classes: tuple[str, ...] | None
    quasi_identifiers: tuple[QuasiIdentifier, ...]

    @property
    def rows(self) -> list[dict]:
        """The records."""
        return [
            dict(zip([column.name for column in self.columns], row, strict=True))
            for row in zip(*(column.values for column in self.columns), strict=True)
        ]

    def reference(self, criterion: str) -> TopDown:
        """The slow search."""
        qids = [(qid.attributes, qid.k) for qid in self.quasi_identifiers]
        return TopDown([column.attribute() for column in self.columns], self.rows, self.classes, qids, criterion)

    def table(self) -> CompressedTable:
        """The compressed table."""
        attributes, codes = zip(*(column.encode() for column in self.columns), strict=True)
        counts = np.ones(len(codes[0]), np.int64)
        if self.classes is None:
            return CompressedTable.build(attributes, codes, counts)
        labels = sorted(set(self.classes))
        of_record = np.array([labels.index(label) for label in self.classes])
        return CompressedTable.build(attributes, codes, counts, (labels, of_record))

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """What must hold, as the searches ask it."""
        return Policy(quasi_identifiers=self.quasi_identifiers).requirements

    def steps(self, criterion: str, max_steps: int | None = None) -> tuple[Step, ...]:
        """The steps of the real search."""
        return top_down(self.table(), self.requirements, Run(), criterion=criterion, max_steps=max_steps).steps

    def recoding(self, steps: Sequence[Step]) -> ByValue:
        """The recoding after some steps of a top-down search."""
        return replayed(self.table().attributes, steps, "general")

    def batch(self) -> pa.RecordBatch:
        """The rows as Arrow."""
        return pa.RecordBatch.from_arrays(
            [column.array(column.values) for column in self.columns], names=[column.name for column in self.columns]
        )

    def release(self, recoding: Recoding) -> dict[str, list]:
        """The released columns, for all rows, those that are left out included."""
        batch = self.batch()
        columns, _ = Recoder(recoding, lambda: [batch]).recode(batch)
        return {name: column.to_pylist() for name, column in columns.items()}

    def anonymity(self, release: dict[str, list]) -> tuple[int, ...]:
        """The smallest class of released columns, per quasi-identifier."""
        return tuple(
            min(Counter(zip(*(release[name] for name in qid.attributes), strict=True)).values())
            for qid in self.quasi_identifiers
        )

    def holds(self, anonymity: Sequence[int]) -> bool:
        """Whether the smallest classes are large enough."""
        return all(size >= qid.k for size, qid in zip(anonymity, self.quasi_identifiers, strict=True))

    def permuted(self, rows: Sequence[int], columns: Sequence[int]) -> "Problem":
        """The same problem with rows and columns in another order."""
        moved = [replace(c, values=tuple(c.values[row] for row in rows)) for c in self.columns]
        classes = None if self.classes is None else tuple(self.classes[row] for row in rows)
        return replace(self, columns=tuple(moved[column] for column in columns), classes=classes)
