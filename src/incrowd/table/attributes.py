"""Attributes: what the codes of a column mean.

Attributes are encoded once, from the distinct values of a column. A categorical value is the number of its leaf, a
number or a date is the rank of its value, a missing value is a code of its own, always the last one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import DataError, IncrowdError, TaxonomyError, did_you_mean
from incrowd.table.arrays import filled, text_array, to_arrow, to_numpy
from incrowd.table.exact_numbers import Numbers, as_fractional, as_whole, together
from incrowd.table.grouping import Codes, Floats, group
from incrowd.table.scales import Scale, has_commas, scale_of, text_of
from incrowd.taxonomies.labels import ANY, set_label
from incrowd.taxonomies.rules import Bounds, Coding, Intervals, Rule
from incrowd.taxonomies.taxonomy import Taxonomy


@dataclass(frozen=True)
class TaxonomyAttribute:
    """A categorical attribute with a taxonomy; code = leaf of the taxonomy."""

    name: str
    taxonomy: Taxonomy
    rule: Rule | None = None  # what built the taxonomy out of the values, if a rule did
    levels: tuple[int, int | None] | None = None  # the lowest and the highest level that may be released
    top: tuple[int, ...] = ()  # the nodes that nothing more general may be released than, where the root may not
    texts: ClassVar[tuple[str, ...]] = ()
    declared_type: ClassVar[str] = "text"  # as which other tables have to be read to be compared

    @property
    def size(self) -> int:
        """Number of codes, that of missing values included."""
        return len(self.taxonomy.leaves)

    @property
    def missing(self) -> int | None:
        """Code of missing values, None if there are none."""
        return self.taxonomy.missing

    @property
    def is_public(self) -> bool:
        """Whether its values say nothing of the table: the taxonomy was given, and not built out of them."""
        return self.rule is None

    @property
    def loss_steps(self) -> int | None:
        """The values that can be lost at most, each of which loses as much; None of numbers, which lose a width."""
        return max(1, self.size - 1)

    def values(self) -> pa.Array:
        return text_array(self.taxonomy.labels[node] for node in self.taxonomy.leaves)

    def loss(self, start: Codes, stop: Codes) -> Floats:
        """Loss of a cell that covers the codes [start, stop): 0 for one leaf, 1 for all."""
        return np.asarray((np.asarray(stop) - np.asarray(start) - 1) / max(1, self.size - 1))

    def loss_of_set(self, label: str | None, values: Sequence[str | None]) -> float:
        """Loss of a set of values; one that has the name of a node covers all of that node."""
        size = len(values)
        if label not in (ANY, set_label(values)):
            node = self.taxonomy.labels.index(label)
            size = int(self.taxonomy.stop[node] - self.taxonomy.start[node])
        return _share_of_values(label, values, size, self.size)

    def joined(self, other: Attribute) -> Attribute:
        """With the values of another column; a taxonomy that was given has its values."""
        if self.rule is None:
            return self
        try:
            taxonomy = self.rule.build(sorted(_texts(self, other)))
        except IncrowdError:
            return self  # values that the rule does not know are in no class
        return replace(self, taxonomy=taxonomy if self.missing is None else taxonomy.with_missing())


@dataclass(frozen=True)
class NumberAttribute:
    """A number, date or timestamp; code = rank of the value among those that occur.

    Args:
        scale: What the numbers mean.
        numbers: The distinct values, ascending.
        missing: Code of missing values, None if there are none.
        domain: Lowest and highest possible value, if the user made them public.
    """

    name: str
    scale: Scale
    numbers: Numbers
    missing: int | None = None
    domain: tuple[Any, Any] | None = None
    is_public: ClassVar[bool] = False
    texts: ClassVar[tuple[str, ...]] = ()
    loss_steps: ClassVar[int | None] = None

    @property
    def size(self) -> int:
        return len(self.numbers) + (self.missing is not None)

    @property
    def declared_type(self) -> str:
        return "date" if self.scale.kind in ("date", "timestamp") else "number"

    def number(self, code: int) -> Any:
        """The number of a code, as Python has it: an int, a float, or a decimal where floats are too coarse."""
        return self.numbers.item(code)

    @property
    def extent(self) -> tuple[Any, Any]:
        """Lowest and highest value: the public domain, else what occurs."""
        if self.domain is not None:
            return self.domain
        return (self.number(0), self.number(-1)) if len(self.numbers) else (0, 0)

    def values(self) -> pa.Array:
        """The value of each code, as text that the scale reads back."""
        nothing: list[str | None] = [None] * (self.missing is not None)
        if self.numbers.dtype.kind in "iu" and self.scale.kind == "integer":  # the same texts, many times faster
            return pa.concat_arrays([to_arrow(self.numbers).cast(pa.string()), text_array(nothing)])
        return text_array([*map(self.scale.text, self.numbers), *nothing])

    def loss(self, start: Codes, stop: Codes) -> Floats:
        """Loss of a cell that covers the codes [start, stop): width of the published interval over the range.

        An interval reaches up to the next one; on scales with whole steps its last value lies one step below. The
        missing code alone loses nothing, together with numbers everything.
        """
        start, stop, ranks = np.asarray(start), np.asarray(stop), len(self.numbers)
        lowest, highest = map(float, self.extent)
        edges = self._edges
        low = np.where(start == 0, lowest, edges[start])
        step = 0.0 if self.scale.kind == "number" else 1.0
        high = np.where(stop >= ranks, highest, edges[np.minimum(stop, ranks)] - step)
        lost = (high - low) / (highest - lowest) if highest > lowest else np.zeros(len(low))
        return np.where(stop > ranks, np.where(start == ranks, 0.0, 1.0), lost)

    @cached_property
    def _edges(self) -> Floats:
        return np.append(self.numbers, self.extent[1]).astype(np.float64)

    def loss_of_set(self, label: str | None, values: Sequence[str | None]) -> float:
        """Loss of a set of values: its range over the range of the column."""
        known = [value for value in values if value is not None]
        lowest, highest = self.extent
        if len(known) < len(values):
            return 1.0 if known else 0.0
        numbers = self.scale.numbers(text_array(known), self.name).astype(np.float64)
        return float(numbers.max() - numbers.min()) / float(highest - lowest) if highest > lowest else 0.0

    def joined(self, other: Attribute) -> Attribute:
        """With the numbers of another column, if they mean the same and lie in the public range."""
        if not isinstance(other, NumberAttribute) or not len(other.numbers) or not self.scale.is_like(other.scale):
            return self
        scale = other.scale if (self.scale.kind, other.scale.kind) == ("integer", "number") else self.scale
        numbers, more = together(self.numbers, other.numbers)
        if self.domain is not None:
            (low, high), more = together(self.domain, more)
            more = more[(low <= more) & (more <= high)]
        every = np.unique(np.concatenate(together(numbers, more)))
        every = as_fractional(every) if scale.kind == "number" else as_whole(every)
        missing = None if self.missing is None else len(every)
        return replace(self, scale=replace(self.scale, kind=scale.kind), numbers=every, missing=missing)


@dataclass(frozen=True)
class FlatAttribute:
    """A categorical attribute without a taxonomy: a value is either shown or suppressed."""

    name: str
    texts: tuple[str, ...]  # what is shown as it is, or not at all
    missing: int | None = None
    is_public: ClassVar[bool] = False
    loss_steps: ClassVar[int | None] = 1  # a value loses nothing by itself, and everything together with others
    declared_type: ClassVar[str] = "text"

    @property
    def size(self) -> int:
        return len(self.texts) + (self.missing is not None)

    def values(self) -> pa.Array:
        return text_array([*self.texts, *[None] * (self.missing is not None)])

    def loss_of_set(self, label: str | None, values: Sequence[str | None]) -> float:
        """Loss of a set of values: its share of all values."""
        return _share_of_values(label, values, len(values), self.size)

    def joined(self, other: Attribute) -> Attribute:
        texts = tuple(sorted(_texts(self, other) - {ANY}))
        return FlatAttribute(self.name, texts, None if self.missing is None else len(texts))


Attribute = TaxonomyAttribute | NumberAttribute | FlatAttribute


def _texts(*attributes: Attribute) -> set[str]:
    return {text for attribute in attributes for text in attribute.values().to_pylist() if text is not None}


def _share_of_values(label: str | None, values: Sequence[str | None], size: int, of: int) -> float:
    is_suppressed = label == ANY and tuple(values) != (ANY,)
    return 1.0 if is_suppressed else (size - 1) / max(1, of - 1)


def numeric(attribute: Attribute) -> NumberAttribute:
    assert isinstance(attribute, NumberAttribute)
    return attribute


def categorical(attribute: Attribute) -> TaxonomyAttribute:
    assert isinstance(attribute, TaxonomyAttribute)
    return attribute


def encode(
    name: str,
    values: pa.Array,
    *,
    has_missing: bool,
    taxonomy: Taxonomy | Rule | None = None,
    declared: str | None = None,
    domain: tuple[Any, Any] | None = None,
    commas: bool = False,
    reading: Callable[[str, pa.Array], Rule | None] | None = None,
) -> tuple[Attribute, Codes]:
    """Make an attribute out of the distinct values of a column, in any order, without nulls.

    Also gives the code of each of the values, followed by the code of missing values if they occur. `reading` says how
    to group values of which nothing is declared; where its rule does not fit all of them, they are read without one.
    """
    if reading is not None and taxonomy is None and declared is None and domain is None:
        with suppress(TaxonomyError):
            if rule := reading(name, values):
                return _encode_taxonomy(name, values, rule, has_missing)
    if taxonomy is not None:
        if isinstance(taxonomy, Intervals | Bounds | Coding) and has_commas(values, declared, commas):
            taxonomy = replace(taxonomy, comma=True)
        return _encode_taxonomy(name, values, taxonomy, has_missing)
    scale = scale_of(values, name, declared, commas=commas)
    if scale is None:
        if domain is not None:
            raise DataError(f"column '{name}' has a public range but holds text; leave out the range")
        texts, codes = _factorize(text_of(values))
        if "*" in texts:
            raise DataError(
                f"column '{name}' holds the value '*', which marks suppressed values; name it as a missing value"
            )
        attribute: Attribute = FlatAttribute(name, tuple(texts.tolist()), len(texts) if has_missing else None)
    else:
        numbers, codes = _ranked(scale.numbers(values, name))
        if domain is not None:
            domain = (scale.number(domain[0], name), scale.number(domain[1], name))
            if len(numbers) and not _within(numbers, domain):
                raise DataError(
                    f"column '{name}' holds values outside its public range, {scale.text(domain[0])} to "
                    f"{scale.text(domain[1])}; widen the range, or correct the values"
                )
        attribute = NumberAttribute(name, scale, numbers, len(numbers) if has_missing else None, domain)
    return attribute, np.append(codes, attribute.size - 1) if has_missing else codes


def _ranked(numbers: Numbers) -> tuple[Numbers, Codes]:
    if numbers.dtype != np.int64 or not len(numbers):
        return np.unique(numbers, return_inverse=True)
    least, most = int(numbers.min()), int(numbers.max())
    if most - least >= 1 << 62:
        return np.unique(numbers, return_inverse=True)
    codes, firsts = group([numbers - least], [most - least + 1])  # whole numbers, in half the time
    return numbers[firsts], codes


def _within(numbers: Numbers, domain: tuple[Any, Any]) -> bool:
    known, (low, high) = together(numbers, domain)
    return bool(low <= known[0] and known[-1] <= high)


def _encode_taxonomy(name: str, values: pa.Array, given: Taxonomy | Rule, has_missing: bool) -> tuple[Attribute, Codes]:
    rule = None if isinstance(given, Taxonomy) else given
    taxonomy = given if isinstance(given, Taxonomy) else given.build(text_of(values).to_pylist())
    taxonomy = taxonomy.with_missing() if has_missing else taxonomy
    attribute = TaxonomyAttribute(name, taxonomy, rule)
    codes = to_numpy(filled(pc.index_in(text_of(values), attribute.values()), -1))
    if len(unknown := text_of(values).filter(to_arrow(codes < 0))):
        raise unknown_values_error(name, unknown.to_pylist(), taxonomy)
    return attribute, np.append(codes, taxonomy.missing).astype(np.int64) if taxonomy.missing is not None else codes


def unknown_values_error(name: str, unknown: Sequence[str], taxonomy: Taxonomy) -> TaxonomyError:
    """The error for values that a taxonomy does not know; names one of them."""
    leaves = [label for label in (taxonomy.labels[node] for node in taxonomy.leaves) if label is not None]
    first = min(unknown)
    hint = did_you_mean(first, leaves)
    advice = f"{hint} Add" if hint else "; add"  # a hint ends in a question mark
    some = f"{len(unknown)} values of column '{name}' are not leaves of its taxonomy, such as"
    one = f"a value of column '{name}' is not a leaf of its taxonomy:"
    return TaxonomyError(
        f"{one if len(unknown) == 1 else some} '{first}'{advice} it to the taxonomy, or name it as a missing value"
    )


def _factorize(texts: pa.Array) -> tuple[npt.NDArray[Any], Codes]:
    return np.unique(np.array(texts.to_pylist(), dtype=object), return_inverse=True)
