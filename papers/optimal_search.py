"""Optimal search in six schemes: figures 10 to 13 of Li and Li."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from incrowd.engines.reading import compressed as compressed_by
from incrowd.engines.registry import engine_of
from incrowd.formats.registry import open_source
from incrowd.policy.making import make_policy
from incrowd.run import Run
from incrowd.search.optimal import PRUNINGS, SCHEMES
from incrowd.search.registry import METHODS
from incrowd.table.compressed import CompressedTable
from incrowd.taxonomies.taxonomy import Taxonomy
from papers.adult import shipped, train_rows
from papers.experiment import Effort, Outcome, Panel, Row, verdict_of

GROWING = ("age", "marital-status", "race", "sex", "workclass", "education", "native-country")
CROWDS = (2, 3, 5, 10, 15, 20)
SIZES = (1, 2, 3, 4, 5, 6)
DIRECTIONS = ("bottom-up", "top-down")
WITHOUT = {
    "all of the paper": ("innermost",),
    "no seeding and re-queueing": ("innermost", "seeding", "requeue"),
    "no node and applicator order": ("innermost", "node-order", "applicator-order"),
    "neither of both": ("innermost", "seeding", "requeue", "node-order", "applicator-order"),
    "no applicator pruning": ("innermost", "applicators"),
    "no useful applicators": ("innermost", "useful"),
    "only bounds": tuple(word for word in PRUNINGS if word != "bound"),
    "all, and the innermost attribute solved": (),
}
LABELS = {"seconds": "CPU seconds", "attributes": "number of attributes"}
# From the more rigid scheme to the more flexible one, section 2.4 of the paper.
FLEXIBLE = (("bhs", "ghs"), ("ghs", "gops"), ("gops", "ops"), ("gops", "gsps"), ("ops", "sps"), ("gsps", "sps"))
REPEATS, SHORT = 3, 1.0  # a search that takes less than so many seconds is run again, and its shortest time counts
PRUNED_SECONDS = 10.0  # where a search stops of which prunings are left out
PRINTED_SECONDS = 5.0  # where one stops in which no attribute is solved
AS_PRINTED = tuple(word for word in PRUNINGS if word != "innermost")
PRINTED_CROWDS, PRINTED_SIZES = (2, 5, 20), (1, 2, 3, 4)  # where no attribute is solved
SOLVED = {True: "", False: ", no attribute solved"}
PRUNED = (("ops", 5), ("ops", 20), ("gsps", 5), ("gsps", 20))


def ages() -> Taxonomy:
    """15 intervals of 5 years, in tens, in twenties."""
    paths = []
    for low in range(15, 90, 5):
        ten, twenty = (low - 15) // 10 * 10 + 15, (low - 15) // 20 * 20 + 15
        paths.append((f"{low}-{low + 4}", f"{ten} to {ten + 9}", f"{twenty} to {twenty + 19}", "*"))
    return Taxonomy.from_paths(paths)


@cache
def compressed(
    names: tuple[str, ...], coarse: bool = True, folder: str | None = None, records: int | None = None
) -> CompressedTable:
    """Adult's training records over some attributes.

    Args:
        names: The attributes.
        coarse: Whether age is in intervals of 5 years.
        folder: A folder with a hierarchy per attribute; the shipped taxonomies if None.
        records: Only so many records.
    """
    rows = train_rows(records)
    taxonomies: dict[str, Any] = shipped(names)
    if folder is not None:
        taxonomies = {name: Path(folder) / f"{name}.csv" for name in names}
    if coarse and "age" in names:
        lows = np.minimum(np.asarray(rows["age"]) // 5 * 5, 85)
        texts = pa.array([f"{low}-{low + 4}" for low in lows])
        rows = rows.set_column(rows.schema.get_field_index("age"), "age", texts)
        taxonomies["age"] = ages()
    policy = make_policy(quasi_identifiers=names, k=2, taxonomies=taxonomies)
    return compressed_by(engine_of(), open_source(rows), policy, Run())


def run(table: CompressedTable, k: int = 5, time_limit: float | None = None, **options: Any) -> dict[str, Any]:
    """One search: its facts, and the CPU seconds that it took."""
    names = [attribute.name for attribute in table.attributes]
    requirements = make_policy(quasi_identifiers=names, k=k).requirements
    seconds: list[float] = []
    facts: Mapping[str, Any] = {}
    while not seconds or (len(seconds) < REPEATS and seconds[0] < SHORT and facts["optimal"]):
        began = time.process_time()
        facts = METHODS["optimal"](table, requirements, {"cost": "dm", **options}, Run(time_limit=time_limit)).facts
        seconds.append(time.process_time() - began)
    return {**facts, "seconds": min(seconds)}


def _row(effort: Effort, size: int, k: int, *, solved: bool = True, **options: Any) -> Row:
    """One point of a figure.

    Args:
        effort: Where the search stops.
        size: The number of attributes.
        k: The size of the smallest crowd.
        solved: Whether one attribute may be solved instead of enumerated, as we do, or none, as the paper does.
        **options: Those of the search.
    """
    effort.say(f"{size} attributes, k={k}{SOLVED[solved]}, " + ", ".join(str(value) for value in options.values()))
    table = compressed(GROWING[:size], records=effort.records)
    words = {"suppress": 1.0, **({} if solved else {"prunings": AS_PRINTED}), **options}
    facts = run(table, k, effort.seconds if solved else min(effort.seconds, PRINTED_SECONDS), **words)
    told = {
        "lowest_cost": facts["cost"],
        "proven": facts["optimal"],
        "gap": round(facts["gap"], 5),
        "nodes": facts["nodes"],
    }
    return {"attributes": size, "k": k, "solved": solved, **options, **told, "seconds": round(facts["seconds"], 3)}


def _places(effort: Effort) -> list[tuple[bool, str, int, int]]:
    """The points along k with four attributes and along their number with k = 5; fewer where none is solved."""
    found: list[tuple[bool, str, int, int]] = []
    for solved, crowds, sizes in (True, CROWDS, SIZES), (False, PRINTED_CROWDS, PRINTED_SIZES):
        found += [(solved, "k", 4, k) for k in effort.some(*crowds)]
        found += [(solved, "attributes", size, 5) for size in effort.some(*sizes)]
    return found


def _both_ways(by: str, y: str = "seconds") -> tuple[Panel, ...]:
    titles = {"k": "four attributes", "attributes": "k = 5"}
    return tuple(
        Panel(along, y, by, {"along": along, "solved": solved}, title + words, log="y", labels=LABELS, proven="proven")
        for solved, words in SOLVED.items()
        for along, title in titles.items()
    )


def _told_of_both(told: Callable[[list[Row]], tuple[list[bool], str]], rows: list[Row]) -> tuple[str, str]:
    """The verdict on a claim, and the figures with and without our solved attribute."""
    held, words = told([row for row in rows if row["solved"]])
    printed, printed_words = told([row for row in rows if not row["solved"]])
    return verdict_of([*held, *printed] or [False]), f"{words}. Without the attribute that we solve {printed_words}"


def directions(effort: Effort) -> Outcome:
    """Figure 10: bottom-up against top-down."""
    rows = [
        {"along": along, "search": f"{s} {d}", **_row(effort, size, k, solved=solved, scheme=s, direction=d)}
        for s in ("ops", "sps")
        for d in DIRECTIONS
        for solved, along, size, k in _places(effort)
    ]
    verdict, found = _told_of_both(lambda some: _directions_told(some, effort.seconds), rows)
    return Outcome(rows, _both_ways("search"), verdict, found)


def _directions_told(rows: list[Row], seconds: float) -> tuple[list[bool], str]:
    """Which direction is faster where."""
    point_of = {(row["scheme"], row["direction"], row["along"], row[row["along"]]): row for row in rows}
    faster = {}  # whether bottom-up is, where both searches came to an end
    for (scheme, direction, *place), row in point_of.items():
        other = point_of[scheme, "top-down", *place]
        if direction == "bottom-up" and row["proven"] and other["proven"]:
            faster[scheme, *place] = row["seconds"] <= other["seconds"]
    small = [won for (_, _, value), won in faster.items() if value <= 3]
    large = [not won for (_, along, value), won in faster.items() if value >= (10 if along == "k" else 4)]
    longest = max((row["seconds"] for row in rows if row["proven"]), default=0.0)
    return [*small, *large], (
        f"bottom-up is faster at {sum(small)} of {len(small)} points of small k or few attributes, top-down at "
        f"{sum(large)} of {len(large)} points of large k or many, counting those where both ended with a proof; the "
        f"longest proof took {longest:.1f} s; {_stopped(rows, _limit(rows, seconds))}"
    )


def _limit(rows: list[Row], seconds: float) -> float:
    """Where these searches stop."""
    return seconds if rows[0]["solved"] else min(seconds, PRINTED_SECONDS)


def _stopped(rows: list[Row], seconds: float) -> str:
    """How many searches were stopped, and in which schemes."""
    stopped = [row for row in rows if not row["proven"]]
    if not stopped:
        return f"all {len(rows)} searches ended with a proof"
    schemes = ", ".join(dict.fromkeys(row["scheme"] for row in stopped))
    return f"{len(stopped)} of {len(rows)} searches ({schemes}) were stopped after {seconds:g} s"


def scheme_times(effort: Effort) -> Outcome:
    """Figure 11: time of the six schemes."""
    rows = [
        {"along": along, **_row(effort, size, k, solved=solved, scheme=scheme, direction="bottom-up")}
        for scheme in SCHEMES
        for solved, along, size, k in _places(effort)
    ]
    verdict, found = _told_of_both(lambda some: _times_told(some, effort.seconds), rows)
    return Outcome(rows, _both_ways("scheme"), verdict, found)


def _times_told(rows: list[Row], seconds: float) -> tuple[list[bool], str]:
    """Whether time grows with the attributes and with k; a search that was stopped takes longer than one that ended."""
    grown = {}
    for along in ("attributes", "k"):
        lines = Panel(along, "seconds", "scheme", {"along": along}).curves(rows)
        grown[along] = [
            (line[-1]["proven"], -line[-1]["seconds"]) < (line[0]["proven"], -line[0]["seconds"])
            for line in lines.values()
        ]
    longest = max((row for row in rows if row["proven"]), key=lambda row: row["seconds"], default=rows[0])
    return [won for each in grown.values() for won in each], (
        f"from the first to the last point time grows with the attributes in {sum(grown['attributes'])} of "
        f"{len(SCHEMES)} schemes and with k in {sum(grown['k'])}; the longest proof took "
        f"{longest['seconds']:.1f} s ({longest['scheme']}); {_stopped(rows, _limit(rows, seconds))}"
    )


def scheme_costs(effort: Effort) -> Outcome:
    """Figure 12: cost of the six schemes."""
    rows = [
        _row(effort, 4, k, solved=solved, scheme=scheme, direction="bottom-up", cost=cost)
        for solved, crowds in ((True, CROWDS), (False, PRINTED_CROWDS))
        for cost in ("dm", "hdm")
        for scheme in SCHEMES
        for k in effort.some(*crowds)
    ]
    verdict, found = _told_of_both(lambda some: _costs_told(some, effort.seconds), rows)
    panels = tuple(
        Panel(
            "k", "lowest_cost", "scheme", {"cost": cost, "solved": solved}, cost.upper() + words,
            labels={"lowest_cost": "cost"}, proven="proven",
        )
        for solved, words in SOLVED.items()
        for cost in ("dm", "hdm")
    )  # fmt: skip
    return Outcome(rows, panels, verdict, found)


def _costs_told(rows: list[Row], seconds: float) -> tuple[list[bool], str]:
    """Whether costs grow with k and fall with flexibility."""
    cost_of = {(row["cost"], row["scheme"], row["k"]): row["lowest_cost"] for row in rows}
    flexible = [
        cost_of[cost, free, k] <= cost_of[cost, rigid, k]
        for cost, scheme, k in cost_of
        for rigid, free in FLEXIBLE
        if scheme == rigid
    ]
    grows = [
        one["lowest_cost"] <= two["lowest_cost"]
        for one, two in pairwise(rows)
        if (one["cost"], one["scheme"]) == (two["cost"], two["scheme"])
    ]
    k = rows[-1]["k"]
    return [*flexible, *grows], (
        f"the cost never falls as k grows in {sum(grows)} of {len(grows)} steps, and the more flexible of two schemes "
        f"costs no more in {sum(flexible)} of {len(flexible)} comparisons (DM at k={k}: bhs "
        f"{cost_of['dm', 'bhs', k]:,}, ghs {cost_of['dm', 'ghs', k]:,}, ops {cost_of['dm', 'ops', k]:,}, sps "
        f"{cost_of['dm', 'sps', k]:,}); {_stopped(rows, _limit(rows, seconds))}"
    )


def pruning_times(effort: Effort) -> Outcome:
    """Figure 13: what the prunings are good for."""
    effort = replace(effort, seconds=min(effort.seconds, PRUNED_SECONDS))
    rows: list[Row] = []
    for name, off in WITHOUT.items():
        chosen = tuple(word for word in PRUNINGS if word not in off)
        for scheme, k in effort.some(*PRUNED):
            row = _row(effort, 4, k, scheme=scheme, direction="bottom-up", prunings=chosen)
            rows.append({**row, "prunings": name, "search": f"{scheme}, k = {k}"})
    panels = (
        Panel("prunings", "seconds", "search", kind="steps", log="y", labels=LABELS),
        Panel("prunings", "nodes", "search", kind="steps", log="y", labels={"nodes": "nodes visited"}),
    )
    return Outcome(rows, panels, *_pruning_verdict(rows, effort.seconds))


def _pruning_verdict(rows: list[Row], limit: float) -> tuple[str, str]:
    seconds: dict[tuple[str, str], float] = {(row["prunings"], row["search"]): row["seconds"] for row in rows}
    searches = list(dict.fromkeys(row["search"] for row in rows))

    def saved(name: str) -> float:
        """The most of the time without either technique that is saved."""
        return max(1 - seconds[name, search] / seconds["neither of both", search] for search in searches)

    names = ("all of the paper", "no node and applicator order", "no seeding and re-queueing")
    both, seeding, order = map(saved, names)
    found = (
        f"together they save up to {100 * both:.0f} % of the time, seeding and re-queueing alone up to "
        f"{100 * seeding:.0f} %, the order of nodes and applicators up to {100 * order:.0f} %; {_stopped(rows, limit)}"
    )
    return verdict_of([both >= 0.3, seeding > order]), found
