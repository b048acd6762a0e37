"""Options that protect sensitive columns and people with several records; for anonymize and its kin, and for verify."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

from incrowd.cli.groups import OptionGroup, told, told_path
from incrowd.cli.help import PROMISES

Words = list[str] | None
_promise = partial(told, section=PROMISES, noun="N")


@dataclass(frozen=True, kw_only=True)
class ProtectionOptions(OptionGroup):
    """What is promised beyond k; each field is one option of the command line."""

    unit: Annotated[str | None, told("Whose record it is, such as patient_id: k counts people.", noun="COLUMN")] = None
    sensitive: Annotated[str | None, told("Columns to protect, kept unchanged.", noun="COLUMNS")] = None
    l: Annotated[Words, _promise("At least so many values in every class.")] = None
    entropy_l: Annotated[Words, _promise("As diverse as so many equally frequent values.")] = None
    recursive_l: Annotated[Words, _promise("c,l of recursive (c,l)-diversity.")] = None
    t: Annotated[Words, _promise("Largest distance between a class and the whole, 0 to 1.")] = None
    t_distance: Annotated[Words, _promise("How --t measures: equal, ordered or hierarchical.")] = None
    alpha: Annotated[Words, _promise("Largest share of a value in a class.")] = None
    beta_likeness: Annotated[Words, _promise("Largest relative gain of a value in a class.")] = None
    enhanced_beta_likeness: Annotated[Words, _promise("The same, frequent values held closer.")] = None
    delta_disclosure: Annotated[
        Words, _promise("Largest ln of a factor of a share in a class, over all values (ARX: log2, present ones).")
    ] = None
    population_table: Annotated[
        Path | None,
        told_path("Everyone that the records were drawn from.", section=PROMISES),
    ] = None
    k_map: Annotated[int | None, _promise("At least so many people of the population for a class.")] = None
    delta_presence: Annotated[str | None, _promise("Largest share of these that may be in the table.")] = None
    harmless: Annotated[Words, _promise("Values that need no protection.")] = None
