"""What a summary looks like, field by field; a steward's has what a public one may not have.

This is the documentation of the JSON file, and every summary is tested against it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from incrowd.report.labels import PEOPLE, RECORDS
from incrowd.report.summary import DOCUMENT, PUBLIC, STEWARD
from incrowd.schemas import shapes
from incrowd.schemas.documents import DIGEST
from incrowd.schemas.shapes import Choice, Either, Fields, ListOf, Nothing, Shape, TableOf

TEXT, SENTENCE, NUMBER, FLAG = shapes.Text(), shapes.Text(blank=False), shapes.Number(), shapes.Flag()
COUNT, POSITIVE = shapes.Whole(0), shapes.Whole(1)
TEXTS = ListOf(TEXT)
NUMBER_OR_NOTHING = Either((NUMBER, Nothing()))
# What sizes, risks and numbers of records count: people once, in the worst of their crowds.
COUNTED = Choice((RECORDS, PEOPLE))


def _fields(shape: Shape, names: str) -> dict[str, Shape]:
    return dict.fromkeys(names.split(), shape)


# Is it safe
_REQUIREMENT = {
    **_fields(TEXT, "promise model"),  # "k=10", "k-anonymity"
    "quasi_identifier": TEXTS,
    "column": Either((TEXT, Nothing())),  # the sensitive column that it is about
    "asked": NUMBER_OR_NOTHING,
    "reached": NUMBER,  # by the worst crowd
    "holds": FLAG,
}
_RISK = {
    "quasi_identifier": TEXTS,
    "counted": COUNTED,
    **_fields(POSITIVE, "records crowds smallest_crowd"),
    **_fields(NUMBER, "threshold prosecutor_highest prosecutor_average marketer"),  # risks are shares of 1
    "journalist_highest": NUMBER_OR_NOTHING,  # null if the population is not known
    "threshold_crowd": POSITIVE,  # in smaller crowds the risk is above the threshold
    **_fields(COUNT, "alone above_threshold"),  # "alone": in a crowd of one
}
_SIZE = {**_fields(POSITIVE, "from to"), **_fields(COUNT, "crowds records")}
_SIZES = {
    "quasi_identifier": TEXTS,
    "counted": COUNTED,
    **_fields(POSITIVE, "crowds smallest median largest"),
    "bins": ListOf(Fields(_SIZE)),
}
_SHARED = ListOf(Fields({"quasi_identifier": TEXTS, "column": TEXT, **_fields(COUNT, "crowds records")}))
_SAFE = {
    "promise": SENTENCE,
    "holds": FLAG,
    "records": POSITIVE,
    "requirements": ListOf(Fields(_REQUIREMENT)),
    "class_sizes": ListOf(Fields(_SIZES), 1),
    "risks": ListOf(Fields(_RISK), 1),
    "homogeneity": _SHARED,  # crowds in which all have the same sensitive value
    "attacks_played": TEXTS,  # without what they found
    # "kept": on purpose, though they may name people; "unprotected": sensitive columns about which nothing is promised
    **_fields(TEXTS, "untouched kept unprotected warnings not_promised"),
}
_ATTACK = {
    **_fields(TEXT, "group attack variant meaning"),
    "trials": POSITIVE,
    **_fields(NUMBER, "successes control baseline excess low high"),  # shares of 1
    "leak": FLAG,
}
_CROWD = {**_fields(TEXTS, "quasi_identifier promises"), **_fields(POSITIVE, "asked smallest"), "counted": COUNTED}
_SAFE_STEWARD = {
    "crowds": ListOf(Fields(_CROWD), 1),
    "risks_before": ListOf(Fields(_RISK), 1),
    "homogeneity_before": _SHARED,
    "attacks": ListOf(Fields(_ATTACK)),
    "max_excess": NUMBER_OR_NOTHING,
}

# What did it cost
_COLUMN = {"name": TEXT, "released_values": POSITIVE}
_BAR = {"value": TEXT, **_fields(NUMBER, "before after")}  # shares of the records
_DISTRIBUTION = {"kind": Choice(("numbers", "categories")), "bars": ListOf(Fields(_BAR), 1), "distance": NUMBER}
_COLUMN_STEWARD = {
    "original_values": POSITIVE,
    "first_values": TEXTS,  # the first of the released values
    "loss": NUMBER,
    "distribution": Fields(_DISTRIBUTION),
}
_MATRIX = ListOf(ListOf(NUMBER))
_CHANGE = {**_fields(TEXT, "first second"), **_fields(NUMBER, "original released")}
_POINTS = ListOf(Fields({"step": COUNT, "value": NUMBER}))
_LAST = {"step": POSITIVE, **_fields(TEXT, "column value"), "into": COUNT}
_PATH = {**_fields(POSITIVE, "chosen asked"), **_fields(_POINTS, "anonymity losses"), "last": ListOf(Fields(_LAST))}
_SHARE = Fields(_fields(NUMBER, "value low high"))  # of wrong answers, with a 95 % interval
_COST = {**_fields(POSITIVE, "crowds discernibility"), "average_crowd": NUMBER, "more_columns": COUNT}
_COST_STEWARD = {
    "measures": ListOf(Fields({**_fields(TEXT, "name title about"), "value": NUMBER}), 1),
    "by_quasi_identifier": ListOf(Fields({"quasi_identifier": TEXTS, "values": TableOf(NUMBER_OR_NOTHING)}), 1),
    "path": Either((Fields(_PATH), Nothing())),
    "errors": ListOf(Fields({"classifier": TEXT, **_fields(_SHARE, "original released without")})),
}

# What was done
_VALUE = {**_fields(TEXT, "value meaning"), "records": POSITIVE}
_BOOK = {"column": TEXT, "values": ListOf(Fields(_VALUE), 1), **_fields(COUNT, "more more_records")}
_DONE = {
    "policy": SENTENCE,
    "method": TEXT,
    "options": TableOf(shapes.Anything()),
    "dropped": TEXTS,
    "codebook": ListOf(Fields(_BOOK), 1),
}
_LINE = {"depth": COUNT, **_fields(TEXT, "value stands_for"), "records": Either((COUNT, Nothing()))}
_TRIED = {**_fields(TEXT, "candidate measure"), **_fields(NUMBER, "error low high loss"), "as_good": FLAG}
_DONE_STEWARD = {
    "trial": ListOf(Fields(_TRIED)),
    "about_method": TEXT,
    "facts": TableOf(TEXT),
    **_fields(TEXTS, "notes hints"),
    "trees": ListOf(Fields({"column": TEXT, "lines": ListOf(Fields(_LINE), 1)})),
}

# How can anyone check it
_CHECK = {"release": DIGEST, "commitment": SENTENCE, "versions": TableOf(TEXT), "commands": ListOf(TEXT, 1)}
_CHECK_STEWARD = {"original": Fields({"name": TEXT, "digest": Either((DIGEST, Nothing()))})}


def shape_of(reader: str) -> Fields:
    def both(public: Mapping[str, Shape], own: Mapping[str, Shape]) -> Fields:
        return Fields({**public, **(own if reader == STEWARD else {})})

    records = both({"released": POSITIVE}, {"original": POSITIVE, **_fields(COUNT, "left_out released_before")})
    association = both(
        {"columns": TEXTS, "released": _MATRIX}, {"original": _MATRIX, "changes": ListOf(Fields(_CHANGE))}
    )
    parts = {"records": records, "columns": ListOf(both(_COLUMN, _COLUMN_STEWARD), 1), "association": association}
    return DOCUMENT.shape(
        {
            "reader": Choice((reader,)),
            "title": SENTENCE,
            "safe": both(_SAFE, _SAFE_STEWARD),
            "cost": both({**_COST, **parts}, _COST_STEWARD),
            "done": both(_DONE, _DONE_STEWARD),
            "check": both(_CHECK, _CHECK_STEWARD),
        }
    )


def read_summary(path: str | Path) -> dict[str, Any]:
    """Read the JSON file of a report for either reader."""
    return DOCUMENT.read(path, Either((shape_of(STEWARD), shape_of(PUBLIC))))
