"""What is promised about one sensitive column: which privacy models, and which of its values count as one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from incrowd.errors import PolicyError, UnknownNameError, shown
from incrowd.policy.options import OPTIONS
from incrowd.privacy.registry import COLUMN_OPTIONS, OF_COLUMNS
from incrowd.table.numbers import number_of

if TYPE_CHECKING:
    from incrowd.privacy.declared import Declared
    from incrowd.taxonomies.taxonomy import Taxonomy


@dataclass(frozen=True)
class Protection:
    """The promises about one sensitive column.

    Args:
        options: What is said of it, by names of `privacy.registry.COLUMN_OPTIONS`; what is None is not said.
    """

    column: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.options:
            if name not in COLUMN_OPTIONS:
                raise UnknownNameError("word", str(name), COLUMN_OPTIONS, f"the protection of '{self.column}'")
        made = {
            name: option.checked(name, self.options[name])
            for name, option in COLUMN_OPTIONS.items()
            if self.options.get(name) is not None
        }
        object.__setattr__(self, "options", made)
        if self.groups and self.bins:
            raise PolicyError(f"column '{self.column}' has groups and bins; choose one")

    @property
    def groups(self) -> Mapping[str, tuple[str, ...]]:
        found: Mapping[str, tuple[str, ...]] = self.options.get("groups", {})
        return found

    @property
    def bins(self) -> tuple[float, ...]:
        return tuple(self.options.get("bins", ()))

    @property
    def promises(self) -> tuple[str, ...]:
        """The names of what is promised; l = 1 says that nothing is, on purpose."""
        return tuple(name for name in self.options if name in OF_COLUMNS and (name, self.options[name]) != ("l", 1))

    def models(self, taxonomy: Taxonomy | None = None) -> Iterator[Declared]:
        for name in self.promises:
            yield OF_COLUMNS[name].of(self.column, self.options[name], self.options, taxonomy)

    def counted_as(self, value: str | None, text: str | None = None) -> str | None:
        """The value that a value counts as: its group, its bin, or itself.

        Args:
            value: The value as it is written.
            text: The same as a number with a point, where it is one with a decimal comma.
        """
        text = value if text is None else text
        if self.bins and text is not None and (number := number_of(text)) is not None:
            place = bisect_right(self.bins, number)
            low = f"{self.bins[place - 1]:g}" if place else ""
            high = f"{self.bins[place]:g}" if place < len(self.bins) else ""
            return f"[{low}-{high})" if low and high else f">={low}" if low else f"<{high}"
        return self._group_of.get(value, text) if value is not None else None

    @cached_property
    def _group_of(self) -> dict[str, str]:
        return {value: name for name, values in self.groups.items() for value in values}

    def to_json(self) -> dict[str, Any]:
        found = {name: list(v) if isinstance(v, tuple) else v for name, v in self.options.items() if v != ()}
        if self.groups:
            found["groups"] = {name: list(values) for name, values in self.groups.items()}
        return found


def protections_of(sensitive: Any, settings: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[Protection, ...]]:
    own: dict[str, dict[str, Any]] = {}
    if isinstance(sensitive, Mapping):
        for column, given in sensitive.items():
            if not isinstance(given, Mapping):
                raise PolicyError(f"The protection of '{column}' must be a table, such as l = 3. Got {shown(given)}.")
            own[column] = dict(given)
    else:
        own = {column: {} for column in OPTIONS["sensitive"].checked("sensitive", sensitive)}
    for name, value in settings.items():
        if value is None:
            continue
        if not own and not isinstance(value, Mapping):
            raise PolicyError(f"The '{name}' parameter protects sensitive columns, and none is named. Name one.")
        by_column = value if isinstance(value, Mapping) else dict.fromkeys(own, value)
        for column, single in by_column.items():
            own.setdefault(column, {}).setdefault(name, single)
    return tuple(own), tuple(Protection(column, given) for column, given in own.items() if given)
