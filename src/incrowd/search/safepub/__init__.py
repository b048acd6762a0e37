"""Differential privacy by drawing records at random and hiding small crowds, with no made-up value (SafePub)."""

from __future__ import annotations

from incrowd.options import Option
from incrowd.schemas.shapes import Number
from incrowd.search.method import Method

METHODS = {
    "safepub": Method(
        "SafePub: differential privacy with true records, by a random sample of which small crowds are left out",
        "incrowd.search.safepub.safepub:safepub",
        {
            "epsilon": Option("how much more likely one person can make any release: by e^epsilon", Number(0.01, 6)),
            "delta": Option("how likely a release may be for which that fails", Number(0, 0.5, below=True, above=True)),
            "choice": Option("share of epsilon for choosing among levels, where they are not fixed", Number(0, 0.9)),
        },
        several=False,
        local=True,
        limits="passes",
        leaves_out="yes: all that are not drawn, e^-epsilon of them, and then all crowds smaller than k",
        differential=True,
    ),
}
