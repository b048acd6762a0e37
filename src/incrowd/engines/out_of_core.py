"""More distinct tuples than may come into memory: they stay in the engine, and a top-down search asks it for counts.

The policy says how many may come (`most_tuples`). The steps, and so the release, are the same either way. Of such a
table a release keeps one tuple for each released class, which is all that its measures need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from incrowd.engines.engine import Engine, KeepsTuples
from incrowd.errors import PolicyError
from incrowd.formats.sources import Source
from incrowd.policy.policy import Policy
from incrowd.run import Run
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes
from incrowd.table.out_of_core import OutOfCoreTable

if TYPE_CHECKING:
    from incrowd.recodings.recoding import Recoding

METHODS = ("tdr", "tds")
_OPTIONS = ("suppress", "restarts", "partial")


def read_table(engine: Engine, source: Source, policy: Policy, run: Run) -> CompressedTable | OutOfCoreTable:
    """The tuples of a table, in memory if they are no more than the policy allows.

    Raises:
        PolicyError: The policy limits them, and the engine, the method or what is promised needs all of them.
    """
    if policy.most_tuples is None:
        return engine.compress(source, policy, run)
    _check(engine, policy)
    assert isinstance(engine, KeepsTuples)
    table = engine.out_of_core(source, policy, run)
    if table.tuples > policy.most_tuples:
        return table
    try:
        return _classes(table, [np.arange(attribute.size) for attribute in table.attributes])
    finally:
        table.close()


def _check(engine: Engine, policy: Policy) -> None:
    if not isinstance(engine, KeepsTuples):
        raise PolicyError(f"the engine '{engine.name}' has all tuples in memory; leave out most_tuples, or use duckdb")
    if policy.method not in METHODS or any(policy.options.get(option) for option in _OPTIONS):
        without = f"{', '.join(_OPTIONS[:-1])} and {_OPTIONS[-1]}"
        raise PolicyError(f"The 'most_tuples' parameter is for the methods {' and '.join(METHODS)}, without {without}.")
    if policy.protected or policy.population_table is not None:
        raise PolicyError("The 'most_tuples' parameter is for promises about k alone. Leave it out, or the others.")


def released_classes(table: OutOfCoreTable, recoding: Recoding) -> CompressedTable:
    """One tuple for each class of a release; the tuples themselves are let go."""
    try:
        return _classes(table, [np.asarray(recoding.cells(a.name, a.values())) for a in table.attributes])
    finally:
        table.close()


def _classes(table: OutOfCoreTable, cells: Sequence[Codes]) -> CompressedTable:
    """One tuple for each class; the records that lack a value are as many as before."""
    return replace(table.classes(cells), incomplete=table.incomplete)
