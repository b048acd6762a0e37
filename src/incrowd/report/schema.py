"""What a summary looks like, field by field; what a public one may not have, a steward's has.

This is the documentation of the JSON file, and every summary is tested against it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from incrowd.report.labels import PEOPLE, RECORDS
from incrowd.report.summary import DOCUMENT, PUBLIC, STEWARD
from incrowd.schemas.documents import DIGEST
from incrowd.schemas.shapes import (
    Anything,
    Choice,
    Either,
    Fields,
    Flag,
    ListOf,
    Nothing,
    Number,
    Shape,
    TableOf,
    Text,
    Whole,
)

_NAMES = ListOf(Text())
_COUNT = Whole(0)
_OR_NOTHING = Either((Number(), Nothing()))

_COUNTED = Choice(
    (RECORDS, PEOPLE)
)  # what sizes, risks and numbers of records count; people once, with the worst of their crowds

# Is it safe
_REQUIREMENT = Fields(
    {
        "quasi_identifier": _NAMES,
        "promise": Text(),  # in short, such as k=10
        "model": Text(),
        "column": Either((Text(), Nothing())),  # the sensitive column that it is about
        "asked": _OR_NOTHING,
        "reached": Number(),  # by the worst crowd
        "holds": Flag(),
    }
)
_RISK = Fields(
    {
        "quasi_identifier": _NAMES,
        "threshold": Number(),  # a higher risk counts as above it
        "threshold_crowd": Whole(1),  # in smaller crowds the risk is above it
        "counted": _COUNTED,
        "records": Whole(1),
        "crowds": Whole(1),
        "smallest_crowd": Whole(1),
        "alone": _COUNT,  # records in a crowd of one; people who are alone in one of theirs
        "prosecutor_highest": Number(),  # risks are shares of 1
        "prosecutor_average": Number(),
        "above_threshold": _COUNT,
        "journalist_highest": _OR_NOTHING,  # null where the population is not known
        "marketer": Number(),
    }
)
_SIZES = Fields(
    {
        "quasi_identifier": _NAMES,
        "counted": _COUNTED,
        "crowds": Whole(1),
        "smallest": Whole(1),
        "median": Whole(1),
        "largest": Whole(1),
        "bins": ListOf(Fields({"from": Whole(1), "to": Whole(1), "crowds": _COUNT, "records": _COUNT})),
    }
)
_SHARED = Fields({"quasi_identifier": _NAMES, "column": Text(), "crowds": _COUNT, "records": _COUNT})
_SAFE: Mapping[str, Shape] = {
    "promise": Text(blank=False),
    "holds": Flag(),
    "records": Whole(1),
    "requirements": ListOf(_REQUIREMENT),
    "class_sizes": ListOf(_SIZES, 1),
    "risks": ListOf(_RISK, 1),
    "homogeneity": ListOf(_SHARED),  # crowds in which all have the same sensitive value
    "untouched": _NAMES,
    "kept": _NAMES,  # on purpose, though they look as if they named people
    "warnings": _NAMES,
    "not_promised": _NAMES,
}
_CROWD = Fields(
    {"quasi_identifier": _NAMES, "asked": Whole(1), "smallest": Whole(1), "counted": _COUNTED, "promises": _NAMES}
)
_SAFE_STEWARD: Mapping[str, Shape] = {
    "crowds": ListOf(_CROWD, 1),
    "risks_before": ListOf(_RISK, 1),
    "homogeneity_before": ListOf(_SHARED),
}

# What did it cost
_COLUMN: Mapping[str, Shape] = {"name": Text(), "released_values": Whole(1)}
_BAR = Fields({"value": Text(), "before": Number(), "after": Number()})  # shares of the records
_DISTRIBUTION = Fields({"kind": Choice(("numbers", "categories")), "bars": ListOf(_BAR, 1), "distance": Number()})
_COLUMN_STEWARD: Mapping[str, Shape] = {
    "original_values": Whole(1),
    "first_values": _NAMES,  # the first of the released values
    "loss": Number(),
    "distribution": _DISTRIBUTION,
}
_MATRIX = ListOf(ListOf(Number()))
_ASSOCIATION: Mapping[str, Shape] = {"columns": _NAMES, "released": _MATRIX}
_CHANGE = Fields({"first": Text(), "second": Text(), "original": Number(), "released": Number()})
_POINTS = ListOf(Fields({"step": _COUNT, "value": Number()}))
_LAST = ListOf(Fields({"step": Whole(1), "column": Text(), "value": Text(), "into": _COUNT}))
_PATH = Fields({"chosen": Whole(1), "asked": Whole(1), "anonymity": _POINTS, "losses": _POINTS, "last": _LAST})
_SHARE = Fields({"value": Number(), "low": Number(), "high": Number()})  # of wrong answers, with a 95 % interval
_ERROR = Fields({"classifier": Text(), "original": _SHARE, "released": _SHARE, "without": _SHARE})
_MEASURE = Fields({"name": Text(), "title": Text(), "about": Text(), "value": Number()})
_PART = Fields({"quasi_identifier": _NAMES, "values": TableOf(_OR_NOTHING)})  # the measures by name
_COST: Mapping[str, Shape] = {
    "crowds": Whole(1),
    "average_crowd": Number(),
    "discernibility": Whole(1),
    "more_columns": _COUNT,
}

# What was done
_BOOK = Fields(
    {
        "column": Text(),
        "values": ListOf(Fields({"value": Text(), "meaning": Text(), "records": Whole(1)}), 1),
        "more": _COUNT,
        "more_records": _COUNT,
    }
)
_DONE: Mapping[str, Shape] = {
    "policy": Text(blank=False),
    "method": Text(),
    "options": TableOf(Anything()),
    "dropped": _NAMES,
    "codebook": ListOf(_BOOK, 1),
}
_LINE = Fields({"depth": _COUNT, "value": Text(), "records": Either((_COUNT, Nothing())), "stands_for": Text()})
_DONE_STEWARD: Mapping[str, Shape] = {
    "about_method": Text(),
    "facts": TableOf(Text()),
    "notes": _NAMES,
    "hints": _NAMES,
    "trees": ListOf(Fields({"column": Text(), "lines": ListOf(_LINE, 1)})),
}

# How can anyone check it
_CHECK: Mapping[str, Shape] = {
    "release": DIGEST,
    "commitment": Text(blank=False),
    "versions": TableOf(Text()),
    "commands": ListOf(Text(), 1),
}
_ORIGINAL = Fields({"name": Text(), "digest": Either((DIGEST, Nothing()))})


def shape_of(reader: str) -> Fields:
    steward = reader == STEWARD
    records: dict[str, Shape] = {"released": Whole(1)}
    cost: dict[str, Shape] = {**_COST}
    if steward:
        records |= {"original": Whole(1), "left_out": _COUNT}
        cost |= {"measures": ListOf(_MEASURE, 1), "by_quasi_identifier": ListOf(_PART, 1)}
        cost |= {"path": Either((_PATH, Nothing())), "errors": ListOf(_ERROR)}
    changes = {"original": _MATRIX, "changes": ListOf(_CHANGE)} if steward else {}
    cost |= {
        "records": Fields(records),
        "columns": ListOf(Fields({**_COLUMN, **(_COLUMN_STEWARD if steward else {})}), 1),
        "association": Fields({**_ASSOCIATION, **changes}),
    }
    return DOCUMENT.shape(
        {
            "reader": Choice((reader,)),
            "title": Text(blank=False),
            "safe": Fields({**_SAFE, **(_SAFE_STEWARD if steward else {})}),
            "cost": Fields(cost),
            "done": Fields({**_DONE, **(_DONE_STEWARD if steward else {})}),
            "check": Fields({**_CHECK, **({"original": _ORIGINAL} if steward else {})}),
        }
    )


def read_summary(path: str | Path) -> dict[str, Any]:
    """Read the JSON file of a report, of either reader."""
    return DOCUMENT.read(path, Either((shape_of(STEWARD), shape_of(PUBLIC))))
