"""Why a column lost so much in a release, and what would help: what does not allow more, and what was tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from incrowd.advice.refusals import Refusal, refusals_of
from incrowd.advice.trials import Trial, leaks_of, tried
from incrowd.display import Tabular
from incrowd.errors import PolicyError, UnknownNameError, many
from incrowd.run import Run

if TYPE_CHECKING:
    from incrowd.release.release import Release

NEARLY = 0.9  # of a column is lost: nearly a star
MOST_HINTS = 3  # columns
TIME = 30.0  # seconds for all trials
SAME = 1e-9  # losses that differ by less are the same


@dataclass(frozen=True, repr=False)
class Why(Tabular):
    """What became of a column, what keeps it from showing more, and what would help.

    Args:
        loss: What it lost (NCP, from 0 to 1).
        total: What the release lost.
        released: How many values it has in the release.
        refusals: What keeps it from showing more, most records first.
        trials: What was tried, what helps most first.
        leaks: By how much attacks on the release exceed their control, of those that surely learn something; None if
            none was played.
    """

    column: str
    loss: float
    total: float
    released: int
    refusals: tuple[Refusal, ...]
    trials: tuple[Trial, ...]
    leaks: Mapping[str, float] | None = None

    @property
    def helpful(self) -> tuple[Trial, ...]:
        return tuple(trial for trial in self.trials if trial.column_loss < self.loss - SAME)

    def headline(self) -> str:
        values = many(self.released, "value")
        lost = f"'{self.column}' lost {self.loss:.1%} of its detail ({values} in the release)"
        if not self.helpful:
            return f"{lost}; nothing that was tried keeps more"
        best = self.helpful[0]
        return f"{lost}; {best.column_loss:.1%} with {best.change}"

    def remarks(self) -> list[str]:
        said = [f"{refusal.text}, on {', '.join(refusal.attributes)}" for refusal in self.refusals]
        return said if self.leaks is None else [*said, f"attacks that learn something now: {leaks_text(self.leaks)}"]

    def to_rows(self) -> list[dict[str, Any]]:
        """The changes that were tried, a row each."""
        rows = [trial.to_json() for trial in self.trials]
        told = [{} if self.leaks is None else {"leaks": leaks_text(trial.leaks)} for trial in self.trials]
        return [{**{n: v for n, v in row.items() if n != "leaks"}, **of} for row, of in zip(rows, told, strict=True)]

    def to_json(self) -> dict[str, Any]:
        return {
            "column": self.column,
            "loss": self.loss,
            "total": self.total,
            "released": self.released,
            "refusals": [refusal.to_json() for refusal in self.refusals],
            "trials": [trial.to_json() for trial in self.trials],
            "leaks": None if self.leaks is None else dict(self.leaks),
        }


def leaks_text(leaks: Mapping[str, float] | None) -> str:
    """The attacks that learn something, and by how much they exceed their control; nothing if none was played."""
    if leaks is None:
        return ""
    return ", ".join(f"{name} {excess:+.1%}" for name, excess in leaks.items()) or "none"


def why(release: Release, column: str, run: Run | None = None, *, attack: bool = False) -> Why:
    """Why a column of a release lost so much, and what would help; half a minute of trials if there is no `run`.

    Raises:
        UnknownNameError: The column is in no quasi-identifier.
        PolicyError: It is to be attacked, and has a ledger.
    """
    names = [attribute.name for attribute in release.table.attributes]
    if column not in names:
        raise UnknownNameError("quasi-identifier column", column, names)
    if attack and release.settled.earlier is not None:
        raise PolicyError("releases with a ledger are attacked as files (incrowd attack --also); leave attack out")
    run = run or Run(time_limit=TIME)
    run.anytime = True
    measures = release.measures
    loss = measures.attributes[names.index(column)].ncp
    released = len(release.released_values[column])
    trials = tried(release, column, run, attacked_below=loss - SAME if attack else None)
    leaks = leaks_of(release, run) if attack else None
    return Why(column, loss, measures.total.ncp, released, refusals_of(release, column), trials, leaks)


def starred(release: Release) -> tuple[str, ...]:
    """The columns that are almost completely generalized."""
    pairs = zip(release.table.attributes, release.measures.attributes, strict=True)
    return tuple(attribute.name for attribute, part in pairs if part.ncp >= NEARLY and attribute.size > 1)


def hints(release: Release) -> tuple[str, ...]:
    """One line for each column that is almost completely generalized: the reason, and where to ask for advice."""
    found = []
    columns = starred(release)
    for column in columns[:MOST_HINTS]:
        refusals = refusals_of(release, column)
        reason = f": {refusals[0].text}" if refusals else ""
        found.append(f"'{column}' is almost completely generalized{reason}; 'incrowd why' tries what would help")
    if len(columns) > MOST_HINTS:
        more = len(columns) - MOST_HINTS
        found.append(f"{more} more {'column is' if more == 1 else 'columns are'} almost completely generalized")
    return tuple(found)
