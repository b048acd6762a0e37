"""Why a column lost so much in a release, and what would help: what does not allow more, and what was tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from incrowd.advice.refusals import Refusal, refusals_of
from incrowd.advice.trials import Trial, tried
from incrowd.display import Tabular
from incrowd.errors import UnknownNameError, many
from incrowd.run import Run

if TYPE_CHECKING:
    from incrowd.release.release import Release

NEARLY = 0.9  # of a column is lost: nearly a star
MOST_HINTS = 3  # columns
TIME = 30.0  # seconds for all trials


@dataclass(frozen=True, repr=False)
class Why(Tabular):
    """What became of a column, what keeps it from showing more, and what would help.

    Args:
        loss: What it lost (NCP, from 0 to 1).
        total: What the release lost.
        released: How many values it has in the release.
        refusals: What keeps it from showing more, most records first.
        trials: What was tried, what helps most first.
    """

    column: str
    loss: float
    total: float
    released: int
    refusals: tuple[Refusal, ...]
    trials: tuple[Trial, ...]

    @property
    def helpful(self) -> tuple[Trial, ...]:
        return tuple(trial for trial in self.trials if trial.column_loss < self.loss - 1e-9)

    def headline(self) -> str:
        values = many(self.released, "value")
        lost = f"'{self.column}' lost {self.loss:.1%} of its detail ({values} in the release)"
        if not self.helpful:
            return f"{lost}; nothing that was tried keeps more"
        best = self.helpful[0]
        return f"{lost}; {best.column_loss:.1%} with {best.change}"

    def remarks(self) -> list[str]:
        return [f"{refusal.text}, on {', '.join(refusal.attributes)}" for refusal in self.refusals]

    def to_rows(self) -> list[dict[str, Any]]:
        """The changes that were tried, a row each."""
        return [trial.to_json() for trial in self.trials]

    def to_json(self) -> dict[str, Any]:
        return {
            "column": self.column,
            "loss": self.loss,
            "total": self.total,
            "released": self.released,
            "refusals": [refusal.to_json() for refusal in self.refusals],
            "trials": [trial.to_json() for trial in self.trials],
        }


def why(release: Release, column: str, run: Run | None = None) -> Why:
    """Why a column of a release lost so much, and what would help; half a minute of trials if there is no `run`.

    Raises:
        UnknownNameError: The column is in no quasi-identifier.
    """
    names = [attribute.name for attribute in release.table.attributes]
    if column not in names:
        raise UnknownNameError("quasi-identifier column", column, names)
    run = run or Run(time_limit=TIME)
    run.anytime = True
    measures = release.measures
    loss = measures.attributes[names.index(column)].ncp
    released = len(release.released_values[column])
    trials = tried(release, column, run)
    return Why(column, loss, measures.total.ncp, released, refusals_of(release, column), trials)


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
