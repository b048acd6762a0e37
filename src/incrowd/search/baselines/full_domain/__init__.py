"""Full-domain generalization: every attribute at one level of its hierarchy."""

from __future__ import annotations

from incrowd.options import Option
from incrowd.schemas.shapes import Choice
from incrowd.search.method import SHARE, SUPPRESS, Method
from incrowd.search.priorities import PRIORITIES

_OPTIONS = {
    "cost": Option("measure by which the release is chosen", Choice(("dm", "ncp", "cm"))),
    "suppress": SUPPRESS,
    "priorities": PRIORITIES,
}

METHODS = {
    "incognito": Method(
        "all minimal full-domain generalizations, and the cheapest of them",
        "incrowd.search.baselines.full_domain.incognito:incognito",
        _OPTIONS,
    ),
    "samarati": Method(
        "Samarati's binary search: full-domain generalization of minimal height",
        "incrowd.search.baselines.full_domain.samarati:samarati",
        _OPTIONS,
    ),
    "datafly": Method(
        "Sweeney's Datafly: generalize the attribute with the most distinct values, leave out the last few records",
        "incrowd.search.baselines.full_domain.datafly:datafly",
        {
            "suppress": Option("share of the records that may be left out; by default k records", SHARE),
            "priorities": PRIORITIES,
        },
        leaves_out="yes: up to k records, or the share of --suppress",
    ),
}
