"""Which columns beside the quasi-identifiers hold numbers with a decimal comma: a policy then has that as their type.

Sensitive columns and the target are compared as numbers where their values are some. In a CSV file with semicolons
between columns these may have a decimal comma, and that has to be known before anything is counted, the same for the
search, for the witness (which is told that a column has some, and reads them in its own way) and for whoever verifies
the release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from incrowd.formats.csv_dialect import may_have_commas
from incrowd.formats.sources import as_array
from incrowd.table.arrays import to_arrow
from incrowd.table.missing import encoded, is_missing
from incrowd.table.scales import has_commas, may_be_comma

if TYPE_CHECKING:
    from incrowd.formats.sources import Source
    from incrowd.policy.policy import Policy


def with_comma_types(policy: Policy, source: Source) -> Policy:
    """The policy, with the type of sensitive columns and of a target that hold numbers with a decimal comma.

    Args:
        policy: What is asked for.
        source: The rows; read once more where a column may be such a one, and only to the first value that is not.
    """
    names = [name for name in (*policy.sensitive, *policy.counted) if _is_open(policy, name)]
    if not names or not may_have_commas(source):
        return policy
    found = _comma_columns(source, tuple(dict.fromkeys(names)), (*policy.missing_values, *source.missing_values))
    return replace(policy, types={**policy.types, **dict.fromkeys(found, "comma")}) if found else policy


def _is_open(policy: Policy, name: str) -> bool:
    """Whether nothing says yet how the values of a column are meant."""
    return name != policy.unit and name not in policy.types and name not in policy.taxonomies


def _comma_columns(source: Source, names: Sequence[str], missing_values: Sequence[str]) -> list[str]:
    """The columns of which all values are numbers with a decimal comma, beside missing ones."""
    values: dict[str, pa.Array] = {name: pa.array([], pa.string()) for name in names}
    for batch in source.batches(list(names), encoded=list(names)):
        for name in list(values):
            seen = encoded(batch.column(name), name).dictionary
            seen = seen.filter(to_arrow(~is_missing(seen, missing_values)))
            if not may_be_comma(seen):
                del values[name]
                continue
            values[name] = pc.unique(as_array(pa.chunked_array([values[name], seen.cast(pa.string())])))
        if not values:
            break
    return [name for name, distinct in values.items() if has_commas(distinct, None, expected=True)]
