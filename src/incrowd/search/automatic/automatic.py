"""Auto: chooses a method by what the release is for and how large the table is, and says what it chose and why.

- With a target, top-down refinement (`tdr`): it keeps what predicts the target. One early step can lead it astray, so
  it searches again a few times and takes what keeps most about the target, unless the table is large.
- With several quasi-identifiers, `tdr` too: local methods take one.
- Otherwise the local method that loses least. `mondrian` is quick at any size, and best where there are many numbers;
  `cover` mostly loses less, but takes longer than linear in the size. Both run and the better one is taken (NCP),
  unless the table is too large for `cover` or even for classes of single tuples. Of larger tables a few rounds of
  `cover` show whether it is worth its time: where they cover next to nothing, `mondrian` loses less.

Where records may be left out, each of them runs twice, without leaving out anyone and within the budget, and the best
release is taken: a budget never makes it worse. Which one that is can depend on who is left out, so the certificate
names `auto`, and only the steward learns more.

The choice follows from the table alone, never from a clock, so that the same table gives the same release anywhere. A
time limit can only take `cover` or some of the restarts away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from incrowd.errors import TimeLimitError
from incrowd.measures.measures import measure
from incrowd.privacy.model import Requirements
from incrowd.run import Run
from incrowd.search.clustering.cover import share_covered
from incrowd.search.costs import cost_of
from incrowd.search.method import SearchResult
from incrowd.search.registry import method_of
from incrowd.table.compressed import CompressedTable

LOCAL = 5_000_000  # tuples; beyond, a recoding of single tuples does not fit into memory
SWIFT = {"cover": {"effort": 0}}  # options that save time: compiling the rest takes longest on a new machine
COVER = 4_000_000  # cells (tuples x attributes) that `cover` takes about half a minute for
QUICK = 400_000  # cells that it takes a few seconds for
RESTARTS = 60  # of `tdr` for a target; they take about 20 seconds on the largest of these tables
RESTARTED = 4_000_000  # cells of the largest table that is searched again
ROUNDS = 500  # of `cover` that show whether it is worth more than that
SHARE = 0.1  # of the records that they have to cover


def choices(table: CompressedTable, requirements: Requirements) -> tuple[tuple[str, ...], str]:
    """The methods to try, and why these."""
    if table.has_target:
        return ("tdr",), "a target is given, and top-down refinement keeps what predicts it"
    if len(requirements) > 1:
        return ("tdr",), "there are several quasi-identifiers, and local methods take one"
    if len(table.counts) > LOCAL:
        return ("tdr",), f"{len(table.counts):,} distinct combinations are too many for a local method"
    if len(table.counts) * len(table.attributes) > COVER:
        return ("mondrian",), "without a target a local method loses least, and cover would take long on this table"
    return ("mondrian", "cover"), "without a target a local method loses least"


def _usual(name: str, table: CompressedTable, *, suppress: float) -> dict[str, Any]:
    """The options that a method gets unless others are asked for."""
    once = bool(suppress) or len(table.counts) * len(table.attributes) > RESTARTED
    if name == "tdr" and table.has_target and not once:
        return {"restarts": RESTARTS}
    return SWIFT.get(name, {})


def _ways(names: Sequence[str], table: CompressedTable, suppress: float) -> list[tuple[str, float]]:
    """Each method, and the share of records that it may leave out: none, and those that may be."""
    shares = [0.0, suppress] if suppress else [0.0]
    ways = [(name, share) for share in shares for name in names]
    if suppress and not _usual("tdr", table, suppress=0.0):  # tdr looks at both by itself
        ways = [way for way in ways if way != ("tdr", 0.0)]
    return ways


def _loss(table: CompressedTable, requirements: Requirements, name: str, result: SearchResult) -> float:
    """What is to be low: what is lost of the target with `tdr`, else the loss of cells (NCP)."""
    if name == "tdr":
        return float(cost_of(table, result.recoding))
    return float(measure(table, result.recoding, requirements).total.ncp)


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
    large = len(table.counts) * len(table.attributes) > QUICK
    ways = _ways(names, table, suppress)
    found: list[tuple[float, str, Mapping[str, Any], SearchResult]] = []
    for name, share in ways:
        chosen = _usual(name, table, suppress=share) | ({"suppress": share} if share else {})
        chosen |= {"priorities": priorities} if priorities else {}
        method = method_of(name, chosen, len(requirements))
        part = run if not found else run.part()
        part.anytime = method.anytime
        try:
            if name == "cover" and large and share_covered(table, requirements[0], ROUNDS, part) < SHARE:
                why += "" if share else ", and records are too far apart for cover"
                continue
            result = method.search(table, requirements, chosen, part)
        except TimeLimitError:
            if not found:
                raise
            run.ended_early = run.over  # there is a release; the better method had no time
            why += f"; {_called(name, chosen)} did not end in time"
            continue
        found.append((_loss(table, requirements, name, result) if len(ways) > 1 else 0.0, name, chosen, result))
    run.anytime = True
    loss, name, options, best = found.pop(min(range(len(found)), key=lambda place: found[place][0]))
    if found and name != "tdr":
        others = ", ".join(f"{_called(other, given)} {ncp:.4f}" for ncp, other, given, _ in found)
        why += f": NCP {loss:.4f}, {others}"
    return replace(best, facts={**best.facts, "method": name, "options": options, "why": why})


def _called(name: str, chosen: Mapping[str, Any]) -> str:
    return f"{name} with records left out" if chosen.get("suppress") else name
