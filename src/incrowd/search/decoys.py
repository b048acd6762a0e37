"""Being left out must not tell a secret.

Whoever knows everyone's quasi-identifiers can see from a release who is not in it. Where a sensitive column is promised
so many values in every class, the classes that are left out are those with too few of them, so being left out would say
a lot: on tables with two values, what each left-out person has. So further classes are left out, good ones, in an order
that is drawn by the key of the release, until no value is much more frequent among the left-out records than in the
whole table. They count in the budget like the others; where it does not suffice, the search is made again with a
smaller one, and in the end with none.

Invariant: what is released satisfies the requirements, since they are closed upward and classes are left out as wholes;
of several quasi-identifiers, classes that this makes bad are left out as well. It ends since every round leaves out
more classes or is the last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import PolicyError
from incrowd.key import Key
from incrowd.privacy.model import Requirements
from incrowd.recodings.recoding import Parts, Recoding
from incrowd.run import Run
from incrowd.search.method import Method, SearchResult
from incrowd.search.outcome import cost_of
from incrowd.search.record_suppression import budget_of, suppressed
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import group
from incrowd.table.out_of_core import OutOfCoreTable

Mask = npt.NDArray[np.bool_]
MOST = Fraction(1, 10)  # how much more frequent a value may be among the left-out records than in the table
_TRIES = 3  # searches with smaller and smaller budgets, before one without


def searched(
    method: Method,
    table: CompressedTable | OutOfCoreTable,
    requirements: Requirements,
    options: Mapping[str, Any],
    run: Run,
    secrets: Sequence[str],
) -> SearchResult:
    """Search, and leave out so much more that being left out does not tell a secret.

    Args:
        method: The search.
        table: The table.
        requirements: What must hold.
        options: Of the search.
        run: Asked whether to go on; its key decides what else is left out.
        secrets: The sensitive columns about which something is promised.
    """
    if not secrets or isinstance(table, OutOfCoreTable):  # which leaves nobody out
        return method(table, requirements, options, run)  # type: ignore[arg-type]
    asked = options
    share = Fraction(str(options.get("suppress", 0)))
    budget = budget_of(table, options["suppress"]) if share else table.records - 1
    for _ in range(_TRIES):
        found = method(table, requirements, asked, run)
        hidden, needed = with_decoys(table, requirements, found, secrets, run.key)
        if needed <= budget:
            return _better(method, table, requirements, options, run, hidden) if share else hidden
        if not share and "suppress" in method.options:  # it leaves out a few unless it is told not to
            break
        if not share:  # it leaves out as many as it likes
            raise PolicyError(
                "being left out would tell a sensitive column whatever else is left out; take a method with a budget"
            )
        share *= Fraction(9 * budget, 10 * needed)
        asked = {**options, "suppress": float(share)}
    return method(table, requirements, {**options, "suppress": 0.0}, run)


def _better(
    method: Method,
    table: CompressedTable,
    requirements: Requirements,
    options: Mapping[str, Any],
    run: Run,
    hidden: SearchResult,
) -> SearchResult:
    """What was found, or what the search finds with no budget where that loses less: a budget does no harm."""
    if not hidden.facts.get("left_out_by_the_key"):
        return hidden
    without = method(table, requirements, {**options, "suppress": 0.0}, run)
    return min(without, hidden, key=lambda found: cost_of(table, found.recoding, options.get("priorities")))


def with_decoys(
    table: CompressedTable, requirements: Requirements, found: SearchResult, secrets: Sequence[str], key: Key
) -> tuple[SearchResult, int]:
    """What was found, with so many more classes left out that being left out does not tell a secret.

    Returns:
        The result, and how many records it leaves out: all of them where only that would do.

    Raises:
        PolicyError: Records of one combination are released differently, so nobody knows whose value is left out.
    """
    left_out = _left_out(found.recoding.parts(table), table)
    if left_out is None or not _tells(table, secrets, left_out):
        return found, 0 if left_out is None else int(table.counts[left_out].sum())
    cells = list(found.recoding.parts(table).cells.values())
    of_tuple, _ = group(cells, [int(column.max()) + 1 for column in cells])
    order = np.random.default_rng(key.number("decoys")).permutation(np.unique(of_tuple[~left_out]))
    rank = np.empty(int(of_tuple.max()) + 1, np.int64)
    rank[order] = np.arange(len(order))
    groups = _classes(table, requirements, found.recoding)
    taken = 1
    while taken < len(order):
        more = left_out | (~left_out & (rank[of_tuple] < taken))
        more = suppressed(groups, requirements, table, more)
        if more.all():
            break
        recoding = found.recoding.without(table, more)
        out = _left_out(recoding.parts(table), table)
        if out is None or not _tells(table, secrets, out):
            records = 0 if out is None else int(table.counts[out].sum())
            decoys = max(0, records - int(table.counts[left_out].sum()))
            facts = {**_unproven(found.facts), "suppressed_records": records, "left_out_by_the_key": decoys}
            return replace(found, recoding=recoding, facts=facts), records
        taken += max(1, taken // 16)
    return found, table.records


def _left_out(parts: Parts, table: CompressedTable) -> Mask | None:
    """Which tuples are left out; None if none is."""
    if parts.dealt and int(parts.records.sum()) < table.records:
        raise PolicyError(
            "with a promise about a sensitive column this method cannot hide why records are left out; set suppress to "
            "0, or take another method"
        )
    if parts.kept is None or parts.kept.all():
        return None
    return np.asarray(~parts.kept)


def _tells(table: CompressedTable, secrets: Sequence[str], left_out: Mask) -> bool:
    """Whether a value of a sensitive column is much more frequent among left-out tuples than in the table."""
    everyone = np.zeros(len(left_out), np.int64)
    for name in secrets:
        histogram = table.protected[name]
        whole, out = (histogram.table(everyone, 1, kept)[0] for kept in (None, left_out))
        records, gone = int(whole.sum()), int(out.sum())
        if not gone:
            continue
        for value, missing in zip(whole.tolist(), out.tolist(), strict=True):
            if Fraction(missing, gone) > Fraction(value, records) + MOST:
                return True
    return False


def _classes(table: CompressedTable, requirements: Requirements, recoding: Recoding) -> list[Any]:
    """The class of each tuple, for each quasi-identifier."""
    cells = recoding.parts(table).cells
    widths = {name: int(column.max()) + 1 for name, column in cells.items()}
    return [
        group([cells[name] for name in requirement.attributes], [widths[name] for name in requirement.attributes])[0]
        for requirement in requirements
    ]


def _unproven(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts that still hold where more is left out than the search decided: nothing about cost is proven."""
    return {name: value for name, value in facts.items() if name not in ("cost", "optimal", "best", "bound", "gap")}
