"""What a privacy model is, and what must hold for the classes of one quasi-identifier.

A model gives every class of records a level of protection, the higher the better, and asks for a threshold. Searches
know models by the questions below and by nothing else: k is not a special case in any of them.

The one law that all searches rest on: **a union of classes is never less protected than its less protected part**,
`level(A + B) >= min(level(A), level(B))`. So a refinement that is invalid once stays invalid, and merging good classes
gives good ones. Whether a good class stays good whatever joins it is more than that; only some models promise it
(`upward_closed`). Where records are left out, a search relies on it or looks again: with other models a coarser release
may have to leave out more than a finer one, as a good class has joined a bad one there, and some compare with the
released rows, which are others then. `search.leaving_out` says which records are left out.

A promise about all classes together, such as an average risk, is a `TableModel`: every single class is good for it, and
it is asked once more, of the sizes of all classes that would be released. It is not upward closed, as it depends on the
others which classes are left out for it. Most are `monotone`: a release that keeps the promise still does once classes
are merged, which is what a search over generalizations needs to skip some of them. Only searches that ask
`Requirement.holds` or `leaving_out.suppressed` take such promises (`Method.whole_tables`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from incrowd.errors import PolicyError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from incrowd.table.class_counts import ClassCounts, Histogram
    from incrowd.table.grouping import Counts

    Levels = npt.NDArray[Any]
    Mask = npt.NDArray[np.bool_]


class PrivacyModel(Protocol):
    """A promise about every class.

    A model is registered in `privacy.registry.MODELS`; being there is enough to be run through the conformance suite.
    """

    @property
    def name(self) -> str:
        """What people call it, such as "k-anonymity"."""

    @property
    def column(self) -> str | None:
        """The protected column whose values must be counted in each class; None if its size is enough."""

    @property
    def threshold(self) -> int | float:
        """A class is good if its level is at least that."""

    @property
    def whole(self) -> bool:
        """Whether levels are whole numbers, so that they can be counted one by one."""

    @property
    def upward_closed(self) -> bool:
        """Whether a good class stays good whatever records join it."""

    @property
    def for_everyone(self) -> bool:
        """Whether it is a promise to left-out people as well, so that none may be."""

    @property
    def least_size(self) -> int:
        """No class of fewer records is good."""

    def fitted(self, histogram: Any) -> PrivacyModel:
        """The model for a table, from the histogram of its column over all records (None if it has no column).

        A model that compares classes with the whole release keeps the distribution that it is to compare with.

        Raises:
            PolicyError: No table of these values can satisfy it.
        """

    def levels(self, classes: ClassCounts) -> Levels:
        """How well each class is protected; the array may be that of the counts itself and must not be written to."""

    def __str__(self) -> str:
        """The promise in short, such as "k=10"."""


@runtime_checkable
class TableModel(PrivacyModel, Protocol):
    """A promise about all classes of a release together; `levels` says that every single class is good."""

    @property
    def monotone(self) -> bool:
        """Whether a release that keeps the promise still does once some of its classes are merged."""

    def holds(self, sizes: Counts) -> bool:
        """Whether a release whose classes have these sizes, none of them 0, keeps the promise."""


@dataclass(frozen=True)
class Requirement:
    """What must hold for one quasi-identifier: every class satisfies every model.

    Args:
        attributes: The columns that make the classes.
        models: The models; the first one measures anonymity in steps and scores.
        with_absent: Whether groups without records are counted too, for the people of a population in them. Such a
            group is no class, and as good as any.
    """

    attributes: tuple[str, ...]
    models: tuple[PrivacyModel, ...]
    with_absent: bool = False

    @cached_property
    def least_size(self) -> int:
        """No class of fewer records is good."""
        return max(model.least_size for model in self.models)

    @cached_property
    def upward_closed(self) -> bool:
        """Whether a good class stays good whatever records join it."""
        return all(model.upward_closed for model in self.models)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The protected columns whose values must be counted."""
        return tuple(dict.fromkeys(model.column for model in self.models if model.column is not None))

    @cached_property
    def of_table(self) -> tuple[TableModel, ...]:
        """The models that are asked of all classes together."""
        return tuple(model for model in self.models if isinstance(model, TableModel))

    def fitted(self, protected: Mapping[str, Histogram]) -> Requirement:
        """The requirement for a table, from the histograms of its protected columns."""
        models = (model.fitted(None if model.column is None else protected[model.column]) for model in self.models)
        return replace(self, models=tuple(models))

    def good(self, classes: ClassCounts) -> Mask:
        """Which classes satisfy every model."""
        first, *others = self.models
        good: Mask = first.levels(classes) >= first.threshold
        for model in others:
            good &= model.levels(classes) >= model.threshold
        return good | (classes.records == 0) if self.with_absent else good

    def holds(self, classes: ClassCounts) -> bool:
        """Whether these classes may be released together."""
        if not self.good(classes).all():
            return False
        sizes = classes.records[classes.records > 0]
        return all(model.holds(sizes) for model in self.of_table)

    def anonymity(self, classes: ClassCounts) -> Any:
        """The worst level of the first model over some classes."""
        return self.levels(self.models[0], classes).min().item()

    def levels(self, model: PrivacyModel, classes: ClassCounts) -> Levels:
        """How well each class is protected by one of the models; as well as can be, if it is no class."""
        levels = model.levels(classes)
        if not self.with_absent or classes.records.all():
            return levels
        import numpy as np

        top = np.iinfo(levels.dtype).max if levels.dtype.kind in "iu" else np.inf
        return np.where(classes.records == 0, top, levels)

    def __str__(self) -> str:
        return f"{', '.join(map(str, self.models))} on {', '.join(self.attributes)}"


Requirements = Sequence[Requirement]


def with_suppression(models: Iterable[PrivacyModel]) -> None:
    """Called where records may be left out.

    Raises:
        PolicyError: A model is a promise to everyone.
    """
    for model in models:
        if model.for_everyone:
            raise PolicyError(f"records cannot be left out where {model} is asked for; set suppress to 0")
