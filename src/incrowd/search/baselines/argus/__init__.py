"""Like mu-Argus: rare combinations generalized, then cells suppressed."""

from __future__ import annotations

from incrowd.options import Option
from incrowd.schemas.shapes import Whole
from incrowd.search.method import BOUNDS, SHARE, Method
from incrowd.search.priorities import PRIORITIES

METHODS = {
    "argus": Method(
        "like mu-Argus: generalize away rare combinations of a few values, suppress cells until everyone has a crowd",
        "incrowd.search.baselines.argus.argus:argus",
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
