"""Counts how many people stand alone on some columns, and which few columns are the worst, from the saved codes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from incrowd.errors import DataError
from incrowd.inspection.uniqueness import count_uniques, worst_combinations
from incrowd.run import Run
from incrowd.studio.tasks.inspect import CODES
from incrowd.table.grouping import group
from incrowd.table.members import Members

SIZES = (1, 2, 5, 10, 20, 50)  # crowds below these are counted


def work(request: Mapping[str, Any], run: Run) -> dict[str, Any]:
    """Count on "columns", which are at "places" among the codes in "folder", the "unit" last if there is one."""
    run.stage("counting")
    try:
        codes = np.load(Path(request["folder"]) / CODES, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError):
        raise DataError("the table has not been inspected yet; open the screen Data") from None
    names: list[str] = request["columns"]
    chosen = [np.asarray(codes[place]).astype(np.int64) for place in request["places"]]
    sizes = [int(size) for size in request["sizes"]]
    result = {"columns": names, "unit": request["unit"], "of": request["of"], "records": int(codes.shape[1])}
    persons = None
    if request["unit"] is not None:
        persons, _ = chosen.pop(), sizes.pop()
    if not chosen:
        return {**result, "alone": 0, "below": [], "pairs": [], "triples": []}
    groups, firsts = group(chosen, sizes)
    members = Members(groups, len(firsts), persons)
    result["records"] = members.number
    run.check()
    pairs, triples = worst_combinations(names, chosen, sizes, run, persons)
    uniques = (count_uniques([column], [size], persons) for column, size in zip(chosen, sizes, strict=True))
    single = sorted(zip(uniques, names, strict=True), reverse=True)
    return {
        **result,
        "alone": members.counted(members.sizes == 1),
        "crowds": members.classes,
        "below": [{"size": size, "records": members.counted(members.sizes < size)} for size in SIZES[1:]],
        "single": [{"column": name, "records": uniques} for uniques, name in single[:3] if uniques],
        "pairs": [{"columns": list(each.columns), "records": each.uniques} for each in pairs if each.uniques],
        "triples": [{"columns": list(each.columns), "records": each.uniques} for each in triples if each.uniques],
    }
