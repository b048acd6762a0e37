"""Bottom-up generalization: from the values themselves up, cheapest generalization first."""

from __future__ import annotations

from incrowd.options import Option
from incrowd.schemas.shapes import Choice, Flag, Whole
from incrowd.search.method import SHARE, SUPPRESS, Method
from incrowd.search.priorities import PRIORITIES

METHODS = {
    "bug": Method(
        "bottom-up generalization: least information lost per anonymity gained",
        "incrowd.search.bottom_up.bottom_up:bottom_up",
        {
            "information": Option("what a generalization loses", Choice(("entropy", "weighted", "ncp"))),
            "pruning": Option("compute the anonymity of critical generalizations only", Flag()),
            "suppress": SUPPRESS,
            "priorities": PRIORITIES,
            "tighten": Option("take back generalizations that turned out not to be needed", Flag()),
            "partial": Option("let some children of a taxonomy's node become a group while the others stay", Flag()),
            "suppress_values": Option("share of the records whose rare values may become * by themselves", SHARE),
            "restarts": Option("how many times to search again with random changes", Whole(0)),
        },
        limits="itself",
    ),
}
