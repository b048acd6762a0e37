"""Tables of hierarchies, one row per value and one column per level, as the trees and rules that policies have.

Such a table may use one label for several things: a value and a group, groups on several levels, several roots. A tree
of incrowd has one label for one node, so labels are told apart and notes say so. Where a rule gives exactly the same
tree, the rule is taken: it needs no file, and its labels are numbers and dates to every later step.
"""

from __future__ import annotations

import csv
import io
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from itertools import combinations, count, pairwise

from incrowd.errors import IncrowdError, TaxonomyError, many, shorten, shown
from incrowd.taxonomies.calendar import LEVELS, ORDERS, parts_of
from incrowd.taxonomies.labels import ANY
from incrowd.taxonomies.paths import MOST_LEVELS
from incrowd.taxonomies.rules import MASK, Bounds, Calendar, Intervals, Prefix, Rule

MOST_CELLS = 10_000_000  # of a hierarchy
Node = tuple[int, str]  # level of the table and label


@dataclass
class Hierarchy:
    """What a table of a hierarchy becomes.

    Attributes:
        paths: The labels of each value, from the value to the root.
        heights: For each level of the table the level of the tree: how far its highest node is above the values.
        rule: The rule that gives the same tree, if there is one.
        is_open: Whether the table has several roots, so that a new one stands above its last level.
        notes: What was changed.
    """

    paths: list[tuple[str, ...]]
    heights: list[int]
    rule: Rule | None = None
    is_open: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The paths as a taxonomy file."""
        file = io.StringIO(newline="")
        csv.writer(file, delimiter=";", lineterminator="\n").writerows(self.paths)
        return file.getvalue()


def hierarchy_of(text: str, separator: str, name: str) -> Hierarchy | None:
    """The hierarchy of a table in CSV; None where it only lists the values.

    Raises:
        TaxonomyError: It is not a table, or no hierarchy: values that share a group share all groups above it.
    """
    rows = _rows(text, separator, name)
    notes: list[str] = []
    if len(known := [row for row in rows if row[0].strip()]) < len(rows):
        notes.append("the row of the empty value is left out: missing values have a place of their own")
    rows = list(dict.fromkeys(known))
    if not rows or len(rows[0]) == 1:
        return None
    levels = len(rows[0])
    is_open = len({row[-1] for row in rows}) > 1
    if is_open:
        notes.append(f"it has several roots; '{ANY}' stands above them")
        rows = [(*row, ANY) for row in rows]
    children = _children(rows, name)
    names = _names(rows, children, notes)
    if len(set(names.values())) == 1:  # a single value on all levels
        root = ANY if rows[0][0] != ANY else f"{ANY} (group)"
        return Hierarchy([(rows[0][0], root)], [0] * levels, None, True, notes)
    heights: dict[str, int] = {}
    for node, label in names.items():  # from the values up
        below = [heights[names[child]] + 1 for child in children.get(node, ()) if names[child] != label]
        heights[label] = max(below, default=heights.get(label, 0))
    of_levels = [0] * len(rows[0])
    for (level, _), label in names.items():
        of_levels[level] = max(of_levels[level], heights[label])
    paths = [tuple(dict.fromkeys(names[level, label] for level, label in enumerate(row))) for row in rows]
    return Hierarchy(paths, of_levels[:levels], _rule(paths, rows), is_open, notes)


def _rows(text: str, separator: str, name: str) -> list[tuple[str, ...]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[tuple[str, ...]] = []
    cells = 0
    try:
        for row in reader:
            if not row:
                continue
            if rows and len(row) != len(rows[0]):
                raise TaxonomyError(
                    f"{name} line {reader.line_num} has {len(row)} levels, the first line {len(rows[0])}; correct it"
                )
            cells += len(row)
            if len(row) > MOST_LEVELS or cells > MOST_CELLS:
                raise TaxonomyError(f"{name} is larger than any hierarchy should be; use fewer values or levels")
            rows.append(tuple(row))
    except csv.Error as error:
        raise TaxonomyError(f"{name} line {reader.line_num} is not CSV ({error}); save the project again") from None
    return rows


def _children(rows: Sequence[Sequence[str]], name: str) -> dict[Node, dict[Node, None]]:
    """What is below each node, in order of appearance; every node has one parent."""
    parents: dict[Node, str] = {}
    children: dict[Node, dict[Node, None]] = {}
    for row in rows:
        for level, (label, above) in enumerate(pairwise(row)):
            if parents.setdefault((level, label), above) != above:
                raise TaxonomyError(
                    f"{name} is no hierarchy: {shown(label)} on level {level} is in two groups, {shown(above)} and "
                    f"{shown(parents[level, label])}; keep one of them"
                )
            children.setdefault((level + 1, above), {})[level, label] = None
    return children


def _names(rows: Sequence[Sequence[str]], children: dict[Node, dict[Node, None]], notes: list[str]) -> dict[Node, str]:
    """One label for each node: its own, or where something else is called so already, one that says it is a group."""
    names: dict[Node, str] = {(0, row[0]): row[0] for row in rows}
    used = set(names.values())
    renamed: list[str] = []
    for level in range(1, len(rows[0])):
        for node in dict.fromkeys((level, row[level]) for row in rows):
            label = node[1] if node[1].strip() else "(blank)"
            if list(children[node]) == [(level - 1, node[1])]:  # the same group once more
                names[node] = names[level - 1, node[1]]
                continue
            others = (f"{label} (group{f' {number}' if number > 1 else ''})" for number in count(1))
            names[node] = label if label not in used else next(each for each in others if each not in used)
            used.add(names[node])
            if names[node] != node[1]:
                renamed.append(f"'{node[1]}' -> '{names[node]}'")
    if renamed:
        notes.append(f"{many(len(renamed), 'label')} told apart from others of the same name: {shorten(renamed, 3)}")
    return names


def _rule(paths: list[tuple[str, ...]], rows: list[tuple[str, ...]]) -> Rule | None:
    """The first rule that gives the same tree."""
    if max(map(len, paths)) < 3:  # a flat tree is as short as a file
        return None
    for rule in (*_prefixes(paths), *_intervals(rows), *_calendars(paths)):
        if _is_same(paths, rule):
            return rule
    return None


def _is_same(paths: list[tuple[str, ...]], rule: Rule) -> bool:
    """Whether a rule groups all values as the paths do, whatever the groups are called."""
    forth: dict[str, str] = {}
    back: dict[str, str] = {}
    for value, *groups in paths:
        try:
            others = rule.ancestors(value)
        except IncrowdError:
            return False
        if len(others) != len(groups):
            return False
        for group, other in zip(groups, others, strict=True):
            if forth.setdefault(group, other) != other or back.setdefault(other, group) != group:
                return False
    return True


def _prefixes(paths: list[tuple[str, ...]]) -> Iterator[Rule]:
    """Masks at the end, which are called so in the table too: 12345;1234*;123**;*."""
    lengths = [len(label.rstrip(MASK)) for label in max(paths, key=len)[1:-1]]
    if lengths and all(high > low for high, low in pairwise((*lengths, 0))):
        rule = Prefix(tuple(lengths))
        if all(rule.ancestors(path[0])[:-1] == path[1:-1] for path in paths):
            yield rule


def _intervals(rows: list[tuple[str, ...]]) -> Iterator[Rule]:
    """Intervals, of one width on each level or between bounds; the labels start with the lower bounds."""
    values = [_number(row[0]) for row in rows]
    levels = []
    for level in range(1, len(rows[0]) - 1):
        found = [_low(row[level]) for row in rows]
        lows = sorted({low for low in found if low is not None})
        for value, low in zip(values, found, strict=True):
            if value is None or low is None or value < lows[0] or lows[bisect_right(lows, value) - 1] != low:
                return
        if len(lows) < 2:
            return
        levels.append(lows)
    if all(lows[-2].is_finite() for lows in levels):
        widths = [lows[-1] - lows[-2] for lows in levels]
        with suppress(IncrowdError):
            yield Intervals(tuple(map(_plain, widths)), _plain(levels[-1][-1] % widths[-1]))
    with suppress(IncrowdError):
        bounds = [tuple(_plain(low) for low in lows[1:]) for lows in levels]
        yield Bounds(bounds[0], tuple(bounds[1:]))


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text) if text.isascii() and len(text) < 20 else None
    except InvalidOperation:
        return None
    return number if number is not None and number.is_finite() and abs(number) < 10**15 else None


def _low(label: str) -> Decimal | None:
    """The first number in a label, which is the lower bound of an interval that does not start with '<'."""
    if re.match(r"<(?!=)", label):
        return Decimal("-Infinity")
    found = re.search(r"(?:(?<![0-9])-)?[0-9]{1,15}(?:\.[0-9]{1,9})?", label)
    return Decimal(found[0]) if found else None


def _plain(number: Decimal) -> float:
    return int(number) if number == number.to_integral_value() else float(number)


def _calendars(paths: list[tuple[str, ...]]) -> Iterator[Rule]:
    """Months, quarters and years of dates, whose labels have the year or the decade in them."""
    for order in ORDERS:
        parts = [parts_of(path[0], order) for path in paths]
        if not all(parts) or not all(
            f"{part[0]:04}"[:3] in label
            for part, path in zip(parts, paths, strict=True)
            if part
            for label in path[1:-1]
        ):
            continue
        for levels in combinations(LEVELS, max(map(len, paths)) - 2):
            yield Calendar(levels, order)
