"""Adult made larger by variations of its records, as section 6.3 of TDS and section 6.2 of BUG do it.

The same scale and seed always give the same rows. The target is kept.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.table.attributes import encode
from incrowd.table.compressed import CompressedTable
from incrowd.taxonomies.taxonomy import Taxonomy
from papers.adult import ATTRIBUTES, TARGET, adult_rows, in_shape_of

CATEGORIES = ("occupation", "education", "native-country", "marital-status", "sex", "race", "workclass")  # of BUG

Codes = npt.NDArray[np.int64]


def blow_up(table: pa.Table, copies: int, rng: np.random.Generator) -> pa.Table:
    """A table followed by `copies - 1` variations of every record, as in TDS."""
    tables = [table, *(vary(table, rng) for _ in range(copies - 1))]
    return pa.concat_tables(tables).combine_chunks()


def vary(table: pa.Table, rng: np.random.Generator) -> pa.Table:
    """One variation of every record: q attributes take values drawn from their domains, q uniform from 1 to all."""
    places = rng.random((len(table), len(ATTRIBUTES))).argsort(axis=1)  # records x attributes, each row a permutation
    replaced = places < rng.integers(1, len(ATTRIBUTES), (len(table), 1), endpoint=True)
    columns = {}
    for place, name in enumerate(ATTRIBUTES):
        domain = table[name].combine_chunks().unique()
        drawn = domain.take(pa.array(rng.integers(0, len(domain), len(table))))
        columns[name] = pc.if_else(pa.array(replaced[:, place]), drawn, table[name])
    columns[TARGET] = table[TARGET]
    return pa.table(columns).select(table.column_names)


@cache
def encoded() -> tuple[list[Any], Codes, list[str], Codes]:
    """The seven attributes, their codes (attributes x records), the classes, and the class of each record."""
    rows, files = adult_rows(), in_shape_of("bottom_up", CATEGORIES)
    attributes, codes = [], []
    for name in CATEGORIES:
        column = rows.column(name).combine_chunks().dictionary_encode()
        taxonomy = Taxonomy.read(files[name])
        attribute, of_value = encode(name, column.dictionary, has_missing=False, taxonomy=taxonomy)
        attributes.append(attribute)
        codes.append(np.asarray(of_value)[column.indices.to_numpy()].astype(np.int64))
    income = rows.column(TARGET).combine_chunks().dictionary_encode()
    return attributes, np.stack(codes), income.dictionary.to_pylist(), income.indices.to_numpy()


def novel(scale: int, novelty: int, seed: int = 0) -> tuple[Codes, Codes]:
    """The codes and classes of the original records and of scale - 1 variations of each, as in BUG.

    A variation takes random leaves on `novelty` attributes, chosen at random, and agrees with its record on the others.
    """
    attributes, codes, _, classes = encoded()
    random = np.random.default_rng(seed)
    parts = [codes]
    for _ in range(scale - 1):
        varied = codes.copy()
        chosen = random.random(codes.shape).argsort(axis=0) < novelty  # attributes x records
        for place, attribute in enumerate(attributes):
            rows = np.flatnonzero(chosen[place])
            varied[place, rows] = random.integers(0, attribute.size, len(rows))
        parts.append(varied)
    return np.concatenate(parts, axis=1), np.tile(classes, scale)


def novel_table(scale: int = 1, novelty: int = 0) -> CompressedTable:
    """The compressed table of the records, blown up as in BUG."""
    attributes, _, labels, _ = encoded()
    codes, classes = novel(scale, novelty)
    return CompressedTable.build(attributes, list(codes), np.ones(codes.shape[1], np.int64), (labels, classes))
