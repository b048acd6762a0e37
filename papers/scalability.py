"""Time against the size of the table: TDS figure 9, BUG figure 4."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from incrowd.formats.registry import open_source
from incrowd.inspection.first_look import Look
from incrowd.policy.making import make_policy
from incrowd.policy.policy import Policy, QuasiIdentifier
from incrowd.release.release import release_of
from incrowd.run import Run
from incrowd.search.bottom_up.bottom_up import bottom_up
from incrowd.table.compressed import CompressedTable
from papers.adult import ATTRIBUTES, all_rows, policy_of
from papers.blow_up import CATEGORIES, blow_up, novel_table, novel_tuples
from papers.experiment import Effort, Outcome, Panel, Row, verdict_of
from papers.requirements import requirements, united

COPIES = (4, 9, 13, 18, 22)  # 181 to 995 thousand records
BLOW_UP_K, SEVERAL = 50, 10
K, SCALE, NOVELTY = 150, 30, 3
SWEEPS = {"K": (50, 100, 150, 200, 250, 300), "scale": (5, 10, 15, 20, 25, 30), "novelty": (1, 2, 3, 4, 5)}
PAPER_TUPLES = 127_831  # at K, SCALE and NOVELTY
SECONDS = {"seconds": "CPU seconds"}


def timed(function: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """CPU seconds of the shortest of some runs, and what the last gave; wall-clock time is noisy where others work."""
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        result = function()
        seconds.append(time.process_time() - start)
    return min(seconds), result


def top_down_times(effort: Effort) -> Outcome:
    """TDS, figure 9."""
    k, copies = BLOW_UP_K, (2, 4, 6) if effort.quick else COPIES
    seconds = _seconds_by_copies(effort, policy_of(effort, ATTRIBUTES, k, "tds"), ATTRIBUTES, copies)
    rows = [_time_row("all attributes", *point) for point in zip(*seconds, strict=True)]
    times: list[list[float]] = []
    for number, requirement in enumerate(requirements(2 if effort.quick else SEVERAL), 1):
        effort.say(f"requirement {number}")
        policy = policy_of(effort, [QuasiIdentifier(names, k) for names in requirement], k, "tds")
        records, each = _seconds_by_copies(effort, policy, united(requirement), copies)
        times.append(each)
    mean = np.mean(times, axis=0).tolist()
    several = [_time_row("several quasi-identifiers, mean", *point) for point in zip(records, mean, strict=True)]
    first, last, slowest = rows[0], rows[-1], several[-1]
    growth, more = last["seconds"] / first["seconds"], last["records"] / first["records"]
    found = (
        f"{last['records']:,} records take {last['seconds']:.1f} s with all attributes and {slowest['seconds']:.1f} s "
        f"with several quasi-identifiers, {growth:.1f} times the time for {more:.1f} times the records"
    )
    fast, linear, slower = last["seconds"] < 80, growth <= 1.5 * more, slowest["seconds"] > last["seconds"]
    panel = Panel("records", "seconds", "requirement", title=f"k = {k}", labels=SECONDS)
    return Outcome([*rows, *several], (panel,), verdict_of([fast, linear, slower]), found)


def _seconds_by_copies(
    effort: Effort, policy: Policy, names: Sequence[str], copies: Sequence[int]
) -> tuple[list[int], list[float]]:
    """Records, and seconds from rows in memory to the recoding, of the data blown up on some attributes."""
    original = all_rows(effort.records)
    table = blow_up(original, copies[-1], np.random.default_rng(1), names)
    records = [count * len(original) for count in copies]
    return records, [_release_seconds(table.slice(0, count).combine_chunks(), policy) for count in records]


def _release_seconds(table: pa.Table, policy: Policy) -> float:
    """From rows in memory to the recoding; reading and writing files is not in it."""
    return timed(lambda: release_of(open_source(table), policy, look=Look()), 1)[0]


def _time_row(requirement: str, records: int, seconds: float) -> Row:
    return {"requirement": requirement, "records": records, "seconds": round(seconds, 2)}


def search_times(table: CompressedTable, k: int) -> dict[str, Any]:
    """Seconds of a bottom-up search with and without pruning."""
    needed = make_policy(quasi_identifiers=CATEGORIES, k=k).requirements
    pruned, found = timed(lambda: bottom_up(table, needed, Run(), information="entropy"))
    plain, same = timed(lambda: bottom_up(table, needed, Run(), information="entropy", pruning=False), 1)
    if found.steps != same.steps:
        raise AssertionError("pruning changed the steps of a bottom-up search")
    tried = [each.facts["generalizations_tried"] for each in (found, same)]
    return {"tuples": len(table.counts), "steps": len(found.steps), "seconds": (pruned, plain), "tried": tried}


def sweeps(effort: Effort) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """The three sweeps of Figure 4."""
    scale = 3 if effort.quick else SCALE
    for word, values in SWEEPS.items():
        for value in (2, scale) if effort.quick and word == "scale" else effort.some(*values):
            effort.say(f"{word} = {value}")
            chosen = {"K": K, "scale": scale, "novelty": NOVELTY, word: value}
            table = novel_table(chosen["scale"], chosen["novelty"])
            yield word, value, {"records": table.records, **search_times(table, chosen["K"])}


def bottom_up_times(effort: Effort) -> Outcome:
    """BUG, figure 4."""
    rows: list[Row] = []
    for word, value, point in sweeps(effort):
        for place, method in enumerate(("pruning", "no pruning")):
            row = {"varied": word, "value": value, "method": method, "records": point["records"]}
            figures = {"tuples": point["tuples"], "tried": point["tried"][place]}
            rows.append({**row, **figures, "seconds": round(point["seconds"][place], 3)})
    labels = {"K": "K", "scale": "scale factor", "novelty": "novelty factor"}
    panels = tuple(
        Panel("value", "seconds", "method", {"varied": word}, log="y", labels={**SECONDS, "value": labels[word]})
        for word in SWEEPS
    )
    verdict, found = _bottom_up_verdict(rows)
    return Outcome(rows, panels, verdict, f"{found}. {_tuples_told(3 if effort.quick else SCALE)}")


def _tuples_told(scale: int) -> str:
    """How many distinct tuples there are, drawn in different ways, beside those of the paper."""
    evenly, in_data = (novel_tuples(scale, NOVELTY, as_in_data=drawn) for drawn in (False, True))
    return (
        f"The paper has {PAPER_TUPLES:,} distinct tuples at a scale factor of {SCALE} and a novelty factor of "
        f"{NOVELTY}; at a scale factor of {scale} leaves drawn evenly give {evenly:,}, drawn as often as they occur "
        f"{in_data:,}, and drawn evenly with a novelty factor of 1 {novel_tuples(scale, 1):,}"
    )


def _bottom_up_verdict(rows: list[Row]) -> tuple[str, str]:
    pairs = list(zip(rows[::2], rows[1::2], strict=True))
    by_k = [row["seconds"] for row in rows if row["varied"] == "K" and row["method"] == "pruning"]
    longest = max(row["seconds"] for row in rows)
    saved = [plain["seconds"] / pruned["seconds"] for pruned, plain in pairs if pruned["varied"] == "scale"]
    found = (
        f"the longest search takes {longest:.1f} s, K changes the time at most {max(by_k) / min(by_k):.1f}-fold, and "
        f"pruning makes the search {saved[0]:.1f} times faster at the smallest scale factor and {saved[-1]:.1f} times "
        "at the largest"
    )
    return verdict_of([longest < 730, max(by_k) < 2 * min(by_k), saved[-1] > 1, saved[-1] > 1.1 * saved[0]]), found
