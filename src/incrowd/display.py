"""The only link from results to the code that shows them.

Results know nothing of terminals, notebooks and pages: they inherit from `Displayed`, and `report.renderers` lists how
each of them is printed and drawn. The reports are imported here alone, when somebody looks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from incrowd.errors import IncrowdError, PolicyError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from incrowd.comparison.comparison import Comparison
    from incrowd.evaluation.result import Evaluation
    from incrowd.release.release import Release
    from incrowd.report.files import Reports
    from incrowd.run import Run, Watch

Rows = list[dict[str, Any]]


class Displayed:
    """A result: one line where it is one of many (`repr`), text where it is printed, HTML at the end of a cell."""

    def headline(self) -> str:
        """What it is, or what was found, in one line."""
        return type(self).__name__

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {' '.join(self.headline().split())}>"

    def __str__(self) -> str:
        from incrowd.report.renderers import text_of

        return text_of(self)

    def _repr_html_(self) -> str:
        from incrowd.report.renderers import html_of

        return html_of(self)


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
        return _FRAMES[kind_of_frame(kind)](self.to_rows())

    def remarks(self) -> Sequence[str]:
        """What a notebook shows below the table."""
        return ()


def kind_of_frame(kind: str | None) -> str:
    """The kind of dataframe to make: the one that was asked for, else the first that is installed."""
    if kind is None:
        return next(name for name in _FRAMES if find_spec(name) is not None)
    if kind not in _FRAMES:
        raise PolicyError(f"The 'kind' parameter must be one of {', '.join(_FRAMES)}. Got {kind!r}.")
    if find_spec(kind) is None:
        raise IncrowdError(f"{kind} is not installed; install it, or choose another kind of dataframe")
    return kind


def _pandas(rows: Rows) -> Any:
    return import_module("pandas").DataFrame(rows)


def _polars(rows: Rows) -> Any:
    return import_module("polars").DataFrame(rows, infer_schema_length=None, strict=False)


def _pyarrow(rows: Rows) -> Any:
    names = dict.fromkeys(name for row in rows for name in row)
    return import_module("pyarrow").table({name: [row.get(name) for row in rows] for name in names})


_FRAMES: Mapping[str, Callable[[Rows], Any]] = {"pandas": _pandas, "polars": _polars, "pyarrow": _pyarrow}


def headline_of(release: Release) -> str:
    """What was released, in one line."""
    from incrowd.report.brief import headline

    return headline(release)


def summary_of(release: Release) -> str:
    """What a steward wants to know of a release, as text."""
    from incrowd.report.renderers import summary_text

    return summary_text(release)


def plot_of(comparison: Comparison) -> str:
    """Privacy against each loss of the runs of a comparison, as an SVG file."""
    from incrowd.report.notebook import comparison_svg

    return comparison_svg(comparison)


def stopping(run: Run, watch: Watch | None) -> AbstractContextManager[None]:
    """The first interrupt of a search that shows that it can stop early stops it there."""
    from incrowd.report import progress as shown

    return shown.stopping(run, watch)


def watching(progress: Watch | bool | None) -> AbstractContextManager[Watch | None]:
    """Who watches a run: whoever is given, for True a line on stderr, for False nobody, else a bar in notebooks."""
    from incrowd.report import progress as shown

    return shown.watching(progress)


def reports_of(
    own: str | Path | None,
    public: str | Path | None,
    evaluation: Evaluation | None,
    packs: Iterable[str] = (),
    context: Mapping[str, Any] | str | Path | None = None,
    dictionaries: tuple[str, ...] = (),
) -> Reports | None:
    """The reports that appear together with a release; None if nobody asked for one."""
    packs = (packs,) if isinstance(packs, str) else tuple(dict.fromkeys(packs))
    if own is None and public is None and not packs and not dictionaries:
        return None
    from incrowd.report.files import Reports, answers_of

    return Reports(own, public, evaluation, packs, answers_of(context), dictionaries)


def write_report(release: Release, path: str | Path, **settings: Any) -> Path:
    """Write the report of a release; see `Release.report`."""
    from incrowd.report import files

    return files.write_report(release, path, **settings)
