"""A hierarchy as lines of a tree, down to what was released: the cut that the release makes through it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from incrowd.errors import many
from incrowd.report.labels import shown

if TYPE_CHECKING:
    from incrowd.taxonomies.taxonomy import Taxonomy

MOST_CHILDREN = 12
MOST_LINES = 60
MOST_BELOW = 6  # values that are listed of those that a released node stands for


def tree_lines(taxonomy: Taxonomy, released: Mapping[str | None, int]) -> list[dict[str, Any]]:
    """The nodes from the root to the released ones, each with its depth and the records that are released as it."""
    ends = _ends(taxonomy)
    marks = sorted(node for node, label in enumerate(taxonomy.labels) if released.get(label))
    lines: list[dict[str, Any]] = []
    waiting: list[tuple[int, int] | tuple[int, str]] = [(0, 0)]  # depth and node, or depth and a remark
    while waiting and len(lines) < MOST_LINES:
        depth, node = waiting.pop()
        if isinstance(node, str):
            lines.append({"depth": depth, "value": node, "records": None, "stands_for": ""})
            continue
        label, children = taxonomy.labels[node], taxonomy.children[node]
        opens = _any_between(marks, node + 1, ends[node]) or not released
        below = "" if opens or not children else _values_below(taxonomy, node)
        lines.append({"depth": depth, "value": shown(label), "records": released.get(label), "stands_for": below})
        if opens:
            first = sorted(children, key=lambda child: not _any_between(marks, child, ends[child]))[:MOST_CHILDREN]
            if len(children) > len(first):
                waiting.append((depth + 1, f"and {len(children) - len(first):,} more"))
            waiting += [(depth + 1, child) for child in reversed(first)]
    if waiting:
        more = f"and more below; {many(len(marks), 'value is', 'values are')} released in all"
        lines.append({"depth": 0, "value": more, "records": None, "stands_for": ""})
    return lines


def _any_between(marks: list[int], low: int, high: int) -> bool:
    """Whether one of some ascending numbers is at least one number and below another."""
    return bisect_left(marks, low) < bisect_left(marks, high)


def _values_below(taxonomy: Taxonomy, node: int) -> str:
    leaves = taxonomy.leaves[taxonomy.start[node] : taxonomy.stop[node]]
    first = ", ".join(shown(taxonomy.labels[leaf], 30) for leaf in leaves[:MOST_BELOW])
    return first + (f" and {len(leaves) - MOST_BELOW:,} more" if len(leaves) > MOST_BELOW else "")


def _ends(taxonomy: Taxonomy) -> list[int]:
    """For each node one more than the last of its descendants, which follow it."""
    ends = list(range(1, len(taxonomy.labels) + 1))
    for node in range(len(ends) - 1, 0, -1):
        parent = int(taxonomy.parent[node])
        ends[parent] = max(ends[parent], ends[node])
    return ends
