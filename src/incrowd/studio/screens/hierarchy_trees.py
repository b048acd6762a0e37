"""A tree as the screen shows it: nodes with their records, what is wrong at each, and not more than a page can hold."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from incrowd.errors import PolicyError, many
from incrowd.studio.screens.screen import OUT_OF_DATE
from incrowd.studio.values import Values
from incrowd.taxonomies.taxonomy import Taxonomy

MOST_NODES = 1_500  # that a page shows
MOST_CHILDREN = 250  # of one group
MOST_GROUPS = 400  # that something can be moved to
OPEN_NODES = 80  # a tree that is not larger is open all the way


@dataclass(frozen=True)
class Shown:
    """A tree on the screen: "n7" is its node 7, "u2" the third value that is nowhere in it."""

    taxonomy: Taxonomy
    values: Values

    @cached_property
    def labels(self) -> dict[str, int]:
        return {str(label): node for node, label in enumerate(self.taxonomy.labels)}

    @cached_property
    def nowhere(self) -> list[str]:
        """The values of the table that the tree does not have."""
        return [value for value in self.values.values if value not in self.labels]

    @cached_property
    def absent(self) -> list[str]:
        """The values of the tree that the table does not have."""
        return [label for label in self.taxonomy.leaf_codes if label not in self.values.records]

    @cached_property
    def version(self) -> str:
        known = repr((self.taxonomy.labels, self.taxonomy.parent.tolist(), len(self.nowhere)))
        return hashlib.sha256(known.encode(errors="replace")).hexdigest()[:16]

    def label(self, node: str) -> str:
        kind, digits = node[:1], node[1:]
        if kind in ("n", "u") and digits.isascii() and digits.isdigit() and len(digits) < 9:
            found = self.taxonomy.labels if kind == "n" else self.nowhere
            if int(digits) < len(found):
                return str(found[int(digits)])
        raise PolicyError(OUT_OF_DATE)

    def place(self, label: str) -> str:
        """The id of a node in the page, the same as long as its label is."""
        return "t" + hashlib.sha256(label.encode(errors="replace")).hexdigest()[:12]

    @cached_property
    def records(self) -> list[int]:
        tree, own = self.taxonomy, self.values.records
        found = [0 if tree.children[node] else own.get(str(label), 0) for node, label in enumerate(tree.labels)]
        for node in range(len(found) - 1, 0, -1):
            found[tree.parent[node]] += found[node]
        return found

    def problem(self, node: int) -> str:
        label = str(self.taxonomy.labels[node])
        if self.taxonomy.children[node] and label in self.values.records:
            records = many(self.values.records[label], "record has", "records have")
            return f"{records} this very value, and a group cannot be a value; rename the group"
        return ""


def shown_tree(column: str, taxonomy: Taxonomy, values: Values) -> dict[str, Any]:
    shown = Shown(taxonomy, values)
    total = max(1, sum(values.counts))
    left, places = [MOST_NODES], set[str]()
    groups = [node for node, below in enumerate(taxonomy.children) if below]
    return {
        "root": _node(shown, 0, total, left, places, opened=len(taxonomy.labels) <= OPEN_NODES),
        "nowhere": [
            {"id": f"u{place}", "place": shown.place(value), "label": value, "records": values.records[value]}
            for place, value in enumerate(shown.nowhere[:MOST_CHILDREN])
        ],
        "nowhere_more": max(0, len(shown.nowhere) - MOST_CHILDREN),
        "absent": len(shown.absent),
        "version": shown.version,
        "groups": [
            {"id": f"n{node}", "label": str(taxonomy.labels[node]), "depth": int(taxonomy.depth[node])}
            for node in groups[:MOST_GROUPS]
        ],
        "leaves": len(taxonomy.leaves),
        "inner": len(groups),
        "height": taxonomy.height,
        "problems": sum(bool(shown.problem(node)) for node in groups) + len(shown.nowhere),
        "column": column,
        "places": {*places, *(shown.place(value) for value in shown.nowhere[:MOST_CHILDREN])},
    }


def _node(shown: Shown, node: int, total: int, left: list[int], places: set[str], *, opened: bool) -> dict[str, Any]:
    """A node and what is below it, as long as there is room; `places` gets the ids of those that are shown."""
    tree = shown.taxonomy
    below = tree.children[node]
    left[0] -= len(below[:MOST_CHILDREN])
    listed = below[:MOST_CHILDREN] if left[0] >= 0 else ()
    records, place = shown.records[node], shown.place(str(tree.labels[node]))
    places.add(place)
    return {
        "id": f"n{node}",
        "place": place,
        "label": str(tree.labels[node]),
        "leaves": int(tree.stop[node] - tree.start[node]) if below else 0,
        "records": records,
        "share": f"{100 * records / total:.2f}%",
        "depth": int(tree.depth[node]),
        "opened": opened or node == 0,
        "problem": shown.problem(node),
        "below": [_node(shown, child, total, left, places, opened=opened) for child in listed],
        "more": len(below) - len(listed),
        "absent": not below and not records,
    }
