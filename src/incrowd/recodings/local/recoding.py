"""A local recoding: equal records may be released differently. It prints, writes to JSON, reads back and applies.

Its file holds the original tuples and is as confidential as the original table; the codebook shows only what the
release shows.

New rows: those of a known tuple take its parts in the same way, any surplus the largest part; those of an unseen tuple
take the released class with the least loss that has all their values, else the most general tuple. A value that a given
taxonomy does not know is an error. New rows are not k-anonymous by that alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import DataError
from incrowd.recodings.local.hierarchies import Hierarchy, Nodes
from incrowd.recodings.local.mapping import LocalMapping, Numbers
from incrowd.recodings.local.ranges import Ranges
from incrowd.recodings.local.row_shares import Hashes, RowHash, RowShares
from incrowd.recodings.local.tuple_lookup import TupleLookup
from incrowd.recodings.recoding import FORMAT, Recoding, complete_rows, encoded, is_missing, with_columns

Batches = Callable[[], Iterable[pa.RecordBatch]]


@dataclass(frozen=True)
class LocalRecoding:
    """A local recoding.

    Args:
        mapping: Which records of which tuple take which generalized tuple.
        key: Key of the hash that decides which records those are.
        dropped: Columns that are left out of the release.
        missing: What happens to missing values: "category", "drop" or "error".
        missing_values: Texts that count as missing.
        missing_label: What a missing value is released as where it is told from others; None for an empty cell.
    """

    mapping: LocalMapping
    key: bytes
    dropped: tuple[str, ...] = ()
    missing: str = "category"
    missing_values: tuple[str, ...] = ()
    missing_label: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that it recodes."""
        return tuple(hierarchy.name for hierarchy in self.mapping.hierarchies)

    @property
    def reads(self) -> tuple[str, ...] | None:
        """The columns that it must see to recode rows; None for all."""
        return None if self.mapping.split.any() else self.names

    def __getitem__(self, name: str) -> Hierarchy:
        return self.mapping.hierarchies[self.names.index(name)]

    def label(self, hierarchy: Hierarchy, node: int) -> str | None:
        """What a node is released as."""
        label = hierarchy.label(node)
        return self.missing_label if label is None else label

    def labels(self, name: str) -> tuple[str | None, ...]:
        """The released values of a column."""
        hierarchy = self[name]
        used = np.unique(self.mapping.classes[:, self.names.index(name)])
        return tuple(self.label(hierarchy, node) for node in used.tolist())

    @property
    def silent(self) -> tuple[str, ...]:
        """Columns that nobody has to read: none, since the choice among equal tuples depends on whole rows."""
        return ()

    def cells(self, name: str, values: pa.Array) -> Nodes:
        """The node of each of some values of a column; -1 for values that have none."""
        hierarchy = self[name]
        missing = is_missing(values, [text for text in self.missing_values if not hierarchy.is_value(text)])
        nodes = np.full(len(values), hierarchy.missing_cell, np.int32)
        nodes[~missing] = hierarchy.nodes(values.filter(pa.array(~missing)))
        return nodes

    def recode(self, batch: pa.RecordBatch) -> tuple[dict[str, pa.DictionaryArray], npt.NDArray[np.bool_] | None]:
        """The recoded columns of a batch that is a table by itself, and which rows stay (None if all do)."""
        return self.session(lambda: [batch]).recode(batch)

    def session(self, batches: Batches) -> LocalSession:
        """What recodes the rows of one table, batch by batch.

        Args:
            batches: Reads all columns of that table from the start; called if there are split tuples.
        """
        return LocalSession(self, batches)

    def apply(self, data: Any, **options: Any) -> Any:
        """Recode new rows; see `incrowd.apply`."""
        from incrowd.pipeline import apply

        return apply(self, data, **options)

    def codebook(self) -> str:
        """The released values and what they stand for; tells nothing that the release does not."""
        lines = []
        for place, hierarchy in enumerate(self.mapping.hierarchies):
            lines.append(hierarchy.name)
            for node in np.unique(self.mapping.classes[:, place]).tolist():
                label = self.label(hierarchy, node)
                shown = "(empty)" if label is None else label
                lines.append(f"  {shown:<20}  {hierarchy.meaning(node)}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.codebook()

    def to_json(self) -> dict[str, Any]:
        """The recoding as JSON-able data."""
        return {
            "incrowd": "recoding",
            "format": FORMAT,
            "kind": "local",
            "confidential": "holds the original tuples: keep it where the original table is kept",
            "key": self.key.hex(),
            "dropped": list(self.dropped),
            "missing": self.missing,
            "missing_values": list(self.missing_values),
            "missing_label": self.missing_label,
            "attributes": [hierarchy.to_json() for hierarchy in self.mapping.hierarchies],
            "classes": [" ".join(map(str, nodes)) for nodes in self.mapping.classes.tolist()],
            "tuples": list(self.mapping.lines()),
        }

    def write(self, path: str | Path) -> None:
        """Write the recoding to a JSON file."""
        Path(path).write_text(json.dumps(self.to_json(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LocalRecoding:
        """A recoding from what `to_json` gave."""
        hierarchies = tuple(
            Ranges.from_json(item) if item["kind"] == "ranges" else Hierarchy.from_json(item)
            for item in data["attributes"]
        )
        nodes = [[int(node) for node in line.split()] for line in data["classes"]]
        classes = np.array(nodes, np.int32).reshape(-1, len(hierarchies))
        return cls(
            LocalMapping.from_lines(hierarchies, classes, data["tuples"]),
            bytes.fromhex(data["key"]),
            tuple(data["dropped"]),
            data["missing"],
            tuple(data["missing_values"]),
            data["missing_label"],
        )

    @cached_property
    def lookup(self) -> TupleLookup:
        """Finds the number of a tuple."""
        return TupleLookup(self.mapping.tuples, [h.size for h in self.mapping.hierarchies])

    @cached_property
    def unseen(self) -> dict[tuple[int, ...], int]:
        """The class of each unseen tuple that was met, filled as they come; -1 for the most general tuple."""
        return {}

    def class_of_unseen(self, nodes: tuple[int, ...]) -> int:
        """The class with the least loss that has all values of a tuple, -1 if there is none."""
        if nodes not in self.unseen:
            has = np.ones(len(self.mapping.classes), bool)
            for place, (hierarchy, node) in enumerate(zip(self.mapping.hierarchies, nodes, strict=True)):
                has &= hierarchy.contain(self.mapping.classes[:, place], node)
            found = np.flatnonzero(has)
            best = found[np.argmin(self._loss[found])] if len(found) else -1
            self.unseen[nodes] = int(best)
        return self.unseen[nodes]

    @cached_property
    def _loss(self) -> npt.NDArray[np.float64]:
        """Share of leaves that a class leaves possible, summed over the attributes."""
        total = np.zeros(len(self.mapping.classes))
        for place, hierarchy in enumerate(self.mapping.hierarchies):
            (start, stop), column = hierarchy.spans(), self.mapping.classes[:, place]
            total += (stop[column] - start[column] - 1) / max(1, len(hierarchy.leaves) - 1)
        return total


AnyRecoding = Recoding | LocalRecoding


def secret_key(mapping: LocalMapping, seed: int) -> bytes:
    """A key that follows from the seed and the original tuples, so that only their owner can make it."""
    digest = hashlib.blake2b(str(seed).encode(), digest_size=32)
    digest.update(np.ascontiguousarray(mapping.tuples).tobytes())
    digest.update(np.add.reduceat(mapping.part_records, mapping.first_part[:-1]).tobytes())
    for hierarchy in mapping.hierarchies:
        digest.update(repr(hierarchy.taxonomy.labels).encode())
    return digest.digest()


class LocalSession:
    """Recodes the rows of one table; keeps how many records of each split tuple went where."""

    def __init__(self, recoding: LocalRecoding, batches: Batches) -> None:
        self.recoding = recoding
        self._hash = RowHash(recoding.key, recoding.dropped)
        split = recoding.mapping.split
        self._shares = RowShares(recoding.mapping, self._split_rows(batches)) if split.any() else None
        # Only what is released (and the root): the dictionary of a column is written with it.
        self._used = [np.unique(np.append(column, 0)) for column in recoding.mapping.classes.T]
        self._shown = [
            [recoding.label(hierarchy, node) for node in used.tolist()]
            for hierarchy, used in zip(recoding.mapping.hierarchies, self._used, strict=True)
        ]

    def _split_rows(self, batches: Batches) -> Iterator[tuple[Numbers, Hashes]]:
        """Tuple and hash of the rows of split tuples; dropped rows are in none."""
        for batch in batches():
            tuples, _, _ = self._tuples(batch)
            chosen = self._is_split(tuples)
            if chosen.any():
                yield tuples[chosen], self._hash(batch.filter(pa.array(chosen)))

    def _is_split(self, tuples: Numbers) -> npt.NDArray[np.bool_]:
        return (tuples >= 0) & self.recoding.mapping.split[np.maximum(tuples, 0)]

    def _tuples(self, batch: pa.RecordBatch) -> tuple[Numbers, Nodes, npt.NDArray[np.bool_] | None]:
        """The number of each row's tuple (-1 for an unseen one or a row that does not stay), its nodes, what stays."""
        recoding = self.recoding
        keep = complete_rows(batch, recoding.names, recoding.missing, recoding.missing_values, recoding)
        columns = [self._nodes(h, batch.column(h.name), keep) for h in recoding.mapping.hierarchies]
        nodes = np.stack(columns, axis=1)
        tuples = recoding.lookup(nodes)
        if keep is not None:
            tuples[~keep] = -1
        return tuples, nodes, keep

    def _nodes(self, hierarchy: Hierarchy, values: pa.Array, keep: npt.NDArray[np.bool_] | None) -> Nodes:
        column = encoded(values, hierarchy.name)
        nodes = np.append(self.recoding.cells(hierarchy.name, column.dictionary), hierarchy.missing_cell)
        indices = pc.fill_null(column.indices, len(nodes) - 1).to_numpy(zero_copy_only=False)
        lost = nodes[indices] < 0 if keep is None else (nodes[indices] < 0) & keep
        if (used := np.unique(indices[lost])).size:
            tokens = [text for text in self.recoding.missing_values if not hierarchy.is_value(text)]
            if np.append(is_missing(column.dictionary, tokens), True)[used].any():
                raise DataError(
                    f"column '{hierarchy.name}' has missing values, and had none when the recoding was made; fill or "
                    "drop those rows"
                )
            raise hierarchy.unknown(column.dictionary.take(pa.array(used)).to_pylist())
        return np.asarray(nodes[indices])

    def classes(self, batch: pa.RecordBatch) -> tuple[Numbers, npt.NDArray[np.bool_] | None]:
        """The class of each row of the next batch, -1 for the most general tuple; and which stay (None if all do)."""
        mapping = self.recoding.mapping
        tuples, nodes, keep = self._tuples(batch)
        classes = mapping.part_classes[mapping.first_part[np.maximum(tuples, 0)]]
        if self._shares is not None and (chosen := self._is_split(tuples)).any():
            classes[chosen] = self._shares.classes(tuples[chosen], self._hash(batch.filter(pa.array(chosen))))
        for row in np.flatnonzero(tuples < 0 if keep is None else (tuples < 0) & keep).tolist():
            classes[row] = self.recoding.class_of_unseen(tuple(nodes[row].tolist()))
        return classes, None if keep is None or keep.all() else keep

    def recode(self, batch: pa.RecordBatch) -> tuple[dict[str, pa.DictionaryArray], npt.NDArray[np.bool_] | None]:
        """The recoded columns of the next batch, for all its rows, and which rows stay (None if all do)."""
        classes, keep = self.classes(batch)
        out = np.where(classes[:, None] < 0, 0, self.recoding.mapping.classes[classes])
        columns = {name: self._column(place, out[:, place]) for place, name in enumerate(self.recoding.names)}
        return columns, keep

    def _column(self, place: int, nodes: Nodes) -> pa.DictionaryArray:
        cells = np.searchsorted(self._used[place], nodes).astype(np.int32)
        labels = self._shown[place]
        nothing = np.array([label is None for label in labels])
        shown = pa.array(["" if label is None else label for label in labels], pa.string())
        mask = nothing[cells] if nothing.any() else None
        return pa.DictionaryArray.from_arrays(pa.array(cells, mask=mask), shown)

    def batch(self, batch: pa.RecordBatch, schema: pa.Schema | None = None) -> pa.RecordBatch:
        """Recode the next batch: columns in place, dropped columns and rows left out, all else untouched."""
        return with_columns(batch, *self.recode(batch), self.recoding.dropped, schema or batch.schema)
