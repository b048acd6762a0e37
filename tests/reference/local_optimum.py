"""The least loss of any local recoding from its definition: all ways to part the records into classes."""

from __future__ import annotations


def partitions(items):
    """All partitions of a list."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for parts in partitions(rest):
        yield [[first], *parts]
        for i in range(len(parts)):
            yield [*parts[:i], [first, *parts[i]], *parts[i + 1 :]]


def ancestors(parent, node):
    """A node and all above it."""
    path = [node]
    while parent[node] >= 0:
        node = parent[node]
        path.append(node)
    return path


def class_loss(rows, parents, losses):
    """What the records of a class lose: all of them the loss of the closest common generalization."""
    total = 0.0
    for a, (parent, loss) in enumerate(zip(parents, losses, strict=True)):
        paths = [ancestors(parent, row[a]) for row in rows]
        total += loss[next(node for node in paths[0] if all(node in path for path in paths))]
    return total * len(rows)


def least_loss(rows, parents, losses, k):
    """The least loss of all partitions into classes of at least k records.

    Args:
        rows: The records, as nodes of the trees.
        parents: The parent of each node, per attribute, -1 for the root.
        losses: The loss of each node, per attribute.
        k: The least size of a class.
    """
    return _least(rows, lambda part: class_loss(part, parents, losses), k)


def least_box_loss(rows, losses, k):
    """The same where a class loses what the smallest box around it does.

    Args:
        rows: The records, as values.
        losses: Per attribute, what a set of values loses.
        k: The least size of a class.
    """

    def box_loss(part):
        return len(part) * sum(loss({row[a] for row in part}) for a, loss in enumerate(losses))

    return _least(rows, box_loss, k)


def _least(rows, lost, k):
    return min(
        sum(map(lost, parts)) for parts in partitions(rows) if all(len(part) >= k for part in parts)
    )  # fmt: skip
