"""The hierarchy that a top-down search grew for a number, as a rule that can be edited and fed back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from incrowd.recodings.steps import SplitInterval, Step
from incrowd.table.attributes import NumberAttribute
from incrowd.taxonomies.number_rules import MOST, Bounds


def grown_bounds(attribute: NumberAttribute, steps: Iterable[Step]) -> Bounds | None:
    """The cuts of a search, the first ones on the highest level; None where it made none, or of dates."""
    if attribute.scale.kind not in ("integer", "number"):
        return None
    depth_of: dict[tuple[int, int], int] = {}  # of intervals of ranks; those that are not there were never cut: 0
    cuts: dict[int, int] = {}  # depth by rank
    for step in steps:
        cut = step.change
        if step.attribute != attribute.name or not isinstance(cut, SplitInterval) or cut.at == attribute.missing:
            continue
        depth = depth_of.get((cut.start, cut.stop), 0) + 1
        depth_of[cut.start, cut.at] = depth_of[cut.at, cut.stop] = depth
        cuts[cut.at] = depth
    levels: list[tuple[float, ...]] = []
    for depth in range(max(cuts.values(), default=0), 0, -1):
        level = tuple(attribute.number(rank) for rank in sorted(cuts) if cuts[rank] <= depth)
        if level and (not levels or level != levels[-1]):
            levels.append(level)
    if not levels or max(map(abs, levels[0])) > MOST:  # a rule that nobody could give back
        return None
    return Bounds(levels[0], tuple(levels[1:]))


def learned_hierarchies_file(grown: Mapping[str, Bounds]) -> str:
    lines = ["# What the search grew for numbers; edit it, and put it into your release.toml.", "[taxonomies]"]
    for column, rule in grown.items():
        ((kind, levels),) = rule.options().items()
        lines.append(f"{json.dumps(column, ensure_ascii=False)} = {{ {kind} = {json.dumps(levels)} }}")
    return "\n".join(lines) + "\n"
