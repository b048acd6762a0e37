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
from incrowd.table.grouping import count, group

SIZES = (1, 2, 5, 10, 20, 50)  # crowds below these are counted


def work(words: Mapping[str, Any], run: Run) -> dict[str, Any]:
    """Count.

    Args:
        words: "folder" with the codes, "of" which look at the table they are, "columns" by name, their "places" among
            all columns, and the "sizes" of those.
        run: Told what happens, and asked whether to go on.
    """
    run.stage("counting")
    try:
        codes = np.load(Path(words["folder"]) / CODES, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError):
        raise DataError("the table has not been looked at yet; open the first screen, Data") from None
    names: list[str] = words["columns"]
    chosen = [np.asarray(codes[place]).astype(np.int64) for place in words["places"]]
    sizes = [int(size) for size in words["sizes"]]
    if not chosen:
        nothing: dict[str, Any] = {"alone": 0, "below": [], "pairs": [], "triples": []}
        return {"columns": [], "of": words["of"], "records": int(codes.shape[1]), **nothing}
    groups, firsts = group(chosen, sizes)
    members = count(groups, len(firsts), None)
    run.check()
    pairs, triples = worst_combinations(names, chosen, sizes, run)
    single = sorted(
        ((count_uniques([column], [size]), name) for column, size, name in zip(chosen, sizes, names, strict=True)),
        reverse=True,
    )
    return {
        "columns": names,
        "of": words["of"],
        "records": int(codes.shape[1]),
        "alone": int((members == 1).sum()),
        "crowds": len(members),
        "below": [{"size": size, "records": int(members[members < size].sum())} for size in SIZES[1:]],
        "single": [{"column": name, "records": uniques} for uniques, name in single[:3] if uniques],
        "pairs": [{"columns": list(each.columns), "records": each.uniques} for each in pairs if each.uniques],
        "triples": [{"columns": list(each.columns), "records": each.uniques} for each in triples if each.uniques],
    }
