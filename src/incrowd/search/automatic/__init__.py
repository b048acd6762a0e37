"""Auto: the method that suits a table and its purpose."""

from __future__ import annotations

from incrowd.search.method import SUPPRESS, Method
from incrowd.search.priorities import PRIORITIES

METHODS = {
    "auto": Method(
        "the method that suits the table: for a target what errs least on samples, else what loses least in short time",
        "incrowd.search.automatic.automatic:automatic",
        {"suppress": SUPPRESS, "priorities": PRIORITIES},
        anytime=True,
        local=True,
        whole_tables=True,
        limits="passes",
    ),
}
