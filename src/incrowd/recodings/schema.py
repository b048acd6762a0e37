"""The schema of recoding files: every field of every kind of recoding, and what must hold between them.

What can be said of the data alone is said here. Whatever is made of it says the rest when it is built: that a cut is
one, that classes are classes of the tuples. Last of all the recoding that was built must write the very same file.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from incrowd.schemas.documents import Document
from incrowd.schemas.shapes import (
    Anything,
    Choice,
    Either,
    Fields,
    Flag,
    Kinds,
    ListOf,
    Nothing,
    Number,
    SchemaError,
    Shape,
    Text,
    Whole,
)
from incrowd.table.exact_numbers import from_json
from incrowd.table.scales import Kind
from incrowd.taxonomies.labels import ANY

_GIVE = "give the .recoding.json of a release"
DOCUMENT = Document("recoding", 2, _GIVE, megabytes=2048)

_NAME = Text(blank=False)
_LABEL = Either((Text(), Nothing()))
_LARGEST = 10**400
_DECIMAL = Text(pattern=r"-?[0-9]{1,400}(\.[0-9]{1,400})?(E[+-]?[0-9]{1,3})?", called="a decimal number as text")
_BOUND = Either((Whole(-_LARGEST, _LARGEST), Number(), _DECIMAL))
_DOMAIN = Either((Nothing(), ListOf(_BOUND, 2, 2)))
_UNITS = ("s", "ms", "us", "ns")


def ascends(values: Sequence[Any], place: str) -> None:
    if not all(low < high for low, high in pairwise(values)):
        raise SchemaError(place, "ascend")


def _scale_law(data: Mapping[str, Any], place: str) -> None:
    if (data["kind"] == "timestamp") != (data["unit"] in _UNITS):
        raise SchemaError(
            f"{place}.unit", f"be one of {', '.join(_UNITS)} for a timestamp, and empty for anything else"
        )
    if data["timezone"] is not None and (data["kind"] != "timestamp" or not _is_zone(data["timezone"])):
        raise SchemaError(f"{place}.timezone", "be the time zone of a timestamp, or null")
    if data.get("comma") and data["kind"] not in ("integer", "number"):
        raise SchemaError(f"{place}.comma", "be true for numbers alone")


def _is_zone(name: str) -> bool:
    if re.fullmatch("[+-][0-9]{2}:[0-9]{2}", name):
        return True
    try:
        return bool(ZoneInfo(name))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False


SCALE = Fields(
    {"kind": Choice(get_args(Kind)), "unit": Choice(("", *_UNITS)), "timezone": Either((_NAME, Nothing()))},
    {"comma": Flag()},
    law=_scale_law,
)


def _fit_scale(numbers: Sequence[Any], scale: Mapping[str, Any], place: str) -> None:
    kind = scale["kind"]
    most = {"date": 2**31, "timestamp": 2**63}.get(kind, _LARGEST)
    for number in numbers:
        if abs(number) >= most or (kind != "number" and number != int(number)):
            raise SchemaError(place, f"be whole numbers of the size of a {kind}" if kind != "number" else "be finite")


def _intervals_law(data: Mapping[str, Any], place: str) -> None:
    bounds, exact, domain = (from_json(data[word] or ()) for word in ("bounds", "exact", "domain"))
    for word, numbers in (("bounds", bounds), ("exact", exact), ("domain", domain)):
        _fit_scale(numbers, data["scale"], f"{place}.{word}")
        if word != "domain":
            ascends(numbers, f"{place}.{word}")
    if domain and (domain[0] > domain[1] or any(not domain[0] <= number <= domain[1] for number in (*bounds, *exact))):
        raise SchemaError(f"{place}.domain", "go from the lowest to the highest value and have all bounds within")
    if data["missing"] == "merged" and (bounds or exact or data["rest"]):
        raise SchemaError(f"{place}.bounds", "be empty where missing values are merged with all others")
    cells = [bisect_right(bounds, number) for number in exact]
    if len(set(cells)) < len(cells):
        raise SchemaError(f"{place}.exact", "have at most one number in an interval")


def _closed_intervals_law(data: Mapping[str, Any], place: str) -> None:
    numbers = [number for pair in data["ends"] for number in from_json(pair)]
    _fit_scale(numbers, data["scale"], f"{place}.ends")
    ascend = all(low <= high for low, high in zip(numbers[::2], numbers[1::2], strict=True))
    if not ascend or any(high >= low for high, low in zip(numbers[1::2], numbers[2::2], strict=False)):
        raise SchemaError(f"{place}.ends", "ascend, from the lowest to the highest number of each interval")


def _rule_law(data: Mapping[str, Any], place: str) -> None:
    labels, cell = data["cut"], data["missing_cell"]
    if data["rest"] and labels[-1] != ANY:
        raise SchemaError(f"{place}.cut", f"end in '{ANY}' where there is a rest")
    own = labels.index(None) if None in labels else -1
    if cell >= len(labels) or cell < -1 or (cell != own and (own >= 0 or labels[cell] != ANY)):
        raise SchemaError(f"{place}.missing_cell", "be the place of missing values in the cut, or -1")


def _shown_law(data: Mapping[str, Any], place: str) -> None:
    if ANY in data["shown"]:
        raise SchemaError(f"{place}.shown", f"not have '{ANY}', which marks suppressed values")


def _partition_law(data: Mapping[str, Any], place: str) -> None:
    blocks, labels = data["blocks"], data["labels"]
    if len(blocks) != len(labels):
        raise SchemaError(f"{place}.labels", f"be {len(blocks)}, one for each of the blocks")
    values = [value for block in blocks for value in block]
    if len(set(values)) < len(values):
        raise SchemaError(f"{place}.blocks", "have no value twice")
    if any((label is None) != (block == [None]) for label, block in zip(labels, blocks, strict=True)):
        raise SchemaError(f"{place}.labels", "be null for missing values alone, and for nothing else")


_LABELS = ListOf(_LABEL, 1, distinct=True)
_BY_VALUE = Kinds(
    "kind",
    {
        "cut": Fields({"name": _NAME, "cut": _LABELS, "taxonomy": Anything()}),  # a taxonomy checks itself
        "rule": Fields(
            {"name": _NAME, "cut": _LABELS, "rule": Anything(), "missing_cell": Whole(), "rest": Flag()}, law=_rule_law
        ),
        "intervals": Fields(
            {
                "name": _NAME,
                "bounds": ListOf(_BOUND),
                "labels": _LABELS,
                "scale": SCALE,
                "domain": _DOMAIN,
                "missing": Choice(("none", "merged", "apart")),
                "exact": ListOf(_BOUND),
                "rest": Flag(),
            },
            law=_intervals_law,
        ),
        "closed intervals": Fields(
            {
                "name": _NAME,
                "ends": ListOf(ListOf(_BOUND, 2, 2)),
                "labels": _LABELS,
                "scale": SCALE,
                "missing_shown": Flag(),
            },
            law=_closed_intervals_law,
        ),
        "disclosure": Fields(
            {"name": _NAME, "shown": ListOf(Text(), distinct=True), "missing_shown": Flag()}, law=_shown_law
        ),
        "partition": Fields(
            {
                "name": _NAME,
                "blocks": ListOf(ListOf(_LABEL, 1)),
                "labels": ListOf(_LABEL, distinct=True),
                "rest": Flag(),
            },
            {"scale": SCALE},
            law=_partition_law,
        ),
    },
)


def _values_law(data: Mapping[str, Any], place: str) -> None:
    if None in data["values"][:-1]:
        raise SchemaError(f"{place}.values", "have null, for missing values, at the end only")
    if ANY in data["values"]:
        raise SchemaError(f"{place}.values", f"not have '{ANY}', which means any value")


def _calendar_law(data: Mapping[str, Any], place: str) -> None:
    _values_law(data, place)
    if data["widths"]:
        raise SchemaError(f"{place}.widths", "be empty for dates")


def _ranges_law(data: Mapping[str, Any], place: str) -> None:
    _values_law(data, place)
    known = len(data["values"]) - (data["values"][-1] is None)
    for number, (start, stop) in enumerate(data["ranges"]):
        if not 0 <= start < stop - 1 < known or (stop - start) == len(data["values"]):
            raise SchemaError(f"{place}.ranges[{number}]", "be the ranks of two values and not of all")
    ascends(list(map(tuple, data["ranges"])), f"{place}.ranges")
    domain = from_json(data["domain"] or ())
    _fit_scale(domain, data["scale"], f"{place}.domain")
    ascends(domain, f"{place}.domain")


def _centres_law(data: Mapping[str, Any], place: str) -> None:
    _values_law(data, place)
    known = len(data["values"]) - (data["values"][-1] is None)
    if not len(data["numbers"]) == len(data["covers"]) == len(data["spread"]):
        raise SchemaError(f"{place}.covers", "be as many as the numbers, and so is the spread")
    for number, (start, stop) in enumerate(data["covers"]):
        if not 0 <= start < stop <= known:
            raise SchemaError(f"{place}.covers[{number}]", "be the ranks of two values")


_GRID = Text(
    pattern="[125]0{0,310}|[125]e-[0-9]{1,3}|3|6|12|24|60|120|240|600|1200|[27]d|(10|60|300|900|3600|21600|86400)s",
    called="a width such as 5, 20, 1e-2, 6 (months), 7d or 60s",
)
_VALUES: Mapping[str, Shape] = {"name": _NAME, "values": ListOf(_LABEL, 1, distinct=True)}
_WIDTHS: Mapping[str, Shape] = {"scale": SCALE, "widths": ListOf(Number())}
_HIERARCHY = Kinds(
    "kind",
    {
        "taxonomy": Fields({"name": _NAME, "taxonomy": Anything(), "rule": Anything()}),
        "flat": Fields(_VALUES, law=_values_law),
        "intervals": Fields({**_VALUES, **_WIDTHS}, law=_values_law),
        "calendar": Fields({**_VALUES, **_WIDTHS}, law=_calendar_law),
        "ranges": Fields(
            {
                **_VALUES,
                **_WIDTHS,
                "ranges": ListOf(ListOf(Whole(0), 2, 2)),
                "domain": _DOMAIN,
                "grid": Either((Nothing(), _GRID)),
            },
            law=_ranges_law,
        ),
        "centres": Fields(
            {
                **_VALUES,
                **_WIDTHS,
                "numbers": ListOf(Text()),
                "shown": SCALE,
                "covers": ListOf(ListOf(Whole(0), 2, 2)),
                "spread": ListOf(Number()),
            },
            law=_centres_law,
        ),
    },
)


def _parents_law(data: Mapping[str, Any], place: str) -> None:
    path = [-1]  # down to the last label: in preorder, the next one lies below one of these
    for number, parent in enumerate(data["parents"]):
        while path and path[-1] != parent:
            path.pop()
        if not path or (parent < 0) != (number == 0):
            raise SchemaError(f"{place}.parents", "be the places of labels above, in preorder, and -1 for the first")
        path.append(number)
    if len(data["parents"]) != len(data["labels"]):
        raise SchemaError(f"{place}.parents", "be as many as the labels")


_SHOWN: Mapping[str, Shape] = {"name": _NAME, "labels": _LABELS}
_RELEASED_VALUES = Kinds(
    "kind",
    {
        "taxonomy": Fields({**_SHOWN, "taxonomy": Anything()}),
        "rule": Fields({**_SHOWN, "parents": ListOf(Whole(-1), 1), "rule": Anything()}, law=_parents_law),
        "calendar": Fields({**_SHOWN, "parents": ListOf(Whole(-1), 1), "scale": SCALE}, law=_parents_law),
        "values": Fields(_SHOWN),
        "intervals": Fields({**_SHOWN, "scale": SCALE}),
        "nearest": Fields({**_SHOWN, "scale": SCALE}),
    },
)


def _columns_law(data: Mapping[str, Any], place: str) -> None:
    names = [attribute["name"] for attribute in data["attributes"]]
    if [*names, *data["dropped"]] != list(data["columns"]):
        raise SchemaError("columns", "be the columns of the attributes, and those that are dropped")


def _classes_law(data: Mapping[str, Any], place: str) -> None:
    _columns_law(data, place)
    width = len(data["attributes"])
    if any(len(cells) != width for cells in data["classes"] or ()):
        raise SchemaError("classes", f"have {width} cells each, one for each attribute")
    ascends(list(map(tuple, data["classes"] or ())), "classes")


# Some things are said twice on purpose: a file that has lost an attribute, a column to drop or its classes is noticed.
_COMMON: Mapping[str, Shape] = {
    "columns": ListOf(_NAME, 1, distinct=True),
    "dropped": ListOf(_NAME, distinct=True),
    "missing": Choice(("category", "drop", "error")),
    "missing_values": ListOf(Text(), distinct=True),
    "missing_label": _LABEL,
}
_NODES = "[0-9]{1,10}( [0-9]{1,10})*"
_PARTS = r"[0-9]{1,10}\*[0-9]{1,15}"

RECODING = Kinds(
    "kind",
    {
        "by value": DOCUMENT.shape(
            {
                **_COMMON,
                "leaves_out": Flag(),
                "classes": Either((Nothing(), ListOf(ListOf(Whole(0), 1)))),
                "attributes": ListOf(_BY_VALUE, 1),
            },
            law=_classes_law,
        ),
        "by class": DOCUMENT.shape(
            {
                **_COMMON,
                "attributes": ListOf(_RELEASED_VALUES, 1),
                "classes": ListOf(Text(pattern=_NODES, called="numbers separated by blanks"), 1),
            },
            law=_columns_law,
        ),
        "by tuple": DOCUMENT.shape(
            {
                **_COMMON,
                "confidential": Text(),
                "key": Text(pattern="[0-9a-f]{64}", called="a key of 64 hexadecimal digits"),
                "attributes": ListOf(_HIERARCHY, 1),
                "classes": ListOf(Text(pattern=_NODES, called="numbers separated by blanks"), 1),
                "tuples": ListOf(Text(pattern=f"{_NODES}: {_PARTS}( {_PARTS})*", called="a line such as 1 2: 0*5"), 1),
            },
            law=_columns_law,
        ),
    },
)
