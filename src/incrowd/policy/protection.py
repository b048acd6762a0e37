"""What is promised about one sensitive column: which privacy models, and which of its values are told apart."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

from incrowd.errors import PolicyError, UnknownNameError, shown
from incrowd.schemas.shapes import is_number
from incrowd.table.numbers import number_of

if TYPE_CHECKING:
    from incrowd.privacy.model import PrivacyModel
    from incrowd.taxonomies.taxonomy import Taxonomy


@dataclass(frozen=True)
class Protection:
    """The promises about one sensitive column; those that are None are not asked for.

    Args:
        column: The column.
        l: At least so many values in every class.
        entropy_l: As diverse as so many equally frequent values.
        recursive_l: The factor c and the number l of recursive (c, l)-diversity.
        t: The values in every class are distributed as in the whole release, but for this distance.
        t_distance: How t measures: "equal", "ordered" or "hierarchical"; chosen by the values if None.
        alpha: The largest share of a value in any class.
        beta_likeness: The largest relative gain of a value in any class.
        enhanced_beta_likeness: The same, with frequent values held closer.
        delta_disclosure: The natural logarithm of the largest factor between a share in a class and in the whole, over
            all values; ARX takes log2, over the values that a class has.
        harmless: Values that need no protection.
        groups: Values that count as one, by the name of the group.
        bins: Bounds in ascending order; numbers between two of them count as one value.
    """

    column: str
    l: int | None = None
    entropy_l: float | None = None
    recursive_l: tuple[float, int] | None = None
    t: float | None = None
    t_distance: str | None = None
    alpha: float | None = None
    beta_likeness: float | None = None
    enhanced_beta_likeness: float | None = None
    delta_disclosure: float | None = None
    harmless: tuple[str, ...] = ()
    groups: Mapping[str, tuple[str, ...]] | None = None
    bins: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        self.models()  # raises PolicyError if a number cannot be one
        if self.groups and self.bins:
            raise PolicyError(f"column '{self.column}' has groups and bins; choose one")
        if not all(map(is_number, self.bins)) or list(self.bins) != sorted(set(self.bins)):
            got = shown(self.bins)
            raise PolicyError(f"The bins of '{self.column}' must be numbers in ascending order. Got {got}.")
        _ = self._group_of

    @classmethod
    def of(cls, column: str, words: Mapping[str, Any]) -> Protection:
        """A protection from the words that users write.

        Raises:
            PolicyError: A word is unknown, or not what it must be.
        """
        for word in words:
            if word not in WORDS:
                raise UnknownNameError("word", str(word), WORDS, f"the protection of '{column}'")
        made = {word: value for word, value in words.items() if value is not None}
        distance = made.get("t_distance", "equal")
        if not isinstance(distance, str) or distance not in ("equal", "ordered", "hierarchical"):
            got = shown(made["t_distance"])
            raise PolicyError(f"The 't_distance' of '{column}' must be equal, ordered or hierarchical. Got {got}.")
        if "recursive_l" in made:
            made["recursive_l"] = _pair(made["recursive_l"])
        if "harmless" in made:
            made["harmless"] = _texts("harmless", made["harmless"])
        if "groups" in made:
            if not isinstance(made["groups"], Mapping):
                raise PolicyError(f"The 'groups' of '{column}' must name the values of each group. Got a single one.")
            made["groups"] = {str(name): _texts("groups", values) for name, values in made["groups"].items()}
        if "bins" in made:
            given = made["bins"]
            if isinstance(given, str) or not isinstance(given, Iterable):
                raise PolicyError(f"The 'bins' of '{column}' must be a list of numbers. Got {shown(given)}.")
            made["bins"] = tuple(given)
        return cls(column, **made)

    def models(self, taxonomy: Taxonomy | None = None) -> tuple[PrivacyModel, ...]:
        """The privacy models that are asked for.

        Args:
            taxonomy: The tree of the values, for distances.
        """
        from incrowd.privacy.l_diversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity
        from incrowd.privacy.likeness import AlphaAnonymity, BetaLikeness, DeltaDisclosure
        from incrowd.privacy.t_closeness import TCloseness

        column, harmless = self.column, self.harmless
        made: list[PrivacyModel] = []
        if self.l is not None:
            made.append(DistinctLDiversity(column, self.l, harmless))
        if self.entropy_l is not None:
            made.append(EntropyLDiversity(column, self.entropy_l, harmless))
        if self.recursive_l is not None:
            made.append(RecursiveLDiversity(column, *self.recursive_l, harmless))
        if self.t is not None:
            later = self.t_distance == "hierarchical" and taxonomy is None  # the policy checks that there is one
            made.append(TCloseness(column, self.t, None if later else self.t_distance, taxonomy))
        if self.alpha is not None:
            made.append(AlphaAnonymity(column, self.alpha, harmless))
        if self.beta_likeness is not None:
            made.append(BetaLikeness(column, self.beta_likeness))
        if self.enhanced_beta_likeness is not None:
            made.append(BetaLikeness(column, self.enhanced_beta_likeness, enhanced=True))
        if self.delta_disclosure is not None:
            made.append(DeltaDisclosure(column, self.delta_disclosure))
        return tuple(made)

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
        found: dict[str, str] = {}
        for name, values in (self.groups or {}).items():
            for value in values:
                if found.setdefault(value, name) != name:
                    raise PolicyError(f"The value '{value}' of '{self.column}' is in two groups; leave it in one.")
        return found

    def to_json(self) -> dict[str, Any]:
        """What was asked for, as JSON-able data."""
        given = {word: getattr(self, word) for word in WORDS}
        found = {word: list(v) if isinstance(v, tuple) else v for word, v in given.items() if v not in (None, ())}
        if self.groups:
            found["groups"] = {name: list(values) for name, values in self.groups.items()}
        return found


WORDS = tuple(field.name for field in fields(Protection) if field.name != "column")


def protections_of(sensitive: Any, words: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[Protection, ...]]:
    """The sensitive columns, and their protections.

    Args:
        sensitive: Column names, or the words of each column by name.
        words: Words for all sensitive columns, or each by column.
    """
    own: dict[str, dict[str, Any]] = {}
    if isinstance(sensitive, Mapping):
        for column, given in sensitive.items():
            if not isinstance(given, Mapping):
                raise PolicyError(f"The protection of '{column}' must be a table, such as l = 3. Got {shown(given)}.")
            own[column] = dict(given)
    else:
        own = {column: {} for column in _texts("sensitive", sensitive)}
    for word, value in words.items():
        if value is None:
            continue
        if not own and not isinstance(value, Mapping):
            raise PolicyError(f"The '{word}' parameter protects sensitive columns, and none is named. Name one.")
        by_column = value if isinstance(value, Mapping) else dict.fromkeys(own, value)
        for column, single in by_column.items():
            own.setdefault(column, {}).setdefault(word, single)
    return tuple(own), tuple(Protection.of(column, given) for column, given in own.items() if given)


def _texts(word: str, given: Any) -> tuple[str, ...]:
    texts = (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    if not all(isinstance(text, str) for text in texts):
        got = shown(texts)
        raise PolicyError(f"The '{word}' parameter must be a list of texts. Got {got}; put quotes around each.")
    return texts


def _pair(given: Any) -> tuple[Any, Any]:
    try:
        c, l = given
    except (TypeError, ValueError):
        raise PolicyError(
            f"The 'recursive_l' parameter must be the factor c and the number l. Got {shown(given)}."
        ) from None
    return c, l
