"""The form in which classes are released: one number instead of a range, such as the mean of the records of a class.

This is microaggregation, on the classes of any search (Domingo-Ferrer and Mateo-Sanz 2002). It comes after the search,
so the classes are good already; those that show the same are one, and a union of good classes is good. All is computed
without rounding. What is shown is then rounded: to multiples of a step where one is given, and a mean at least to the
finest decimal place that the values have. Half of a step is rounded up.

- mean: the sum over the records of the class, divided by their number.
- median: the lower one, if there are two: the value of a record.
- mode: the most frequent value, of several the lowest.

A class in which values are missing stays what it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import PolicyError
from incrowd.key import Key
from incrowd.recodings.by_tuple import ByTuple
from incrowd.recodings.centres import Centres
from incrowd.recodings.hierarchies import Hierarchy
from incrowd.recodings.mapping import LocalMapping, distinct, nodes_of
from incrowd.recodings.ranges import flat_tree
from incrowd.recodings.recoding import Recoding
from incrowd.table.arrays import text_array
from incrowd.table.attributes import NumberAttribute
from incrowd.table.compressed import CompressedTable
from incrowd.table.exact_numbers import as_fraction
from incrowd.table.forms import Form
from incrowd.table.grouping import Codes, Counts
from incrowd.table.scales import Scale

_MOST = 2**62  # what sums in machine numbers are below


@dataclass(frozen=True)
class _Members:
    """The released pieces of a table, by class.

    Args:
        classes: The class of each piece.
        codes: Its code in one column.
        records: Its records.
        size: How many classes there are.
    """

    classes: Codes
    codes: Codes
    records: Counts
    size: int


def with_forms(table: CompressedTable, recoding: Recoding, forms: Mapping[str, str], key: Key) -> ByTuple:
    """The recoding that releases each class as another one does, but some columns in their form.

    Raises:
        PolicyError: A column has no numbers, or another one is released as what no hierarchy has.
    """
    pieces = recoding.pieces(table)
    kept = pieces.kept
    records, codes = pieces.records[kept], [each.astype(np.int64)[pieces.tuples][kept] for each in table.codes]
    cells = np.stack([pieces.cells[attribute.name] for attribute in table.attributes], axis=1).astype(np.int64)
    classes = distinct(cells[kept])[1]
    shown = np.zeros_like(cells)
    hierarchies: list[Hierarchy] = []
    for place, attribute in enumerate(table.attributes):
        if attribute.name not in forms:
            hierarchy, nodes = _as_it_is(recoding, attribute)
            hierarchies.append(hierarchy)
            shown[kept, place] = nodes[cells[kept, place]]
            continue
        if not isinstance(attribute, NumberAttribute) or attribute.scale.kind == "timestamp":
            raise PolicyError(
                f"the form of column '{attribute.name}' needs numbers or dates, and it has times, text or codes; "
                f"declare its type (--type '{attribute.name}=number' or date), or leave the form out"
            )
        members = _Members(classes, codes[place], records, int(classes.max(initial=-1)) + 1)
        hierarchy, nodes = _centres(attribute, Form.of(forms[attribute.name]), members)
        hierarchies.append(hierarchy)
        shown[kept, place] = nodes[classes]
    final = distinct(shown[kept])[1]  # classes that show the same are one
    for place, hierarchy in enumerate(hierarchies):
        if isinstance(hierarchy, Centres):
            members = _Members(final, codes[place], records, int(final.max(initial=-1)) + 1)
            hierarchies[place] = _with_spread(hierarchy, table.attributes[place], members, shown[kept, place])
    tuples = nodes_of(table, hierarchies)
    mapping = LocalMapping.build(hierarchies, tuples, pieces.tuples, shown, pieces.records, ~kept)
    return ByTuple.of(mapping, key)


def _as_it_is(recoding: Recoding, attribute: Any) -> tuple[Hierarchy, Codes]:
    try:
        return recoding.in_hierarchy(attribute)
    except PolicyError:
        raise PolicyError(
            f"the form of other columns needs a hierarchy for '{attribute.name}', since the search made intervals or "
            "sets of its own; give it a form or a taxonomy too, or take cover, kaca or mondrian"
        ) from None


# Centres of classes


def _centres(attribute: NumberAttribute, form: Form, members: _Members) -> tuple[Centres, Codes]:
    """The hierarchy of a column in a form, and the node of each class."""
    units, decimals = _units(attribute, int(members.records.sum()))
    missing = np.zeros(members.size, bool)
    if attribute.missing is not None:
        missing[members.classes[members.codes == attribute.missing]] = True
    known = ~missing[members.classes]
    there = _Members(members.classes[known], members.codes[known], members.records[known], members.size)
    sums, counts = _fractions(form.centre, units, there)
    step = form.step if form.step is not None else Fraction(1, 10**decimals)
    if attribute.scale.kind == "date" and step.denominator > 1:
        raise PolicyError(f"the form of column '{attribute.name}' has a step of whole days. Got {float(step)}.")
    ratio = Fraction(10**decimals) * step  # a step, in units
    counts = counts.astype(object) * ratio.numerator
    multiples = (2 * sums.astype(object) * ratio.denominator + counts) // np.maximum(2 * counts, 1)
    used, place = np.unique(multiples[~missing], return_inverse=True)
    scale = attribute.scale
    if scale.kind == "integer" and step.denominator > 1:
        scale = replace(scale, kind="number")
    labels = tuple(_text(int(multiple) * step, scale) for multiple in used.tolist())
    values = attribute.values().to_pylist()
    nodes = np.zeros(members.size, np.int64)
    nodes[~missing] = place + len(values) + 1
    if attribute.missing is not None:
        alone = missing.copy()
        alone[members.classes[members.codes != attribute.missing]] = False
        nodes[alone] = attribute.missing + 1
    return Centres(attribute.name, flat_tree(values), "centres", attribute.scale, shown=scale, numbers=labels), nodes


def _units(attribute: NumberAttribute, records: int) -> tuple[npt.NDArray[Any], int]:
    """The number of each code as whole units of the finest decimal place, 0 where it is missing, and that place."""
    exact = [as_fraction(number) for number in attribute.numbers.tolist()]
    decimals = 0
    if attribute.scale.kind == "number":
        written = [Decimal(repr(n)) if isinstance(n, float) else Decimal(n) for n in attribute.numbers.tolist()]
        decimals = max((-int(number.normalize().as_tuple().exponent) for number in written), default=0)
    decimals = max(0, decimals)
    whole = [int(number * 10**decimals) for number in exact]
    fits = max(map(abs, whole), default=0) * max(1, records) < _MOST
    return np.array([*whole, 0], np.int64 if fits else object), decimals


def _fractions(centre: str, units: npt.NDArray[Any], members: _Members) -> tuple[npt.NDArray[Any], Counts]:
    """The centre of each class, in units, as a numerator and a denominator; 0 of a class without values."""
    classes, codes, records = members.classes, members.codes, members.records
    sums, counts = np.zeros(members.size, units.dtype), np.zeros(members.size, np.int64)
    if centre == "mean":
        np.add.at(sums, classes, units[codes] * records)
        np.add.at(counts, classes, records)
        return sums, counts
    pairs, number = distinct(np.stack([classes, codes], axis=1))
    frequency = np.bincount(number, records, len(pairs)).astype(np.int64)
    order = np.arange(len(pairs))
    if centre == "mode":
        order = np.lexsort((pairs[:, 1], -frequency, pairs[:, 0]))
        chosen = order[np.flatnonzero(np.diff(pairs[order, 0], prepend=-1))]
    else:
        whole = np.bincount(pairs[:, 0], frequency, members.size).astype(np.int64)
        below = np.cumsum(frequency)
        before = (np.cumsum(whole) - whole)[pairs[:, 0]]
        half = np.flatnonzero(2 * (below - before) >= whole[pairs[:, 0]])
        chosen = half[np.flatnonzero(np.diff(pairs[half, 0], prepend=-1))]
    sums[pairs[chosen, 0]], counts[pairs[chosen, 0]] = units[pairs[chosen, 1]], 1
    return sums, counts


def _text(number: Fraction, scale: Scale) -> str:
    """A number with finitely many decimals, as its scale writes it."""
    if number.denominator == 1 and scale.kind != "number":
        return scale.text(int(number))
    decimals = 0
    while (number * 10**decimals).denominator > 1:
        decimals += 1
    whole = int(number * 10**decimals)
    written = Decimal((int(whole < 0), tuple(map(int, str(abs(whole)))), -decimals))
    text = format(written, "f").replace(".", "," if scale.comma else ".")
    return scale.text(scale.numbers(text_array([text]), "")[0])


def _with_spread(centres: Centres, attribute: Any, members: _Members, nodes: Codes) -> Centres:
    """With what each number covers, and how wide the classes are that show it."""
    number = nodes - len(centres.taxonomy.labels)
    shows = number >= 0
    numbers, codes, classes, records = (
        each[shows] for each in (number, members.codes, members.classes, members.records)
    )
    size = len(centres.numbers)
    low, high = np.full(size, attribute.size, np.int64), np.zeros(size, np.int64)
    np.minimum.at(low, numbers, codes)
    np.maximum.at(high, numbers, codes + 1)
    first, last = np.full(members.size, attribute.size, np.int64), np.zeros(members.size, np.int64)
    np.minimum.at(first, classes, codes)
    np.maximum.at(last, classes, codes)
    values = np.asarray(attribute.numbers).astype(np.float64)
    width = values[last[classes]] - values[first[classes]]
    spread = np.bincount(numbers, width * records, size) / np.bincount(numbers, records, size)
    covers = tuple(zip(low.tolist(), high.tolist(), strict=True))
    return replace(centres, covers=covers, spread=tuple(spread.tolist()))
