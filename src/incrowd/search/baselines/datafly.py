"""Datafly (Sweeney, 1997): generalize the attribute with most distinct values, until few enough records are left over.

As long as more records than allowed lie in classes that are too small, the attribute with most distinct released values
is generalized to its next level (see `domains`) as a whole. The records that are left over are left out. The paper
allows as many of them as k.

Invariant: classes only merge, so with models that are upward closed the number of records left over never grows. The
search ends, since each step raises a level, and at the top all records are one class, which is good.

Of attributes with equally many values the first by name is taken. With several quasi-identifiers, attributes of those
that hold already are left alone, and the smallest k is the number of records allowed.
"""

from __future__ import annotations

from collections.abc import Mapping

from incrowd.privacy.model import Requirements, with_suppression
from incrowd.run import Run
from incrowd.search.baselines.climb import Climb
from incrowd.search.leaving_out import budget_of
from incrowd.search.method import SearchResult
from incrowd.search.priorities import weights_by_name
from incrowd.table.compressed import CompressedTable


def datafly(
    table: CompressedTable,
    requirements: Requirements,
    run: Run,
    *,
    suppress: float | None = None,
    priorities: Mapping[str, float] | None = None,
) -> SearchResult:
    """Generalize the attribute with most distinct values, again and again.

    By default k records may be left out, as in the paper, or none where a model is not upward closed. Priorities divide
    the number of distinct values.
    """
    budget = _budget(table, requirements, suppress)
    climb = Climb(table, requirements, run)
    weights = weights_by_name([attribute.name for attribute in table.attributes], priorities)

    def score(index: int) -> float:
        return float(climb.distinct(index) / weights[table.attributes[index].name])

    climb.rise_until(budget, score if priorities else climb.distinct)
    return climb.found({"records_allowed": budget})


def _budget(table: CompressedTable, requirements: Requirements, suppress: float | None) -> int:
    if suppress is None:
        closed = all(requirement.upward_closed for requirement in requirements)
        return min(requirement.least_size for requirement in requirements) if closed else 0
    for requirement in requirements if suppress else ():
        with_suppression(requirement.models)
    return budget_of(table, suppress)
