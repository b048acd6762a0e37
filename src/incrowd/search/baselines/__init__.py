"""The methods that papers compare with: full-domain generalization, mu-Argus, and Iyengar's genetic algorithm."""

from __future__ import annotations

from incrowd.options import Option
from incrowd.schemas.shapes import Choice, Whole
from incrowd.search.method import BOUNDS, SHARE, SUPPRESS, Method
from incrowd.search.priorities import PRIORITIES

_FULL_DOMAIN = {
    "cost": Option("measure by which the release is chosen", Choice(("dm", "ncp", "cm"))),
    "suppress": SUPPRESS,
    "priorities": PRIORITIES,
}

METHODS = {
    "incognito": Method(
        "all minimal full-domain generalizations, and the cheapest of them",
        "incrowd.search.baselines.incognito:incognito",
        _FULL_DOMAIN,
        whole_tables=True,
        limits="itself",
    ),
    "samarati": Method(
        "Samarati's binary search: full-domain generalization of minimal height",
        "incrowd.search.baselines.samarati:samarati",
        _FULL_DOMAIN,
        whole_tables=True,
        limits="itself",
    ),
    "datafly": Method(
        "Sweeney's Datafly: generalize the attribute with the most distinct values, leave out the last few records",
        "incrowd.search.baselines.datafly:datafly",
        {
            "suppress": Option("share of the records that may be left out; by default k records", SHARE),
            "priorities": PRIORITIES,
        },
        limits="itself",
        leaves_out="yes: up to k records, or the share of --suppress",
        whole_tables=True,
    ),
    "argus": Method(
        "like mu-Argus: generalize away rare combinations of a few values, suppress cells until everyone has a crowd",
        "incrowd.search.baselines.argus:argus",
        {
            "length": Option("largest number of attributes in a combination", Whole(1)),
            "suppress": Option("share of the records that may have rare combinations after generalization", SHARE),
            "bounds": BOUNDS,
            "priorities": PRIORITIES,
        },
        local=True,
        leaves_out="no",
    ),
    "genetic": Method(
        "Iyengar's genetic algorithm: cuts and intervals bred for low loss or good labels",
        "incrowd.search.baselines.genetic:genetic",
        {
            "fitness": Option("loss of cells (ncp) or of labels (cm)", Choice(("ncp", "cm"))),
            "priorities": PRIORITIES,
            "population": Option("number of chromosomes kept alive", Whole(2)),
            "patience": Option("stop after this many children without an improvement", Whole(1)),
            "evaluations": Option("stop after this many chromosomes", Whole(1)),
        },
        anytime=True,
        leaves_out="yes, unasked, as many as lowers the loss; not with l",
    ),
}
