"""How people write a privacy model: declared in its class, and nowhere else.

Python, shell, TOML, studio, `verify`, certificates, reports and docs are made from these declarations, over the list in
`privacy.registry`. Help waits for this module, so what is heavy is imported where it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from incrowd.options import PROMISES, Option, Texts

if TYPE_CHECKING:
    from incrowd.table.class_counts import ClassCounts
    from incrowd.taxonomies.taxonomy import Taxonomy

HARMLESS = Option(
    "Values that need no protection.",
    Texts(blank=True, single=True),
    example="healthy",
    noun="N",
    section=PROMISES,
)


class Declared:
    """The declaration of a model.

    Args:
        name: What people call it, such as "k-anonymity".
        word: What it is called in Python and TOML, and with dashes in the shell.
        option: What its value may be, and what it means.
        about: What is counted in every class: its "records", the values of a sensitive "column", or the people of a
            "population".
        fields: The fields that the value is; the first one is the limit that the witness holds classes to.
        settings: Fields that further words of a sensitive column decide, by word.
        more: Options that only this model has, by word.
        weakest: The value to count with if nothing is promised, so that `verify` reports what holds.
    """

    name: ClassVar[str]
    word: ClassVar[str]
    option: ClassVar[Option]
    about: ClassVar[Literal["records", "column", "population"]] = "column"
    fields: ClassVar[tuple[str, ...]]
    settings: ClassVar[Mapping[str, str]] = {}
    more: ClassVar[Mapping[str, Option]] = {}
    weakest: ClassVar[Any] = None
    whole: ClassVar[bool] = False
    upward_closed: ClassVar[bool] = False

    if TYPE_CHECKING:

        @property
        def column(self) -> str | None: ...
        @property
        def threshold(self) -> float: ...
        @property
        def least_size(self) -> int: ...
        def levels(self, classes: ClassCounts) -> Any: ...

    def __post_init__(self) -> None:
        self.option.check(self.word, self.value)
        for word, field in self.settings.items():
            if word in self.more and getattr(self, field) is not None:
                self.more[word].check(word, getattr(self, field))

    @classmethod
    def of(cls, column: str, value: Any, settings: Mapping[str, Any], taxonomy: Taxonomy | None = None) -> Self:
        """The model of a sensitive column, from what people write.

        Args:
            column: The column.
            value: The value of its word.
            settings: The other words of the column.
            taxonomy: The tree of its values, for models that measure distances.
        """
        values = value if len(cls.fields) > 1 else (value,)
        own = {field: settings[word] for word, field in cls.settings.items() if word in settings}
        return cls(column, *values, **own)  # type: ignore[call-arg]

    @property
    def value(self) -> Any:
        """What people write for it."""
        found = tuple(getattr(self, field) for field in self.fields)
        return found if len(found) > 1 else found[0]

    def words(self) -> dict[str, Any]:
        """All that people write for it, by word."""
        given = {word: getattr(self, field) for word, field in self.settings.items()}
        return {self.word: self.value, **{word: value for word, value in given.items() if value not in (None, ())}}

    def promise(self) -> dict[str, Any]:
        """What the witness gets: names, numbers and texts."""
        limit, *others = self.fields
        more = {field: getattr(self, field) for field in (*others, *self.settings.values())}
        return {
            "name": self.name,
            "text": str(self),
            "limit": getattr(self, limit),
            "column": None if self.about == "population" else self.column,
            "more": more,
        }

    def fitted(self, histogram: Any) -> Self:
        """The model for a table; most do not depend on it."""
        return self
