"""Like mu-Argus: rare combinations generalized, then cells suppressed."""

from __future__ import annotations

from incrowd.search.method import Method
from incrowd.search.options import BOUNDS, SHARE, Option, Whole
from incrowd.search.priorities import PRIORITIES

METHODS = {
    "argus": Method(
        "like mu-Argus: generalize away rare combinations of a few values, suppress cells until everyone has a crowd",
        "incrowd.search.argus.argus:argus",
        {
            "length": Option("largest number of attributes in a combination", Whole(1)),
            "suppress": Option("share of the records that may have rare combinations after generalization", SHARE),
            "bounds": BOUNDS,
            "priorities": PRIORITIES,
        },
        local=True,
        leaves_out="no",
    ),
}
