"""Knowledge of the method, exactly: on tables of a few records, all tables that give the same release are enumerated.

Whoever has a register, the settings and the code makes the release of every table that it could be of. What all of
these have in common is certain; how often a person has a value among them is what can be believed of her, if all were
equally likely before. This is the strongest attacker who does not have the key, and the reference for others.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from incrowd.attacks.crowds import Floats
from incrowd.attacks.problem import Problem, drawn
from incrowd.attacks.result import Attack, Group, NotApplicableError, Score
from incrowd.attacks.secrets import Secrets
from incrowd.run import Run

if TYPE_CHECKING:
    from incrowd.formats.sources import Source

PEOPLE = 200  # of the original who are released again, at most
NO_METHOD = (
    "it needs to know how to make the release again: a policy and a certificate beside the release, or again= in Python"
)
BUDGET = 30.0  # seconds of CPU time that an attack may make releases again
MOST_RECORDS = 7
MOST_TABLES = 2_500  # that are released again, per sensitive column


@dataclass(frozen=True)
class Rerun:
    """How to make the release again.

    Args:
        table: The original; of a large one, some of its records.
        again: Gives the released rows of such a table, with the same settings; None if it has none.
    """

    table: pa.Table
    again: Callable[[pa.Table], pa.Table | None]

    @classmethod
    def of(
        cls, original: Source, records: int, again: Callable[[pa.Table], pa.Table | None], rng: np.random.Generator
    ) -> Rerun:
        """For a table of so many records."""
        rows, before = drawn(records, PEOPLE, rng), 0
        parts: list[pa.RecordBatch] = []
        for batch in original.batches(original.columns):
            inside = rows[(rows >= before) & (rows < before + len(batch))]
            parts.append(batch.take(pa.array(inside - before)))
            before += len(batch)
        return cls(pa.Table.from_batches(parts), again)

    def posterior(self, secret: str, run: Run) -> tuple[list[Any], Floats]:
        """The values of a sensitive column, and how likely each person has each of them: people x values.

        Raises:
            NotApplicableError: The table is too large.
        """
        released, until = self.rows(self.table), time.process_time() + BUDGET
        values = sorted(set(self.table[secret].to_pylist()), key=repr)
        if self.table.num_rows > MOST_RECORDS or len(values) ** self.table.num_rows > MOST_TABLES:
            raise NotApplicableError(f"only tables of up to {MOST_RECORDS} records with few secrets are enumerated")
        if released is None:
            raise NotApplicableError("the table cannot be released with these settings")
        shown = Counter(self._shown(self.table, secret))
        tally = np.zeros((self.table.num_rows, len(values)))
        for guess in product(range(len(values)), repeat=self.table.num_rows):
            if shown - Counter(values[code] for code in guess):
                continue  # it lacks secrets that were released
            run.check()
            if time.process_time() > until:
                raise NotApplicableError(f"it took more than {BUDGET:g} s of CPU time")
            column = pa.array([values[code] for code in guess], self.table[secret].type)
            place = self.table.schema.get_field_index(secret)
            if self.rows(self.table.set_column(place, secret, column)) == released:
                tally[np.arange(len(guess)), guess] += 1
        return values, tally / tally.sum(axis=1, keepdims=True)

    def _shown(self, table: pa.Table, column: str) -> list[Any]:
        rows = self.again(table)
        return [] if rows is None else rows[column].to_pylist()

    def rows(self, table: pa.Table) -> list[str] | None:
        """The released rows; their order says nothing."""
        rows = self.again(table)
        return None if rows is None else sorted(repr(sorted(row.items())) for row in rows.to_pylist())


def enumerate_tables(problem: Problem, rng: np.random.Generator, run: Run) -> Iterator[Score]:
    """The most likely secret given the method, against the most frequent one among candidates."""
    if not problem.sensitive:
        raise NotApplicableError("no released column is named as sensitive")
    if problem.rerun is None:
        raise NotApplicableError(NO_METHOD)
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
    group=Group.METHOD,
    knows="the quasi-identifiers of everybody, the method, its settings and its code, but not the key",
    success="the secret that is most frequent among all tables that give this release is the person's",
    control="the most frequent secret among the candidates",
    paper="R. C.-W. Wong et al., Minimality attack in privacy preserving data publishing, 2007",
    function=lambda problem, rng, run: list(enumerate_tables(problem, rng, run)),
    words=_words,
)
