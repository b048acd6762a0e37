"""The step log that every greedy search keeps: what was done, what it gained, what it cost, how anonymous that left it.

A step says how it changes the recoding of one attribute in codes, so that the release at any step can be rebuilt.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incrowd.schemas.documents import Document
from incrowd.schemas.shapes import Either, Fields, ListOf, Nothing, Number, Text, Whole

NOT_SHOWN = "(not shown)"
DOCUMENT = Document("steps", 1, "give the .steps.json of a release", megabytes=512)


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
        more: Whether others of the attribute were suppressed before.
    """

    codes: tuple[int, ...]
    more: bool


@dataclass(frozen=True)
class JoinSets:
    """Join sets of values of a taxonomy, children of one node or groups of them, into one.

    Args:
        sets: The codes of each.
        more: Whether suppressed values of the attribute join, too; then that is all there is.
    """

    sets: tuple[tuple[int, ...], ...]
    more: bool = False


@dataclass(frozen=True)
class SplitSet:
    """Part a set of values of a taxonomy, a node or several of its children, into smaller ones.

    Args:
        sets: The codes of each: of one child, or of several that stay together.
    """

    sets: tuple[tuple[int, ...], ...]


Generalization = GeneralizeNode | MergeIntervals | Suppress | JoinSets


@dataclass(frozen=True)
class TakeBack:
    """Undo a generalization that was performed before."""

    generalization: Generalization


Change = RefineNode | SplitInterval | Disclose | SplitSet | Generalization | TakeBack


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
        value: The more general released value; None for missing values.
        children: The more specific released values.
        gain: What the step gained: information top-down, anonymity (summed over quasi-identifiers) bottom-up.
        loss: What it cost: anonymity, and records in classes that it made bad (averaged over the quasi-identifiers with
            this attribute) top-down, information bottom-up; negative where a generalization is taken back.
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

    def to_json(self, released: Container[str | None] | None = None, *, left_out: bool = False) -> dict[str, Any]:
        """The step without its codes.

        Args:
            released: The labels that the attribute has in the release. A bottom-up search without a taxonomy passes
                through values that the release must not show; if this is given they are not shown.
            left_out: Whether records are left out: then nothing is shown but what is released, because any other label
                may be theirs alone.
        """
        built = (
            left_out
            or isinstance(self.change, MergeIntervals | Suppress)
            or (isinstance(self.change, TakeBack) and isinstance(self.change.generalization, MergeIntervals | Suppress))
        )

        def shown(label: str | None) -> str | None:
            return label if released is None or not built or label in released else NOT_SHOWN

        return {
            "step": self.number,
            "attribute": self.attribute,
            "value": shown(self.value),
            "children": [shown(child) for child in self.children],
            "gain": self.gain,
            "loss": self.loss,
            "score": self.score,
            "anonymity": list(self.anonymity),
        }


_LABEL = Either((Text(), Nothing()))
_STEP = Fields(
    {
        "step": Whole(1),
        "attribute": Text(blank=False),
        "value": _LABEL,
        "children": ListOf(_LABEL),
        "gain": Number(),
        "loss": Number(),
        "score": Number(),
        "anonymity": ListOf(Number()),
    }
)
STEPS = DOCUMENT.shape({"steps": ListOf(_STEP)})


def steps_json(steps: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The steps of a search, each as `Step.to_json` gives it, as the content of a file."""
    return DOCUMENT.sealed({"steps": list(steps)})


def read_steps(path: str | Path) -> list[dict[str, Any]]:
    """Read the steps of a search from their file.

    Raises:
        DataError: The file cannot be read, is not such a file, or was changed.
    """
    steps: list[dict[str, Any]] = DOCUMENT.read(path, STEPS)["steps"]
    return steps
