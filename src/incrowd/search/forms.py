"""What a search found, with the columns that have a form released in it; see `recodings.forms`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from incrowd.privacy.model import Requirements
from incrowd.recodings.forms import with_forms
from incrowd.run import Run
from incrowd.search.leaving_out import UNPROVEN, searched
from incrowd.search.method import Method, SearchResult
from incrowd.table.attributes import NumberAttribute
from incrowd.table.compressed import CompressedTable
from incrowd.table.out_of_core import OutOfCoreTable


def searched_in_form(
    method: Method,
    table: CompressedTable | OutOfCoreTable,
    requirements: Requirements,
    options: Mapping[str, Any],
    run: Run,
    secrets: Sequence[str],
    forms: Mapping[str, str],
) -> SearchResult:
    """Search, and then let every class show one number of some columns.

    Where no range of numbers is left to show, the search need not round them: classes then stay apart that would look
    the same. What was found by steps has none any more, and nothing is proven of the loss.
    """
    if not forms or isinstance(table, OutOfCoreTable):  # with which a policy has no form
        return searched(method, table, requirements, options, run, secrets)
    numbers = [each.name for each in table.attributes if isinstance(each, NumberAttribute)]
    if "bounds" in method.options and {*numbers} <= {*forms}:
        options = {**options, "bounds": "exact"}
    found = searched(method, table, requirements, options, run, secrets)
    facts = {name: value for name, value in found.facts.items() if name not in UNPROVEN}
    recoding = with_forms(table, found.recoding, forms, run.key)
    return replace(found, recoding=recoding, steps=(), begins=None, facts=facts)
