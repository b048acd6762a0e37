"""What a search is: a method with options, run on a compressed table, that gives a recoding.

A search is a function `(table, requirements, run, **options) -> SearchResult`. It sees codes and counts, never rows;
asks requirements what a good class is, and nothing about k; reports to the run, and asks it whether to go on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal

from incrowd.options import Option
from incrowd.schemas.shapes import Choice, Number

if TYPE_CHECKING:
    from incrowd.privacy.model import Requirements
    from incrowd.recodings.recoding import Recoding
    from incrowd.recodings.steps import Step
    from incrowd.run import Run
    from incrowd.table.compressed import CompressedTable

Begins = Literal["general", "specific"]
SHARE = Number(0, 1, below=True)
SUPPRESS = Option("share of the records that may be left out", SHARE)
BOUNDS = Option(
    "bounds of ranges: 'round' numbers of a public grid, or 'exact' values, which are those of the outermost people",
    Choice(("round", "exact")),
)


@dataclass(frozen=True)
class SearchResult:
    """What a search gives back; all of it is data."""

    recoding: Recoding
    steps: tuple[Step, ...] = ()  # the steps that led there, of a greedy search
    # Where the steps begin: at the most general values, or at the most specific ones. None where the release at a step
    # cannot be made from steps.
    begins: Begins | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)  # its cost, how that is proven, and the like; JSON-able


@dataclass(frozen=True)
class Method:
    """A search that anonymize can run."""

    about: str  # one line for people
    function: str  # where it lives, as "module:function"
    options: Mapping[str, Option] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)  # options that make it this method
    several: bool = True  # whether it can satisfy several quasi-identifiers
    anytime: bool = False  # whether it can stop at any moment and give the best that it has
    anytime_later: bool = False  # whether it can as soon as every class is good; it then sets `run.anytime` itself
    local: bool = False  # whether equal records may be released differently
    whole_tables: bool = False  # whether it takes promises about all classes together
    out_of_core_without: tuple[str, ...] | None = None  # options that need all tuples in memory; None: it always does
    # How it keeps the highest level of a column: "itself", in each part of the table "apart", "passes" it on to another
    # method; empty if it cannot.
    limits: Literal["", "itself", "apart", "passes"] = ""
    differential: bool = False  # whether its releases are differentially private, which takes certain policies
    leaves_out: str = ""  # whether and when records are, for people; empty where the option `suppress` decides it

    def __call__(
        self, table: CompressedTable, requirements: Requirements, options: Mapping[str, Any], run: Run
    ) -> SearchResult:
        run.anytime, run.searching = self.anytime, True
        result = run.in_thread(lambda: self.search(table, requirements, options, run))
        run.anytime, run.searching = True, False  # what was found can be released, whatever the clock says
        if run.ended_early:
            result = replace(result, facts={**result.facts, "stopped": run.ended_early})
        return result

    def search(
        self, table: CompressedTable, requirements: Requirements, options: Mapping[str, Any], run: Run
    ) -> SearchResult:
        """Search in this very thread, as a part of another search does.

        Whoever has a combination of values that no record has is released with some class, if values are recoded one by
        one. So such people of a population count, and a local method knows nothing of them.
        """
        if not self.local and getattr(table, "absent", None) is not None:  # tuples in an engine have no population
            table = table.with_absent
            requirements = [replace(requirement, with_absent=True) for requirement in requirements]
        if self.limits != "passes" and any(getattr(attribute, "levels", None) for attribute in table.attributes):
            within: SearchResult = import_module("incrowd.search.limits").search_within(
                self, table, requirements, options, run
            )
            return within
        found: SearchResult = self._search()(table, requirements, run, **{**self.fixed, **options})
        return found

    def defaults(self) -> dict[str, Any]:
        """What each option is where nobody says so; None where that depends on the table."""
        known = signature(self._search()).parameters
        return {name: self.fixed.get(name, known[name].default if name in known else None) for name in self.options}

    def _search(self) -> Any:
        """The function that searches; imported when it is needed."""
        module, name = self.function.split(":")
        return getattr(import_module(module), name)
