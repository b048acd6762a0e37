"""Adult made larger by variations of its records, as section 6.3 of TDS and section 6.2 of BUG do it.

The same scale and seed always give the same rows. The target is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
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


def blow_up(table: pa.Table, copies: int, rng: np.random.Generator, names: Sequence[str] = ATTRIBUTES) -> pa.Table:
    """A table followed by `copies - 1` variations of every record, as in TDS; fewer copies are the first rows of more.

    Args:
        table: The rows.
        copies: How often each record is there.
        rng: Draws what is varied.
        names: The attributes of the requirement, which are varied.
    """
    tables = [table, *(vary(table, rng, names) for _ in range(copies - 1))]
    return pa.concat_tables(tables).combine_chunks()


def vary(table: pa.Table, rng: np.random.Generator, names: Sequence[str] = ATTRIBUTES) -> pa.Table:
    """One variation of every record: q attributes take values drawn from their domains, q uniform from 1 to all."""
    places = rng.random((len(table), len(names))).argsort(axis=1)  # records x attributes, each row a permutation
    replaced = places < rng.integers(1, len(names), (len(table), 1), endpoint=True)
    for place, name in enumerate(names):
        domain = table[name].combine_chunks().unique()
        drawn = domain.take(pa.array(rng.integers(0, len(domain), len(table))))
        column = pc.if_else(pa.array(replaced[:, place]), drawn, table[name])
        table = table.set_column(table.schema.get_field_index(name), name, column)
    return table


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


def novel(scale: int, novelty: int, seed: int = 0, *, as_in_data: bool = False) -> tuple[Codes, Codes]:
    """The codes and classes of the original records and of scale - 1 variations of each, as in BUG.

    A variation takes random leaves on `novelty` attributes, chosen at random, and agrees with its record on the others.

    Args:
        scale: How often each record is there.
        novelty: How many attributes vary.
        seed: Of what is drawn.
        as_in_data: Whether leaves are drawn as often as they occur, and not evenly.
    """
    attributes, codes, _, classes = encoded()
    random = np.random.default_rng(seed)
    parts = [codes]
    for _ in range(scale - 1):
        varied = codes.copy()
        chosen = random.random(codes.shape).argsort(axis=0) < novelty  # attributes x records
        for place, attribute in enumerate(attributes):
            rows = np.flatnonzero(chosen[place])
            if as_in_data:
                varied[place, rows] = codes[place, random.integers(0, codes.shape[1], len(rows))]
            else:
                varied[place, rows] = random.integers(0, attribute.size, len(rows))
        parts.append(varied)
    return np.concatenate(parts, axis=1), np.tile(classes, scale)


def novel_tuples(scale: int, novelty: int, *, as_in_data: bool = False) -> int:
    """How many distinct tuples these records have."""
    codes, _ = novel(scale, novelty, as_in_data=as_in_data)
    sizes = tuple(attribute.size for attribute in encoded()[0])
    return len(np.unique(np.ravel_multi_index(tuple(codes), sizes)))


def novel_table(scale: int = 1, novelty: int = 0) -> CompressedTable:
    """The compressed table of the records, blown up as in BUG."""
    attributes, _, labels, _ = encoded()
    codes, classes = novel(scale, novelty)
    return CompressedTable.build(attributes, list(codes), np.ones(codes.shape[1], np.int64), (labels, classes))
