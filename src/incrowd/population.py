"""The population that a table was drawn from: how many of its people have each tuple, and what these would become."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.engines.arrow.value_numbers import ValueNumbers
from incrowd.errors import DataError, PolicyError, UnknownNameError
from incrowd.policy.policy import Policy, QuasiIdentifier
from incrowd.privacy.population import POPULATION
from incrowd.recodings.recoding import Recoding, read_recoding
from incrowd.run import Run
from incrowd.table.attributes import Attribute, NumberAttribute
from incrowd.table.class_counts import Histogram
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, Counts, count, group
from incrowd.table.scales import text_of

if TYPE_CHECKING:
    from incrowd.formats.sources import Source

Compress = Callable[["Source", Policy, Run], CompressedTable]


def with_population(table: CompressedTable, policy: Policy, compress: Compress, run: Run) -> CompressedTable:
    """The table, with the number of people of the population that have each of its tuples.

    Args:
        table: The compressed table.
        policy: Has the population.
        compress: Reads a table and keeps its distinct tuples.
        run: Gets the number of rows.

    Raises:
        PolicyError: The population lacks a column, or does not contain the table.
    """
    population = _compressed(table, policy, compress, run)
    people, _ = _of_tuples(table, population)
    assert policy.population_table is not None
    if lacking := int(np.maximum(table.counts - people, 0).sum()):
        raise PolicyError(
            f"the population {policy.population_table.name} does not contain the table: {lacking} of {table.records} "
            "records are not in it; give a table with everyone, whose values are written alike"
        )
    size = len(people)
    counted = Histogram(("people",), np.arange(size), np.zeros(size, np.int64), people, size)
    return replace(table, protected={**table.protected, POPULATION: counted})


def released_population(
    table: CompressedTable, policy: Policy, recoding: Recoding, compress: Compress
) -> tuple[pa.RecordBatch, Counts]:
    """What people of the population would be released as, and how many each row stands for.

    Of a recoding that maps values, everyone whose values it knows; of one that maps tuples, those with the tuples that
    it was made from, since all others would fit in several classes or in none.
    """
    population = _compressed(table, policy, compress, Run())
    chosen = np.ones(len(population.counts), bool)
    if recoding.is_confidential:
        chosen = _of_tuples(table, population)[1]
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

    Args:
        source: Its table.
        attributes: The columns.
        recoding: What its values are recoded by first, so that they are written as in a release, or its file; they stay
            as they are if None.
            People with a value that it does not know are left out: they are in no class of the release.
        run: Gets the number of rows.

    Raises:
        PolicyError: The population lacks a column, or the recoding is one of a local method.
    """
    for name in attributes:
        if name not in source.columns:
            raise UnknownNameError("column", name, source.columns, source.name)
    if isinstance(recoding, str | Path):
        recoding = read_recoding(recoding)
    if recoding is not None and recoding.is_confidential:
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
    kinds = {attribute.name: _kind(attribute) for attribute in table.attributes}
    everyone = Policy(
        quasi_identifiers=(QuasiIdentifier(policy.attributes, 2),), types=kinds, missing_values=policy.missing_values
    )
    everyone.check_columns(source.columns, source.name)
    return compress(source, everyone, run)


def _kind(attribute: Attribute) -> str:
    if not isinstance(attribute, NumberAttribute):
        return "text"
    return "date" if attribute.scale.kind in ("date", "timestamp") else "number"


def _of_tuples(table: CompressedTable, population: CompressedTable) -> tuple[Counts, npt.NDArray[np.bool_]]:
    """The people with each tuple of a table, and which tuples of the population it has."""
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
    known[np.flatnonzero(known)] = occurs[theirs]
    return people[ours], known
