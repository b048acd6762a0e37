"""A recoding is data: what every value, or every tuple, became. It prints, writes to JSON, reads back and is pickled.

There are two kinds. `ByValue` maps the values of each attribute, `ByTuple` maps tuples to parts, so that equal records
may be released differently. Both answer the questions of `Recoding`, and nobody asks which kind it is. They know codes
and distinct values, never rows: engines apply them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from incrowd.display import Displayed
from incrowd.errors import IncrowdError
from incrowd.schemas.shapes import SchemaError
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
        records: Records of each part.
        cells: By attribute, the released value of each part, as a number.
        losses: By attribute, the generalized loss of each released value.
        of_tuple: The part of each tuple; None where parts are the tuples, and where a tuple is dealt to several parts.
        kept: Which parts are released; None if all are.
        dealt: Whether a tuple has several parts, so that only rows show what else is in them.
    """

    records: Counts
    cells: dict[str, Codes]
    losses: dict[str, Floats]
    of_tuple: Codes | None = None
    kept: Mask | None = None
    dealt: bool = False


class Recoding(Protocol):
    """What every recoding can be asked."""

    @property
    def dropped(self) -> tuple[str, ...]:
        """Columns that are left out of the release."""

    @property
    def missing(self) -> str:
        """What happens to missing values: "category", "drop" or "error"."""

    @property
    def missing_values(self) -> tuple[str, ...]:
        """Texts that count as missing."""

    @property
    def missing_label(self) -> str | None:
        """What a missing value is released as where it is kept apart; None for an empty cell."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that it recodes."""

    @property
    def is_confidential(self) -> bool:
        """Whether it holds more than the release shows, such as original tuples."""

    @property
    def by_row(self) -> bool:
        """Whether a single row can be recoded by itself, whatever other rows there are."""

    @property
    def constant(self) -> tuple[str, ...]:
        """Columns whose released value is the same in every row, so that nobody has to read them."""

    @property
    def exact_ranges(self) -> tuple[str, ...]:
        """Columns with ranges that begin and end at the outermost values of a class."""

    # Values

    def cells(self, name: str, values: pa.Array) -> Any:
        """The number of each of some distinct values of a column, missing ones included; -1 for one that has none."""

    def missing_cell(self, name: str) -> int:
        """The number of missing values of a column; -1 where it had none."""

    def is_value(self, name: str, text: str) -> bool:
        """Whether a text is a value of its own, even if it looks like a missing one."""

    def missing_among(self, name: str, values: pa.Array) -> Any:
        """Which of some values of a column are missing; a text that is a value of its own is not."""

    def unknown(self, name: str, values: Sequence[Any]) -> Exception:
        """The error for values that have no number."""

    # Tuples

    def split_tuples(self, cells: Sequence[Codes]) -> Codes:
        """The number of each tuple whose records are dealt to several parts; -1 for all others.

        Args:
            cells: The numbers of the values of each tuple, per column.
        """

    @property
    def key(self) -> bytes:
        """Key of the hash by which records are dealt; empty where none are."""

    def part_sizes(self) -> tuple[Codes, Counts]:
        """Of the tuples that are dealt: where the parts of each begin, and how many records each part takes."""

    def release(self, cells: Sequence[Codes], dealt: Codes) -> tuple[Sequence[Codes], Mask | None]:
        """What tuples are released as.

        Args:
            cells: The numbers of the values of each tuple, per column.
            dealt: The part that each tuple was dealt to, -1 for those that were not dealt.

        Returns:
            The released value of each, per column, as places in `all_labels`; and which are released, None if all are.
        """

    def class_numbers(self, cells: Sequence[Codes], dealt: Codes) -> Codes:
        """The released class of each tuple, as `parts` numbers them; -1 for a class that the release does not have."""

    # What is shown

    def labels(self, name: str) -> tuple[str | None, ...]:
        """The released values of a column; None for an empty cell."""

    def labels_of(self, name: str, cells: Sequence[int]) -> tuple[str | None, ...]:
        """The labels of some released values of a column, as `parts` numbers them."""

    def all_labels(self, name: str) -> tuple[str | None, ...]:
        """All values that a row may be recoded to, in the order in which `release` numbers them."""

    def unchanged(self, name: str) -> tuple[str | None, ...] | None:
        """All values that a row may be recoded to, if all that are released stand for themselves; None otherwise.

        They are in the order of `all_labels`, with None for a missing value, and for what only new rows may be recoded
        to that fit nothing released. Such a column can keep its type, whatever rows are recoded.
        """

    def meanings(self, name: str) -> list[str]:
        """What each of the released values of a column stands for, in the order of `labels`."""

    def codebook(self) -> str:
        """The released values and what they stand for; says nothing that the release does not."""

    # A compressed table

    def parts(self, table: CompressedTable) -> Parts:
        """How the table that it was made from is released."""

    def without(self, table: CompressedTable, left_out: Mask) -> Recoding:
        """The recoding that leaves out some whole tuples of the table, and says nothing of them."""

    def in_hierarchy(self, attribute: Attribute) -> tuple[Hierarchy, Codes]:
        """The hierarchy of an attribute, and the node of each released value, as `parts` numbers them.

        Raises:
            PolicyError: A released value is no node of the hierarchy.
        """

    def to_json(self) -> dict[str, Any]:
        """As JSON-able data."""

    def write(self, path: str | Path) -> None:
        """Write it to a JSON file."""


class RecodingMixin(Displayed):
    """What all kinds of recodings do alike."""

    def write(self: Recoding, path: str | Path) -> None:
        """Write it to a JSON file."""
        Path(path).write_text(json.dumps(self.to_json(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    def missing_among(self: Recoding, name: str, values: pa.Array) -> Any:
        """Which of some values of a column are missing; a text that is a value of its own is not."""
        return is_missing(values, [text for text in self.missing_values if not self.is_value(name, text)])

    def codebook(self: Recoding) -> str:
        """The released values and what they stand for; says nothing that the release does not."""
        lines = [_codebook_lines(name, self.labels(name), self.meanings(name)) for name in self.names]
        return "\n".join(line for column in lines for line in column)

    def __str__(self: Recoding) -> str:
        return self.codebook()


def _codebook_lines(name: str, labels: Sequence[str | None], meanings: Sequence[str]) -> list[str]:
    """The codebook of one column."""
    lines = [name]
    for label, meaning in zip(labels, meanings, strict=True):
        shown = "(empty)" if label is None else label
        lines.append(f"  {shown}" if meaning == shown else f"  {shown:<20}  {meaning}")
    return lines


def read_recoding(path: str | Path) -> Recoding:
    """Read a recoding of any kind from a JSON file.

    Raises:
        DataError: The file cannot be read, is no recoding, or was changed after it was written.
    """
    from incrowd.recodings.by_tuple import ByTuple
    from incrowd.recodings.by_value import ByValue
    from incrowd.recodings.schema import DOCUMENT, RECODING

    data = DOCUMENT.read(path, RECODING)
    try:
        recoding = ByTuple.from_json(data) if data["kind"] == "by tuple" else ByValue.from_json(data)
        same = recoding.to_json() == data
    except (IncrowdError, SchemaError) as error:  # a taxonomy, a rule or values that cannot be
        DOCUMENT.refuse(path, error)
    if not same:
        DOCUMENT.refuse(path, "its fields contradict each other")
    return recoding
