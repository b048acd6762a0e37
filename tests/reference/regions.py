"""What a target tells apart, straight from the definition: record by record, every node of a hierarchy as a split."""

from collections import Counter
from math import log2

UNIT = 2**20


def information(count):
    """A count times its logarithm, in whole units."""
    return round(count * log2(count) * UNIT) if count else 0


def bits(labels):
    """What it takes to tell some labels."""
    return information(len(labels)) - sum(map(information, Counter(labels).values()))


def nodes_above(hierarchy, code):
    """The nodes that a code lies at or below, up to the root."""
    node, found = int(hierarchy.leaves[code]), []
    while node >= 0:
        found.append(node)
        node = int(hierarchy.taxonomy.parent[node])
    return found


def regions(records, labels, hierarchies, good):
    """The regions in preorder, each as (parent, members, what its split saves, split).

    Args:
        records: The code of each attribute, of each record.
        labels: The label of each record.
        hierarchies: The hierarchy of each attribute.
        good: Whether so many records are enough for a class.
    """
    paths = [[set(nodes_above(h, code)) for h, code in zip(hierarchies, record, strict=True)] for record in records]
    price = information(len(records)) // len(records)
    splits = [
        (attribute, node)
        for attribute in sorted(range(len(hierarchies)), key=lambda a: hierarchies[a].name)
        for node in range(hierarchies[attribute].size)
    ]

    def grown(members):
        best = None
        for attribute, node in splits:
            inside = [i for i in members if node in paths[i][attribute]]
            outside = [i for i in members if node not in paths[i][attribute]]
            if not (good(len(inside)) and good(len(outside))):
                continue
            saved = bits([labels[i] for i in members])
            saved -= bits([labels[i] for i in inside]) + bits([labels[i] for i in outside])
            if saved > price // 4 and (best is None or saved > best[0]):
                best = saved, (attribute, node), inside, outside
        if best is None:
            return members, 0, None, (), 0
        below = grown(best[2]), grown(best[3])
        net = best[0] - price + sum(side[-1] for side in below)
        return (members, best[0], best[1], below, net) if net > 0 else (members, 0, None, (), 0)

    found = []

    def laid(tree, parent):
        members, saved, split, below, _ = tree
        number = len(found)
        found.append((parent, members, saved, split))
        for side in below:
            laid(side, number)

    laid(grown(list(range(len(records)))), -1)
    return found


def details(found, everything):
    """What each region says of the label: each split as much per record of its region as it saves there."""
    total = sum(saved for _, _, saved, _ in found) or 1
    told = []
    for parent, _, _, _ in found:
        if parent < 0:
            told.append(0)
            continue
        _, members, saved, _ = found[parent]
        told.append(told[parent] + saved * len(found[0][1]) * everything // (len(members) * total))
    return told
