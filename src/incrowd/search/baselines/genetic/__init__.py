"""Iyengar's genetic algorithm."""

from __future__ import annotations

from incrowd.options import Option
from incrowd.schemas.shapes import Choice, Whole
from incrowd.search.method import Method
from incrowd.search.priorities import PRIORITIES

METHODS = {
    "genetic": Method(
        "Iyengar's genetic algorithm: cuts and intervals bred for low loss or good labels",
        "incrowd.search.baselines.genetic.genetic:genetic",
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
