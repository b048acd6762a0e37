"""Counts what attackers could do with the table and with its release: every record's risk, and who stands out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.population.records import read_people
from incrowd.risk.assessment import BeforeAndAfter, Risk
from incrowd.run import Run
from incrowd.studio.tasks.releases import again

if TYPE_CHECKING:
    from incrowd.formats.sources import Source
    from incrowd.table.grouping import Counts

CROWDS = (1, 2, 3, 5, 10, 20, 50)  # where the bins of the sizes of crowds begin
MOST_SPECIAL = 10  # records that are listed of those who stand out


def work(request: Mapping[str, Any], run: Run) -> dict[str, Any]:
    """The risk before and after, on each quasi-identifier of the release that was made; "of" is its digest."""
    release = again(request, run)
    run.stage("counting")
    found, tables = release.risk(), (release.original, release.rows_with_owners())
    missing = release.policy.missing_values
    return {
        "of": request["of"],
        "sets": [
            {**_pair(pair), "bins": _bins([_sizes(table, pair.after, missing, run) for table in tables])}
            for pair in found.quasi_identifiers
        ],
        "rows": found.to_rows(),
        "notes": found.remarks(),
    }


def _pair(pair: BeforeAndAfter) -> dict[str, Any]:
    sides = {"before": pair.before.to_json(), "after": pair.after.to_json()}
    for side in sides.values():
        side["special_uniques"]["highest"] = side["special_uniques"]["highest"][:MOST_SPECIAL]
    return sides


def _sizes(table: Source, risk: Risk, missing_values: tuple[str, ...], run: Run) -> Counts:
    """By size, the records in crowds of that size; people where there is a unit, each with the smallest crowd."""
    question = risk.question
    names = [*question.attributes, *([question.unit] if question.unit else [])]
    people = read_people(
        table.batches(None, encoded=names),
        table.name,
        question.attributes,
        unit=question.unit,
        missing_values=missing_values,
        run=run,
    )
    sizes = people.sizes[people.class_of] if people.persons is None else people.members.smallest()
    return np.bincount(sizes)


def _bins(tables: list[Counts]) -> list[dict[str, Any]]:
    """Records by the size of their crowd, in shares of 1 of all records before and after."""
    ends = (*CROWDS[1:], None)
    bins = []
    for first, end in zip(CROWDS, ends, strict=True):
        before, after = (int(sizes[first:end].sum()) / max(1, int(sizes.sum())) for sizes in tables)
        name = str(first) if end == first + 1 else f"{first}+" if end is None else f"{first}–{end - 1}"
        bins.append({"value": name, "before": before, "after": after})
    return bins
