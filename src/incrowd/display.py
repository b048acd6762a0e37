"""The door from results to what shows them.

Results know nothing of terminals, notebooks and pages: they inherit from `Displayed`, and the report room registers how
each of them is printed and drawn. That room is imported here alone, when somebody looks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from incrowd.errors import IncrowdError, PolicyError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from incrowd.evaluation.result import Evaluation
    from incrowd.release.release import Release
    from incrowd.report.files import Reports
    from incrowd.run import Watch

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Renderer:
    """How results of one type are shown.

    Args:
        text: What `print` shows.
        html: What a notebook shows.
    """

    text: Callable[[Any], str]
    html: Callable[[Any], str]


_RENDERERS: dict[str, Renderer] = {}


def register(kind: str, renderer: Renderer) -> None:
    """Register how results of a type are shown, by the name of the type, so that nothing else has to be imported."""
    _RENDERERS[kind] = renderer


def renderer_of(result: object) -> Renderer:
    """How a result is shown: as its type is, or the nearest type above it."""
    import_module("incrowd.report.renderers")
    return next(_RENDERERS[kind.__name__] for kind in type(result).__mro__ if kind.__name__ in _RENDERERS)


class Displayed:
    """Something that a notebook can show."""

    def _repr_html_(self) -> str:
        return renderer_of(self).html(self)


class Tabular(Displayed):
    """A result that is a table: it prints as a short one, and converts to rows of plain data or to a dataframe."""

    def to_rows(self) -> Rows:
        """The table as plain data, a dictionary per row; all rows have the same keys."""
        raise NotImplementedError

    def to_frame(self, kind: str | None = None) -> Any:
        """The table as a dataframe.

        Args:
            kind: "pandas", "polars" or "pyarrow"; the first of them that is installed if None.
        """
        if kind is None:
            kind = next(name for name in _FRAMES if find_spec(name) is not None)
        if kind not in _FRAMES:
            raise PolicyError(f"The 'kind' parameter must be one of {', '.join(_FRAMES)}. Got {kind!r}.")
        if find_spec(kind) is None:
            raise IncrowdError(f"{kind} is not installed; install it, or choose another kind of dataframe")
        return _FRAMES[kind](self.to_rows())

    def title_and_notes(self) -> tuple[str, Sequence[str]]:
        """What a notebook shows above and below the table."""
        return type(self).__name__, ()

    def __repr__(self) -> str:
        return renderer_of(self).text(self)


def _pandas(rows: Rows) -> Any:
    return import_module("pandas").DataFrame(rows)


def _polars(rows: Rows) -> Any:
    return import_module("polars").DataFrame(rows, infer_schema_length=None, strict=False)


def _pyarrow(rows: Rows) -> Any:
    names = dict.fromkeys(name for row in rows for name in row)
    return import_module("pyarrow").table({name: [row.get(name) for row in rows] for name in names})


_FRAMES: Mapping[str, Callable[[Rows], Any]] = {"pandas": _pandas, "polars": _polars, "pyarrow": _pyarrow}


def summary_of(release: Release) -> str:
    """What a steward wants to know of a release, as text."""
    from incrowd.report.renderers import summary_text

    return summary_text(release)


def watching(progress: Watch | bool | None) -> AbstractContextManager[Watch | None]:
    """Who watches a run: whoever is given, for True a line on stderr, for False nobody, else a bar in notebooks."""
    from incrowd.report import progress as shown

    return shown.watching(progress)


def reports_of(own: str | Path | None, public: str | Path | None, evaluation: Evaluation | None) -> Reports | None:
    """The reports that appear together with a release; None if nobody asked for one."""
    if own is None and public is None:
        return None
    from incrowd.report.files import Reports

    return Reports(own, public, evaluation)


def write_report(
    release: Release, path: str | Path, *, public: bool, overwrite: bool, evaluation: Evaluation | None
) -> Path:
    """Write the report of a release; see `Release.report`."""
    from incrowd.report import files

    return files.write_report(release, path, public=public, overwrite=overwrite, evaluation=evaluation)
