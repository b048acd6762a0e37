"""Local recoding beside global and multidimensional recoding: KACA figures 4 and 5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.formats.registry import open_source
from incrowd.inspection.first_look import Look
from incrowd.key import Key
from incrowd.policy.making import make_policy
from incrowd.release.release import release_of
from incrowd.run import Run
from incrowd.search.registry import METHODS
from incrowd.taxonomies.rules import Intervals
from incrowd.taxonomies.taxonomy import Taxonomy
from papers.adult import EIGHT, all_rows, in_shape_of
from papers.experiment import Effort, Outcome, Panel, Row, verdict_of

CROWDS = (2, 5, 10, 15, 20, 30, 40, 50)
SIZES = (3, 4, 5, 6, 7, 8)
SEEDS = 10  # runs that are averaged, as in the paper
MEASURES = ("distortion", "dm", "c_avg", "inconsistency")
SEEDED = ("kaca", "kaca2", "cover")  # methods that draw
SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "KACA1": ("kaca", {}),
    "KACA2": ("kaca2", {"max_inconsistency": 0.1}),
    "Incognito": ("incognito", {}),
    "Multi, strict": ("mondrian", {"bounds": "exact"}),
    "Multi, relaxed": ("mondrian", {"bounds": "exact", "relaxed": True}),
    "cover (ours)": ("cover", {}),
}
ORDERED = ("Multi, strict", "Multi, relaxed")  # on ordered values, without taxonomies: two measures need those
LABELS = {
    "dm": "discernibility",
    "c_avg": "C_AVG",
    "inconsistency": "inconsistency (%)",
    "attributes": "number of attributes",
}


def by_crowd(effort: Effort) -> Outcome:
    """KACA, figure 4."""
    places = [(k, 6) for k in effort.some(*CROWDS)]
    return _outcome(effort, places, "k")


def by_size(effort: Effort) -> Outcome:
    """KACA, figure 5."""
    places = [(10, size) for size in effort.some(*SIZES)]
    return _outcome(effort, places, "attributes")


def present() -> dict[str, tuple[str, dict[str, Any]]]:
    """The settings whose method there is."""
    return {name: setting for name, setting in SETTINGS.items() if setting[0] in METHODS}


def hierarchies(names: Sequence[str]) -> dict[str, Any]:
    """Ages in ranges of 5, 10 and 20 years, and taxonomies of the heights that the paper prints."""
    return {**({"age": Intervals((5, 10, 20))} if "age" in names else {}), **in_shape_of("clustering", names)}


def ordered(rows: pa.Table, names: Sequence[str]) -> pa.Table:
    """The rows with numbers in place of categories, in the order in which their taxonomy lists them."""
    for name, file in in_shape_of("clustering", names).items():
        taxonomy = Taxonomy.read(file)
        leaves = pa.array([taxonomy.labels[leaf] for leaf in taxonomy.leaves])
        ranks = pc.index_in(rows[name].combine_chunks(), leaves)
        rows = rows.set_column(rows.schema.get_field_index(name), name, ranks)
    return rows


def measured(
    rows: pa.Table, names: Sequence[str], k: int, method: str, options: Mapping[str, Any], taxonomies: Any, seeds: int
) -> list[float | None]:
    """The four measures of releases, averaged over seeds where the method draws; two where there are no taxonomies."""
    found = []
    for seed in range(seeds if method in SEEDED else 1):
        policy = make_policy(quasi_identifiers=names, k=k, taxonomies=taxonomies, method=method, options=options)
        release = release_of(open_source(rows), policy, Run(key=Key.for_experiments(seed)), look=Look())
        total = release.measures.total
        if taxonomies is None:
            return [None, total.dm, total.c_avg, None]
        lost = release.distortion()
        found.append((lost.distortion, total.dm, total.c_avg, 100 * lost.inconsistency))
    return [float(mean) for mean in np.mean(found, axis=0)]


def _outcome(effort: Effort, places: Sequence[tuple[int, int]], along: str) -> Outcome:
    records, seeds = all_rows(effort.records), 1 if effort.quick else SEEDS
    rows: list[Row] = []
    for name, (method, options) in present().items():
        for k, size in places:
            effort.say(f"{name}, k={k}, {size} attributes")
            names, table = EIGHT[:size], records
            trees: dict[str, Any] | None = hierarchies(names)
            if name in ORDERED:
                trees, table = None, ordered(records, names)
            figures = measured(table, names, k, method, options, trees, 1 if method == "cover" else seeds)
            rounded = [None if figure is None else round(figure, 3) for figure in figures]
            rows.append({"method": name, "k": k, "attributes": size, **dict(zip(MEASURES, rounded, strict=True))})
    wide = ("dm", "c_avg")  # Incognito is off by orders of magnitude
    panels = tuple(Panel(along, each, "method", log="y" if each in wide else "", labels=LABELS) for each in MEASURES)
    return Outcome(rows, panels, *_verdict(rows))


def _verdict(rows: list[Row]) -> tuple[str, str]:
    """Whether KACA1 is lowest in the first three measures, KACA2 consistent, and what was not there to compare."""
    of = {name: [row for row in rows if row["method"] == name] for name in present()}
    held: dict[str, list[bool]] = {name: [] for name in (*ORDERED, "")}
    told = []
    for other in ("Incognito", *ORDERED, "KACA2"):
        if other not in of:
            continue
        wins = {
            measure: sum(one[measure] <= two[measure] for one, two in zip(of["KACA1"], of[other], strict=True))
            for measure in (MEASURES[1:3] if other in ORDERED else MEASURES[:3])
        }
        held[other if other in ORDERED else ""] += [count == len(of[other]) for count in wins.values()]
        counts = ", ".join(f"{LABELS.get(measure, measure)} {count}" for measure, count in wins.items())
        told.append(f"KACA1 is not above {other} at {counts} of {len(of[other])} points")
    highest, capped = (max(row["inconsistency"] for row in of[name]) for name in ("KACA1", "KACA2"))
    held[""] += [capped <= 10, highest > capped]
    told.append(f"the inconsistency of KACA1 reaches {highest:.0f} %, that of KACA2 {capped:.1f} %")
    absent = [name for name in SETTINGS if name not in of]
    if absent:
        held[""].append(False)
        told.append(f"{' and '.join(absent)} did not run beside it")
    strict, relaxed = (verdict_of([*held[""], *held[name]]) for name in ORDERED)
    return f"{strict} if Multi is strict Mondrian; {relaxed.lower()} if it is relaxed", "; ".join(told)
