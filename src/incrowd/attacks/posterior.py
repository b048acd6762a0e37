"""Knowledge of the method, exactly: on tables of a few records, all tables that give the same release are enumerated.

Whoever has a register, the settings and the code makes the release of every table that it could be of. What all of
these have in common is certain; how often a person has a value among them is what can be believed of her, if all were
equally likely before. This is the strongest attacker who does not have the key, and the reference for others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa

from incrowd.attacks.crowds import Floats
from incrowd.attacks.problem import Problem
from incrowd.attacks.result import Attack, NotApplicableError, Score
from incrowd.attacks.secrets import Secrets
from incrowd.run import Run

MOST_RECORDS = 7
MOST_TABLES = 2_500  # that are released again, per sensitive column


@dataclass(frozen=True)
class Rerun:
    """How to make the release again.

    Args:
        table: The original.
        again: Gives the released rows of such a table, with the same settings; None if it has none.
    """

    table: pa.Table
    again: Callable[[pa.Table], pa.Table | None]

    def posterior(self, secret: str, run: Run) -> tuple[list[Any], Floats]:
        """The values of a sensitive column, and how likely each person has each of them: people x values.

        Raises:
            NotApplicableError: The table is too large.
        """
        released = self._rows(self.table)
        values = sorted(set(self.table[secret].to_pylist()), key=repr)
        if self.table.num_rows > MOST_RECORDS or len(values) ** self.table.num_rows > MOST_TABLES:
            raise NotApplicableError(f"only tables of up to {MOST_RECORDS} records with few secrets are enumerated")
        shown = Counter(self._shown(self.table, secret))
        tally = np.zeros((self.table.num_rows, len(values)))
        for guess in product(range(len(values)), repeat=self.table.num_rows):
            if shown - Counter(values[code] for code in guess):
                continue  # it lacks secrets that were released
            run.check()
            column = pa.array([values[code] for code in guess], self.table[secret].type)
            place = self.table.schema.get_field_index(secret)
            if self._rows(self.table.set_column(place, secret, column)) == released:
                tally[np.arange(len(guess)), guess] += 1
        return values, tally / tally.sum(axis=1, keepdims=True)

    def _shown(self, table: pa.Table, column: str) -> list[Any]:
        rows = self.again(table)
        return [] if rows is None else rows[column].to_pylist()

    def _rows(self, table: pa.Table) -> list[str] | None:
        """The released rows; their order says nothing."""
        rows = self.again(table)
        return None if rows is None else sorted(repr(sorted(row.items())) for row in rows.to_pylist())


def enumerate_tables(problem: Problem, rng: np.random.Generator, run: Run) -> Iterator[Score]:
    """The most likely secret given the method, against the most frequent one among candidates."""
    if problem.rerun is None or not problem.sensitive:
        raise NotApplicableError("it needs a sensitive column, and how to make the release again (again=, in Python)")
    qid = problem.quasi_identifiers[0]
    everyone = np.arange(problem.original.records)
    for column in problem.sensitive:
        values, belief = problem.rerun.posterior(column, run)
        secrets = Secrets.of(problem, column, qid.attributes, problem.original, everyone, run)
        true = np.array([values.index(value) for value in problem.rerun.table[column].to_pylist()])
        best = belief >= belief.max(axis=1, keepdims=True) - 1e-12
        right = best[everyone, true] / best.sum(axis=1)
        facts = {"certain": float(np.mean(belief[everyone, true] == 1)), "most_believed": float(belief.max())}
        baseline = float(np.mean(secrets.right(secrets.prior)))
        looks = len(problem.sensitive)
        yield Score.against_same(column, right, secrets.right(secrets.totals), baseline, looks=looks, **facts)


def _words(score: Score) -> str:
    return (
        f"among all tables that give this release, {score.variant} is certain for {score.facts['certain']:.1%} "
        f"of people and the most likely value is right for {score.share:.1%}; by the crowd alone for "
        f"{score.control_share:.1%}"
    )


POSTERIOR = Attack(
    name="posterior",
    title="Knowledge of the method",
    knows="the quasi-identifiers of everybody, the method, its settings and its code, but not the key",
    success="the secret that is most frequent among all tables that give this release is the person's",
    control="the most frequent secret among the candidates",
    paper="R. C.-W. Wong et al., Minimality attack in privacy preserving data publishing, 2007",
    function=lambda problem, rng, run: list(enumerate_tables(problem, rng, run)),
    words=_words,
)
