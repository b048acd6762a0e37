"""The step log that every greedy search keeps: what was done, what it gained, what it cost, how anonymous that left it.

A step says how it changes the recoding of one attribute in codes, so that the release at any step can be rebuilt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class RefineNode:
    """Replace a node of a taxonomy by its children."""

    node: int


@dataclass(frozen=True)
class SplitInterval:
    """Cut the interval of ranks [start, stop) at rank `at`, or split off missing values where `at` is their code."""

    start: int
    stop: int
    at: int


@dataclass(frozen=True)
class Disclose:
    """Show a value that was suppressed."""

    code: int


Change = RefineNode | SplitInterval | Disclose


@dataclass(frozen=True)
class Step:
    """One step of a greedy search.

    Args:
        number: 1 for the first step.
        attribute: Column name.
        value: The released value that was replaced; None stands for missing values.
        children: The released values that took its place.
        gain: What the step gained by the measure of the search.
        loss: Anonymity lost, averaged over the quasi-identifiers with this attribute.
        score: What the search compared.
        anonymity: Size of the smallest class after the step, per quasi-identifier.
        change: The same in codes.
    """

    number: int
    attribute: str
    value: str | None
    children: tuple[str | None, ...]
    gain: float
    loss: float
    score: float
    anonymity: tuple[int, ...]
    change: Change

    def to_json(self) -> dict[str, Any]:
        """The step without its codes."""
        return {
            "step": self.number,
            "attribute": self.attribute,
            "value": self.value,
            "children": list(self.children),
            "gain": self.gain,
            "loss": self.loss,
            "score": self.score,
            "anonymity": list(self.anonymity),
        }
