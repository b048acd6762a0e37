"""Adult blown up by a scale factor and a novelty factor, as in section 6.2 of the bottom-up generalization paper."""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.csv

from incrowd.datasets import adult, taxonomies
from incrowd.table import CompressedTable, encode
from incrowd.taxonomy import Taxonomy

ATTRIBUTES = ("occupation", "education", "native-country", "marital-status", "sex", "race", "workclass")
TRAIN = 30_162


@cache
def adult_rows() -> pa.Table:
    """The 45,222 records."""
    return pa.csv.read_csv(adult())


@cache
def encoded():
    """The seven attributes, their codes (attributes x records), and the class of each record."""
    rows, files = adult_rows(), taxonomies("adult")
    attributes, codes = [], []
    for name in ATTRIBUTES:
        column = rows.column(name).combine_chunks().dictionary_encode()
        taxonomy = Taxonomy.read(files[name])
        attribute, of_value = encode(name, column.dictionary, has_missing=False, taxonomy=taxonomy)
        attributes.append(attribute)
        codes.append(np.asarray(of_value)[column.indices.to_numpy()].astype(np.int64))
    income = rows.column("income").combine_chunks().dictionary_encode()
    return attributes, np.stack(codes), income.dictionary.to_pylist(), income.indices.to_numpy()


def blown_up(scale: int, novelty: int, seed: int = 0):
    """The codes and classes of the original records and of scale - 1 variations of each.

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


def compressed(scale: int = 1, novelty: int = 0, records: int | None = None) -> CompressedTable:
    """The compressed table of the (first) records, blown up."""
    attributes, _, labels, _ = encoded()
    codes, classes = blown_up(scale, novelty)
    codes, classes = codes[:, :records], classes[:records]
    return CompressedTable.build(attributes, list(codes), np.ones(codes.shape[1], np.int64), labels, classes)
