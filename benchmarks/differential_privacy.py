"""Is what is called differentially private as private as it says?

    python -m benchmarks.differential_privacy            # 100,000 releases of each of two neighbouring tables

The audit releases a tiny table, and the same without one record, many times with fresh keys. The first half of the
releases chooses what to look at, the set of releases that tells the two tables apart best; the second half counts it.
The epsilon that the counts prove (Clopper and Pearson's bounds, 99.9 % together) must not be above the claim.
"""

from __future__ import annotations

import sys
from collections import Counter
from math import lgamma, log

import numpy as np

from incrowd.errors import InfeasibleError
from incrowd.key import Key
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Requirement
from incrowd.run import Run
from incrowd.search.safepub.safepub import safepub
from incrowd.table.attributes import TaxonomyAttribute
from incrowd.table.compressed import CompressedTable
from incrowd.taxonomies.taxonomy import Taxonomy

TREE = Taxonomy.from_tree({"*": {"x": ["a", "b"], "y": ["c", "d"]}})
ERROR = 0.001
Seen = Counter[tuple[tuple[int, int], ...]]


def table_of(counts: dict[str, int], level: int | None = 0) -> CompressedTable:
    """A table of one column with a tree; its level is fixed, or chosen if None."""
    levels = None if level is None else (level, level)
    codes = np.array([TREE.leaf_code(value) for value in counts])
    return CompressedTable.build([TaxonomyAttribute("v", TREE, levels=levels)], [codes], np.array([*counts.values()]))


def releases(table: CompressedTable, k: int, epsilon: float, delta: float, first: int, runs: int) -> Seen:
    """How often each release was made: the released values and how many records have each."""
    requirement, found = Requirement(("v",), (KAnonymity(k),)), Counter()
    for number in range(first, first + runs):
        run = Run(key=Key.for_experiments(number))
        try:
            recoding = safepub(table, (requirement,), run, epsilon=epsilon, delta=delta).recoding
        except InfeasibleError:  # that nothing is released can be seen as well
            found[()] += 1
            continue
        mapping = recoding.mapping  # type: ignore[attr-defined]
        sizes = Counter()
        for part, records in zip(mapping.part_classes.tolist(), mapping.part_records.tolist(), strict=True):
            if part < len(mapping.classes):
                sizes[int(mapping.classes[part, 0])] += records
        found[tuple(sorted(sizes.items()))] += 1
    return found


def proven_epsilon(one: tuple[Seen, Seen], other: tuple[Seen, Seen], delta: float) -> float:
    """The epsilon that the counts of two tables prove, whichever is more likely; each chosen and counted apart."""
    return max(_proven(one, other, delta), _proven(other, one, delta))


def _proven(more: tuple[Seen, Seen], less: tuple[Seen, Seen], delta: float) -> float:
    runs = [seen.total() for seen in (*more, *less)]
    outcomes = sorted({*more[0], *less[0]}, key=lambda each: -(more[0][each] + 1) / (less[0][each] + 1))
    best, chosen, many, few = -1.0, 0, 0, 0
    for place, each in enumerate(outcomes, 1):
        many, few = many + more[0][each], few + less[0][each]
        value = log(max(bound(many, runs[0], low=True) - delta, 1e-12) / bound(few, runs[2], low=False))
        if value > best:
            best, chosen = value, place
    wanted = outcomes[:chosen]
    many, few = sum(more[1][each] for each in wanted), sum(less[1][each] for each in wanted)
    return log(max(bound(many, runs[1], low=True) - delta, 1e-12) / bound(few, runs[3], low=False))


def bound(hits: int, runs: int, *, low: bool) -> float:
    """Clopper and Pearson's bound of a probability: below or above which so many hits would be too unlikely."""
    if hits == (0 if low else runs):
        return 0.0 if low else 1.0
    numbers = np.arange(hits, runs + 1) if low else np.arange(hits + 1)
    logs = np.array([lgamma(runs + 1) - lgamma(n + 1) - lgamma(runs - n + 1) for n in numbers.tolist()])
    inside, outside = (0.0, hits / runs) if low else (1.0, hits / runs)
    for _ in range(40):
        middle = (inside + outside) / 2
        tail = float(np.exp(logs + numbers * log(middle) + (runs - numbers) * log(1 - middle)).sum())
        inside, outside = (middle, outside) if tail < ERROR / 4 else (inside, middle)
    return inside


def audited(counts: dict[str, int], level: int | None, k: int, epsilon: float, delta: float, runs: int) -> float:
    """The epsilon that this many releases of a table, and of the one without its first record, prove."""
    name = next(iter(counts))
    found = []
    for number, each in enumerate((counts, {**counts, name: counts[name] - 1})):
        table = table_of({value: size for value, size in each.items() if size}, level)
        halves = [releases(table, k, epsilon, delta, (2 * number + half) * runs, runs // 2) for half in (0, 1)]
        found.append((halves[0], halves[1]))
    return proven_epsilon(found[0], found[1], delta)


TABLES: tuple[tuple[dict[str, int], int | None], ...] = (
    ({"a": 10}, 0),
    ({"a": 1, "b": 9}, 1),
    ({"a": 10, "c": 10}, None),
)


if __name__ == "__main__":
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    for counts, level in TABLES:
        proven = audited(counts, level, 10, 1.0, 0.1, runs)
        print(f"{counts}, level {level}: proven {proven:.3f}, claimed 1 (delta 0.1, k 10)", flush=True)
