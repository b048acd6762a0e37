"""Local recoding: clustering in hierarchies (KACA) and our own cover."""

from __future__ import annotations

from incrowd.options import ByColumn, Numbers, Option
from incrowd.schemas.shapes import Choice, Number, Whole
from incrowd.search.method import SUPPRESS, Method

_KACA = "incrowd.search.clustering.kaca:kaca"
_DISTANCE = {
    "distance": Option("how far a value is from a more general one", Choice(("height", "uniform", "ncp"))),
    "beta": Option("how much more steps near the root weigh, with the distance height", Number(0, 100)),
    "level_weights": Option(
        "weights of the steps between the levels of a column's hierarchy, from the root down, with the distance height",
        ByColumn(Numbers(0, 1000), "zip=4:2:1"),
    ),
    "priorities": Option(
        "weight of each attribute, 1 if not named; those with low weights are generalized first",
        ByColumn(Number(0, 1000, above=True), "zip=5,age=2"),
    ),
}

PROOF = Choice(("quick", "bound", "optimum"))

METHODS = {
    "kaca": Method(
        "local recoding by clustering: a small class joins the nearest class, or a part of it",
        _KACA,
        {**_DISTANCE, "suppress": SUPPRESS},
        several=False,
        local=True,
        limits="apart",
    ),
    "kaca2": Method(
        "local recoding by clustering that keeps each attribute mostly at one level of its hierarchy",
        _KACA,
        {
            **_DISTANCE,
            "max_inconsistency": Option("share of values that may be off the main level", Number(0, 1)),
            "suppress": SUPPRESS,
        },
        {"max_inconsistency": 0.1},
        several=False,
        local=True,
        limits="apart",
    ),
    "cover": Method(
        "local recoding with the least loss: many small rounds from specific to general, clustering, exchange",
        "incrowd.search.clustering.cover:cover",
        {
            "objective": Option(
                "what is improved; 'target' keeps what predicts the target first",
                Choice(("ncp", "dm", "mix", "target")),
            ),
            "rounds": Option("largest number of rounds", Whole(1)),
            "effort": Option("work that goes into making classes anew, in units of a second or two", Whole(0)),
            "priorities": _DISTANCE["priorities"],
            "proof": Option("what is proven of the loss; 'quick' is a bound where it takes little", PROOF),
            "suppress": SUPPRESS,
        },
        several=False,
        anytime_later=True,
        local=True,
        limits="apart",
    ),
}
