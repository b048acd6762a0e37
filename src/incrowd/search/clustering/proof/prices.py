"""A bound for the loss of any local recoding, by prices.

Give every record a price, so that of all records with the values of a generalized tuple the dearest ones that could
just be a good class cost no more, on average, than what a record loses there. Then a class costs at most what its
records lose: the average price of a class is at most that of its dearest records. So the sum of all prices is at most
the loss of any release. This is the dual of the linear program over all classes.

From any prices such prices are made in one pass: each is divided by the largest share by which a generalized tuple
around the record is overpriced. Prices that begin with what a good release lost come close to the best ones; a further
pass can only raise them. Every pass looks at every generalized tuple that enough records have the values of, by all
choices of one level per attribute.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd.privacy.size_rule import SizeRule, is_good, lacking
from incrowd.run import Run
from incrowd.search.clustering.levels import Levels
from incrowd.table.grouping import Floats

Array = npt.NDArray[Any]

PASSES = 5
SAFE = 1 - 1e-9  # for what is lost in adding up floating-point numbers


class Around(NamedTuple):
    """The generalized tuples at one choice of levels that could be classes.

    Args:
        tuples: The tuples below them, group by group, in their given order within each.
        starts: Where each group begins.
        losses: What a record loses there, in units of detail.
    """

    tuples: Array
    starts: Array
    losses: Array


def around(levels: Levels, lost: Array, order: Array, counts: Array, needs: SizeRule, run: Run) -> Iterator[Around]:
    """All generalized tuples that could be classes, one choice of levels after the other.

    Args:
        levels: All choices of levels.
        lost: What each tuple loses at each level of each attribute: levels x tuples.
        order: The tuples in the order that they are wanted in.
        counts: Records of each tuple.
        needs: What a class needs.
        run: Asked in between whether to go on.
    """
    first = np.cumsum(levels.heights) - levels.heights
    hashes, lost, counts = levels.hashes[:, order], lost[:, order], counts[order]
    for number, choice in enumerate(levels.rounds):
        if number % 100 == 0:
            run.check()
            run.amount(number, len(levels.rounds), "choices of levels priced")
        keys = hashes[first + choice].sum(axis=0, dtype=np.uint64)
        sort = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.diff(keys[sort], prepend=~keys[sort[:1]]) != 0)
        sizes = np.add.reduceat(counts[sort], starts)
        good = np.repeat(is_good(needs, sizes), np.diff(np.append(starts, len(sort))))
        sort, good_starts = sort[good], is_good(needs, sizes)
        if len(sort):
            lengths = np.diff(np.append(starts, len(keys)))[good_starts]
            firsts = np.cumsum(lengths) - lengths
            yield Around(order[sort], firsts, lost[first + choice][:, sort[firsts]].sum(axis=0))


def bound(
    levels: Levels, lost: Array, counts: Array, prices: Floats, needs: SizeRule, run: Run, passes: int = PASSES
) -> float:
    """A sum of prices: no local recoding loses less.

    Args:
        levels: All choices of levels; `hashes` are levels x tuples here.
        lost: What each tuple loses at each level of each attribute, in units of detail: levels x tuples.
        counts: Records of each tuple.
        prices: To begin with: what a record of each tuple lost in some release.
        needs: What a class needs.
        run: Asked in between whether to go on.
        passes: How often prices are made fit.
    """
    best = 0.0
    for _ in range(passes):
        if not run.should_continue():
            break
        dearest = _overpriced(levels, lost, counts, prices, needs, run)
        if dearest is None:
            break
        prices = np.divide(prices, dearest, out=np.zeros_like(prices), where=dearest > 0)
        best = max(best, float(prices @ counts) * SAFE)
    return best


def _overpriced(levels: Levels, lost: Array, counts: Array, prices: Floats, needs: SizeRule, run: Run) -> Floats | None:
    """By how much each tuple's price is too high, in the worst generalized tuple around it; None if it ends early."""
    worst, size = np.zeros(len(prices)), float(lacking(needs, 0))
    for group in around(levels, lost, np.argsort(-prices, kind="stable"), counts, needs, run):
        if not run.should_continue():
            return None
        many = counts[group.tuples]
        before = np.cumsum(many) - many
        lengths = np.diff(np.append(group.starts, len(many)))
        before -= np.repeat(before[group.starts], lengths)
        taken = np.clip(lacking(needs, before), 0, many)
        dearest = np.add.reduceat(taken * prices[group.tuples], group.starts) / size
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(dearest > 0, dearest / group.losses, 0.0)
        worst[group.tuples] = np.maximum(worst[group.tuples], np.repeat(share, lengths))
    return worst
