"""What an experiment is, and what it gives back: rows of data, how they are plotted, and what they say of a claim."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

Row = dict[str, Any]

HOLDS, PARTLY, FAILS = "It holds here", "It holds here in part", "It does not hold here"


@dataclass(frozen=True)
class Effort:
    """How much of an experiment to run.

    Args:
        quick: Fewer points.
        records: Only so many of the training records, and of the others.
        seconds: Where a search for an optimum stops.
        taxonomies: Files by column, in place of the shipped ones where a classifier's error is measured.
        say: Called with what is being done.
    """

    quick: bool = False
    records: int | None = None
    seconds: float = 60.0
    taxonomies: Mapping[str, Path] = field(default_factory=dict)
    say: Callable[[str], object] = lambda text: None

    def named(self, name: str) -> Effort:
        """The same, saying the name of the experiment too."""
        return replace(self, say=lambda text: self.say(f"{name}: {text}"))

    def some(self, *points: Any) -> tuple[Any, ...]:
        """All points, or the first, the middle and the last one."""
        return (points[0], points[len(points) // 2], points[-1]) if self.quick and len(points) > 3 else points


@dataclass(frozen=True)
class Panel:
    """A plot of some columns of the rows.

    Args:
        x: The column along.
        y: The column up.
        by: The column that tells curves apart.
        where: Columns and the values that rows of this panel have there.
        title: Above the plot.
        kind: "lines", "points" with the diagonal, "bars" from x to `until` at height y, or "steps": bars of length y
            by name of x.
        log: Which axes are logarithmic: "", "x", "y" or "xy".
        until: The column in which bars end.
        labels: What to write on an axis instead of the column's name.
        proven: The column that is false where a search was stopped; such points are hollow.
    """

    x: str
    y: str
    by: str
    where: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    kind: str = "lines"
    log: str = ""
    until: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    proven: str = ""

    def curves(self, rows: list[Row]) -> dict[str, list[Row]]:
        """The rows of this panel by curve, in order."""
        found: dict[str, list[Row]] = {}
        for row in rows:
            if all(row[column] == value for column, value in self.where.items()):
                found.setdefault(str(row[self.by]), []).append(row)
        return found


@dataclass(frozen=True)
class Outcome:
    """What an experiment found.

    Args:
        rows: The data; every row has the same columns.
        panels: How to plot them.
        verdict: Whether the claim holds here.
        found: The figures that say so, for people; the end of the sentence that the verdict begins.
    """

    rows: list[Row]
    panels: tuple[Panel, ...]
    verdict: str
    found: str


@dataclass(frozen=True)
class Experiment:
    """An experiment of one of the papers.

    Args:
        paper: The paper and its figure.
        title: What is measured.
        claim: What the paper found.
        differs: What is done differently here, and why.
        function: Where it lives, as "module:function"; takes an `Effort` and gives an `Outcome`.
    """

    paper: str
    title: str
    claim: str
    differs: str
    function: str

    def run(self, effort: Effort) -> Outcome:
        """Run it."""
        module, name = self.function.split(":")
        outcome: Outcome = getattr(import_module(f"papers.{module}"), name)(effort)
        return outcome

    def sentence(self, outcome: Outcome) -> str:
        """What the paper found and whether it holds here."""
        return f"The paper: {self.claim}. {outcome.verdict}: {outcome.found}."


def with_both_trees(run: Callable[[Effort], Outcome], effort: Effort, second: Mapping[str, Path]) -> Outcome:
    """What an experiment finds with the first trees, and with some of them replaced; once where the user gave trees."""
    if effort.taxonomies:
        return run(effort)
    found = {"first": run(effort), "second": run(replace(effort, taxonomies=second))}
    return Outcome(
        [{"trees": trees, **row} for trees, outcome in found.items() for row in outcome.rows],
        tuple(
            replace(panel, where={"trees": trees, **panel.where}, title=f"{panel.title}, {trees} trees")
            for trees, outcome in found.items()
            for panel in outcome.panels
        ),
        f"{found['first'].verdict} with the first trees; {found['second'].verdict.lower()} with the second",
        f"with the first trees {found['first'].found}. With the second {found['second'].found}",
    )


def percent(share: float) -> float:
    """A share in percent, as precise as it is worth."""
    return round(100 * share, 2)


def verdict_of(held: list[bool]) -> str:
    """The verdict on a claim that is tested several times."""
    return HOLDS if all(held) else PARTLY if any(held) else FAILS
