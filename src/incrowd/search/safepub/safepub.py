"""SafePub (Bild, Kuhn, Prasser 2018): a release of true records that is (epsilon, delta)-differentially private.

Three steps, each with chance of its own: a generalization is chosen, every record is drawn with probability beta, and
of those drawn, crowds smaller than k are left out. For a fixed generalization the last two give (epsilon, delta); see
`parameters`. The generalization is either fixed by levels, or chosen by the exponential mechanism with a share of
epsilon. Here it is chosen by all records, not by those drawn as in the paper: so both parts are differentially private
by themselves, and their epsilons add up whatever the sample was.

What a generalization does to a value follows from the value and its hierarchy alone, never from other values in the
table: with a given taxonomy the level's cut of it; with a rule so many of the groups that the rule names for the value.

The score of a generalization is the sum over its classes of worth x max(0, n - t + 1): n is the size of the class, t
the smallest size of which k records are drawn on average, worth how much of the values its labels keep (from 0 to W, a
whole number that follows from the labels alone). Sensitivity: a record that joins changes the size of one class by 1,
so each score grows by at most W, and none shrinks. Then e^(epsilon score / W) gives epsilon: the weight of every
generalization grows by a factor from 1 to e^epsilon, and so does their sum; the quotient changes by at most e^epsilon.

It ends: a finite number of generalizations, one draw for each record. The order of rows plays no part, as tuples are
counted; there are no ties to break.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import InfeasibleError, PolicyError
from incrowd.privacy.model import Requirement, Requirements
from incrowd.recodings.by_tuple import ByTuple
from incrowd.recodings.kinds import hierarchy_of
from incrowd.recodings.mapping import LocalMapping, nodes_of
from incrowd.run import Run
from incrowd.search.baselines.lattice import FrequencySet, RollUps
from incrowd.search.method import SearchResult
from incrowd.search.safepub.draws import Draws
from incrowd.search.safepub.parameters import BITS, parameters_of
from incrowd.table.attributes import Attribute, TaxonomyAttribute
from incrowd.table.class_counts import ClassCounts
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import count, group
from incrowd.taxonomies.levels import cut_at, levels_of_nodes

Nodes = npt.NDArray[np.int64]
WORTH = 1 << 20  # of a value that is kept as it is
CHOICE = Fraction(1, 10)
MOST = 20_000  # generalizations that are scored


@dataclass(frozen=True)
class Level:
    """What one level of a column does.

    Args:
        nodes: The node that each value becomes.
        cells: The node that each node of the lowest level becomes.
        width: How many nodes the taxonomy has.
        worth: How much of a value each node keeps.
    """

    nodes: Nodes
    cells: Nodes
    width: int
    worth: Nodes


def safepub(
    table: CompressedTable,
    requirements: Requirements,
    run: Run,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    choice: float | None = None,
) -> SearchResult:
    """Choose a generalization, draw records, and leave out crowds that are too small."""
    if not epsilon or not delta:
        raise PolicyError("The method 'safepub' needs the options epsilon and delta, such as epsilon 2, delta 0.00001.")
    (requirement,) = requirements
    levels = [levels_of(attribute) for attribute in table.attributes]
    whole = Fraction(str(epsilon))
    for_choice = Fraction(0)
    if (generalizations := prod(map(len, levels))) > MOST:
        raise PolicyError(
            f"the columns have {generalizations:,} generalizations together, too many to score; limit some levels"
        )
    if generalizations > 1:
        for_choice = whole * (CHOICE if choice is None else Fraction(str(choice)))
        if not for_choice:
            raise PolicyError("The 'choice' parameter must be above 0 where levels are not fixed. Got 0.")
    parameters = parameters_of(whole - for_choice, Fraction(str(delta)))
    check_models(requirement, parameters.k)
    draws = Draws(run.key.derived("safepub", _digest(table)))
    size = ceil(parameters.k / parameters.beta)
    place = _chosen(table, levels, size, for_choice, draws, run) if for_choice else (0,) * len(levels)
    nodes = np.stack(
        [each[at].nodes[codes] for each, at, codes in zip(levels, place, table.codes, strict=True)], axis=1
    )
    drawn = draws.sampled(table.counts, parameters.threshold)
    groups, firsts = group([np.ascontiguousarray(column) for column in nodes.T], [each[0].width for each in levels])
    good = requirement.good(ClassCounts(count(groups, len(firsts), drawn)))
    if not good.any():
        raise InfeasibleError(
            "every crowd of the drawn records is too small; allow higher levels, or a larger epsilon or delta"
        )
    facts = {
        "epsilon": float(whole),
        "delta": float(delta),
        "sampled": parameters.threshold / 2**BITS,
        "smallest_crowd": parameters.k,
        "generalizations": generalizations,
        "epsilon_of_choice": float(for_choice),
    }
    return SearchResult(_released(table, nodes, drawn, good[groups], run), facts=facts)


def check_models(requirement: Requirement, k: int) -> None:
    """Raise PolicyError unless only crowds of at least k are asked for.

    What else is promised would leave out crowds for other reasons, which tell of people.
    """
    if requirement.columns or requirement.of_table or len(requirement.models) != 1:
        raise PolicyError("The method 'safepub' promises k alone; leave out other promises, or use another method.")
    if requirement.good(ClassCounts(np.array([k - 1])))[0]:
        raise PolicyError(f"With this epsilon and delta the 'k' parameter must be at least {k}. Got a smaller one.")


def levels_of(attribute: Attribute) -> list[Level]:
    """What each allowed level of a column does; none follows from which values the table has."""
    if not isinstance(attribute, TaxonomyAttribute):
        raise PolicyError(
            f"column '{attribute.name}' has no hierarchy that is independent of the table; give it one, such as "
            f"--taxonomy {attribute.name}=widths:5,10"
        )
    tree = attribute.taxonomy
    lowest, highest = attribute.levels or (0, None)
    if attribute.rule is None:
        highest = int(levels_of_nodes(tree)[0]) if highest is None else highest
    if highest is None:
        raise PolicyError(
            f"the levels of '{attribute.name}' are made from its values; say which are allowed, such as "
            f"--levels {attribute.name}=0:2"
        )
    nodes = [_nodes_at(attribute, level) for level in range(lowest, highest + 1)]
    width, made = len(tree.labels), []
    for number, each in enumerate(nodes):
        cells = np.zeros(width, np.int64)
        cells[nodes[0]] = each
        made.append(Level(each, cells, width, _worth(attribute, number, len(nodes))))
    return made


def _worth(attribute: TaxonomyAttribute, number: int, levels: int) -> Nodes:
    """How much of a value each node keeps: the values of a given taxonomy that it rules out, or how low its level is.

    How many values a rule has put below a node, and whether any is missing, follows from the table, and does not count.
    """
    tree = attribute.taxonomy
    values = len(tree.leaves) - (tree.missing is not None)
    if attribute.rule is None:
        lost = (tree.stop - tree.start - 1).astype(np.int64)
        worth = WORTH - lost * WORTH // max(1, values - 1)
    else:
        worth = np.full(len(tree.labels), WORTH * (levels - number) // levels, np.int64)
    worth[0] = 0
    return worth


def _nodes_at(attribute: TaxonomyAttribute, level: int) -> Nodes:
    """The node of each value at a level."""
    tree = attribute.taxonomy
    if attribute.rule is None:
        cut = np.array(cut_at(tree, level), np.int64)
        return np.repeat(cut, tree.stop[cut] - tree.start[cut])
    nodes = np.array(tree.leaves, np.int64)
    for _ in range(level):
        nodes = np.maximum(tree.parent[nodes], 0).astype(np.int64)
    return nodes


def _chosen(
    table: CompressedTable, levels: Sequence[Sequence[Level]], size: int, epsilon: Fraction, draws: Draws, run: Run
) -> tuple[int, ...]:
    """The place of the level of each column, by the exponential mechanism."""
    places = list(product(*(range(len(each)) for each in levels)))
    scores = []
    rolled = RollUps(_lowest(table, levels), levels)
    for place in places:
        run.check()
        scores.append(score(rolled.at(place), [each[at].worth for each, at in zip(levels, place, strict=True)], size))
        run.amount(len(scores), len(places), "generalizations scored")
    return places[draws.chosen(scores, epsilon / (len(levels) * WORTH), run)]


def score(classes: FrequencySet, worth: Sequence[Nodes], size: int) -> int:
    """How much a generalization would keep; see the top of this file."""
    kept = sum(each[nodes] for each, nodes in zip(worth, classes.columns, strict=True))
    return int(np.maximum(classes.counts - size + 1, 0) @ np.asarray(kept))


def _lowest(table: CompressedTable, levels: Sequence[Sequence[Level]]) -> FrequencySet:
    """The classes of the table with every column at its lowest level."""
    columns = [each[0].nodes[codes] for each, codes in zip(levels, table.codes, strict=True)]
    widths = tuple(each[0].width for each in levels)
    groups, firsts = group(columns, widths)
    return FrequencySet(tuple(column[firsts] for column in columns), widths, count(groups, len(firsts), table.counts))


def _released(table: CompressedTable, nodes: Any, drawn: Any, good: Any, run: Run) -> ByTuple:
    """The recoding in which those drawn are released as their nodes, if their class is good, and no one else is."""
    hierarchies = [hierarchy_of(attribute) for attribute in table.attributes]
    kept = np.where(good, drawn, 0)
    records = np.concatenate([kept, table.counts - kept])
    tuples = np.tile(np.arange(len(kept)), 2)
    out = np.arange(len(records)) >= len(kept)
    there = records > 0
    shown = np.concatenate([nodes, np.zeros_like(nodes)])
    mapping = LocalMapping.build(
        hierarchies, nodes_of(table, hierarchies), tuples[there], shown[there], records[there], out[there]
    )
    return ByTuple.of(mapping, run.key)


def _digest(table: CompressedTable) -> bytes:
    """What the draws depend on besides the key: the same key draws independently for another table."""
    digest = hashlib.blake2b(np.ascontiguousarray(table.counts, np.int64).tobytes())
    for attribute, codes in zip(table.attributes, table.codes, strict=True):
        digest.update(repr((attribute.name, attribute.values().to_pylist())).encode())
        digest.update(np.ascontiguousarray(codes, np.int64).tobytes())
    return digest.digest()
