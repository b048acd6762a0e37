"""Released columns as labels: what a text file of the same release has, whatever type a column kept."""

import pyarrow as pa

from incrowd.formats.sources import as_array
from incrowd.table.scales import text_of


def labels_of(table, name):
    """The labels of a column of a released table, None for an empty cell."""
    column = as_array(pa.table(table)[name])
    return text_of(column.dictionary_decode() if pa.types.is_dictionary(column.type) else column).to_pylist()


def label_rows(table):
    """The rows of a released table, all cells as labels."""
    return pa.table({name: labels_of(table, name) for name in pa.table(table).column_names}).to_pylist()
