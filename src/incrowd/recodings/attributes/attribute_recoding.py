"""What every recoding of one attribute can be asked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from incrowd.errors import DataError
from incrowd.table.attributes import Attribute
from incrowd.table.grouping import Floats

Cells = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class AttributeRecoding(ABC):
    """Numbers its released values as cells, and finds the cell of any value, seen or not."""

    rest: bool = False  # whether the last cell is for values that are in no other

    if TYPE_CHECKING:

        @property
        def name(self) -> str: ...

        @property
        def labels(self) -> tuple[str | None, ...]:
            """The released value of each cell; None is a missing value."""

        @property
        def missing_cell(self) -> int:
            """The cell of missing values, -1 if the recoding knows none."""

    @abstractmethod
    def as_it_is(self, cell: int) -> bool:
        """Whether a released value means itself alone."""

    def is_value(self, text: str) -> bool:
        """Whether a text is a value in its own right, even if it looks like a missing one."""
        return False

    @abstractmethod
    def of_codes(self, attribute: Attribute) -> Cells:
        """The cell of each code of the attribute."""

    @abstractmethod
    def cells(self, values: pa.Array) -> Cells:
        """The cell of each value, none of which is missing; -1 for one that has none."""

    def unknown(self, values: Sequence[Any]) -> Exception:
        """The error for values that have no cell."""
        return DataError(f"column '{self.name}' holds a value that its recoding does not know")

    @abstractmethod
    def losses(self, attribute: Attribute) -> Floats:
        """Generalized loss of each cell."""

    @abstractmethod
    def meanings(self) -> Iterable[str]:
        """What each released value means."""

    def widened(self, attribute: Attribute, nodes: npt.NDArray[Any]) -> AttributeRecoding:
        """The same for the values of an attribute, of a recoding of groups of them, given by their nodes.

        One by rule finds the group of any value by itself.
        """
        return self

    def rebuilt(self, attribute: Attribute, released: Mask) -> AttributeRecoding:
        """The same without anything that only left-out records have: `released` are the codes that others have.

        A recoding goes out with the release. No label, no bound of an interval, no member of a set may come from who
        was left out, not even whether they had missing values. So it is built anew from the values that released
        records have, and all other values go to one more cell, `*`, that no released record is in. (A taxonomy that was
        given is public anyway.)
        """
        return self

    @abstractmethod
    def to_json(self) -> dict[str, Any]: ...

    @classmethod
    @abstractmethod
    def from_json(cls, name: str, data: Mapping[str, Any]) -> Self: ...
