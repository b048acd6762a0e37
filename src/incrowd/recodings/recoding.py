"""A recoding is data: what every value of every attribute became. It prints, writes to JSON, reads back and applies."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import DataError
from incrowd.recodings.attribute import AttributeRecoding, Cut, Disclosure, Intervals, RuleCut
from incrowd.recodings.partition import Partition
from incrowd.scales import text_of

if TYPE_CHECKING:
    from incrowd.recodings.local.recoding import LocalRecoding

FORMAT = 1
_KINDS: dict[str, type[AttributeRecoding]] = {
    "cut": Cut,
    "rule": RuleCut,
    "intervals": Intervals,
    "disclosure": Disclosure,
    "partition": Partition,
}


@dataclass(frozen=True)
class Recoding:
    """A global recoding: one mapping per attribute.

    Args:
        attributes: The recoding of each attribute.
        dropped: Columns that are left out of the release.
        missing: What happens to missing values: "category", "drop" or "error".
        missing_values: Texts that count as missing.
        missing_label: What a missing value is released as where it is told from others; None for an empty cell.
        classes: The classes that are released, as tuples of cells, where records are suppressed: a record that falls
            in none of them is left out. None where no record is suppressed. (Not the suppressed classes: those would
            tell of people who are not in the release.)
    """

    attributes: tuple[AttributeRecoding, ...]
    dropped: tuple[str, ...] = ()
    missing: str = "category"
    missing_values: tuple[str, ...] = ()
    missing_label: str | None = None
    classes: tuple[tuple[int, ...], ...] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that it recodes."""
        return tuple(attribute.name for attribute in self.attributes)

    @cached_property
    def _by_name(self) -> dict[str, AttributeRecoding]:
        return {attribute.name: attribute for attribute in self.attributes}

    def __getitem__(self, name: str) -> AttributeRecoding:
        return self._by_name[name]

    def labels(self, name: str) -> tuple[str | None, ...]:
        """The released values of a column."""
        return tuple(self.missing_label if label is None else label for label in self[name].labels)

    def column(self, name: str, values: pa.Array, keep: npt.NDArray[np.bool_] | None = None) -> pa.DictionaryArray:
        """Recode one column; rows outside `keep` are not asked for.

        Raises:
            TaxonomyError: A value is not in the column's taxonomy.
            DataError: A value is missing, or no number, where none was when the recoding was made.
        """
        column = encoded(values, name)
        cells = self.cells(name, column.dictionary)
        indices = pc.fill_null(column.indices, len(cells)).to_numpy(zero_copy_only=False)
        cells = np.append(cells, self[name].missing_cell)
        if (cells < 0).any():
            lost = cells[indices] < 0
            if (used := np.unique(indices[lost if keep is None else lost & keep])).size:
                raise self._no_cell(name, column.dictionary, used)
            cells = np.maximum(cells, 0)  # of rows that do not stay
        labels = self.labels(name)
        nothing = np.array([label is None for label in labels])
        out = cells[indices].astype(np.int32)
        mask = nothing[out] if nothing.any() else None
        shown = pa.array(["" if label is None else label for label in labels], pa.string())
        return pa.DictionaryArray.from_arrays(pa.array(out, mask=mask), shown)

    @cached_property
    def silent(self) -> tuple[str, ...]:
        """Columns whose released value is the same in every row, so that nobody has to read them."""
        if self.missing != "category" or self.classes is not None:
            return ()
        return tuple(name for name in self.names if len(self.labels(name)) == 1 and self.labels(name)[0] is not None)

    def batch(self, batch: pa.RecordBatch, schema: pa.Schema | None = None) -> pa.RecordBatch:
        """Recode a batch of rows: columns in place, dropped columns and rows left out, all else untouched.

        Args:
            batch: The rows; silent columns may be left out.
            schema: The columns of the table, in order; those of the batch if None.
        """
        recoded, keep = self.recode(batch)
        silent = {name: self._silence(name, len(batch)) for name in self.names if name not in recoded}
        return with_columns(batch, {**recoded, **silent}, keep, self.dropped, schema or batch.schema)

    @property
    def reads(self) -> tuple[str, ...] | None:
        """The columns that it must see to recode rows; None for all."""
        return self.names

    def session(self, batches: Callable[[], Iterable[pa.RecordBatch]]) -> Recoding:
        """What recodes the rows of one table, batch by batch: itself, since no row depends on another."""
        return self

    def _silence(self, name: str, rows: int) -> pa.DictionaryArray:
        zeros = pa.array(np.zeros(rows, np.int32))
        return pa.DictionaryArray.from_arrays(zeros, pa.array([self.labels(name)[0]], pa.string()))

    def recode(self, batch: pa.RecordBatch) -> tuple[dict[str, pa.DictionaryArray], npt.NDArray[np.bool_] | None]:
        """The recoded columns of a batch, for all its rows, and which rows stay (None if all do)."""
        keep = complete_rows(batch, self.names, self.missing, self.missing_values, self._by_name)
        present = [name for name in self.names if name in batch.schema.names]
        columns = {name: self.column(name, batch.column(name), keep) for name in present}
        if self.classes is not None:
            cells = [columns[name].indices.fill_null(self[name].missing_cell) for name in self.names]
            released = self._released([column.to_numpy(zero_copy_only=False) for column in cells])
            keep = released if keep is None else keep & released
        return columns, None if keep is None or keep.all() else keep

    def _released(self, cells: Sequence[npt.NDArray[Any]]) -> npt.NDArray[np.bool_]:
        """Which rows, given by the cells of each attribute, fall in a released class."""
        assert self.classes is not None
        classes = np.array(self.classes, np.int64).reshape(-1, len(self.attributes))
        rows, known = np.zeros(len(cells[0]), np.int64), np.zeros(len(classes), np.int64)
        for place, column in enumerate(cells):
            both = np.concatenate(
                [
                    known * len(self.attributes[place].labels) + classes[:, place],
                    rows * len(self.attributes[place].labels) + column,
                ]
            )
            ranks = np.unique(both, return_inverse=True)[1]  # ranks keep the keys small, however many attributes
            known, rows = ranks[: len(classes)], ranks[len(classes) :]
        return np.isin(rows, known)

    def released(self, cells: Sequence[npt.NDArray[Any]]) -> npt.NDArray[np.bool_] | None:
        """Which tuples, given by the cells of each attribute, are released; None if all are."""
        return None if self.classes is None else self._released(cells)

    def cells(self, name: str, values: pa.Array) -> Any:
        """The cell of each of some values of a column; -1 for values that have none."""
        recoding = self[name]
        missing = is_missing(values, [text for text in self.missing_values if not recoding.is_value(text)])
        cells = np.full(len(values), recoding.missing_cell)
        cells[~missing] = recoding.cells(values.filter(pa.array(~missing)))
        return cells

    def _no_cell(self, name: str, values: pa.Array, used: Any) -> Exception:
        missing = np.append(is_missing(values, self.missing_values), True)
        if missing[used].any():
            return DataError(
                f"column '{name}' has missing values, and had none when the recoding was made; fill or drop those rows"
            )
        return self[name].unknown(values.take(pa.array(used)).to_pylist())

    def apply(self, data: Any, **options: Any) -> Any:
        """Recode new rows; see `incrowd.apply`."""
        from incrowd.pipeline import apply

        return apply(self, data, **options)

    def codebook(self) -> str:
        """The recoding for people to read."""
        lines = []
        for attribute in self.attributes:
            lines.append(attribute.name)
            for label, meaning in zip(self.labels(attribute.name), attribute.meanings(), strict=True):
                shown = "(empty)" if label is None else label
                lines.append(f"  {shown}" if meaning == shown else f"  {shown:<20}  {meaning}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.codebook()

    def to_json(self) -> dict[str, Any]:
        """The recoding as JSON-able data."""
        kind_of = {kind: word for word, kind in _KINDS.items()}
        return {
            "incrowd": "recoding",
            "format": FORMAT,
            "dropped": list(self.dropped),
            "missing": self.missing,
            "missing_values": list(self.missing_values),
            "missing_label": self.missing_label,
            "classes": None if self.classes is None else [list(cells) for cells in self.classes],
            "attributes": [{"name": a.name, "kind": kind_of[type(a)], **a.to_json()} for a in self.attributes],
        }

    def write(self, path: str | Path) -> None:
        """Write the recoding to a JSON file."""
        Path(path).write_text(json.dumps(self.to_json(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Recoding:
        """A recoding from what `to_json` gave."""
        attributes = tuple(_KINDS[item["kind"]].from_json(item["name"], item) for item in data["attributes"])
        return cls(
            attributes,
            tuple(data["dropped"]),
            data["missing"],
            tuple(data["missing_values"]),
            data["missing_label"],
            None if data["classes"] is None else tuple(map(tuple, data["classes"])),
        )

    @classmethod
    def read(cls, path: str | Path) -> Recoding | LocalRecoding:
        """Read a recoding, global or local, from a JSON file.

        Raises:
            DataError: The file cannot be read or is no recoding.
        """
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
            if data["incrowd"] != "recoding" or data["format"] != FORMAT:
                raise DataError(f"{path} is a recoding of format {data['format']}; this version reads format {FORMAT}")
            if data.get("kind") == "local":
                from incrowd.recodings.local.recoding import LocalRecoding

                return LocalRecoding.from_json(data)
            return cls.from_json(data)
        except OSError as error:
            raise DataError(f"cannot read the recoding {path}: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise DataError(f"{path} is no recoding that incrowd wrote; give the .recoding.json of a release") from None


class _KnowsValues(Protocol):
    def is_value(self, text: str) -> bool: ...


class _ByName(Protocol):
    def __getitem__(self, name: str, /) -> _KnowsValues: ...


def complete_rows(
    batch: pa.RecordBatch, names: Iterable[str], missing: str, missing_values: Iterable[str], attributes: _ByName
) -> npt.NDArray[np.bool_] | None:
    """Which rows have no missing value, where the policy asks for that; None where it does not."""
    if missing == "category":
        return None
    keep = np.ones(len(batch), bool)
    for name in names:
        column = encoded(batch.column(name), name)
        tokens = [text for text in missing_values if not attributes[name].is_value(text)]
        absent = np.append(is_missing(column.dictionary, tokens), True)
        keep &= ~absent[pc.fill_null(column.indices, len(absent) - 1).to_numpy(zero_copy_only=False)]
    if missing == "error" and not keep.all():
        raise DataError(f"{int((~keep).sum())} rows have missing values in a quasi-identifier; the policy allows none")
    return keep


def with_columns(
    batch: pa.RecordBatch,
    recoded: Mapping[str, pa.DictionaryArray],
    keep: npt.NDArray[np.bool_] | None,
    dropped: Sequence[str],
    schema: pa.Schema,
) -> pa.RecordBatch:
    """The columns of a schema, recoded ones in place, dropped columns and rows left out, all else untouched."""
    columns, fields = [], []
    for field in schema:
        if field.name in dropped:
            continue
        column = recoded[field.name] if field.name in recoded else batch.column(field.name)
        if field.name in recoded:
            field = field.with_type(column.type).with_nullable(True)
        columns.append(column)
        fields.append(field)
    released = pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields, metadata=schema.metadata))
    return released if keep is None else released.filter(pa.array(keep))


def encoded(column: pa.Array, name: str) -> pa.DictionaryArray:
    """A column as distinct values and indices; nulls are null indices."""
    if pa.types.is_nested(column.type):
        raise DataError(f"column '{name}' has type {column.type}, which has no single values; turn it into text first")
    return column if pa.types.is_dictionary(column.type) else column.dictionary_encode()


def is_missing(values: pa.Array, tokens: Sequence[str]) -> Any:
    """Which values are missing: nulls, not-a-numbers, and texts that stand for a missing value."""
    missing = pc.is_null(values, nan_is_null=True)
    kind = values.type
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind)  # -9 means the same in a CSV file and in a frame
    if tokens and (numeric or pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        missing = pc.or_(missing, pc.is_in(text_of(values), pa.array(tokens, pa.string())))
    return missing.to_numpy(zero_copy_only=False)
