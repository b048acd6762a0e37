"""A population that is given as a table: how many of its people match each tuple, and what these would become.

Nothing is estimated then, except for one assumption: that the table really has everyone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import DataError, PolicyError, UnknownNameError, many
from incrowd.formats.registry import open_source
from incrowd.policy.policy import Policy, QuasiIdentifier
from incrowd.population.estimates import COUNTED
from incrowd.population.records import People
from incrowd.population.uniqueness import Estimate
from incrowd.privacy.population import POPULATION
from incrowd.recodings.reading import read_recoding
from incrowd.recodings.recoding import Recoding
from incrowd.run import Run
from incrowd.search.registry import METHODS
from incrowd.table.compressed import CompressedTable, people_of
from incrowd.table.grouping import Codes, Counts, count, group
from incrowd.table.scales import text_of
from incrowd.table.value_numbers import ValueNumbers

if TYPE_CHECKING:
    from incrowd.formats.sources import Source


Compress = Callable[["Source", Policy, Run], CompressedTable]


def with_population(table: CompressedTable, policy: Policy, compress: Compress, run: Run) -> CompressedTable:
    """The table, with the number of people of the population that have each of its tuples.

    A method that recodes values one by one says what becomes of everyone, whatever combination of values they have. For
    such a method values that only others have are values of the columns too, and their tuples are the absent ones of
    the table. A local method says what becomes of the combinations of records alone.

    Raises:
        PolicyError: The population lacks a column, or does not contain the table.
    """
    population = _compressed(table, policy, compress, run)
    local = not _recodes_values(policy)
    table = table if local else _with_values(table, population)
    matched = _matched(table, population)
    people, absent = matched.people, matched.absent
    assert policy.population_table is not None
    if lacking := int(np.maximum(table.counts - people, 0).sum()):
        raise PolicyError(
            f"the population {policy.population_table.name} does not contain the table: {lacking} of {table.records} "
            "records are not in it; give a table with everyone, whose values are written alike"
        )
    protected = {**table.protected, POPULATION: people_of(people)}
    outside = None if local or not len(absent[1]) else (absent[0], {POPULATION: people_of(absent[1])})
    return replace(table, protected=protected, absent=outside)


def _recodes_values(policy: Policy) -> bool:
    """Whether the method recodes values one by one; `auto` does for a target, and with several quasi-identifiers."""
    if policy.method == "auto":
        return policy.target is not None or len(policy.quasi_identifiers) > 1
    return not METHODS[policy.method].local


def _with_values(table: CompressedTable, population: CompressedTable) -> CompressedTable:
    """The same table, with columns that know the values of the population as well."""
    attributes, codes = [], []
    for own, other, column in zip(table.attributes, population.attributes, table.codes, strict=True):
        attribute = own.joined(other)
        places = pc.index_in(own.values(), attribute.values())
        attributes.append(attribute)
        codes.append(np.asarray(places, np.int64)[column].astype(np.min_scalar_type(attribute.size - 1)))
    order = np.lexsort(codes[::-1])
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return replace(
        table,
        attributes=tuple(attributes),
        codes=tuple(column[order] for column in codes),
        counts=table.counts[order],
        target=None if table.target is None else table.target.grouped(place, len(order)),
        protected={name: histogram.grouped(place, len(order)) for name, histogram in table.protected.items()},
    )


def released_population(
    table: CompressedTable, policy: Policy, recoding: Recoding, compress: Compress
) -> tuple[pa.RecordBatch, Counts]:
    """What people of the population would be released as, and how many each row stands for.

    Of a recoding that maps values, everyone whose values it knows; of one that maps tuples, those with the tuples that
    it was made from, since all others would fit in several classes or in none.
    """
    population = _compressed(table, policy, compress, Run())
    matched = _matched(table, population)
    chosen = matched.shared if recoding.is_confidential else matched.known
    cells = []
    for attribute, codes in zip(population.attributes, population.codes, strict=True):
        of_code = np.asarray(recoding.cells(attribute.name, attribute.values()))
        if recoding.missing != "category" and attribute.missing is not None:
            of_code[attribute.missing] = -1
        cells.append(of_code[codes])
        chosen &= cells[-1] >= 0
    cells = [column[chosen] for column in cells]
    places, stay = recoding.release(cells, np.full(int(chosen.sum()), -1))
    names = [attribute.name for attribute in population.attributes]
    labels = [pa.array(recoding.all_labels(name), pa.string()) for name in names]
    batch = pa.RecordBatch.from_arrays([l.take(pa.array(p)) for l, p in zip(labels, places, strict=True)], names=names)
    counts = population.counts[chosen]
    return (batch, counts) if stay is None else (batch.filter(pa.array(stay)), counts[stay])


def counted_population(
    source: Source, attributes: Sequence[str], recoding: Recoding | str | Path | None, run: Run
) -> tuple[pa.RecordBatch, Counts]:
    """The people of a population on some columns as texts, and how many each row stands for.

    A recoding, or its file, says how they are written in a release; people with a value that it does not know are left
    out, since they are in no class of it.

    Raises:
        PolicyError: The population lacks a column, or the recoding is one of a local method.
    """
    for name in attributes:
        if name not in source.columns:
            raise UnknownNameError("column", name, source.columns, source.name)
    if isinstance(recoding, str | Path):
        recoding = read_recoding(recoding)
    if recoding is not None and not recoding.by_value:
        raise PolicyError(
            "the recoding of a local method says what became of each record, and not what others would be released "
            "as; give one of a global method, or a population that is written as the release is"
        )
    tokens = source.missing_values if recoding is None else (*recoding.missing_values, *source.missing_values)
    columns = [ValueNumbers(name, tokens) for name in attributes]
    parts: list[list[Codes]] = [[] for _ in attributes]
    for batch in source.batches(attributes, encoded=attributes):
        for column, part in zip(columns, parts, strict=True):
            part.append(column.codes(batch.column(column.name)) + 1)  # 0 is a missing value
        run.rows(len(batch))
    if not sum(map(len, parts[0])):
        raise DataError(f"the population {source.name} has no rows")
    texts, known = [], np.ones(sum(map(len, parts[0])), bool)
    for column, part in zip(columns, parts, strict=True):
        labels, places = _as_written(column, np.concatenate(part), recoding)
        known &= places >= 0
        texts.append((labels, places))
    groups, firsts = group([places[known] for _, places in texts], [len(labels) for labels, _ in texts])
    rows = [labels.take(pa.array(places[known][firsts])) for labels, places in texts]
    return pa.RecordBatch.from_arrays(rows, names=list(attributes)), count(groups, len(firsts), None)


def _as_written(column: ValueNumbers, codes: Codes, recoding: Recoding | None) -> tuple[pa.Array, Codes]:
    """The texts that values of a column are written as, and the place of that of each row; -1 where there is none."""
    assert column.values is not None
    if recoding is None or column.name not in recoding.names:
        return pa.concat_arrays([pa.nulls(1, pa.string()), text_of(column.values).cast(pa.string())]), codes
    own = np.asarray(recoding.cells(column.name, column.values), np.int64)
    of_code = np.append(recoding.missing_cell(column.name) if recoding.missing == "category" else -1, own)
    return pa.array(recoding.all_labels(column.name), pa.string()), of_code[codes]


def _compressed(table: CompressedTable, policy: Policy, compress: Compress, run: Run) -> CompressedTable:
    """The tuples of the population, over the columns of a table, which are read as they were there."""
    source = policy.population_table
    assert source is not None
    kinds = {attribute.name: attribute.declared_type for attribute in table.attributes}
    everyone = Policy(
        quasi_identifiers=(QuasiIdentifier(policy.attributes, 2),), types=kinds, missing_values=policy.missing_values
    )
    everyone.check_columns(source.columns, source.name)
    return compress(source, everyone, run)


@dataclass(frozen=True)
class _Matched:
    """The tuples of a population beside those of a table.

    Args:
        people: How many people have each tuple of the table.
        known: Which tuples of the population have values that the columns of the table know.
        shared: Which of them the table has too.
        absent: The known ones that it does not have, and how many people have each.
    """

    people: Counts
    known: npt.NDArray[np.bool_]
    shared: npt.NDArray[np.bool_]
    absent: tuple[tuple[Codes, ...], Counts]


def _matched(table: CompressedTable, population: CompressedTable) -> _Matched:
    columns: list[Any] = []
    known = np.ones(len(population.counts), bool)
    for place, (own, other) in enumerate(zip(table.attributes, population.attributes, strict=True)):
        found = pc.fill_null(pc.index_in(other.values(), own.values()), -1)
        codes: Codes = np.asarray(found, np.int64)[population.codes[place]]
        known &= codes >= 0
        columns.append(codes)
    both = [
        np.concatenate([own.astype(np.int64), codes[known]]) for own, codes in zip(table.codes, columns, strict=True)
    ]
    groups, firsts = group(both, [attribute.size for attribute in table.attributes])
    ours, theirs = groups[: len(table.counts)], groups[len(table.counts) :]
    people = np.zeros(len(firsts), np.int64)
    np.add.at(people, theirs, population.counts[known])
    occurs = np.zeros(len(firsts), bool)
    occurs[ours] = True
    shared = known.copy()
    shared[known] = occurs[theirs]
    pairs = zip(both, table.codes, strict=True)
    absent = tuple(column[firsts][~occurs].astype(own.dtype) for column, own in pairs)
    return _Matched(people[ours], known, shared, (absent, people[~occurs]))


GIVEN = "that the given table has everyone"


@dataclass(frozen=True)
class Everyone:
    """The people of a population, written as the records are: each combination of values once, and how many have it."""

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


def open_population(policy: Policy) -> Source | None:
    """The population of a policy as a source; None if it has none."""
    table = policy.population_table
    return table if table is None or hasattr(table, "fingerprint") else open_source(table)
