"""Results that are tables: they print as short ones, and convert to rows of plain data or to a dataframe."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from incrowd.errors import IncrowdError, PolicyError

Rows = list[dict[str, Any]]


def _pandas(rows: Rows) -> Any:
    return import_module("pandas").DataFrame(rows)


def _polars(rows: Rows) -> Any:
    return import_module("polars").DataFrame(rows, infer_schema_length=None, strict=False)


def _pyarrow(rows: Rows) -> Any:
    names = dict.fromkeys(name for row in rows for name in row)
    return import_module("pyarrow").table({name: [row.get(name) for row in rows] for name in names})


FRAMES: Mapping[str, Callable[[Rows], Any]] = {"pandas": _pandas, "polars": _polars, "pyarrow": _pyarrow}


class Tabular:
    """A result that is a table."""

    def to_rows(self) -> Rows:
        """The table as plain data, a dictionary per row; all rows have the same keys."""
        raise NotImplementedError

    def to_frame(self, kind: str | None = None) -> Any:
        """The table as a dataframe.

        Args:
            kind: "pandas", "polars" or "pyarrow"; the first of them that is installed if None.
        """
        if kind is None:
            kind = next(name for name in FRAMES if find_spec(name) is not None)
        if kind not in FRAMES:
            raise PolicyError(f"The 'kind' parameter must be one of {', '.join(FRAMES)}. Got {kind!r}.")
        if find_spec(kind) is None:
            raise IncrowdError(f"{kind} is not installed; install it, or choose another kind of dataframe")
        return FRAMES[kind](self.to_rows())

    def _repr_html_(self) -> str:
        """What a notebook shows: the table, with a title and notes."""
        from incrowd.report.notebook import rows_html

        title, notes = self._html_words()
        return rows_html(title, self.to_rows(), notes)

    def _html_words(self) -> tuple[str, Sequence[str]]:
        """The title above the table in a notebook, and what is said below it."""
        return type(self).__name__, ()
