"""What each released label stands for, in terms of the original values of its column.

A label is what a codebook says of it, a node of a taxonomy, an original value, or what the grammar of labels says
(`taxonomies.labels`, and the ways in which other tools write intervals and masks). Values that no label separates are
one atom: every question about a column is then a comparison of small integers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from incrowd.errors import DataError
from incrowd.table.scales import Scale, scale_of
from incrowd.taxonomies.labels import ANY, KNOWN, MISSING
from incrowd.taxonomies.rules import Rule
from incrowd.taxonomies.taxonomy import Taxonomy

Codes = npt.NDArray[Any]  # whole numbers
Mask = npt.NDArray[np.bool_]
Meanings = Mapping[str, frozenset[str]]  # by label, the values that it stands for
Texts = Sequence[str | None]

_BOUND = r"\s*([^\s,;\[\]()]+?)\s*"
_TWO = r"(?:,|;|\.\.+| to |(?<=\S)\s*[-–]\s*)"
_CLOSED = re.compile(rf"([\[(\]]){_BOUND}{_TWO}{_BOUND}([\])\[])")  # [20-25), [20, 25[, (20, 25], [-5 to 3)
_PLAIN = re.compile(rf"{_BOUND}(?:\.\.+| to |(?<=\S)\s*[-–]\s*){_BOUND}")  # 20-24
_OPEN = re.compile(r"(<=|>=|<|>|≤|≥)\s*(\S+)")
_FROM = re.compile(r"(\S+?)\s*(?:\+|and over|or more)")
_MASK = "*"


@dataclass(frozen=True)
class Cover:
    """The original values that the released labels of one column stand for; both are numbered, 0 is a missing one.

    Args:
        atom_of: The atom of each original value.
        start: The first atom of each label,
        stop: and one more than its last, if its atoms follow each other.
        set_of: For other labels, the row in `sets`; row 0 is empty.
        sets: Which atoms are in each such set.
        unread: Labels that stand for no value of the column.
    """

    atom_of: Codes
    start: Codes
    stop: Codes
    set_of: Codes
    sets: Mask = field(repr=False)
    unread: tuple[str, ...] = ()

    @property
    def atoms(self) -> int:
        return int(self.sets.shape[1])

    def holds(self, labels: Codes, atoms: Codes) -> Mask:
        """Whether labels stand for atoms; the arrays are broadcast against each other."""
        within = (self.start[labels] <= atoms) & (atoms < self.stop[labels])
        return within if len(self.sets) == 1 else within | self.sets[self.set_of[labels], atoms]

    @cached_property
    def label_of(self) -> Codes | None:
        """The only label of each atom, -1 where it has none; None if an atom has several, as after local recoding."""
        lengths = self.stop - self.start + self.sets.sum(axis=1)[self.set_of]
        if int(lengths.sum()) > self.atoms:
            return None
        found = np.full(self.atoms, -1, np.intp)
        labels = np.repeat(np.arange(len(self.start)), lengths)
        atoms = np.concatenate([self.atoms_of(label) for label in range(len(self.start))])
        if len(np.unique(atoms)) < len(atoms):
            return None
        found[atoms] = labels
        return found

    @cached_property
    def unlabelled(self) -> Mask:
        """The atoms that no label stands for; an empty cell is a label only if it may hide any value."""
        edges = np.zeros(self.atoms + 1, np.int64)
        np.add.at(edges, self.start[1:], 1)
        np.add.at(edges, self.stop[1:], -1)
        labelled = (edges.cumsum()[:-1] > 0) | self.sets.any(axis=0)
        labelled[self.start[0] : self.stop[0]] = True
        return np.asarray(~labelled)

    def atoms_of(self, label: int) -> Codes:
        return np.append(
            np.arange(self.start[label], self.stop[label]), np.flatnonzero(self.sets[self.set_of[label]])
        ).astype(np.intp)

    def shares(self, counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The share of records that each label stands for, given the records of each original value."""
        of_atom = np.bincount(self.atom_of, counts, minlength=self.atoms)
        below = np.append(0.0, of_atom.cumsum())
        whole: float = below[-1]
        return np.asarray((below[self.stop] - below[self.start] + (self.sets @ of_atom)[self.set_of]) / max(whole, 1.0))


def cover_of(
    column: str,
    values: Texts,
    labels: Texts,
    *,
    meanings: Meanings | None = None,
    tree: Taxonomy | Rule | None = None,
    empty_is_any: bool = False,
    declared: str | None = None,
) -> Cover:
    """What the labels of a column stand for.

    Args:
        column: Its name, for messages.
        values: The distinct original values as texts; the first is None, for missing ones.
        labels: The distinct released values, likewise.
        meanings: What a codebook says of labels; it is believed before anything else.
        tree: The taxonomy of the column, or the rule that builds it.
        empty_is_any: Whether an empty released cell may hide any value.
        declared: The type of the column, if the policy has one.
    """
    known = [value for value in values[1:] if value is not None]
    reader = _Reader.of(column, known, meanings or {}, tree, declared)
    positions, size = reader.positions, len(values)  # of each known value; missing ones are last
    start, stop = np.zeros(len(labels), np.intp), np.zeros(len(labels), np.intp)
    set_of, masks, unread = np.zeros(len(labels), np.intp), [np.zeros(size, bool)], []
    start[0], stop[0] = (0 if empty_is_any else size - 1), size
    for number, label in enumerate(labels[1:], 1):
        assert label is not None
        if (place := reader.exact(label)) is not None:
            start[number], stop[number] = place, place + 1
            continue
        mask = reader.read(label)
        places = np.flatnonzero(mask)
        if not len(places):
            unread.append(label)
        elif places[-1] - places[0] + 1 == len(places):
            start[number], stop[number] = places[0], places[-1] + 1
        else:
            set_of[number] = len(masks)
            masks.append(mask)
    sets = np.stack(masks)
    changes = np.zeros(size + 1, bool)
    changes[start], changes[stop], changes[0] = True, True, True
    changes[1:-1] |= (sets[:, 1:] != sets[:, :-1]).any(axis=0)
    atom = changes.cumsum() - 1  # of each position, and one more than the last
    firsts = np.flatnonzero(changes[:-1])
    of_value = np.append(atom[size - 1], atom[positions]) if len(known) else atom[size - 1 : size]
    return Cover(of_value, atom[start], _ends(atom, stop), set_of, sets[:, firsts], tuple(unread))


def _ends(atom: Codes, stop: Codes) -> Codes:
    """One more than the last atom before each position."""
    return np.where(stop > 0, atom[np.maximum(stop - 1, 0)] + 1, 0)


@dataclass(frozen=True)
class _Reader:
    """Reads the labels of one column.

    Args:
        column: Its name.
        place: The position of each known value, in an order in which most labels are ranges.
        texts: The known values in that order.
        scale: How their numbers or dates are read; None for texts.
        numbers: Those numbers, in that order.
        meanings: What a codebook says.
        nodes: By label of a taxonomy, the values below it.
    """

    column: str
    positions: Codes
    place: Mapping[str, int]
    texts: Sequence[str]
    scale: Scale | None
    numbers: npt.NDArray[np.float64] | None
    meanings: Meanings
    nodes: Mapping[str, Sequence[str]]

    @classmethod
    def of(
        cls, column: str, known: Sequence[str], meanings: Meanings, tree: Taxonomy | Rule | None, declared: str | None
    ) -> _Reader:
        scale, numbers = _numbers(column, known, declared)
        taxonomy = _taxonomy(tree, known)
        nodes: dict[str, Sequence[str]] = {}
        if taxonomy is not None:
            leaves = [taxonomy.labels[node] or "" for node in taxonomy.leaves]
            for node, label in enumerate(taxonomy.labels):
                if label is not None and taxonomy.children[node]:
                    nodes[label] = leaves[taxonomy.start[node] : taxonomy.stop[node]]
            rank = {leaf: code for code, leaf in enumerate(leaves)}
            order = np.array(
                sorted(range(len(known)), key=lambda i: (rank.get(known[i], len(rank)), known[i])), np.intp
            )
        elif numbers is not None:
            order = np.argsort(numbers, kind="stable")
        else:
            order = np.array(sorted(range(len(known)), key=known.__getitem__), np.intp)
        positions = np.empty(len(known), np.intp)
        positions[order] = np.arange(len(known))
        texts = [known[i] for i in order.tolist()]
        place = {text: position for position, text in enumerate(texts)}
        in_order = None if numbers is None else numbers[order]
        return cls(column, positions, place, texts, scale, in_order, meanings, nodes)

    @property
    def size(self) -> int:
        """Positions, that of missing values included."""
        return len(self.texts) + 1

    def exact(self, label: str) -> int | None:
        """The position of a label that is just a value."""
        return None if label in self.meanings or label in self.nodes else self.place.get(label)

    def read(self, label: str) -> Mask:
        """Which positions a label stands for; none if it cannot be read, or if nobody has such a value."""
        readers: tuple[Callable[[str], Mask | None], ...] = (
            self._by_codebook,
            self._by_node,
            self._as_value,
            self._as_any,
            self._as_set,
            self._as_interval,
            self._as_mask,
        )
        for read in readers:
            found = read(label)
            if found is not None:
                return found
        return np.zeros(self.size, bool)

    def _of(self, values: Sequence[str] | frozenset[str], *, missing: bool = False) -> Mask:
        mask = np.zeros(self.size, bool)
        mask[[self.place[value] for value in values if value in self.place]] = True
        mask[-1] = missing
        return mask

    def _by_codebook(self, label: str) -> Mask | None:
        return self._of(self.meanings[label], missing=label == ANY) if label in self.meanings else None

    def _by_node(self, label: str) -> Mask | None:
        return self._of(self.nodes[label], missing=label == ANY) if label in self.nodes else None

    def _as_value(self, label: str) -> Mask | None:
        if label in self.place:
            return self._of((label,))
        number = self._number(label)
        return None if number is None or self.numbers is None else np.append(self.numbers == number, False)

    def _as_any(self, label: str) -> Mask | None:
        if label == KNOWN or not label.strip(_MASK + " "):
            return np.append(np.ones(self.size - 1, bool), label != KNOWN)
        return None

    def _as_set(self, label: str) -> Mask | None:
        if not (label.startswith("{") and label.endswith("}")):
            return None
        inside = label[1:-1]
        members = [part.strip() for part in inside.split(",")]
        if not all(part in self.place or part == MISSING for part in members):  # a value may hold a comma
            members = [text for text in self.texts if f", {text}, " in f", {inside}, "]
        found = self._of(tuple(members), missing=MISSING in members and MISSING not in self.place)
        return found if found.any() else None

    def _as_interval(self, label: str) -> Mask | None:
        if self.numbers is None:
            return None
        bounds = self._bounds(label)
        if bounds is None:
            return None
        low, high, with_low, with_high = bounds
        first = np.searchsorted(self.numbers, low, "left" if with_low else "right") if low is not None else 0
        last = np.searchsorted(self.numbers, high, "right" if with_high else "left") if high is not None else None
        mask = np.zeros(self.size, bool)
        mask[: self.size - 1][first:last] = True
        return mask

    def _bounds(self, label: str) -> tuple[float | None, float | None, bool, bool] | None:
        """The bounds of an interval, and whether they are part of it."""
        if found := _OPEN.fullmatch(label):
            sign, bound = found[1].replace("≤", "<=").replace("≥", ">="), self._number(found[2])
            if bound is None:
                return None
            with_it = "=" in sign
            return (None, bound, True, with_it) if sign.startswith("<") else (bound, None, with_it, True)
        if found := _CLOSED.fullmatch(label):
            low, high = self._number(found[2]), self._number(found[3])
            return None if low is None or high is None else (low, high, found[1] == "[", found[4] == "]")
        if found := _PLAIN.fullmatch(label):
            low, high = self._number(found[1]), self._number(found[2])
            return None if low is None or high is None else (low, high, True, True)
        if found := _FROM.fullmatch(label):
            low = self._number(found[1])
            return None if low is None else (low, None, True, True)
        return None

    def _as_mask(self, label: str) -> Mask | None:
        """123** as prefix; 1984-05 for the days of that month."""
        if _MASK in label:
            form = re.compile("".join("." if letter == _MASK else re.escape(letter) for letter in label))
            found = np.array([form.fullmatch(text) is not None for text in self.texts], bool)
            if not found.any() and label.rstrip(_MASK) and _MASK not in label.rstrip(_MASK):  # masks of any length
                found = np.array([text.startswith(label.rstrip(_MASK)) for text in self.texts], bool)
            return np.append(found, False)
        if self.scale is not None and self.scale.kind in ("date", "timestamp"):
            return np.append(np.array([text.startswith(f"{label}-") for text in self.texts], bool), False)
        return None

    def _number(self, text: str) -> float | None:
        if self.scale is None:
            return None
        try:
            return float(self.scale.number(text, self.column))
        except (DataError, ValueError, OverflowError):
            return None


def _numbers(
    column: str, known: Sequence[str], declared: str | None
) -> tuple[Scale | None, npt.NDArray[np.float64] | None]:
    values = pa.array(known, pa.string())
    try:
        scale = scale_of(values, column, declared)
        return scale, None if scale is None else np.asarray(scale.numbers(values, column), np.float64)
    except (DataError, OverflowError):
        return None, None


def _taxonomy(tree: Taxonomy | Rule | None, known: Sequence[str]) -> Taxonomy | None:
    """The taxonomy of the values at hand; what a rule cannot group stays outside."""
    if tree is None or isinstance(tree, Taxonomy):
        return tree
    grouped: list[str] = []
    for value in known:
        try:
            tree.ancestors(value)
            grouped.append(value)
        except DataError:
            continue
    try:
        return tree.build(grouped) if grouped else None
    except DataError:
        return None
