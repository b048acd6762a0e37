"""The local recoding with the least loss, by an integer program; for small tables.

A generalized tuple that enough records have the values of is a class that may be open. Every record takes an open class
that has its values and loses what that class loses; an open class has enough records. Of classes that the same tuples
could take only the one that loses least matters. If the open classes are known the rest is a flow, whose corners are
whole numbers, so only "open" has to be an integer. The solver is HiGHS, through SciPy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd.errors import DataError, MissingPackageError
from incrowd.privacy.size_rule import SizeRule, lacking
from incrowd.run import Run
from incrowd.search.clustering.proof.facts import Priced
from incrowd.search.clustering.proof.prices import around

Array = npt.NDArray[Any]

PAIRS = 200_000  # of a tuple and a class that it could take
NODES = 20_000  # of the solver's search


class Program(NamedTuple):
    """Pairs of a tuple and a class that it could take, class by class, and what a record loses in each class."""

    tuples: Array
    classes: Array
    losses: Array


def optimum(
    priced: Priced, counts: Array, needs: SizeRule, run: Run
) -> tuple[tuple[Array, Array, Array] | None, float]:
    """Tuple, class and records of each part of the best release, None where it could not be proven; and a bound.

    Args:
        priced: The table.
        counts: Records of each tuple.
        needs: What a class needs.
        run: Asked in between whether to go on.

    Raises:
        MissingPackageError: SciPy is not installed.
        DataError: The table is too large.
    """
    try:
        from scipy import optimize, sparse
    except ImportError:
        raise MissingPackageError("the proven optimum needs SciPy", "optimum") from None
    program = _program(priced, counts, needs, run)
    pairs, size, many = len(program.tuples), len(program.losses), len(counts)
    each, place = np.arange(pairs), np.arange(size)
    ones = np.ones(pairs)
    taken = sparse.csr_array((ones, (program.tuples, each)), (many, pairs + size))
    filled = sparse.csr_array((ones, (program.classes, each)), (size, pairs + size))
    filled += sparse.csr_array((-np.full(size, float(lacking(needs, 0))), (place, pairs + place)), filled.shape)
    most = -counts[program.tuples].astype(float)
    only_open = sparse.csr_array((ones, (each, each)), (pairs, pairs + size))
    only_open += sparse.csr_array((most, (each, pairs + program.classes)), only_open.shape)
    unit = float(max(1, program.losses.max(initial=1)))  # the solver's tolerances are for numbers around 1
    cost = np.append(program.losses[program.classes], np.zeros(size)) / unit
    rules = [
        optimize.LinearConstraint(taken, counts, counts),
        optimize.LinearConstraint(filled, 0, np.inf),
        optimize.LinearConstraint(only_open, -np.inf, 0),
    ]
    whole = np.append(np.zeros(pairs), np.ones(size))
    upper = np.append(-most, np.ones(size))
    run.check()
    options = {"node_limit": NODES, "mip_rel_gap": 0}
    found = optimize.milp(cost, integrality=whole, bounds=optimize.Bounds(0, upper), constraints=rules, options=options)
    bound = float(found.mip_dual_bound or 0.0) * unit
    if found.status != 0:
        return None, bound
    opened = found.x[pairs:] > 0.5
    upper[:pairs] *= opened[program.classes]
    lower = np.append(np.zeros(pairs), opened)
    flow = optimize.milp(
        cost, integrality=np.ones(len(cost)), bounds=optimize.Bounds(lower, np.append(upper[:pairs], opened)),
        constraints=rules[:2],
    )  # fmt: skip
    records = np.rint(flow.x[:pairs]).astype(np.int64)
    some = records > 0
    return (program.tuples[some], program.classes[some], records[some]), bound


def _program(priced: Priced, counts: Array, needs: SizeRule, run: Run) -> Program:
    """All classes that may be open."""
    classes: dict[bytes, int] = {}
    pairs = 0
    for group in around(priced.levels, priced.lost, np.arange(len(counts)), counts, needs, run):
        ends = np.append(group.starts[1:], len(group.tuples))
        for start, end, loss in zip(group.starts.tolist(), ends.tolist(), group.losses.tolist(), strict=True):
            key = group.tuples[start:end].astype(np.int64).tobytes()
            if key not in classes:
                pairs += end - start
            classes[key] = min(loss, classes.get(key, loss))
        if pairs > PAIRS:
            raise DataError(
                f"there are over {PAIRS:,} pairs of a combination and a class that it could take, too many to prove "
                "the optimum; set proof to 'bound', or take fewer or coarser columns"
            )
    members = [np.frombuffer(key, np.int64) for key in classes]
    lengths = [len(some) for some in members]
    return Program(
        np.concatenate(members), np.repeat(np.arange(len(members)), lengths), np.array([*classes.values()], np.int64)
    )
