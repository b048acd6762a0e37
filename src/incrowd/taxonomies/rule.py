"""What every rule can do that builds a taxonomy when the values of a column are known."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NoReturn, Self

from incrowd.errors import PolicyError, shown
from incrowd.taxonomies.taxonomy import Taxonomy


class Rule(ABC):
    """What every rule can do."""

    @abstractmethod
    def ancestors(self, value: str) -> tuple[str, ...]:
        """The labels from the parent of a value to the root, whether or not the value was seen before.

        Raises:
            TaxonomyError: The rule cannot group that value.
        """

    def build(self, values: Sequence[str]) -> Taxonomy:
        """The taxonomy of the distinct values; their order plays no part.

        Raises:
            TaxonomyError: There is no value, one is blank or the label of a group, or the rule cannot group it.
        """
        paths = ((value, *self.ancestors(value)) for value in sorted(set(values), key=self._place))
        return Taxonomy.from_paths(paths, f"{type(self).__name__} taxonomy")

    def _place(self, value: str) -> Any:
        """What values are sorted by: the alphabet."""
        return value

    @abstractmethod
    def options(self) -> dict[str, Any]:
        """The rule as a policy file has it."""

    @classmethod
    @abstractmethod
    def of_options(cls, options: Mapping[str, Any]) -> Self | None:
        """The rule of a policy file; None if that is not how it is written."""


def as_tuple(rule: Any, name: str) -> tuple[Any, ...]:
    given = getattr(rule, name)
    if not isinstance(given, list | tuple) or not given:
        refuse(rule, name, "be a list of at least one number", given)
    object.__setattr__(rule, name, tuple(given))
    return tuple(given)


def ascending(numbers: Sequence[Any]) -> bool:
    return all(low < high for low, high in pairwise(numbers))


def refuse(rule: Any, name: str, must: str, got: object) -> NoReturn:
    raise PolicyError(f"The '{name}' parameter of {type(rule).__name__} must {must}. Got {shown(got)}.")
