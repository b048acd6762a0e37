"""How people write a privacy model: declared in its class, and nowhere else.

Python, shell, TOML, studio, `verify`, certificates, reports and docs are made from these declarations, over the list in
`privacy.registry`. Help waits for this module, so what is heavy is imported where it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from incrowd.options import PROMISES, Option, Texts
from incrowd.schemas.shapes import Shape

if TYPE_CHECKING:
    from fractions import Fraction

    from incrowd.privacy.model import PrivacyModel
    from incrowd.table.class_counts import ClassCounts
    from incrowd.taxonomies.taxonomy import Taxonomy

HARMLESS = Option(
    "Values that need no protection.",
    Texts(blank=True, single=True),
    example="healthy",
    noun="N",
    section=PROMISES,
)


def promised(about: str, kind: Shape, *, title: str, example: str, section: str = PROMISES) -> Option:
    """The option of a model."""
    return Option(about, kind, title=title, example=example, noun="N", section=section)


class Declared:
    """The declaration of a model.

    Args:
        name: What people call it, such as "k-anonymity".
        option_name: What it is called in Python and TOML, and with dashes in the shell.
        option: What its value may be, and what it means.
        about: What is counted in every class: its "records", the values of a sensitive "column", or the people of a
            "population"; or that the whole "table" is asked.
        fields: The fields that the value is; the first one is the limit that the witness holds classes to.
        settings: Further options of a sensitive column that it heeds; "t_distance" is its field `distance`.
        more: Options that only this model has, by name.
        weakest: The value to count with if nothing is promised, so that `verify` reports what holds.
    """

    name: ClassVar[str]
    option_name: ClassVar[str]
    option: ClassVar[Option]
    about: ClassVar[Literal["records", "column", "population", "table"]] = "column"
    fields: ClassVar[tuple[str, ...]]
    settings: ClassVar[tuple[str, ...]] = ()
    more: ClassVar[Mapping[str, Option]] = {}
    weakest: ClassVar[Any] = None
    whole: ClassVar[bool] = False
    upward_closed: ClassVar[bool] = False
    for_everyone: ClassVar[bool] = False

    if TYPE_CHECKING:

        @property
        def column(self) -> str | None: ...

    def __post_init__(self) -> None:
        self.option.check(self.option_name, self.value)
        for option_name, value in self._settings().items():
            if option_name in self.more and value is not None:
                self.more[option_name].check(option_name, value)

    @classmethod
    def _field(cls, option_name: str) -> str:
        return option_name.removeprefix(f"{cls.option_name}_")

    def _settings(self) -> dict[str, Any]:
        return {option_name: getattr(self, self._field(option_name)) for option_name in self.settings}

    @classmethod
    def of(cls, column: str, value: Any, settings: Mapping[str, Any], taxonomy: Taxonomy | None = None) -> Self:
        """The model of a sensitive column, from what people write."""
        values = value if len(cls.fields) > 1 else (value,)
        own = {
            cls._field(option_name): settings[option_name] for option_name in cls.settings if option_name in settings
        }
        return cls(column, *values, **own)  # type: ignore[call-arg]

    @property
    def value(self) -> Any:
        """What people write for it."""
        found = tuple(getattr(self, field) for field in self.fields)
        return found if len(found) > 1 else found[0]

    def as_options(self) -> dict[str, Any]:
        """All that people write for it, by option."""
        given = {option_name: value for option_name, value in self._settings().items() if value not in (None, ())}
        return {self.option_name: self.value, **given}

    def promise(self) -> dict[str, Any]:
        """What the witness gets: names, numbers and texts."""
        limit, *others = self.fields
        more = {field: getattr(self, field) for field in (*others, *map(self._field, self.settings))}
        return {
            "name": self.name,
            "text": str(self),
            "limit": getattr(self, limit),
            "column": None if self.about == "population" else self.column,
            "more": more,
        }

    @property
    def threshold(self) -> float:
        """A class is good if its level is at least that."""
        raise NotImplementedError

    @property
    def least_size(self) -> int:
        """No class of fewer records is good."""
        return 1

    def levels(self, classes: ClassCounts) -> Any:
        """How well each class is protected."""
        raise NotImplementedError

    def fitted(self, histogram: Any) -> PrivacyModel:
        """The model for a table; most do not depend on it."""
        return self

    def in_sample(self, share: Fraction) -> Self:
        """The model for a sample with this share of the records; most ask the same."""
        return self
