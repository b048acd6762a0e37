"""Editing a hierarchy as a tree: group, rename, move, dissolve; plain data in, plain data out.

A value is a leaf, and stays one whatever is done; a group that has lost its last value is gone.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from incrowd.errors import PolicyError
from incrowd.taxonomies.taxonomy import Taxonomy

LONGEST_NAME = 200  # letters of a group


@dataclass
class Tree:
    """A hierarchy that is being edited; labels are unique in it.

    Args:
        root: The label of all values together.
        below: The labels right below each group, in order.
        values: The values of the table, which no group may be called like.
    """

    root: str
    below: dict[str, list[str]]
    values: frozenset[str]

    @classmethod
    def of(cls, taxonomy: Taxonomy, values: Iterable[str]) -> Tree:
        labels = [str(label) for label in taxonomy.labels]
        below = {
            labels[node]: [labels[child] for child in found] for node, found in enumerate(taxonomy.children) if found
        }
        return cls(labels[0], below, frozenset(values))

    def taxonomy(self) -> Taxonomy:
        return Taxonomy.from_paths(self.paths(), "the hierarchy")

    def text(self) -> str:
        """The lines of its file: value;group;...;root."""
        return paths_text(self.paths())

    def paths(self) -> Iterator[tuple[str, ...]]:
        stack: list[tuple[str, tuple[str, ...]]] = [(self.root, ())]
        while stack:
            label, above = stack.pop()
            path = (label, *above)
            if label in self.below:
                stack += [(child, path) for child in reversed(self.below[label])]
            else:
                yield path

    # Changes

    def group(self, labels: Sequence[str], name: str) -> None:
        """Put labels into a new group, below what they have in common."""
        chosen = self._tops(labels)
        if self.root in chosen:
            raise PolicyError(f"'{self.root}' stands for all values; choose some below it")
        parent = self._common(chosen)
        if set(chosen) >= set(self.below[parent]):
            raise PolicyError(f"these are all values in '{parent}'; rename it, or choose fewer")
        self._check_name(name)
        parents = self.parents()
        place = min(self.below[parent].index(self._child_above(label, parent, parents)) for label in chosen)
        ordered = [label for label in self._order() if label in set(chosen)]
        self.below[parent].insert(place, name)
        self._take(ordered)
        self.below[name] = ordered
        self._prune()

    def rename(self, label: str, name: str) -> None:
        if label not in self.below:
            raise PolicyError(f"'{label}' is a value of the table and keeps its name; group it under another one")
        if name.strip() == label:
            raise PolicyError(f"'{label}' already has this name; write another one")
        self._check_name(name)
        self.below[name] = self.below.pop(label)
        if label == self.root:
            self.root = name
            return
        siblings = self.below[self.parents()[label]]
        siblings[siblings.index(label)] = name

    def move(self, labels: Sequence[str], target: str) -> None:
        """Put labels, also values that are nowhere yet, into a group."""
        if target not in self.below:
            raise PolicyError(f"'{target}' is a value, not a group; choose a group")
        chosen = self._tops(labels)
        parents = self.parents()
        above = {target, *self._ancestors(target, parents)}
        for label in chosen:
            if label in above:
                raise PolicyError(f"'{label}' cannot go into '{target}', which is part of it; choose another group")
        if all(parents.get(label) == target for label in chosen):
            raise PolicyError(f"this is already in '{target}'; choose another group")
        self._take(chosen)
        self.below[target] += chosen
        self._prune()

    def dissolve(self, label: str) -> None:
        """Take a group away; what was in it goes to the group above."""
        if label not in self.below:
            raise PolicyError(f"'{label}' is a value, not a group; choose a group")
        if label == self.root:
            raise PolicyError(f"'{label}' stands for all values and cannot be dissolved; choose a group below it")
        siblings = self.below[self.parents()[label]]
        place = siblings.index(label)
        siblings[place : place + 1] = self.below.pop(label)

    def forget(self, labels: Iterable[str]) -> None:
        self._take([label for label in labels if label not in self.below])
        self._prune()

    # Looking

    def parents(self) -> dict[str, str]:
        return {child: label for label, found in self.below.items() for child in found}

    def _ancestors(self, label: str, parents: dict[str, str]) -> list[str]:
        above = []
        while label in parents:
            label = parents[label]
            above.append(label)
        return above

    def _tops(self, labels: Sequence[str]) -> list[str]:
        """The chosen labels without those below another chosen one."""
        if not labels:
            raise PolicyError("nothing is selected; select values or groups first")
        parents, chosen = self.parents(), set(labels)
        return [label for label in dict.fromkeys(labels) if not chosen & set(self._ancestors(label, parents))]

    def _common(self, labels: Sequence[str]) -> str:
        """The lowest group that has all labels in it; the root for values that are nowhere yet."""
        parents = self.parents()
        lines = [self._ancestors(label, parents) or [self.root] for label in labels]
        return next(label for label in lines[0] if all(label in line for line in lines))

    def _child_above(self, label: str, parent: str, parents: dict[str, str]) -> str:
        """The label right below a group that another one is, or is in; the last one for what is nowhere yet."""
        if label not in parents:
            return self.below[parent][-1]
        while parents[label] != parent:
            label = parents[label]
        return label

    def _order(self) -> list[str]:
        """All labels as they are shown, and then the values that are nowhere yet."""
        found, stack = [], [self.root]
        while stack:
            label = stack.pop()
            found.append(label)
            stack += reversed(self.below.get(label, []))
        return [*found, *sorted(self.values - set(found))]

    def _check_name(self, name: str) -> None:
        if not name.strip():
            raise PolicyError("a group needs a name; write one")
        if len(name) > LONGEST_NAME or not name.isprintable():
            raise PolicyError(f"a name has at most {LONGEST_NAME} letters, and no line breaks; write a shorter one")
        if name in self.below:
            raise PolicyError(f"there is already a group '{name}'; write another name, or move things into it")
        if name in self.values or name in self.parents():
            raise PolicyError(f"'{name}' is a value of the table; write another name")

    def _take(self, labels: Iterable[str]) -> None:
        gone = set(labels)
        self.below = {label: [each for each in found if each not in gone] for label, found in self.below.items()}

    def _prune(self) -> None:
        """Groups that have nothing left in them go, from the bottom up."""
        while empty := [label for label, found in self.below.items() if not found]:
            if self.root in empty:
                raise PolicyError("a hierarchy needs a value; choose fewer")
            for label in empty:
                del self.below[label]
            self._take(empty)


def paths_text(paths: Iterable[Sequence[str | None]]) -> str:
    """Paths as the lines of a hierarchy file; missing values have none."""
    text = io.StringIO()
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(path for path in paths if path[0] is not None)
    return text.getvalue()
