"""Optimal k-anonymization in six generalization schemes, with proof."""

from __future__ import annotations

from incrowd.options import ByColumn, Option, SomeOf, Texts
from incrowd.schemas.shapes import Choice, Number
from incrowd.search.method import Method
from incrowd.search.priorities import PRIORITIES

SCHEMES = ("bhs", "ghs", "ops", "sps", "gsps", "gops")
PRUNINGS = ("bound", "applicators", "useful", "seeding", "requeue", "node-order", "applicator-order", "innermost")

METHODS = {
    "optimal": Method(
        "branch and bound: the lowest cost that a generalization scheme allows, with proof",
        "incrowd.search.optimal.optimal:optimal",
        {
            "scheme": Option(
                "generalization scheme for all columns or per column; default gops, or ops without a taxonomy",
                ByColumn(Choice(SCHEMES), "zip=ghs,age=ops", for_all=True),
            ),
            "cost": Option("measure to minimize", Choice(("dm", "hdm", "ncp", "cm"))),
            "suppress": Option("share of the records that may be left out", Number(0, 1)),
            "priorities": PRIORITIES,
            "direction": Option("how the search goes", Choice(("auto", "bottom-up", "top-down", "pairs"))),
            "prunings": Option("the prunings to use", SomeOf(PRUNINGS)),
            "order": Option(
                "the order of a column's values, for ops and gops", ByColumn(Texts(1), "education=low,middle,high")
            ),
            "gap": Option("stop when the cost is within this share of the optimum", Number(0, 1)),
            "memory": Option("megabytes that waiting nodes may use", Number(1, 2**30)),
        },
        several=False,
        anytime=True,
    ),
}
