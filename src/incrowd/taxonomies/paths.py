"""Grows one tree out of paths from leaf to root, and says where a path does not fit.

Paths come with the place they were read from, so that every error names the line to correct. Knows nothing of files
and nothing of codes: the result is a list of labels and parents in depth-first preorder.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NoReturn

from incrowd.errors import TaxonomyError, shorten, shown

PlacedPath = tuple[str, Sequence[str]]

MOST_LEVELS = 200  # from a leaf to the root; a file that is nested deeper is a mistake or an attack
_MOST_NAMED = 5  # labels that tell where in a tree something is


def grow(paths: Iterable[PlacedPath], source: str) -> tuple[list[str], list[int]]:
    """The labels and the parents of the nodes in preorder; the parent of the root is -1.

    A tree comes out: every path ends in the same root, no label occurs twice on a path, and every label has one parent,
    so following parents from any label ends in the root. A path comes with its place, such as "education.csv line 7".
    """
    root = ""
    parents: dict[str, str] = {}
    children: dict[str, list[str]] = {}
    leaves: dict[str, str] = {}
    for place, path in _distinguished(paths):
        root = root or path[-1]
        if path[-1] != root:
            _fail(place, f"two roots, '{root}' above and '{path[-1]}' here; end every path in the same root")
        _check_leaf(place, path, leaves, children)
        leaves[path[0]] = place
        for child, parent in pairwise(path):
            if child not in parents:
                parents[child] = parent
                children.setdefault(parent, []).append(child)
            elif parents[child] != parent:
                _fail(place, f"'{child}' has two parents, '{parents[child]}' above and '{parent}' here; keep one")
    if not leaves:
        _fail(source, "empty; give one path from leaf to root for every value")
    return _preorder(root, children)


def tree_paths(tree: Mapping[str, Any], source: str) -> Iterator[PlacedPath]:
    """The paths of a nested mapping with one key, the root."""
    if not isinstance(tree, Mapping):
        _fail(
            source, f"a tree is a mapping with one key, the root, got a {type(tree).__name__}; nest it below the root"
        )
    if len(tree) > 1:
        roots = shorten([str(label) for label in tree])
        _fail(source, f"a tree has one root, got {len(tree)}: {roots}; put them below one key")
    stack: list[tuple[tuple[Any, ...], Any]] = [((label,), below) for label, below in tree.items()]
    while stack:
        path, below = stack.pop()
        place = f"{source} at {_named(path)}"
        if len(path) > MOST_LEVELS:
            _fail(place, f"more than {MOST_LEVELS} levels; join some of them")
        if isinstance(below, Mapping) and not below:
            yield place, path
            continue
        stack += reversed([((label, *path), deeper) for label, deeper in _entries(below, place)])


def _named(path: Sequence[Any]) -> str:
    """Where a node is, by the labels from the root; of a long way the last ones."""
    labels = [label if isinstance(label, str) and len(label) < 100 else shown(label) for label in path[:_MOST_NAMED]]
    return " > ".join([*["..."] * (len(path) > _MOST_NAMED), *reversed(labels)])


def _entries(below: Any, place: str) -> Iterator[tuple[Any, Any]]:
    if isinstance(below, Mapping):
        yield from below.items()
        return
    if not isinstance(below, list | tuple):
        _fail(place, f"expected a list of labels or a table, got {shown(below)}; write it in brackets")
    if not below:
        _fail(place, "got an empty list; list the values, or write an empty table if it is a value itself")
    for item in below:
        if isinstance(item, Mapping):
            yield from item.items()
        else:
            yield item, {}


def _distinguished(paths: Iterable[PlacedPath]) -> Iterator[tuple[str, list[str]]]:
    """The paths, each checked and each once, and a value distinguished from the group of the same name.

    In `33.1;33.1;33;*` next to `33.11;33.1;33;*` the first label is a value, the second a group, though both say 33.1.
    """
    placed: dict[tuple[str, ...], str] = {}
    repeated: set[str] = set()
    for place, raw in paths:
        path = tuple(_checked(place, raw))
        placed.setdefault(path, place)
        if raw[1] == path[0]:
            repeated.add(path[0])
    inner = {label for path in placed for label in path[1:]}
    taken = inner.union(path[0] for path in placed)
    groups = {label: f"{label} (group)" for label in repeated & inner if f"{label} (group)" not in taken}
    for path, place in placed.items():
        own = [groups[path[0]]] if path[0] in groups else []
        yield place, [path[0], *own, *(groups.get(label, label) for label in path[1:])]


def _checked(place: str, raw: Sequence[str]) -> list[str]:
    """The path with equal neighbours merged, if it can stand alone."""
    if isinstance(raw, str):
        _fail(place, f"a path is a list of labels, got {shown(raw)}; write it in brackets")
    path: list[str] = []
    for label in raw:
        if not isinstance(label, str):
            _fail(place, f"a label is a string, got {shown(label)}; put it in quotes")
        if not label.strip():
            _fail(place, "blank label; give every value and every group a name")
        if not path or label != path[-1]:
            path.append(label)
    if len(path) < 2:
        _fail(place, f"a path needs a leaf and a root, got {path}; end the path in the root")
    if len(path) > MOST_LEVELS:
        _fail(place, f"a path of {len(path)} labels, where at most {MOST_LEVELS} are allowed; join some levels")
    if len(set(path)) < len(path):
        twice = next(label for label in path if path.count(label) > 1)
        _fail(place, f"'{twice}' is its own ancestor; give one of the two another label")
    return path


def _check_leaf(place: str, path: Sequence[str], leaves: Mapping[str, str], inner: Container[str]) -> None:
    """Makes sure that the first label of a path is a new leaf, and the others are none."""
    leaf = path[0]
    if leaf in leaves:
        _fail(place, f"leaf '{leaf}' is listed twice, first at {leaves[leaf]}; keep one of them")
    both = leaf if leaf in inner else next((label for label in path[1:] if label in leaves), None)
    if both is not None:
        _fail(place, f"'{both}' is both a leaf and an inner node; give one of them another label")


def _preorder(root: str, children: Mapping[str, Sequence[str]]) -> tuple[list[str], list[int]]:
    labels: list[str] = []
    parents: list[int] = []
    stack = [(root, -1)]
    while stack:
        label, parent = stack.pop()
        node = len(labels)
        labels.append(label)
        parents.append(parent)
        stack += [(child, node) for child in reversed(children.get(label, ()))]
    return labels, parents


def _fail(place: str, message: str) -> NoReturn:
    raise TaxonomyError(f"{place}: {message}")
