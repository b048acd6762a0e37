"""Top-down specialization and refinement: from the most general table down, best refinement first."""

from __future__ import annotations

from incrowd.options import Option
from incrowd.schemas.shapes import Choice, Flag, Whole
from incrowd.search.method import SUPPRESS, Method
from incrowd.search.priorities import PRIORITIES

_OPTIONS = {
    "criterion": Option("how the next refinement is chosen", Choice(("tds", "tdr", "gain"))),
    "correction": Option(
        "what is taken off the gain of a refinement: nothing, or the 'length' of its description, which many-valued "
        "columns need most",
        Choice(("none", "length")),
    ),
    "max_steps": Option("stop after this many steps", Whole(0)),
    "suppress": SUPPRESS,
    "priorities": PRIORITIES,
    "partial": Option("let one child of a taxonomy's node be shown while the others stay together", Flag()),
    "restarts": Option("how many times to search again with random weights and cuts, for the best release", Whole(0)),
}
_FUNCTION = "incrowd.search.top_down.top_down:top_down"
_NEED_ALL_TUPLES = ("suppress", "restarts", "partial")

METHODS = {
    "tdr": Method(
        "top-down refinement: best information gain per anonymity lost, plus one",
        _FUNCTION,
        _OPTIONS,
        {"criterion": "tdr"},
        anytime=True,
        limits="itself",
        out_of_core_without=_NEED_ALL_TUPLES,
    ),
    "tds": Method(
        "top-down specialization: best information gain per anonymity lost",
        _FUNCTION,
        _OPTIONS,
        {"criterion": "tds"},
        anytime=True,
        limits="itself",
        out_of_core_without=_NEED_ALL_TUPLES,
    ),
}
