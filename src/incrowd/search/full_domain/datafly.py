"""Datafly (Sweeney, 1997): generalize the attribute with most distinct values, until few enough records are left over.

As long as more records than allowed lie in classes that are too small, the attribute with most distinct released values
is generalized to its next level (see `domains`) as a whole. The records that are left over are left out. The paper
allows as many of them as k.

Invariant: classes only merge, so the number of records left over never grows. The search ends, since each step raises a
level, and at the top all records are one class.

Of attributes with equally many values the first by name is taken. With several quasi-identifiers, attributes of those
that hold already are left alone, and the smallest k is the number of records allowed.
"""

from __future__ import annotations

from incrowd.privacy.model import Requirements
from incrowd.run import Run
from incrowd.search.climb import Climb
from incrowd.search.method import SearchResult
from incrowd.search.record_suppression import budget_of
from incrowd.table.compressed import CompressedTable


def datafly(
    table: CompressedTable,
    requirements: Requirements,
    run: Run,
    *,
    suppress: float | None = None,
) -> SearchResult:
    """Generalize the attribute with most distinct values, again and again.

    Args:
        table: The compressed table.
        requirements: What must hold; every attribute of the table belongs to at least one.
        run: Gets every step.
        suppress: Share of the records that may be left out; by default k records, as in the paper.
    """
    budget = (
        min(requirement.least_size for requirement in requirements) if suppress is None else budget_of(table, suppress)
    )
    climb = Climb(table, requirements, run)
    climb.rise_until(budget, climb.distinct)
    return climb.found({"records_allowed": budget})
