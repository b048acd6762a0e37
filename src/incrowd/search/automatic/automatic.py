"""Auto: chooses a method by what the release is for and how large the table is, and says what it chose and why.

- With a target, what was tried: `cover`, `mondrian`, `cover` with the objective `target`, and `tdr`, on samples of the
  table (see `trial`). Of those that err about as little as the best, the one that loses least detail.
- With a promise about all crowds together `incognito`, which counts whole tables; `datafly` where its lattice is large.
- With several quasi-identifiers `tdr`, which starts again a few times for a target: local methods take one.
- Otherwise the local method that loses least. `mondrian` is quick at any size, and best where there are many numbers;
  `cover` mostly loses less, but takes longer than linear in the size. Both run and the better one is taken (NCP),
  unless the table is too large for `cover` or even for classes of single tuples. Of larger tables a few rounds of
  `cover` show whether it is worth its time: where they cover next to nothing, `mondrian` loses less.

A target that cannot be tried for counts as none: one of a single class, a table of few records, a promise about people
outside the table, or one that a sample cannot keep.

Where records may be left out, each of them runs twice, without leaving out anyone and within the budget, and the best
release is taken: a budget never makes it worse. Which one that is can depend on who is left out, so the certificate
names `auto`, and only the steward learns more.

The choice follows from table, policy and key alone, never from a clock, so that the same table gives the same release
anywhere. A time limit can only take the trial, `cover` or some of the restarts away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from incrowd.errors import InfeasibleError, TimeLimitError, many
from incrowd.measures.measures import measure
from incrowd.privacy.model import Requirements
from incrowd.run import Run
from incrowd.search.automatic.samples import can_be_drawn
from incrowd.search.automatic.trial import Candidate, reasons, taken_of, tried
from incrowd.search.baselines.domains import hierarchy
from incrowd.search.clustering.cover import share_covered
from incrowd.search.costs import cost_of
from incrowd.search.method import SearchResult
from incrowd.search.registry import method_of
from incrowd.table.compressed import CompressedTable

LOCAL = 5_000_000  # tuples; beyond, a recoding of single tuples does not fit into memory
SWIFT: Mapping[str, Mapping[str, Any]] = {
    "cover": {"effort": 0},  # takes a tenth of the time
    "datafly": {"suppress": 0.0},  # leaves out a few records unless it is asked not to
}
COVER = 4_000_000  # cells (tuples x attributes) that `cover` takes about half a minute for
QUICK = 400_000  # cells that it takes a few seconds for
ROUNDS = 500  # of `cover` that show whether it is worth more than that
SHARE = 0.1  # of the records that they have to cover
NODES = 5_000  # of the lattices of all subsets of the attributes, each of which `incognito` may count
LEAST = 100  # records of a table that methods are tried on
TRIED_AGAIN = 10  # restarts of `tdr` on a sample, unless protected values are counted or a column has many values
MANY_VALUES = 2_000
RESTARTS = 60  # of `tdr` for a target at most
RESTARTED = 50_000_000  # work of all restarts: steps of the plain search x tuples x columns
COUNTED = 4  # columns of the quasi-identifier that a column whose values are counted is as much work as
WHY_LOCAL = "without a target a local method loses least"


def choices(table: CompressedTable, requirements: Requirements) -> tuple[tuple[str, ...], str]:
    """The methods to try, and why these."""
    if any(requirement.of_table for requirement in requirements):
        nodes = prod(len(hierarchy(attribute)) + 1 for attribute in table.attributes)
        name = "incognito" if nodes <= NODES else "datafly"
        return (name,), "a promise about all crowds together takes a method that counts whole tables"
    if len(requirements) > 1:
        return ("tdr",), "there are several quasi-identifiers, and local methods take one"
    if len(table.counts) > LOCAL:
        return ("tdr",), f"{len(table.counts):,} distinct combinations are too many for a local method"
    local = ("mondrian",) if len(table.counts) * len(table.attributes) > COVER else ("mondrian", "cover")
    if table.has_target and not (reason := _untried(table)):
        return (*local, "tdr"), "for a target methods are tried on samples"
    why = f"{reason}, so it is the local method that loses least" if table.has_target else WHY_LOCAL
    return local, why if len(local) > 1 else f"{why}, and cover would take long on this table"


def _untried(table: CompressedTable) -> str:
    """Why nothing can be tried for the target of a table; empty if it can."""
    if np.count_nonzero(table.labels_in(np.zeros(len(table.counts), np.int64), 1)) < 2:
        return "the target has a single value"
    if table.records < LEAST:
        return f"a table of {many(table.records, 'record')} is too small to try methods for the target"
    return "" if can_be_drawn(table) else "samples have no population, so methods cannot be tried for the target"


def _candidates(table: CompressedTable, names: Sequence[str]) -> list[Candidate]:
    """What is tried for a target: each method as it would run, `cover` also with the target as its objective."""
    is_slow = bool(table.protected) or max(attribute.size for attribute in table.attributes) > MANY_VALUES
    options = {**SWIFT, "tdr": {} if is_slow else {"restarts": TRIED_AGAIN}}
    found = [Candidate(name, options.get(name, {})) for name in names]
    aimed = [Candidate("cover", {"objective": "target", **SWIFT["cover"]})] if "cover" in names else []
    return [*found, *aimed]


def automatic(
    table: CompressedTable,
    requirements: Requirements,
    run: Run,
    *,
    suppress: float = 0.0,
    priorities: Mapping[str, float] | None = None,
) -> SearchResult:
    """Run the method that suits, or the better one of two."""
    names, why = choices(table, requirements)
    ways, facts = [Candidate(name, SWIFT.get(name, {})) for name in names], dict[str, Any]()
    if "tdr" in names and len(names) > 1:
        ways, why, facts = _chosen(table, requirements, names, run, priorities)
    found: list[tuple[float, Candidate, SearchResult]] = []
    for way in _with_budget(ways, suppress):
        way = replace(way, options=dict(way.options) | ({"priorities": priorities} if priorities else {}))
        part = run if not found else run.part()
        try:
            if way.method == "cover" and len(ways) > 1 and _too_far_apart(table, requirements, part):
                why += "" if way.options.get("suppress") else ", and records are too far apart for cover"
                continue
            way, result = _searched(table, requirements, way, part)
        except InfeasibleError:  # as can be without leaving out anyone, where columns have a highest level
            if not suppress or way.options.get("suppress"):
                raise
            continue
        except TimeLimitError:
            if not found:
                raise
            run.ended_early = run.over  # there is a release; the better method had no time
            why += f"; {_called(way)} did not end in time"
            continue
        found.append((_loss(table, requirements, way, result), way, result))
    run.anytime = True
    loss, way, best = found.pop(min(range(len(found)), key=lambda place: found[place][0]))
    if found and way.method != "tdr":
        why += f": NCP {loss:.4f}, {', '.join(f'{_called(other)} {ncp:.4f}' for ncp, other, _ in found)}"
    chosen = {"method": way.method, "options": way.options, "why": why}
    return replace(best, facts={**best.facts, **chosen, **facts})


def _with_budget(ways: Sequence[Candidate], suppress: float) -> list[Candidate]:
    """Each way without leaving out anyone, and with those left out that may be; `tdr` looks at both by itself."""
    budget = [replace(way, options={**way.options, "suppress": suppress}) for way in ways] if suppress else []
    return [*(way for way in ways if way.method != "tdr" or not suppress), *budget]


def _chosen(
    table: CompressedTable,
    requirements: Requirements,
    names: Sequence[str],
    run: Run,
    priorities: Mapping[str, float] | None,
) -> tuple[list[Candidate], str, dict[str, Any]]:
    """What a trial says: what to run, why, and its figures."""
    local = [Candidate(name, SWIFT.get(name, {})) for name in names if name != "tdr"]
    part = run.part(time_limit=None if run.seconds_left is None else max(run.seconds_left / 2, 1e-3))
    try:
        outcomes = tried(table, requirements, _candidates(table, names), priorities, part)
    except TimeLimitError:
        return local, "methods could not be tried for the target in time; else a local method loses least", {}
    except InfeasibleError:
        return local, "methods cannot be tried for the target, as a sample cannot keep the promises", {}
    run.check()
    taken = taken_of(outcomes)
    way = replace(taken.candidate, options={}) if taken.candidate.method == "tdr" else taken.candidate
    return [way], reasons(outcomes, taken), {"trial": [each.to_json() for each in outcomes]}


def _searched(
    table: CompressedTable, requirements: Requirements, way: Candidate, run: Run
) -> tuple[Candidate, SearchResult]:
    """What one way finds; `tdr` for a target starts again as often as its steps, which cost work, allow."""
    method = method_of(way.method, way.options, len(requirements))
    run.anytime = method.anytime
    if way.method != "tdr" or not table.has_target:
        return way, method.search(table, requirements, way.options, run)
    once = method.search(table, requirements, way.options, run)
    columns = len(table.attributes) + COUNTED * len(table.protected)
    again = RESTARTED // max(1, len(once.steps) * len(table.counts) * columns)
    if way.options.get("suppress") or not (restarts := min(RESTARTS, again)):
        return way, once
    way = replace(way, options={**way.options, "restarts": restarts})
    return way, method.search(table, requirements, way.options, run)


def _too_far_apart(table: CompressedTable, requirements: Requirements, run: Run) -> bool:
    """Whether a few rounds of `cover` cover next to nothing of a table that it would take long for."""
    large = len(table.counts) * len(table.attributes) > QUICK
    return large and share_covered(table, requirements[0], ROUNDS, run) < SHARE


def _loss(table: CompressedTable, requirements: Requirements, way: Candidate, result: SearchResult) -> float:
    """What is to be low: what `tdr` loses of the target, else the loss of cells (NCP); local labels are not known."""
    if way.method == "tdr":
        return float(cost_of(table, result.recoding))
    return float(measure(table, result.recoding, requirements).total.ncp)


def _called(way: Candidate) -> str:
    return f"{way.method} with records left out" if way.options.get("suppress") else way.method
