"""What a target tells apart, straight from the definition: record by record, every node and every cut as a split."""

from collections import Counter
from math import log2

UNIT = 2**20


def information(count):
    """A count times its logarithm, in whole units."""
    return round(count * log2(count) * UNIT) if count else 0


def bits(labels):
    """What it takes to tell some labels, of those that are known."""
    known = [label for label in labels if label is not None]
    return information(len(known)) - sum(map(information, Counter(known).values()))


def nodes_above(hierarchy, code):
    """The nodes that a code lies at or below, up to the root."""
    node, found = int(hierarchy.leaves[code]), []
    while node >= 0:
        found.append(node)
        node = int(hierarchy.taxonomy.parent[node])
    return found


def splits_of(hierarchies):
    """All splits as (attribute, first code, one more than the last), in the order in which equal ones are taken."""
    for attribute in sorted(range(len(hierarchies)), key=lambda a: hierarchies[a].name):
        hierarchy = hierarchies[attribute]
        if hierarchy.kind in ("intervals", "calendar"):
            yield from ((attribute, 0, cut) for cut in range(1, len(hierarchy.leaves)))
        else:
            yield from ((attribute, int(start), int(stop)) for start, stop in zip(*hierarchy.spans(), strict=True))


def regions(records, labels, hierarchies, good):
    """The regions in preorder, each as (parent, members, what its split saves, split), and all splits that were tried.

    Args:
        records: The code of each attribute, of each record.
        labels: The label of each record, None if it is not known.
        hierarchies: The hierarchy of each attribute.
        good: Whether so many records are enough for a class.
    """
    known = sum(label is not None for label in labels)
    price = information(known) // max(1, known)
    tried = []

    def grown(members):
        best = None
        for attribute, start, stop in splits_of(hierarchies):
            inside = [i for i in members if start <= records[i][attribute] < stop]
            outside = [i for i in members if not start <= records[i][attribute] < stop]
            if not (good(len(inside)) and good(len(outside))):
                continue
            saved = bits([labels[i] for i in members])
            saved -= bits([labels[i] for i in inside]) + bits([labels[i] for i in outside])
            if saved > price // 4 and (best is None or saved > best[0]):
                best = saved, (attribute, start, stop), inside, outside
        if best is None:
            return members, 0, None, (), 0
        tried.append((best[1], best[0]))
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
    return found, tried


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
