"""Privacy models straight from their definitions, on the values of one class and of the whole table."""

import math
from collections import Counter
from fractions import Fraction


def shares(values, domain):
    counts = Counter(values)
    return [Fraction(counts[value], len(values)) for value in domain]


def singled(values, harmless):
    """Each harmless record as a value of its own."""
    return [(value, i) if value in harmless else value for i, value in enumerate(values)]


def distinct_l(values, harmless=()):
    return len(set(singled(values, harmless)))


def entropy(values, harmless=()):
    counts = Counter(singled(values, harmless)).values()
    return -sum(n / len(values) * math.log(n / len(values)) for n in counts)


def is_recursive(values, c, l, harmless=()):
    counts = sorted(Counter(singled(values, harmless)).values(), reverse=True)
    return counts[0] < c * sum(counts[l - 1 :])


def largest_share(values, harmless=()):
    counts = Counter(value for value in values if value not in harmless)
    return Fraction(max(counts.values(), default=0), len(values))


def moved_equal(values, table):
    domain = sorted(set(table))
    return sum(abs(p - q) for p, q in zip(shares(values, domain), shares(table, domain), strict=True)) / 2


def moved_ordered(values, table):
    domain = sorted(set(table), key=float)
    if len(domain) < 2:
        return Fraction(0)
    moved, debt = Fraction(0), Fraction(0)
    for p, q in zip(shares(values, domain), shares(table, domain), strict=True):
        debt += p - q
        moved += abs(debt)
    return moved / (len(domain) - 1)


def moved_in_tree(values, table, tree):
    """`tree` is a nested dict of nodes; leaves are None. All leaves at the same depth."""
    domain = sorted(set(table))
    extra = {v: p - q for v, p, q in zip(domain, shares(values, domain), shares(table, domain), strict=True)}

    def height(node):
        return 0 if node is None else 1 + max(height(child) for child in node.values())

    total = height(tree)

    def walk(name, node):
        if node is None:
            return extra.get(name, Fraction(0)), Fraction(0)
        below = [walk(child, sub) for child, sub in node.items()]
        surplus = sum(max(e, 0) for e, _ in below)
        lack = sum(max(-e, 0) for e, _ in below)
        cost = sum(c for _, c in below) + Fraction(height(node), total) * min(surplus, lack)
        return sum(e for e, _ in below), cost

    return walk("*", tree)[1]


def gains(values, table):
    """Each value's share, in the table and in the class."""
    domain = sorted(set(table))
    return list(zip(shares(table, domain), shares(values, domain), strict=True))


def largest_gain(values, table):
    return max(max((q - p) / p, 0) for p, q in gains(values, table))


def is_enhanced_beta_like(values, table, beta):
    return all(q <= p or float((q - p) / p) <= min(beta, -math.log(p)) + 1e-12 for p, q in gains(values, table))


def largest_factor(values, table):
    return max(math.inf if q == 0 else abs(math.log(q / p)) for p, q in gains(values, table))
