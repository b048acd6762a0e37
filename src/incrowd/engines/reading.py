"""From a policy to a compressed table: the one place where engines and policies meet.

If the policy limits how many distinct tuples may come into memory (`most_tuples`), more than that stay in the engine,
and a top-down search asks it for counts. The steps, and so the release, are the same either way. Of such a table a
release keeps one tuple for each released class, which is all that its measures need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from incrowd.engines.engine import Engine, KeepsTuples
from incrowd.engines.plan import ReadPlan
from incrowd.errors import PolicyError
from incrowd.formats.sources import Source
from incrowd.inspection.readings import rule_for
from incrowd.policy.methods import out_of_core_methods
from incrowd.policy.policy import Policy
from incrowd.recodings.recoding import Recoding
from incrowd.run import Run
from incrowd.table.attributes import TaxonomyAttribute
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes
from incrowd.table.out_of_core import OutOfCoreTable


def read_plan(policy: Policy, source: Source, also: Sequence[str] = ()) -> ReadPlan:
    """What to read; `also` the values of these columns are counted."""
    return ReadPlan(
        attributes=policy.attributes,
        target=policy.target,
        protected=(*policy.protected, *also),
        taxonomies=policy.taxonomies,
        types=policy.types,
        ranges=policy.ranges,
        missing=policy.missing,
        missing_values=missing_values(source, policy),
        counted_as=policy.counted_as,
        reading=rule_for,
    )


def missing_values(source: Source, policy: Policy) -> tuple[str, ...]:
    """The texts that mean a missing value: those that the user gave, and in a CSV file the empty cell."""
    return tuple(dict.fromkeys((*policy.missing_values, *source.missing_values)))


def compressed(engine: Engine, source: Source, policy: Policy, run: Run, also: Sequence[str] = ()) -> CompressedTable:
    """All distinct tuples of a table; its attributes know the levels that they may be released at."""
    table = engine.compress(source, read_plan(policy, source, also), run)
    attributes = tuple(
        replace(each, levels=policy.levels.get(each.name)) if isinstance(each, TaxonomyAttribute) else each
        for each in table.attributes
    )
    return replace(table, attributes=attributes) if policy.levels else table


def read_table(
    engine: Engine, source: Source, policy: Policy, run: Run, also: Sequence[str] = ()
) -> CompressedTable | OutOfCoreTable:
    """The tuples of a table, in memory if there are no more than the policy allows.

    Raises:
        PolicyError: The policy limits them, and the engine, the method or what is promised needs all of them.
    """
    if policy.most_tuples is None:
        return compressed(engine, source, policy, run, also)
    if not isinstance(engine, KeepsTuples):
        raise PolicyError(f"the engine '{engine.name}' has all tuples in memory; leave out most_tuples, or use duckdb")
    methods = out_of_core_methods()
    if policy.method not in methods or any(policy.options.get(option) for option in methods[policy.method]):
        *some, last = dict.fromkeys(option for options in methods.values() for option in options)
        without = f"{', '.join(some)} and {last}"
        raise PolicyError(f"The 'most_tuples' parameter is for the methods {' and '.join(methods)}, without {without}.")
    if policy.protected or also or policy.population_table is not None:
        raise PolicyError("The 'most_tuples' parameter is for promises about k alone. Leave it out, or the others.")
    table = engine.out_of_core(source, read_plan(policy, source), run)
    if table.tuples > policy.most_tuples:
        return table
    return _classes(table, [np.arange(attribute.size) for attribute in table.attributes])


def released_classes(table: OutOfCoreTable, recoding: Recoding) -> CompressedTable:
    """One tuple for each class of a release; the tuples themselves are let go."""
    return _classes(table, [np.asarray(recoding.cells(a.name, a.values())) for a in table.attributes])


def _classes(table: OutOfCoreTable, cells: Sequence[Codes]) -> CompressedTable:
    try:
        return replace(table.classes(cells), incomplete=table.incomplete)
    finally:
        table.close()
