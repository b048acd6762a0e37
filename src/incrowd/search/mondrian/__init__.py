"""Mondrian: the table cut into boxes."""

from __future__ import annotations

from incrowd.options import Option
from incrowd.schemas.shapes import Choice, Flag
from incrowd.search.method import BOUNDS, SUPPRESS, Method
from incrowd.search.priorities import PRIORITIES

PROOF = Choice(("quick", "bound"))

METHODS = {
    "mondrian": Method(
        "multidimensional recoding: cut the table into boxes at medians and taxonomy nodes",
        "incrowd.search.mondrian.mondrian:mondrian",
        {
            "relaxed": Option("allow records with equal numbers to be separated", Flag()),
            "suppress": SUPPRESS,
            "priorities": PRIORITIES,
            "bounds": BOUNDS,
            "proof": Option("what is proven of the loss; 'quick' is a bound where it takes little", PROOF),
        },
        several=False,
        anytime=True,
        local=True,
        limits="itself",
    ),
}
