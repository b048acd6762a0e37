"""Recodings out of steps: what a table was recoded to after some steps of a search, and how a step reads."""

from __future__ import annotations

from collections.abc import Sequence

from incrowd.recodings.attributes.attribute_recoding import AttributeRecoding
from incrowd.recodings.by_value import ByValue
from incrowd.recodings.kinds import Described, kind_of
from incrowd.recodings.steps import Change, Generalization, RaiseLevel, Step, TakeBack
from incrowd.table.attributes import Attribute


def replayed(attributes: Sequence[Attribute], steps: Sequence[Step], begins: str) -> ByValue:
    """The recoding of a table after some steps, which begin at the most "general" or the most "specific" values."""
    return ByValue(tuple(_replayed(attribute, steps, begins) for attribute in attributes))


def _replayed(attribute: Attribute, steps: Sequence[Step], begins: str) -> AttributeRecoding:
    kind, changes = kind_of(attribute), [step.change for step in steps if step.attribute == attribute.name]
    if begins == "general":
        return kind.refined(changes)
    if raised := [change.level for change in changes if isinstance(change, RaiseLevel)]:
        return kind.levels()[max(raised)]
    standing: list[Generalization] = []
    for change in changes:
        if isinstance(change, TakeBack):
            standing.remove(change.generalization)
        elif isinstance(change, Generalization):
            standing.append(change)
    return kind.generalized(standing)


def describe(attribute: Attribute, change: Change) -> Described:
    """The more general released value of a change, and the more specific ones."""
    return kind_of(attribute).describe(change.generalization if isinstance(change, TakeBack) else change)
