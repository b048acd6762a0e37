"""A recoding is data: what every value, or every tuple, became. It prints, writes to JSON, reads back and is pickled.

There are three kinds. `ByValue` maps the values of each attribute, `ByTuple` maps tuples to parts, so that equal
records may be released differently, and `ByClass` is what remains of that for new rows: the released classes. All
answer the questions of `Recoding`, and nobody asks which kind it is. They know codes and distinct values, never rows:
engines apply them.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from incrowd.display import Displayed
from incrowd.table.arrays import to_arrow
from incrowd.table.grouping import Codes, Counts, Floats
from incrowd.table.missing import is_missing

if TYPE_CHECKING:
    from incrowd.recodings.hierarchies import Hierarchy
    from incrowd.table.attributes import Attribute
    from incrowd.table.compressed import CompressedTable

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Parts:
    """How a compressed table is released, in parts of records that are released alike: its tuples, or larger ones.

    Args:
        cells: By attribute, the released value of each part, as a number.
        losses: By attribute, the generalized loss of each released value.
        of_tuple: The part of each tuple; None where parts are the tuples, and where a tuple has several parts.
        kept: Which parts are released; None if all are.
        is_split: Whether a tuple has several parts, so that only rows show what else is in them.
    """

    records: Counts
    cells: dict[str, Codes]
    losses: dict[str, Floats]
    of_tuple: Codes | None = None
    kept: Mask | None = None
    is_split: bool = False


@dataclass(frozen=True)
class Pieces:
    """Which records of each tuple are released as what; the pieces of a tuple follow each other, tuples in order.

    Args:
        records: Records of each piece.
        tuples: Its tuple, ascending.
        cells: By attribute, its released value, as `Parts` numbers them.
        kept: Which pieces are released.
    """

    records: Counts
    tuples: Codes
    cells: dict[str, Codes]
    kept: Mask


class Column(Protocol):
    """What a recoding knows of one column: an `AttributeRecoding` or a `Hierarchy`."""

    @property
    def missing_cell(self) -> int: ...
    def is_value(self, text: str) -> bool: ...
    def cells(self, values: pa.Array) -> npt.NDArray[Any]: ...
    def unknown(self, values: Sequence[Any]) -> Exception: ...


@dataclass(frozen=True, kw_only=True, repr=False)
class Recoding(Displayed, ABC):
    """What every recoding can be asked.

    Args:
        dropped: Columns that are left out of the release.
        missing: What happens to missing values: "category", "drop" or "error".
        missing_values: Texts that count as missing.
        missing_label: What a missing value is released as where it is kept apart; None for an empty cell.
    """

    dropped: tuple[str, ...] = ()
    missing: str = "category"
    missing_values: tuple[str, ...] = ()
    missing_label: str | None = None

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The columns that it recodes."""

    @property
    @abstractmethod
    def is_confidential(self) -> bool:
        """Whether it holds more than the release shows, such as original tuples."""

    @property
    @abstractmethod
    def by_row(self) -> bool:
        """Whether a single row can be recoded by itself, whatever other rows there are."""

    @property
    def by_value(self) -> bool:
        """Whether what a value is released as does not depend on the other values of its row."""
        return False

    @property
    def for_new_rows(self) -> Recoding:
        """What rows that it was not made from are recoded by; says no more than the release does."""
        return self

    @property
    def constant(self) -> tuple[str, ...]:
        """Columns whose released value is the same in every row, so that nobody has to read them."""
        return ()

    @property
    def exact_ranges(self) -> tuple[str, ...]:
        """Columns with ranges that begin and end at the outermost values of a class."""
        return ()

    # Values

    @abstractmethod
    def __getitem__(self, name: str) -> Column: ...

    def cells(self, name: str, values: pa.Array) -> npt.NDArray[Any]:
        """The number of each of some distinct values of a column, missing ones included; -1 for one that has none."""
        column, missing = self[name], self.missing_among(name, values)
        found = column.cells(values.filter(to_arrow(~missing)))
        cells = np.full(len(values), column.missing_cell, found.dtype)
        cells[~missing] = found
        return cells

    def missing_cell(self, name: str) -> int:
        """The number of missing values of a column; -1 if it had none."""
        return self[name].missing_cell

    def missing_among(self, name: str, values: pa.Array) -> Any:
        """Which of some values of a column are missing; a text that is a value in its own right is not."""
        return is_missing(values, [text for text in self.missing_values if not self[name].is_value(text)])

    def unknown(self, name: str, values: Sequence[Any]) -> Exception:
        """The error for values that have no number."""
        return self[name].unknown(values)

    # Tuples, each given by the numbers of its values, per column

    @abstractmethod
    def split_tuples(self, cells: Sequence[Codes]) -> Codes:
        """The number of each tuple whose records are allocated to several parts; -1 for all others."""

    if TYPE_CHECKING:

        @property
        def key(self) -> bytes:
            """Key of the hash by which records are allocated; empty if none are."""

    @abstractmethod
    def part_sizes(self) -> tuple[Codes, Counts]:
        """Of the tuples that are split: where the parts of each begin, and how many records each part takes."""

    @abstractmethod
    def release(self, cells: Sequence[Codes], parts: Codes) -> tuple[Sequence[Codes], Mask | None]:
        """What tuples are released as, given the part that each was allocated to, -1 for those that are not split.

        Returns:
            The released value of each, per column, as places in `all_labels`; and which are released, None if all are.
        """

    @abstractmethod
    def class_numbers(self, cells: Sequence[Codes], parts: Codes) -> Codes:
        """The released class of each tuple, as `parts` numbers them; -1 for a class that the release does not have."""

    def covered(self, name: str) -> tuple[Codes, Codes]:
        """The numbers of values that each of `all_labels` covers: the first, and one more than the last."""
        places = np.arange(len(self.all_labels(name)))
        return places, places + 1

    def in_released_class(self, batch: pa.RecordBatch) -> Mask | None:
        """Which of some recoded rows are in a released class; None where that is not asked."""
        return None

    # What is shown

    @abstractmethod
    def labels(self, name: str) -> tuple[str | None, ...]:
        """The released values of a column; None for an empty cell."""

    @abstractmethod
    def labels_of(self, name: str, cells: Sequence[int]) -> tuple[str | None, ...]:
        """The labels of some released values of a column, as `parts` numbers them."""

    @abstractmethod
    def all_labels(self, name: str) -> tuple[str | None, ...]:
        """All values that a row may be recoded to, in the order in which `release` numbers them."""

    @abstractmethod
    def unchanged(self, name: str) -> tuple[str | None, ...] | None:
        """All values that a row may be recoded to, if all that are released mean themselves; None otherwise.

        They are in the order of `all_labels`, with None for a missing value, and for what only new rows may be recoded
        to that fit nothing released. Such a column can keep its type, whatever rows are recoded.
        """

    @abstractmethod
    def meanings(self, name: str) -> list[str]:
        """What each of the released values of a column means, in the order of `labels`."""

    def codebook(self) -> str:
        """The released values and what they mean; says nothing that the release does not."""
        lines = [_codebook_lines(name, self.labels(name), self.meanings(name)) for name in self.names]
        return "\n".join(line for column in lines for line in column)

    def headline(self) -> str:
        """Which columns it is of."""
        return f"how {', '.join(self.names)} {'is' if len(self.names) == 1 else 'are'} released"

    def __str__(self) -> str:
        return self.codebook()

    # A compressed table

    @abstractmethod
    def parts(self, table: CompressedTable) -> Parts:
        """How the table that it was made from is released."""

    @abstractmethod
    def pieces(self, table: CompressedTable) -> Pieces:
        """The same by tuple; which records of a tuple go where is not said, since those are equal."""

    @abstractmethod
    def ends(self, attribute: Attribute) -> tuple[Codes, Codes]:
        """The first and the last code that each released value covers, as `parts` numbers them."""

    @abstractmethod
    def sums(self, attribute: Attribute, values: Floats) -> Floats:
        """The sum of some figures (codes x figures) over the codes that each released value covers."""

    def means(self, attribute: Attribute, values: Floats) -> Floats:
        """The mean of some figures (codes x figures) over the codes that each released value covers; 0 where none."""
        covered = self.sums(attribute, np.ones((attribute.size, 1)))
        return np.asarray(self.sums(attribute, values) / np.maximum(covered, 1))

    @abstractmethod
    def without(self, table: CompressedTable, left_out: Mask) -> Self:
        """The recoding that leaves out some whole tuples of the table, and says nothing of them."""

    @abstractmethod
    def carried_back(self, table: CompressedTable, number: Codes, nodes: Mapping[str, npt.NDArray[Any]]) -> Recoding:
        """The recoding for a table, of the one that it was made from: the same, with values generalized before.

        Args:
            table: The table with its own values.
            number: The tuple of the generalized table that each of its tuples became.
            nodes: By column whose taxonomy ended earlier there, the node that each node of that one is.
        """

    @abstractmethod
    def in_hierarchy(self, attribute: Attribute) -> tuple[Hierarchy, Codes]:
        """The hierarchy of an attribute, and the node of each released value, as `parts` numbers them.

        Raises:
            PolicyError: A released value is not a node of the hierarchy.
        """

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """As JSON-able data."""

    def write(self, path: str | Path) -> None:
        """Write it to a JSON file."""
        Path(path).write_text(json.dumps(self.to_json(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


# What a search does not find, but the policy says.
FROM_POLICY = ("dropped", "missing", "missing_values", "missing_label")


def policy_fields(recoding: Recoding) -> dict[str, Any]:
    found = {name: getattr(recoding, name) for name in FROM_POLICY}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}


def policy_fields_from(data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(data[name]) if isinstance(data[name], list) else data[name] for name in FROM_POLICY}


def _codebook_lines(name: str, labels: Sequence[str | None], meanings: Sequence[str]) -> list[str]:
    lines = [name]
    for label, meaning in zip(labels, meanings, strict=True):
        shown = "(empty)" if label is None else label
        lines.append(f"  {shown}" if meaning == shown else f"  {shown:<20}  {meaning}")
    return lines
