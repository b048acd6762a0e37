"""Taxonomies: trees of values, numbered so that the leaves below a node are one range of codes.

A `Taxonomy` is read from a file, built from paths or a nested mapping, or made by one of the `rules`. It is checked
once, when it is built; every query after that is an array lookup.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.display import Displayed
from incrowd.errors import TaxonomyError, UnknownNameError, many
from incrowd.taxonomies.files import PathText, file_kind, read_csv, read_toml
from incrowd.taxonomies.labels import ANY
from incrowd.taxonomies.paths import PlacedPath, grow, tree_paths

__all__ = ["Taxonomy"]

MISSING_TEXT = "(missing)"

Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False, repr=False)
class Taxonomy(Displayed):
    """A tree of values, immutable.

    Nodes are numbered in depth-first preorder, the root is 0, children stand in order of first appearance. Leaves are
    numbered in the same order, so the leaves below a node are the codes from `start[node]` up to but not including
    `stop[node]`. A node's number is larger than its parent's.

    Use `read`, `from_csv`, `from_toml`, `from_paths`, `from_tree` or `flat` to make one: the constructor takes
    nodes that are numbered already and does not check them.

    Attributes:
        labels: The label of each node, unique. None is the label of the leaf of missing values, and of no other.
        parent: The parent of each node, -1 for the root.
        start: The first leaf code below each node.
        stop: One more than the last leaf code below each node.
        leaves: The node of each leaf code.
        depth: Edges from the root to each node.
        level: The level that each node counts as, from 0 at the root: its depth, and for every leaf the lowest level,
            as if a path that is shorter were filled up with its leaf.
        height: Edges on the longest path from the root to a leaf.
        missing: The leaf code of missing values, if there is one.
    """

    labels: tuple[str | None, ...]
    parent: Ints
    children: tuple[tuple[int, ...], ...] = field(init=False)
    start: Ints = field(init=False)
    stop: Ints = field(init=False)
    leaves: tuple[int, ...] = field(init=False)
    depth: Ints = field(init=False)
    level: Ints = field(init=False)
    height: int = field(init=False)
    missing: int | None = field(init=False)

    def __post_init__(self) -> None:
        parents: list[int] = self.parent.tolist()
        size = len(parents)
        children: list[list[int]] = [[] for _ in range(size)]
        depth = [0] * size
        for node in range(1, size):
            children[parents[node]].append(node)
            depth[node] = depth[parents[node]] + 1
        leaf_count = [0 if below else 1 for below in children]
        start = np.cumsum([0, *leaf_count[:-1]], dtype=np.int32)
        for node in range(size - 1, 0, -1):
            leaf_count[parents[node]] += leaf_count[node]
        height = max(depth)
        derived = {
            "parent": _frozen(self.parent),
            "children": tuple(map(tuple, children)),
            "start": _frozen(start),
            "stop": _frozen(start + np.asarray(leaf_count, dtype=np.int32)),
            "leaves": tuple(node for node, below in enumerate(children) if not below),
            "depth": _frozen(depth),
            "level": _frozen([d if below else height for d, below in zip(depth, children, strict=True)]),
            "height": height,
            "missing": int(start[self.labels.index(None)]) if None in self.labels else None,
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Taxonomy):
            return NotImplemented
        return self.labels == other.labels and np.array_equal(self.parent, other.parent)

    def headline(self) -> str:
        return f"{many(len(self.leaves), 'value')} in {many(self.height + 1, 'level')}"

    def __str__(self) -> str:
        return self.render()

    # Building

    @classmethod
    def from_paths(cls, paths: Iterable[Sequence[str]], source: str = "taxonomy") -> Taxonomy:
        """Builds a taxonomy from one path per leaf.

        Args:
            paths: The labels from leaf to root. Equal labels that follow each other on a path are one node.
            source: What error messages call the origin of the paths.

        Raises:
            TaxonomyError: The paths do not form one tree.
        """
        return _grow(((f"{source} path {number}", path) for number, path in enumerate(paths, 1)), source)

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any], source: str = "taxonomy") -> Taxonomy:
        """Builds a taxonomy from a nested mapping with one key, the root.

        Args:
            tree: Below a label stand a mapping of its children, or a list of leaves (or of mappings); below a leaf in a
                mapping stands an empty mapping: `{"ANY": {"Secondary": ["9th", "10th"], "Unknown": {}}}`.
            source: What error messages call the origin of the tree.

        Raises:
            TaxonomyError: The mapping does not describe one tree.
        """
        return _grow(tree_paths(tree, source), source)

    @classmethod
    def from_csv(cls, path: PathText, separator: str | None = None) -> Taxonomy:
        """Reads `leaf;parent;...;root`, one line per leaf, without a header; lines may differ in length.

        Args:
            path: The file, UTF-8, gzipped if its name ends in `.gz`.
            separator: The separator; None finds it among semicolon, tab and comma, in this order.

        Raises:
            TaxonomyError: The file cannot be read, or its lines do not form one tree.
        """
        return _grow(read_csv(path, separator), Path(path).name)

    @classmethod
    def from_toml(cls, path: PathText) -> Taxonomy:
        """Reads nested TOML tables below one root key; leaves are strings in a list, or empty tables.

        Raises:
            TaxonomyError: The file cannot be read, or its tables do not form one tree.
        """
        return cls.from_tree(read_toml(path), Path(path).name)

    @classmethod
    def read(cls, path: PathText) -> Taxonomy:
        """Reads a taxonomy file by its suffix: `.csv`, `.tsv` and `.txt` as CSV, `.toml` as TOML, each also with `.gz`.

        Raises:
            TaxonomyError: The suffix is unknown, the file cannot be read, or it does not hold one tree.
        """
        return cls.from_csv(path) if file_kind(path) == "csv" else cls.from_toml(path)

    @classmethod
    def flat(cls, values: Iterable[str], root: str = ANY) -> Taxonomy:
        """Builds the taxonomy with every value right below the root, in the order given."""
        return cls.from_paths(((value, root) for value in values), "flat taxonomy")

    def with_missing(self) -> Taxonomy:
        """This taxonomy with a leaf for missing values as the last child of the root; all other numbers stay."""
        if self.missing is not None:
            return self
        return Taxonomy((*self.labels, None), np.append(self.parent, np.int32(0)))

    def without_missing(self) -> Taxonomy:
        """This taxonomy without that leaf."""
        return self if self.missing is None else Taxonomy(self.labels[:-1], self.parent[:-1])

    # Queries

    @cached_property
    def leaf_codes(self) -> dict[str, int]:
        """The code of each leaf by its label, without the leaf of missing values."""
        labels = (self.labels[node] for node in self.leaves)
        return {label: code for code, label in enumerate(labels) if label is not None}

    @cached_property
    def _nodes(self) -> dict[str | None, int]:
        return {label: node for node, label in enumerate(self.labels)}

    def leaf_code(self, label: str | None) -> int:
        """The code of a leaf; None asks for the leaf of missing values.

        Raises:
            TaxonomyError: There is no such leaf.
        """
        code = self.missing if label is None else self.leaf_codes.get(label)
        if code is not None:
            return code
        if label is None:
            raise TaxonomyError("the taxonomy has no leaf for missing values, but got one; use with_missing()")
        if label in self._nodes:
            raise TaxonomyError(f"'{label}' is an inner node of the taxonomy, not a leaf; give a value below it")
        raise TaxonomyError(f"the taxonomy has no leaf '{label}'; add it to the taxonomy or correct the value")

    def node(self, label: str | None) -> int:
        """The number of the node with a label.

        Raises:
            UnknownNameError: No node has that label. The message lists inner nodes only: leaves may be confidential.
        """
        if label in self._nodes:
            return self._nodes[label]
        inner = [str(self.labels[node]) for node, below in enumerate(self.children) if below]
        raise UnknownNameError("node", str(label), inner, "the taxonomy")

    def ancestors(self, node: int) -> tuple[int, ...]:
        """The nodes above a node, from its parent to the root."""
        above = []
        while (node := int(self.parent[node])) >= 0:
            above.append(node)
        return tuple(above)

    def path(self, leaf_code: int) -> tuple[str | None, ...]:
        """The labels from a leaf to the root."""
        leaf = self.leaves[leaf_code]
        return tuple(self.labels[node] for node in (leaf, *self.ancestors(leaf)))

    def paths(self) -> Iterator[tuple[str | None, ...]]:
        """The path of every leaf, in the order of leaf codes: the lines of a taxonomy file."""
        return map(self.path, range(len(self.leaves)))

    def lowest_common_ancestor(self, first: int, second: int) -> int:
        """The deepest node that has both nodes below it, or is one of them."""
        # Of two nodes the one with the larger number is never an ancestor of the other, so it may climb.
        while first != second:
            if first > second:
                first = int(self.parent[first])
            else:
                second = int(self.parent[second])
        return first

    # Showing

    def render(self, most_children: int | None = None) -> str:
        """The tree as text, with the number of leaves at inner nodes.

        Args:
            most_children: How many children of a node are shown; None shows all.
        """
        lines = [self._line(0)]
        stack = self._twigs(0, "", most_children)
        while stack:
            node, text, indent = stack.pop()
            if node is None:
                lines.append(text)
                continue
            lines.append(text + self._line(node))
            stack += self._twigs(node, indent, most_children)
        return "\n".join(lines)

    def _line(self, node: int) -> str:
        label = self.labels[node]
        text = MISSING_TEXT if label is None else label
        return f"{text} ({self.stop[node] - self.start[node]})" if self.children[node] else text

    def _twigs(self, node: int, indent: str, most: int | None) -> list[tuple[int | None, str, str]]:
        """The lines below a node, last one first: the child, its branch and the indent of what is below it."""
        below = self.children[node]
        shown: list[int | None] = list(below[:most])
        texts = ["├─ "] * len(shown)
        if len(shown) < len(below):
            shown.append(None)
            texts.append(f"└─ … and {len(below) - len(shown) + 1} more")
        elif texts:
            texts[-1] = "└─ "
        indents = [indent + ("   " if text.startswith("└") else "│  ") for text in texts]
        return [(child, indent + text, deep) for child, text, deep in zip(shown, texts, indents, strict=True)][::-1]

    def to_json(self) -> dict[str, Any]:
        """The tree as nested lists: an inner node is an object with one key, a leaf a string, missing is null.

        Children stand in lists, so the order, and with it every code, survives sorted keys.
        """
        entries: list[Any] = list(self.labels)
        for node in range(len(entries) - 1, -1, -1):
            if self.children[node]:
                entries[node] = {self.labels[node]: [entries[child] for child in self.children[node]]}
        result: dict[str, Any] = entries[0]
        return result

    @classmethod
    def from_json(cls, data: Mapping[str, Any], source: str = "taxonomy") -> Taxonomy:
        """Builds the taxonomy that `to_json` wrote.

        Raises:
            TaxonomyError: The data do not describe one tree.
        """
        if isinstance(data, Mapping) and len(data) == 1:
            ((root, below),) = data.items()
            if isinstance(below, list) and below and below[-1] is None:
                return cls.from_tree({root: below[:-1]}, source).with_missing()
        return cls.from_tree(data, source)


def _grow(paths: Iterable[PlacedPath], source: str) -> Taxonomy:
    labels, parents = grow(paths, source)
    return Taxonomy(tuple(labels), np.asarray(parents, dtype=np.int32))


def _frozen(numbers: npt.ArrayLike) -> Ints:
    array = np.array(numbers, dtype=np.int32)
    array.setflags(write=False)
    return array
