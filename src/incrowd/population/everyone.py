"""A population that is given as a table: how many of its people match each record, and who is alone in it.

Nothing is estimated then, but for one thing: that the table really has everyone.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import PolicyError, many
from incrowd.population.journalist_risk import COUNTED
from incrowd.population.records import People
from incrowd.population.uniques import Estimate
from incrowd.table.grouping import Codes, Counts, count, group

GIVEN = "that the given table has everyone"


@dataclass(frozen=True)
class Everyone:
    """The people of a population, written as the records are.

    Args:
        rows: Their values on the quasi-identifier as texts, each combination once.
        counts: People with each.
        name: What messages call the table.
    """

    rows: pa.RecordBatch
    counts: Counts
    name: str


@dataclass(frozen=True)
class Matches:
    """The records of a table among everyone.

    Args:
        people: People who match the records of each class.
        population: People in all.
        uniques: People who are alone in the population.
    """

    people: Counts
    population: int
    uniques: int

    @classmethod
    def of(cls, people: People, everyone: Everyone) -> Matches:
        """Look the classes of a table up.

        Raises:
            PolicyError: There are more records of a class than people.
        """
        columns: list[Codes] = []
        known = np.ones(len(everyone.counts), bool)
        for own, texts, name in zip(people.codes, people.texts, people.attributes, strict=True):
            theirs = everyone.rows.column(name).dictionary_encode("encode")
            code_of = pc.fill_null(pc.index_in(theirs.dictionary, texts), -1).to_numpy(zero_copy_only=False)
            codes = np.asarray(code_of, np.int64)[theirs.indices.to_numpy(zero_copy_only=False)]
            known &= codes >= 0
            columns.append(np.concatenate([own.astype(np.int64), codes]))
        chosen = np.append(np.ones(len(people.sizes), bool), known)
        groups, firsts = group([column[chosen] for column in columns], [len(texts) for texts in people.texts])
        found = count(groups[len(people.sizes) :], len(firsts), everyone.counts[known].astype(np.float64))
        matching = found[groups[: len(people.sizes)]]
        if lacking := int(np.maximum(people.sizes - matching, 0).sum()):
            raise PolicyError(
                f"the population {everyone.name} does not contain the table: {lacking} of "
                f"{many(people.number, 'record')} {'is' if lacking == 1 else 'are'} not in it; give a table "
                "with everyone, whose values are written alike"
            )
        return cls(matching, int(everyone.counts.sum()), int((everyone.counts == 1).sum()))

    def alone(self, sizes: Counts) -> Estimate:
        """Who is alone in the population, and how many of those who are alone in the table are among them."""
        uniques = int((sizes == 1).sum())
        if not uniques:
            return Estimate(COUNTED, GIVEN, reason="nobody is alone in the table")
        both = int(((sizes == 1) & (self.people == 1)).sum())
        share = self.uniques / self.population
        return Estimate(COUNTED, GIVEN, float(self.uniques), share, both / uniques)

    def right(self, sizes: Counts) -> Fraction | None:
        """How likely a match with a record that is alone in the table is right; see `uniques.match_is_right`.

        Whoever matches such a record was picked at random from all who do.
        """
        alone = self.people[sizes == 1]
        return Fraction(len(alone), int(alone.sum())) if len(alone) else None
