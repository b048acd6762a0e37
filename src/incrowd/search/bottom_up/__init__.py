"""Bottom-up generalization: from the values themselves up, cheapest generalization first."""

from __future__ import annotations

from incrowd.search.method import Method
from incrowd.search.options import SUPPRESS, Choice, Flag, Option, Whole
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
            "restarts": Option("how many times to search again with random changes", Whole(0)),
        },
    ),
}
