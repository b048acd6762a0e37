"""The step log that every greedy search keeps: what was done, what it gained, what it cost, how anonymous that left it.

A step says how it changes the recoding of one attribute in codes, so that the release at any step can be rebuilt.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Any

NOT_TOLD = "(not shown)"


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


@dataclass(frozen=True)
class GeneralizeNode:
    """Replace the children of a node of a taxonomy by the node."""

    node: int


@dataclass(frozen=True)
class MergeIntervals:
    """Join neighbouring intervals of ranks into one.

    Args:
        edges: Where the intervals start, ascending, and last where they end; one more than the code of missing values
            where those join in.
    """

    edges: tuple[int, ...]


@dataclass(frozen=True)
class Suppress:
    """Suppress values that were shown.

    Args:
        codes: The values.
        more: Whether others of the attribute were suppressed before.
    """

    codes: tuple[int, ...]
    more: bool


Generalization = GeneralizeNode | MergeIntervals | Suppress


@dataclass(frozen=True)
class TakeBack:
    """Undo a generalization that was performed before."""

    generalization: Generalization


Change = RefineNode | SplitInterval | Disclose | Generalization | TakeBack


@dataclass(frozen=True)
class RaiseLevel:
    """Generalize all values of an attribute to a level of its domain generalization hierarchy."""

    level: int


@dataclass(frozen=True)
class Improve:
    """Replace the whole state by a better one, of searches that do not change one attribute at a time."""

    evaluations: int


@dataclass(frozen=True)
class Step:
    """One step of a greedy search: top-down a value gives way to its children, bottom-up the children to the value.

    Args:
        number: 1 for the first step.
        attribute: Column name.
        value: The more general released value; None stands for missing values.
        children: The more specific released values.
        gain: What the step gained: information top-down, anonymity (summed over quasi-identifiers) bottom-up.
        loss: What it cost: anonymity (averaged over the quasi-identifiers with this attribute) top-down, information
            bottom-up; negative where a generalization is taken back.
        score: What the search compared.
        anonymity: The worst level after the step, per quasi-identifier; with k-anonymity the smallest class.
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
    change: Change | RaiseLevel | Improve

    def to_json(self, released: Container[str | None] | None = None) -> dict[str, Any]:
        """The step without its codes.

        Args:
            released: The labels that the attribute has in the release. A bottom-up search without a taxonomy passes
                through values that the release must not show; if this is given they are not shown.
        """
        built = isinstance(self.change, MergeIntervals | Suppress) or (
            isinstance(self.change, TakeBack) and not isinstance(self.change.generalization, GeneralizeNode)
        )

        def told(label: str | None) -> str | None:
            return label if released is None or not built or label in released else NOT_TOLD

        return {
            "step": self.number,
            "attribute": self.attribute,
            "value": told(self.value),
            "children": [told(child) for child in self.children],
            "gain": self.gain,
            "loss": self.loss,
            "score": self.score,
            "anonymity": list(self.anonymity),
        }
