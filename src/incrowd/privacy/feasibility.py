"""Whether a table can be released at all: asked before the search."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from incrowd.errors import InfeasibleError, PolicyError, many, shown
from incrowd.privacy.declared import Declared
from incrowd.privacy.model import Requirements

if TYPE_CHECKING:
    from incrowd.table.compressed import CompressedTable
    from incrowd.table.out_of_core import OutOfCoreTable


def check_harmless(
    table: CompressedTable | OutOfCoreTable, models: Iterable[Declared], missing_values: Sequence[str]
) -> None:
    """Raise PolicyError for a harmless value that nobody has: it is misspelt, or belongs to another column."""
    for model in models:
        values = table.protected[str(model.column)].values
        for text in getattr(model, "harmless", ()):
            if text not in values and text not in missing_values:
                raise PolicyError(
                    f"no record has the harmless value {shown(text)} in column '{model.column}'; check how it is "
                    "written there, or leave it out"
                )


def check_feasible(table: CompressedTable | OutOfCoreTable, requirements: Requirements) -> None:
    """All records can be released if and only if the most general table can: if together they are a good class.

    Raises:
        PolicyError: A protected column has a single value, which nothing can hide.
        InfeasibleError: They cannot be released.
    """
    everyone = table.everyone()
    for requirement in requirements:
        for model in requirement.models:
            if isinstance(model, Declared) and model.about == "column" and table.protected[str(model.column)].width < 2:
                raise PolicyError(f"column '{model.column}' has a single value, so {model} says nothing; leave it out")
            best = model.levels(everyone)[0].item()
            if best < model.threshold:
                release = "release" if model.upward_closed else "release of all records"  # some might be left out
                raise InfeasibleError(
                    f"no {release} can satisfy {model}: the table has {many(table.records, 'record')}, and the best "
                    f"possible level is {abs(best):g}; ask for at {'most' if best > 0 else 'least'} that"
                )
        for promise in requirement.of_table:
            if not promise.holds(everyone.records):
                raise InfeasibleError(
                    f"no release can satisfy {promise}: it does not hold even with all {many(table.records, 'record')} "
                    "in one crowd; allow a higher risk"
                )
